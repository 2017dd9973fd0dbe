// One table of ONNX's data type numbers, read in both directions.

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace onnxquant;

Type onnx::elementTypeFromOnnx(int64_t dataType, MLIRContext *context) {
  auto integer = [&](unsigned width) {
    return IntegerType::get(context, width);
  };
  auto unsignedInteger = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dataType) {
  case 1:
    return Float32Type::get(context);
  case 2:
    return unsignedInteger(8);
  case 3:
    return integer(8);
  case 4:
    return unsignedInteger(16);
  case 5:
    return integer(16);
  case 6:
    return integer(32);
  case 7:
    return integer(64);
  case 9:
    return integer(1);
  case 10:
    return Float16Type::get(context);
  case 11:
    return Float64Type::get(context);
  case 12:
    return unsignedInteger(32);
  case 13:
    return unsignedInteger(64);
  case 14:
    return ComplexType::get(Float32Type::get(context));
  case 15:
    return ComplexType::get(Float64Type::get(context));
  case 16:
    return BFloat16Type::get(context);
  case 17:
    return Float8E4M3FNType::get(context);
  case 18:
    return Float8E4M3FNUZType::get(context);
  case 19:
    return Float8E5M2Type::get(context);
  case 20:
    return Float8E5M2FNUZType::get(context);
  case 21:
    return unsignedInteger(4);
  case 22:
    return integer(4);
  case 23:
    return Float4E2M1FNType::get(context);
  case 24:
    return Float8E8M0FNUType::get(context);
  default:
    return {};
  }
}

std::optional<int64_t> onnx::onnxFromElementType(Type type) {
  constexpr int64_t last = 24;
  if (!type)
    return std::nullopt;
  for (int64_t dataType = 1; dataType <= last; ++dataType)
    if (elementTypeFromOnnx(dataType, type.getContext()) == type)
      return dataType;
  return std::nullopt;
}
