// Looking through quantizers and dequantizers, for the steps that put integer
// ops between them.

#ifndef ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_FOLD_H
#define ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_FOLD_H

#include "Plan.h"

namespace onnxquant::quantize {

/// What a dequantizer reads; the value is null if there is no dequantizer, or
/// one with blocks.
onnx::QuantizedOperand dequantizedBy(mlir::Value value);
/// The numbers of a constant, or of one that is dequantized; none if they can't
/// be read.
std::optional<llvm::SmallVector<double>> dequantizedNumbers(mlir::Value value);
/// An entry per operand of an op, filled where a quantizable operand comes from
/// a dequantizer. None if one does not.
std::optional<llvm::SmallVector<onnx::QuantizedOperand>>
quantizedOperands(onnx::QuantizableOpInterface op);
/// The only user of a value, if that is a quantizer.
onnx::QuantizeLinearOp onlyQuantizer(mlir::Value value);
/// Whether two parameters are the same value or equal constants.
bool areEqual(mlir::Value a, mlir::Value b);
/// Whether scales and zero points are equal.
bool haveEqualParameters(const onnx::QuantizedOperand &a,
                         const onnx::QuantizedOperand &b);
/// Lets an op that moves data do so with integers, if its operands come from
/// dequantizers of equal parameters. `sink` puts dequantizers behind it; else
/// its results must go to quantizers of the same parameters.
bool moveIntegers(mlir::OpBuilder &builder, onnx::QuantizableOpInterface op,
                  bool sink);
/// Folds factors and normalizations behind convolutions into their quantized
/// weights.
void foldTrained(Plan &plan);

} // namespace onnxquant::quantize

#endif // ONNXQUANT_LIB_TRANSFORMS_QUANTIZE_FOLD_H
