// What verifiers and shape rules of quantized ops share: where scales and zero
// points may vary, and the dimensions of matrix products.
//
// Enters: operands with the names they have in the op's definition. Leaves: an
// error that names the operand and ends with the constraint's label. Unknown
// ranks and dimensions, and operands that are left out, pass every check.

#ifndef ONNXQUANT_LIB_DIALECT_ONNX_OPS_QUANTIZATIONCOMMON_H
#define ONNXQUANT_LIB_DIALECT_ONNX_OPS_QUANTIZATIONCOMMON_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"

namespace onnxquant::onnx::quantized {

/// An operand and its name.
struct Named {
  mlir::Value value;
  llvm::StringRef name;
};

/// The dimensions of a value's type; none if the rank is unknown or the value
/// is left out.
std::optional<llvm::ArrayRef<int64_t>> getShape(mlir::Value value);

/// One dimension of a value's type, from the end where `index` is negative;
/// dynamic if it is unknown or there is no such dimension.
int64_t getDim(mlir::Value value, int64_t index);

/// Whether two dimensions can be the same.
bool mayEqual(int64_t a, int64_t b);

/// Whether a shape is that of a scalar or of a vector that may have one
/// element.
bool mayBeOneElement(llvm::ArrayRef<int64_t> shape);

/// Dimensions as text, such as `[2, ?]`.
std::string toString(llvm::ArrayRef<int64_t> shape);

//===----------------------------------------------------------------------===//
// Shapes of scales, zero points and biases
//===----------------------------------------------------------------------===//

/// Each has one element.
llvm::LogicalResult verifyPerTensor(mlir::Operation *op,
                                    llvm::ArrayRef<Named> parameters,
                                    unsigned label);

/// Each has one element, or is a vector of `count`.
llvm::LogicalResult verifyPerChannel(mlir::Operation *op,
                                     llvm::ArrayRef<Named> parameters,
                                     int64_t count, unsigned label);

/// Each is a vector of `count` elements.
llvm::LogicalResult verifyVector(mlir::Operation *op,
                                 llvm::ArrayRef<Named> parameters,
                                 int64_t count, unsigned label);

/// Each has one element, one per row (or column) of the last two dimensions of
/// `matrix`, or `matrix`'s dimensions with 1 in place of the columns (rows).
llvm::LogicalResult verifyPerRow(mlir::Operation *op,
                                 llvm::ArrayRef<Named> parameters,
                                 mlir::Value matrix, unsigned label);
llvm::LogicalResult verifyPerColumn(mlir::Operation *op,
                                    llvm::ArrayRef<Named> parameters,
                                    mlir::Value matrix, unsigned label);

/// Checks scale and zero point of a (de)quantizer with four labels from
/// `firstLabel` on: axis, block size, shape of the scale, shape of the zero
/// point.
llvm::LogicalResult verifyLinear(mlir::Operation *op, mlir::Value x,
                                 Named scale, Named zeroPoint, int64_t axis,
                                 int64_t blockSize, unsigned firstLabel);

/// The type of a quantizer's result is `expected`.
llvm::LogicalResult verifyElementType(mlir::Operation *op, Named value,
                                      mlir::Type expected, unsigned label);

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// The operands are at least vectors, and their inner dimensions agree.
llvm::LogicalResult verifyMatMul(mlir::Operation *op, Named a, Named b,
                                 unsigned label);

/// The dimensions of numpy's matmul; none if a rank is unknown.
llvm::FailureOr<std::optional<Dims>> inferMatMulDims(ShapeContext &ctx,
                                                     mlir::Operation *op,
                                                     std::optional<Dims> a,
                                                     std::optional<Dims> b);

/// Infers the only result of `op` as numpy's matmul of two operands.
llvm::LogicalResult inferMatMul(ShapeContext &ctx, mlir::Operation *op,
                                mlir::Value a, mlir::Value b,
                                mlir::Type elementType);

} // namespace onnxquant::onnx::quantized

#endif // ONNXQUANT_LIB_DIALECT_ONNX_OPS_QUANTIZATIONCOMMON_H
