// Elementwise work that differs in sizes and factors only.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CODEGEN_ALIKEWORK_H
#define ONNXQUANT_LIB_TRANSFORMS_CODEGEN_ALIKEWORK_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxquant {

/// Constants that a function takes as arguments, by the op that it is made of.
using OpenConstants =
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>>;

/// Gives elementwise work of which there are several sizes or factors one form:
/// over rows of open length. It replaces ops of the list, and tells which
/// constants of the new ones differ.
OpenConstants openAlike(llvm::SmallVectorImpl<mlir::Operation *> &work);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CODEGEN_ALIKEWORK_H
