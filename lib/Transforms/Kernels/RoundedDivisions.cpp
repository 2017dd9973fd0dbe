// Proves and makes multiplications of divisions by a scale.
//
// Product and quotient lie within a unit of the last place of the exact
// quotient, so that they round to different integers only next to a half. What
// is near a half of those that clamping leaves is tried.

#include "RoundedDivisions.h"
#include "RoundedEpilogue.h"
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

/// Whether nothing reads a number but ops that clamp it.
static bool isOnlyClamped(Value number) {
  return llvm::all_of(number.getUsers(), [](Operation *user) {
    return isa<arith::CmpFOp, arith::SelectOp>(user);
  });
}

/// Replaces the division that `clamped` rounds.
static bool multiplyClamped(const ClampedNumber &clamped) {
  Value sum = clamped.number;
  int64_t zero = 0;
  if (!isOnlyClamped(sum))
    return false;
  if (auto add = sum.getDefiningOp<arith::AddFOp>()) {
    FloatAttr constant;
    if (!matchPattern(add.getRhs(), m_Constant(&constant)))
      return false;
    zero = static_cast<int64_t>(constant.getValueAsDouble());
    sum = add.getLhs();
    if (!sum.hasOneUse())
      return false;
  }
  auto round = sum.getDefiningOp<math::RoundEvenOp>();
  auto divide = round ? round.getOperand().getDefiningOp<arith::DivFOp>()
                      : arith::DivFOp();
  FloatAttr divisor;
  if (!divide || !divide->hasOneUse() || !divide.getType().isF32() ||
      !matchPattern(divide.getRhs(), m_Constant(&divisor)))
    return false;
  auto parts = findReciprocal(divisor.getValue().convertToFloat(),
                              clamped.low - zero, clamped.high - zero);
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
  divide.replaceAllUsesWith(quotient);
  divide.erase();
  return true;
}

int64_t kernels::multiplyRounded(Block &block) {
  int64_t replaced = 0;
  SmallVector<Value> selects;
  for (auto select : block.getOps<arith::SelectOp>())
    selects.push_back(select);
  for (Value select : selects)
    if (auto clamped = matchClampedNumber(select))
      replaced += multiplyClamped(*clamped);
  return replaced;
}
