// What the external models of LayoutOpInterface share.

#ifndef ONNXQUANT_DIALECT_ONNX_LAYOUTMODELS_H
#define ONNXQUANT_DIALECT_ONNX_LAYOUTMODELS_H

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/LayoutOpInterface.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"

namespace onnxquant::onnx::layout {

template <typename Model, typename Op>
using Base = LayoutOpInterface::ExternalModel<Model, Op>;

//===----------------------------------------------------------------------===//
// Constants and shapes
//===----------------------------------------------------------------------===//

mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::ElementsAttr elements);
mlir::Value createInts(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<int64_t> values);
mlir::Value createAbsent(mlir::OpBuilder &builder, mlir::Location loc);
/// A tensor under a shape that differs in dimensions of size 1.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, mlir::RankedTensorType type);

/// The rank of a tensor, if it is known.
std::optional<int64_t> rankOf(mlir::Value value);
/// The value of an `si64` attribute.
mlir::Attribute makeSigned(mlir::Operation *op, int64_t value);
/// An axis counted from the front.
inline int64_t fromFront(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}
/// The integers of a constant operand, counted from the front; all axes if it
/// is left out; none if it isn't constant.
std::optional<llvm::SmallVector<int64_t>> readAxes(mlir::Value axes,
                                                   int64_t rank);
/// Where `axes` are in a tensor stored in the order `perm`.
llvm::SmallVector<int64_t> mapAxes(llvm::ArrayRef<int64_t> axes,
                                   PermutationRef perm);

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// A layout in which all is as it is.
OpLayout makeLayout(mlir::Operation *op);

/// The layout in which the operands `operands` and all results, which have one
/// rank, are stored in the same order. Failure if `place` is none of them.
llvm::FailureOr<OpLayout> makeUniform(mlir::Operation *op, TensorPlace place,
                                      PermutationRef perm,
                                      llvm::ArrayRef<unsigned> operands);

/// The order of the tensor that is left when `dropped` dimensions go.
Permutation dropDims(PermutationRef perm, llvm::ArrayRef<int64_t> dropped);
/// The order of a tensor of rank `rank` whose other dimensions are ordered by
/// `perm`: the `added` ones stand before the dimension that follows them.
Permutation addDims(PermutationRef perm, llvm::ArrayRef<int64_t> added,
                    int64_t rank);

/// The same node with other operands and the results' types permuted. Its
/// result has no name: it isn't the tensor that had it.
mlir::Operation *rebuild(mlir::OpBuilder &builder, mlir::Operation *op,
                         const OpLayout &layout, mlir::ValueRange operands);
/// A node of another kind in its place, with the first result.
mlir::Operation *rebuildAs(mlir::OpBuilder &builder, llvm::StringRef name,
                           mlir::Operation *op, const OpLayout &layout,
                           mlir::ValueRange operands);

void attachElementwise(mlir::MLIRContext &context);
void attachAlongAxes(mlir::MLIRContext &context);
void attachDataMovement(mlir::MLIRContext &context);
void attachReshaping(mlir::MLIRContext &context);
void attachQuantized(mlir::MLIRContext &context);

} // namespace onnxquant::onnx::layout

#endif // ONNXQUANT_DIALECT_ONNX_LAYOUTMODELS_H
