// What the external models of QuantizableOpInterface share.

#ifndef ONNXQUANT_LIB_DIALECT_ONNX_QUANTIZABLE_MODELS_H
#define ONNXQUANT_LIB_DIALECT_ONNX_QUANTIZABLE_MODELS_H

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"

namespace onnxquant::onnx::quantizable {

/// An external model whose methods default to the interface's.
template <typename Model, typename Op>
using Base = QuantizableOpInterface::ExternalModel<Model, Op>;

/// The rank of a tensor, if it is known.
inline std::optional<int64_t> rankOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
}

inline bool isAbsent(mlir::Value value) {
  return llvm::isa<mlir::NoneType>(value.getType());
}

/// The type of `like` with another element type.
mlir::Type withElementType(mlir::Type like, mlir::Type elementType);
/// The element type of a tensor.
mlir::Type elementTypeOf(mlir::Value value);

/// An op of the dialect by its name, such as `onnx.QLinearConv`. Attributes are
/// those of `from` whose names are given.
mlir::Operation *createNode(mlir::OpBuilder &builder, mlir::Operation *from,
                            llvm::StringRef name, mlir::ValueRange operands,
                            mlir::Type resultType,
                            llvm::ArrayRef<llvm::StringRef> attributes = {});
/// A left out operand.
mlir::Value createAbsent(mlir::OpBuilder &builder, mlir::Location loc);

/// Whether a parameter is one number.
bool isSingle(mlir::Value parameter);
/// Whether all operands with a value have 8 bits.
bool haveEightBits(llvm::ArrayRef<QuantizedOperand> operands);
/// `value` with its two dimensions exchanged; a constant is rewritten.
mlir::Value transposeMatrix(mlir::OpBuilder &builder, mlir::Operation *from,
                            mlir::Value value);

void attachAttention(mlir::MLIRContext &context);
void attachContractions(mlir::MLIRContext &context);
void attachDataMovement(mlir::MLIRContext &context);
void attachElementwise(mlir::MLIRContext &context);
void attachRecurrent(mlir::MLIRContext &context);
void attachReductions(mlir::MLIRContext &context);

} // namespace onnxquant::onnx::quantizable

#endif // ONNXQUANT_LIB_DIALECT_ONNX_QUANTIZABLE_MODELS_H
