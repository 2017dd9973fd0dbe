// What elementwise ops do to the contents of small integer tensors, and what
// else the Math, Generator and Signal families share. Private to the dialect.
//
// Contents are integers even where the elements are floats: exporters compute
// sizes in floats and convert them back. A function is given the elements at
// one position and the result's element type, and answers none where the value
// isn't known.

#ifndef ONNXQUANT_LIB_DIALECT_ONNX_OPS_MATHSUPPORT_H
#define ONNXQUANT_LIB_DIALECT_ONNX_OPS_MATHSUPPORT_H

#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "mlir/IR/Operation.h"

namespace onnxquant::onnx {

/// Whether a value has, as far as its type tells, exactly one element in at
/// most one dimension.
bool mayBeScalar(mlir::Value value);

/// The only element of a scalar operand, or an unknown one.
Dim getScalar(ShapeContext &ctx, mlir::Value value);

/// The elements of a small constant of floats or integers, as floats.
std::optional<llvm::SmallVector<double>> getFloats(mlir::Value value);

/// Whether an expression is made of sizes and positive numbers only, so that
/// it isn't negative.
bool isNeverNegative(const Dim &dim);

/// Element types that an attribute may stand for.
bool isFloat(mlir::Type type);
bool isNumber(mlir::Type type);

/// What an attribute of ONNX's data type numbers has to say, and the labels of
/// the constraints: on the number, and on the output's element type.
struct DataTypeRule {
  llvm::StringRef attribute, expected;
  bool (*allows)(mlir::Type type);
  llvm::StringRef label, outputLabel;
};
llvm::LogicalResult verifyDataType(mlir::Operation *op, int64_t dataType,
                                   const DataTypeRule &rule);

namespace follow {

using Function = std::optional<Dim> (*)(llvm::ArrayRef<Dim> elements,
                                        mlir::Type type);

std::optional<Dim> identity(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> absolute(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> negate(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> add(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> sub(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> mul(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> div(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> modulo(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> remainder(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> power(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> maximum(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> minimum(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> equal(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> less(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> lessOrEqual(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> greater(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> greaterOrEqual(llvm::ArrayRef<Dim> elements,
                                  mlir::Type type);
std::optional<Dim> logicalNot(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> logicalAnd(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> logicalOr(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> logicalXor(llvm::ArrayRef<Dim> elements, mlir::Type type);
std::optional<Dim> select(llvm::ArrayRef<Dim> elements, mlir::Type type);

/// The first element type that is known.
mlir::Type commonElementType(mlir::ValueRange values);

/// Broadcasts the operands' dimensions, and follows contents by `function`.
/// Without `elementType`, the result has the operands' one.
llvm::LogicalResult elementwise(ShapeContext &ctx, mlir::Operation *op,
                                Function function, mlir::Type elementType = {});

/// How a float becomes an integer.
enum class Rounding { Down, Up, TowardZero };

/// The contents of `value` after rounding. A product with a binary fraction
/// and a quotient are looked through: that is how exporters scale sizes.
std::optional<Dims> roundedContents(ShapeContext &ctx, mlir::Value value,
                                    Rounding rounding);

/// Infers an op that rounds its only operand.
llvm::LogicalResult rounding(ShapeContext &ctx, mlir::Operation *op,
                             Rounding rounding);

/// States contents of a result of rank 0 or 1, as far as its element type can
/// hold them exactly.
void setExact(ShapeContext &ctx, mlir::OpResult result,
              llvm::ArrayRef<std::optional<Dim>> contents);

} // namespace follow
} // namespace onnxquant::onnx

#endif // ONNXQUANT_LIB_DIALECT_ONNX_OPS_MATHSUPPORT_H
