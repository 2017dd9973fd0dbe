// How work is moved into functions of its own.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CODEGEN_OUTLINING_H
#define ONNXQUANT_LIB_TRANSFORMS_CODEGEN_OUTLINING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {

/// A value that work takes from around it.
struct Captured {
  mlir::Value value;
  bool isWritten = false;
  /// Only the op itself names it, so its type may be a more general one.
  bool isOperandOnly = true;
};

/// All values that an op takes from around it.
llvm::SmallVector<Captured> collectCaptured(mlir::Operation *op);

/// The value that owns a buffer's memory: an allocation, a constant or an
/// argument of the function; none if it isn't known.
mlir::Value ownerOf(mlir::Value value);

/// A function that isn't in a module yet, what it is to be called with, and the
/// op in it.
struct Outlined {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> arguments;
  mlir::Operation *copy = nullptr;
};

/// Copies an op without results into a kernel function. Pointers of buffers
/// that don't overlap with another that the op writes are `llvm.noalias`.
/// `caller` stands where the function will be called. Constants that the op
/// uses are the function's own.
Outlined copyToFunction(mlir::Operation *op,
                        mlir::ImplicitLocOpBuilder &caller);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CODEGEN_OUTLINING_H
