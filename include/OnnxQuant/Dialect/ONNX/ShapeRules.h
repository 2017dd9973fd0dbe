// Shape rules that many ops share; an op's definition names its rule.

#ifndef ONNXQUANT_DIALECT_ONNX_SHAPERULES_H
#define ONNXQUANT_DIALECT_ONNX_SHAPERULES_H

#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"

namespace onnxquant::onnx::shape {

/// Every result has the dimensions and the element type of operand `operand`.
llvm::LogicalResult sameAs(ShapeContext &ctx, mlir::Operation *op,
                           unsigned operand = 0);

/// As `sameAs`, with another element type.
llvm::LogicalResult sameDimsAs(ShapeContext &ctx, mlir::Operation *op,
                               unsigned operand, mlir::Type elementType);

/// The result has the operands' dimensions, broadcast from the right, and the
/// element type given, or that of the first operand. Contents of small integer
/// tensors are followed by the ops that compute them, not here.
llvm::LogicalResult broadcast(ShapeContext &ctx, mlir::Operation *op,
                              mlir::Type elementType = {});

/// Broadcasts lists of dimensions; none if some rank is unknown; failure if
/// they cannot go together.
llvm::FailureOr<std::optional<Dims>>
broadcastDims(ShapeContext &ctx, llvm::ArrayRef<std::optional<Dims>> shapes);

/// The product of the dimensions.
Dim product(llvm::ArrayRef<Dim> dims);

/// Brings an axis that may be negative into [0, rank); failure if it is out.
llvm::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);

/// The integers of an array attribute, or `size` times `value` without it.
llvm::SmallVector<int64_t> getInts(std::optional<mlir::ArrayAttr> attribute,
                                   size_t size = 0, int64_t value = 0);

} // namespace onnxquant::onnx::shape

#endif // ONNXQUANT_DIALECT_ONNX_SHAPERULES_H
