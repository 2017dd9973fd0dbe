// Functions of elements in stable forms, exact conversions, scalar operands.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace onnxquant::lowering {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Scalar number(Emitter &e, Scalar like, double value) {
  return e.number(value, like.elementType);
}

// Both correct the rounding of the argument of one function by the ratio of
// what the inverse function makes of it.

Scalar expMinusOne(Emitter &e, Scalar x) {
  Scalar one = number(e, x, 1), power = e.math<math::ExpOp>(x);
  Scalar plain = e.sub(power, one);
  Scalar exact = e.div(e.mul(plain, x), e.math<math::LogOp>(power));
  Value isTiny = e.compare(Emitter::EQ, power, one);
  // A power of 0 or infinity leaves nothing to correct.
  Value isEnd = arith::OrIOp::create(
      e, e.compare(Emitter::EQ, plain, number(e, x, -1)),
      e.compare(Emitter::EQ, power, e.highest(x.elementType)));
  return e.select(isTiny, x, e.select(isEnd, plain, exact));
}

Scalar logOnePlus(Emitter &e, Scalar x) {
  Scalar one = number(e, x, 1), sum = e.add(one, x);
  Scalar logarithm = e.math<math::LogOp>(sum);
  Scalar exact = e.div(e.mul(logarithm, x), e.sub(sum, one));
  return e.select(e.compare(Emitter::EQ, sum, one), x, exact);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Scalar relu(Emitter &e, Scalar x) {
  return isUnsigned(x.elementType) ? x : e.max(x, number(e, x, 0));
}

Scalar sigmoid(Emitter &e, Scalar x) {
  // exp(-|x|) doesn't overflow, and stays exact where the result is tiny.
  Scalar one = number(e, x, 1), below = e.neg(e.abs(x));
  auto flags = below.value.getType().isF32() ? arith::FastMathFlags::afn
                                             : arith::FastMathFlags::none;
  Scalar rest = {math::ExpOp::create(e, below.value, flags).getResult(),
                 x.elementType};
  Value isNegative = e.compare(Emitter::LT, x, number(e, x, 0));
  Scalar sum = e.add(one, rest), gained = e.sub(e.sub(sum, one), rest);
  Scalar y = e.div(e.select(isNegative, rest, one), sum);
  // What the sum was rounded by; it should be divided by the sum, but that is
  // small where the sum isn't near one.
  return e.add(y, e.mul(y, gained));
}

Scalar softplus(Emitter &e, Scalar x) {
  Scalar rest = e.math<math::ExpOp>(e.neg(e.abs(x)));
  return e.add(e.max(x, number(e, x, 0)), logOnePlus(e, rest));
}

Scalar softsign(Emitter &e, Scalar x) {
  return e.div(x, e.add(number(e, x, 1), e.abs(x)));
}

Scalar mish(Emitter &e, Scalar x) {
  // tanh(ln(1 + t)) = n / (n + 2) with n = t * (t + 2). From 40 on this is 1.
  Scalar two = number(e, x, 2);
  Scalar t = e.math<math::ExpOp>(e.min(x, number(e, x, 40)));
  Scalar n = e.mul(t, e.add(t, two));
  return e.mul(x, e.div(n, e.add(n, two)));
}

Scalar gelu(Emitter &e, Scalar x) {
  // 1 + erf(z) = erfc(-z), which doesn't cancel out for negative values.
  Scalar z = e.mul(x, number(e, x, -std::sqrt(0.5)));
  Scalar half = e.mul(x, number(e, x, 0.5));
  return e.mul(half, e.math<math::ErfcOp>(z));
}

Scalar geluTanh(Emitter &e, Scalar x) {
  // (1 + tanh(u)) / 2 = sigmoid(2 * u).
  const double twice = 2 * std::sqrt(2 / M_PI);
  Scalar square = e.mul(x, x);
  Scalar factor =
      e.add(number(e, x, twice), e.mul(number(e, x, twice * 0.044715), square));
  return e.mul(x, sigmoid(e, e.mul(x, factor)));
}

Scalar hardSigmoid(Emitter &e, Scalar x, double alpha, double beta) {
  Scalar line = e.add(e.mul(number(e, x, alpha), x), number(e, x, beta));
  return e.max(number(e, x, 0), e.min(number(e, x, 1), line));
}

Scalar elu(Emitter &e, Scalar x, double alpha) {
  Scalar curve = e.mul(number(e, x, alpha), expMinusOne(e, x));
  return e.select(e.compare(Emitter::LT, x, number(e, x, 0)), curve, x);
}

Scalar leakyRelu(Emitter &e, Scalar x, double alpha) {
  return e.select(e.compare(Emitter::LT, x, number(e, x, 0)),
                  e.mul(number(e, x, alpha), x), x);
}

Scalar thresholdedRelu(Emitter &e, Scalar x, double alpha) {
  return e.select(e.compare(Emitter::GT, x, number(e, x, alpha)), x,
                  number(e, x, 0));
}

Scalar logicalAnd(Emitter &e, Scalar a, Scalar b) {
  return {arith::AndIOp::create(e, a.value, b.value), a.elementType};
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Whether a signed divisor is -1, and one that can't overflow in its place.
static std::pair<Value, Scalar> avoidMinusOne(Emitter &e, Scalar b) {
  Value isMinusOne = e.compare(Emitter::EQ, b, e.integer(-1, b.elementType));
  return {isMinusOne, e.select(isMinusOne, e.integer(1, b.elementType), b)};
}

Scalar wrappingDiv(Emitter &e, Scalar a, Scalar b) {
  if (isFloat(a.elementType) || isUnsigned(a.elementType))
    return e.div(a, b);
  auto [isMinusOne, divisor] = avoidMinusOne(e, b);
  return e.select(isMinusOne, e.neg(a), e.div(a, divisor));
}

Scalar wrappingRem(Emitter &e, Scalar a, Scalar b) {
  if (isFloat(a.elementType) || isUnsigned(a.elementType))
    return e.rem(a, b);
  return e.rem(a, avoidMinusOne(e, b).second);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// An `f64` as an `f32` whose last bit is set if anything was lost. Rounding
/// that to fewer digits gives what rounding the `f64` would have given.
static Scalar roundToOdd(Emitter &e, Scalar x) {
  Type f32 = e.getF32Type(), i32 = e.getI32Type();
  Value nearest = arith::TruncFOp::create(e, f32, x.value);
  Value back = arith::ExtFOp::create(e, x.value.getType(), nearest);
  Value lost =
      arith::CmpFOp::create(e, arith::CmpFPredicate::ONE, back, x.value);
  Value above = arith::CmpFOp::create(e, arith::CmpFPredicate::OGT,
                                      math::AbsFOp::create(e, back),
                                      math::AbsFOp::create(e, x.value));
  Value bits = arith::BitcastOp::create(e, i32, nearest);
  bits = arith::SubIOp::create(e, bits, arith::ExtUIOp::create(e, i32, above));
  bits = arith::OrIOp::create(e, bits, arith::ExtUIOp::create(e, i32, lost));
  return {arith::BitcastOp::create(e, f32, bits), f32};
}

Scalar castOnce(Emitter &e, Scalar x, Type elementType, bool saturate) {
  Type from = x.elementType;
  bool toSmall = isFloat(elementType) && computeType(elementType).isF32() &&
                 elementType.getIntOrFloatBitWidth() < 32;
  bool isWide =
      from.isF64() || (from.isInteger() && from.getIntOrFloatBitWidth() >= 32);
  if (toSmall && isWide)
    x = roundToOdd(e, e.cast(x, e.getF64Type()));
  return e.cast(x, elementType, saturate);
}

Scalar indexToF64(Emitter &e, Value index) {
  Type f64 = e.getF64Type();
  return {arith::SIToFPOp::create(e, f64, e.toI64(index)), f64};
}

Tensor asStored(Tensor tensor) {
  return {tensor.value, storageType(tensor.elementType)};
}

//===----------------------------------------------------------------------===//
// Scalar operands
//===----------------------------------------------------------------------===//

Scalar readScalar(Emitter &e, Tensor tensor) {
  Indices zeros;
  for (int64_t axis = 0; axis < tensor.rank(); ++axis) {
    zeros.push_back(e.index(0));
    OpFoldResult size = e.size(tensor, axis);
    if (e.constant(size) != 1)
      e.check(e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(size), e.index(1)),
              "an operand isn't a scalar");
  }
  return e.read(tensor, zeros);
}

OpFoldResult readSize(Emitter &e, Value original, Tensor tensor) {
  std::optional<SmallVector<int64_t>> known =
      onnx::readInts(onnx::getConstant(original), 1);
  if (known && known->size() == 1)
    return e.getIndexAttr(known->front());
  Scalar size = readScalar(e, tensor);
  return e.toIndex(size.value, isUnsigned(size.elementType));
}

void checkSize(Emitter &e, OpFoldResult size, const Twine &name) {
  constexpr int64_t most = int64_t(1) << 48;
  std::optional<int64_t> known = e.constant(size);
  if (known && *known >= 0 && *known <= most)
    return;
  Value fits =
      e.cmpIndex(arith::CmpIPredicate::ule, e.asValue(size), e.index(most));
  e.check(fits, name + " is negative or too large");
}

void checkPositive(Emitter &e, OpFoldResult size, const Twine &name) {
  if (e.constant(size).value_or(0) > 0)
    return;
  Value fits =
      e.cmpIndex(arith::CmpIPredicate::sgt, e.asValue(size), e.index(0));
  e.check(fits, name + " is not positive");
}

} // namespace onnxquant::lowering
