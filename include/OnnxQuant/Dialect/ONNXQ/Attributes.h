// What passes know of a graph's kernel functions.

#ifndef ONNXQUANT_TRANSFORMS_KERNELFUNCTIONS_H
#define ONNXQUANT_TRANSFORMS_KERNELFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace onnxquant {

/// On a function: it is a kernel, made from an op of this name.
inline constexpr llvm::StringLiteral kernelAttr = "onnxq.kernel";
/// On a call of a kernel: the name of the node that it computes.
inline constexpr llvm::StringLiteral nodeAttr = "onnxq.node";

/// On the function that runs once when code is loaded: the bytes of memory that
/// it fills.
inline constexpr llvm::StringLiteral loadBytesAttr = "onnxq.load_bytes";
/// On the entry function, if asked for: its buffers of static size, with node,
/// bytes, offset in the workspace, and the top-level ops between which they are
/// alive.
inline constexpr llvm::StringLiteral buffersAttr = "onnxq.buffers";
/// On the entry function: its results that are computed where a last argument
/// each says, as pairs of the result's number and its place in the workspace.
inline constexpr llvm::StringLiteral placedResultsAttr = "onnxq.placed_results";
/// On a module: the threads that its parallel regions ask for.
inline constexpr llvm::StringLiteral threadsAttr = "onnxq.threads";
/// On a module: it has products of x86's tiles, which a process asks its system
/// for.
inline constexpr llvm::StringLiteral tilesAttr = "onnxq.tiles";
/// On a module while its kernels are lowered: accesses by pointers are checked.
inline constexpr llvm::StringLiteral checkPointersAttr = "onnxq.check_pointers";
/// On a module: its nodes that no kernel computes, each with its op and what it
/// runs as: loops, or float where its operands are quantized.
inline constexpr llvm::StringLiteral withoutKernelAttr = "onnxq.without_kernel";

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_KERNELFUNCTIONS_H
