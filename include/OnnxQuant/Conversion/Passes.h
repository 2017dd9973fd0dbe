// Passes from the `onnx` dialect down to LLVM.

#ifndef ONNXQUANT_CONVERSION_PASSES_H
#define ONNXQUANT_CONVERSION_PASSES_H

#include "OnnxQuant/Support/TargetInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Conversion/Passes.h.inc"

/// Attributes of the entry function, from `onnx-to-linalg` on.
/// Names and ONNX types of the graph's inputs and outputs.
inline constexpr llvm::StringLiteral endsAttr = "onnxq.ends";
/// The bytes of workspace that a run needs.
inline constexpr llvm::StringLiteral workspaceBytesAttr =
    "onnxq.workspace_bytes";
/// Attributes of the module: the prefix of a compiled model's symbols, and what
/// code is generated for (triple, cpu, features).
inline constexpr llvm::StringLiteral modelNameAttr = "onnxq.model";
inline constexpr llvm::StringLiteral targetAttr = "onnxq.target";
/// On the module: the exponents of ends by their names, for its header.
inline constexpr llvm::StringLiteral exponentsAttr = "onnxq.exponents";
/// What `onnxq.target` of the module around an op says of the processor; a
/// processor of which nothing is known if there is none.
TargetInfo getTargetInfo(mlir::Operation *op);
/// On a Loop: the iterations after which it fails.
inline constexpr llvm::StringLiteral maxIterationsAttr = "onnxq.max_iterations";
/// On the module: the bytes that a run's tensors may take.
inline constexpr llvm::StringLiteral maxBytesAttr = "onnxq.max_bytes";
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

} // namespace onnxquant

#endif // ONNXQUANT_CONVERSION_PASSES_H
