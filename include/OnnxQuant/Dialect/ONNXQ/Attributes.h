// The attributes by which passes tell each other of a module, its functions,
// ops and arguments, and the functions that compiled code calls. The dialect
// verifies every attribute of its name: where it stands, and what it holds.
// Three that the onnx dialect reads are declared there: `onnxq.calibration`
// (Calibration.h), `onnxq.places` (PlaceOrder.h) and `onnxq.folded`
// (ONNXOps.h).

#ifndef ONNXQUANT_DIALECT_ONNXQ_ATTRIBUTES_H
#define ONNXQUANT_DIALECT_ONNXQ_ATTRIBUTES_H

#include "OnnxQuant/Support/TargetInfo.h"
#include "mlir/IR/Operation.h"

namespace onnxquant {

//===----------------------------------------------------------------------===//
// On the module
//===----------------------------------------------------------------------===//

/// What code is generated for: a dictionary of `triple`, `cpu`, `features`.
inline constexpr llvm::StringLiteral targetAttr = "onnxq.target";
/// The prefix of a compiled model's symbols.
inline constexpr llvm::StringLiteral modelNameAttr = "onnxq.model";
/// The exponents of inputs and outputs by their names, for its header.
inline constexpr llvm::StringLiteral exponentsAttr = "onnxq.exponents";
/// The bytes that a run's tensors may take.
inline constexpr llvm::StringLiteral maxBytesAttr = "onnxq.max_bytes";
/// The threads that its parallel regions ask for.
inline constexpr llvm::StringLiteral threadsAttr = "onnxq.threads";
/// It has AMX tiles, which a process asks its system for.
inline constexpr llvm::StringLiteral tilesAttr = "onnxq.tiles";
/// While its kernels are lowered: accesses by pointers are checked.
inline constexpr llvm::StringLiteral checkPointersAttr = "onnxq.check_pointers";
/// Its nodes that no kernel computes, each with its op and what it runs as:
/// loops, or float where its operands are quantized.
inline constexpr llvm::StringLiteral withoutKernelAttr = "onnxq.without_kernel";
/// What preparation did: a dictionary of passes, counts by their names in each.
inline constexpr llvm::StringLiteral reportAttr = "onnxq.report";

//===----------------------------------------------------------------------===//
// On functions
//===----------------------------------------------------------------------===//

/// On the entry function: names and ONNX types of the graph's inputs and
/// outputs, from `onnx-to-linalg` on.
inline constexpr llvm::StringLiteral signatureAttr = "onnxq.signature";
/// On the entry function: the bytes of workspace that a run needs.
inline constexpr llvm::StringLiteral workspaceBytesAttr =
    "onnxq.workspace_bytes";
/// On the entry function, if asked for: its buffers of static size, with node,
/// bytes, offset in the workspace, and the top-level ops between which they are
/// alive.
inline constexpr llvm::StringLiteral buffersAttr = "onnxq.buffers";
/// On the entry function: its results that are computed where a last argument
/// each says, as pairs of the result's number and its offset in the workspace.
inline constexpr llvm::StringLiteral placedResultsAttr = "onnxq.placed_results";
/// On a function: it is a kernel, made from an op of this name.
inline constexpr llvm::StringLiteral kernelAttr = "onnxq.kernel";
/// On the function that runs once when code is loaded: the bytes of memory that
/// it fills.
inline constexpr llvm::StringLiteral loadBytesAttr = "onnxq.load_bytes";

//===----------------------------------------------------------------------===//
// On ops
//===----------------------------------------------------------------------===//

/// On a call of a kernel: the name of the node that it computes.
inline constexpr llvm::StringLiteral nodeAttr = "onnxq.node";
/// On a Loop: the iterations after which it fails.
inline constexpr llvm::StringLiteral maxIterationsAttr = "onnxq.max_iterations";
/// On nodes of a model that is compared with its quantized form: numbers by
/// which one finds the other.
inline constexpr llvm::StringLiteral nodeNumberAttr = "onnxq.number";
/// On an If in a copy of a graph: its number.
inline constexpr llvm::StringLiteral branchAttr = "onnxq.branch";
/// On RNN, GRU and LSTM: X holds W's products, [T, N, directions * gates * H].
inline constexpr llvm::StringLiteral inputProjectedAttr =
    "onnxq.input_projected";
/// They contain the products of R with the first state; there is one step.
inline constexpr llvm::StringLiteral hiddenProjectedAttr =
    "onnxq.hidden_projected";

/// On a contraction of coded weights: the zero point that all blocks have, of
/// whose 8-bit codes it is subtracted already.
inline constexpr llvm::StringLiteral commonZeroAttr = "onnxq.common_zero";

//===----------------------------------------------------------------------===//
// Functions that compiled code calls
//===----------------------------------------------------------------------===//

/// Functions that a run's context is handed to.
inline constexpr llvm::StringLiteral allocFunction = "onnxq_alloc";
inline constexpr llvm::StringLiteral failFunction = "onnxq_fail";
/// The function that runs once when code is loaded; behind the model's name and
/// an underscore in objects.
inline constexpr llvm::StringLiteral loadFunction = "onnxq_load";
/// Functions that free what an iteration doesn't carry on: the newest block;
/// the block of these data stays; the others newer than a mark go.
inline constexpr llvm::StringLiteral markFunction = "onnxq_mark";
inline constexpr llvm::StringLiteral keepFunction = "onnxq_keep";
inline constexpr llvm::StringLiteral trimFunction = "onnxq_trim";

/// What `onnxq.target` of the module around an op says of the processor; a
/// processor of which nothing is known if there is none.
TargetInfo getTargetInfo(mlir::Operation *op);

} // namespace onnxquant

#endif // ONNXQUANT_DIALECT_ONNXQ_ATTRIBUTES_H
