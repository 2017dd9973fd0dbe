// x / scale as fma(x, high, x * low), where high + low is about 1 / scale: the
// same integers, if trying all floats near a half between the bounds says so.
//
// Product and quotient lie within a unit of the last place of the exact
// quotient, so that they round to different integers only next to a half. What
// is near a half of those that clamping leaves is tried.

#include "ReciprocalScale.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Floats on either side of a half that are tried: more than those whose
/// quotients can lie on its other side.
static constexpr int nearest = 8;
/// Integers between the bounds whose halves are tried: those of 8 bits.
static constexpr int64_t mostIntegers = 255;

static float multiply(float x, const TwoPartReciprocal &by) {
  // Rounded on its own, whatever the compiler may do.
  volatile float low = x * by.low;
  return std::fma(x, by.high, low);
}

std::optional<TwoPartReciprocal>
kernels::findReciprocal(float scale, int64_t least, int64_t most) {
  if (!std::isnormal(scale) || scale < 0x1p-100f || scale > 0x1p100f)
    return std::nullopt;
  // Rounded towards zero, so that no part takes away from another: infinite
  // operands have infinite products.
  double exact = 1.0 / static_cast<double>(scale);
  auto high = static_cast<float>(exact);
  if (high > exact)
    high = std::nextafter(high, 0.0f);
  TwoPartReciprocal parts = {high, static_cast<float>(exact - high)};
  if (parts.low == 0)
    return parts;
  for (int64_t whole = least - 1; whole <= most; ++whole) {
    double half = static_cast<double>(whole) + 0.5;
    auto x = static_cast<float>(half * scale);
    for (int i = 0; i < nearest; ++i)
      x = std::nextafter(x, -std::numeric_limits<float>::infinity());
    for (int i = 0; i <= 2 * nearest; ++i) {
      volatile float quotient = x / scale;
      if (std::nearbyint(multiply(x, parts)) != std::nearbyint(quotient))
        return std::nullopt;
      x = std::nextafter(x, std::numeric_limits<float>::infinity());
    }
  }
  return parts;
}

/// Replaces the division whose quotient is requantized.
static bool multiplyInstead(onnxq::RequantizeOp op) {
  auto divide = op.getValue().getDefiningOp<arith::DivFOp>();
  FloatAttr divisor;
  IntegerAttr zero;
  if (!divide || !divide->hasOneUse() || !divide.getType().isF32() ||
      op.getScale() || !matchPattern(divide.getRhs(), m_Constant(&divisor)) ||
      !matchPattern(op.getZeroPoint(), m_Constant(&zero)))
    return false;
  int64_t least = static_cast<int64_t>(op.getLower()) - zero.getInt(),
          most = static_cast<int64_t>(op.getUpper()) - zero.getInt();
  if (most - least > mostIntegers)
    return false;
  auto parts = findReciprocal(divisor.getValue().convertToFloat(), least, most);
  if (!parts)
    return false;
  ImplicitLocOpBuilder b(divide.getLoc(), divide);
  auto constant = [&](float value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  Value x = divide.getLhs(), high = constant(parts->high), quotient;
  if (parts->low == 0) {
    quotient = arith::MulFOp::create(b, x, high);
  } else {
    Value low = arith::MulFOp::create(b, x, constant(parts->low));
    quotient = math::FmaOp::create(b, x, high, low);
  }
  op.getValueMutable().assign(quotient);
  divide.erase();
  return true;
}

int64_t kernels::multiplyByReciprocals(Block &block) {
  int64_t replaced = 0;
  for (auto op : block.getOps<onnxq::RequantizeOp>())
    replaced += multiplyInstead(op);
  return replaced;
}
