// `onnxq.requantize`: its verifier and folder, and what it costs.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

/// Rounding, the zero point, two comparisons with their selections, and two
/// conversions; a scale is a conversion and a product before.
static constexpr int64_t operationsToRequantize = 8, operationsToScale = 2;

Type onnxq::getLikeShaped(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

int64_t onnxq::countOperations(Block &block) {
  int64_t count = 0;
  for (Operation &op : block.without_terminator()) {
    if (auto requantize = dyn_cast<RequantizeOp>(op))
      count += operationsToRequantize +
               (requantize.getScale() ? operationsToScale : 0);
    else if (!op.hasTrait<OpTrait::ConstantLike>())
      ++count;
  }
  return count;
}

LogicalResult RequantizeOp::verify() {
  auto lower = static_cast<int64_t>(getLower()),
       upper = static_cast<int64_t>(getUpper());
  Type element = getElementTypeOrSelf(getResult().getType());
  // Floats hold what any of the integers does, less a zero point.
  int64_t half = element.isF32()
                     ? int64_t(1) << 17
                     : int64_t(1) << (element.getIntOrFloatBitWidth() - 1);
  bool fits =
      (lower >= -half && upper < half) || (lower >= 0 && upper < 2 * half);
  if (lower > upper || !fits)
    return emitOpError("expects bounds in order that fit ")
           << element << ", but got " << lower << " and " << upper << " [C1]";
  Type value = getElementTypeOrSelf(getValue().getType());
  if (value.isInteger() && !getScale())
    return emitOpError("expects a scale for a value of type ")
           << value << " [C2]";
  return success();
}

/// The `f32` of a scalar constant that is one or an integer.
static std::optional<float> readFloat(Attribute constant) {
  if (auto real = dyn_cast_if_present<FloatAttr>(constant))
    if (real.getType().isF32())
      return real.getValue().convertToFloat();
  if (auto whole = dyn_cast_if_present<IntegerAttr>(constant))
    return static_cast<float>(whole.getInt());
  return std::nullopt;
}

OpFoldResult RequantizeOp::fold(FoldAdaptor adaptor) {
  std::optional<float> x = readFloat(adaptor.getValue());
  auto zero = dyn_cast_if_present<IntegerAttr>(adaptor.getZeroPoint());
  if (!x || !zero)
    return {};
  if (getScale()) {
    std::optional<float> scale = readFloat(adaptor.getScale());
    if (!scale)
      return {};
    *x *= *scale;
  }
  double sum = std::nearbyint(static_cast<double>(*x)) + zero.getInt();
  auto lower = static_cast<int64_t>(getLower()),
       upper = static_cast<int64_t>(getUpper());
  int64_t number = !(sum > lower) ? lower
                   : sum < upper  ? static_cast<int64_t>(sum)
                                  : upper;
  Type type = getType();
  if (type.isF32())
    return FloatAttr::get(type, static_cast<double>(number));
  return IntegerAttr::get(
      type,
      APInt(64, number, /*isSigned=*/true).trunc(type.getIntOrFloatBitWidth()));
}
