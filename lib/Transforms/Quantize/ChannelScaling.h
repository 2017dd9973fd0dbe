// How the channels of a tensor are multiplied, in the quantizer and where a
// float model is brought to the same form.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_CHANNELSCALING_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_CHANNELSCALING_H

#include "mlir/IR/Builders.h"

namespace onnxquant::quantize {

/// Multiplies a constant operand along its first axis, which has one row or
/// several for each factor.
void scaleConstant(mlir::OpBuilder &builder, mlir::OpOperand &use,
                   llvm::ArrayRef<double> factors);
/// Multiplies the weights and the bias of the convolution that makes `value`,
/// and renames what it makes.
void scaleProducer(mlir::OpBuilder &builder, mlir::Operation *producer,
                   mlir::Value value, llvm::ArrayRef<double> factors);
/// A product of the channels, the second axis, with the factors.
mlir::Value insertProduct(mlir::OpBuilder &builder, mlir::Value value,
                          llvm::ArrayRef<double> factors);
llvm::SmallVector<double> inverseOf(llvm::ArrayRef<double> factors);

} // namespace onnxquant::quantize

#endif // ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_CHANNELSCALING_H
