// How the channels of a tensor are multiplied, in the quantizer and where a
// float model is brought to the same form.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_CHANNELSCALING_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_CHANNELSCALING_H

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "mlir/IR/Builders.h"

namespace onnxquant::quantize {

/// Multiplies a constant operand along an axis, which has one row or several
/// for each factor.
void scaleConstant(mlir::OpBuilder &builder, mlir::OpOperand &use,
                   llvm::ArrayRef<double> factors, int64_t axis = 0);
/// Multiplies the weights and the bias of the convolution that makes `value`,
/// and renames what it makes.
void scaleProducer(mlir::OpBuilder &builder, mlir::Operation *producer,
                   mlir::Value value, llvm::ArrayRef<double> factors);
/// A product of the channels, which are an axis, with the factors.
mlir::Value insertProduct(mlir::OpBuilder &builder, mlir::Value value,
                          llvm::ArrayRef<double> factors, int64_t axis = 1);
/// Whether an op multiplies what it reads by a constant matrix.
bool isMatrixProduct(mlir::Operation *op);
/// The axis of its weight, of two, that is summed along.
int64_t depthAxisOf(mlir::Operation *op);
/// The factors, powers of two, for the channels that products of matrices read:
/// those with which errors of activations and weights together are least. All
/// are one if that gains little.
llvm::SmallVector<double>
chooseProductFactors(const onnx::TensorRange &range,
                     llvm::ArrayRef<mlir::Operation *> readers);
llvm::SmallVector<double> inverseOf(llvm::ArrayRef<double> factors);

} // namespace onnxquant::quantize

#endif // ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_CHANNELSCALING_H
