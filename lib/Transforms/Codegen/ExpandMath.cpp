// Functions of floats as arithmetic. Enters: math ops on f32, scalars or
// vectors. Leaves: adds, products, selects and shifts that loops over elements
// are vectorized with, and that give the same bits on every target with fused
// multiplication and addition.
//
// Errors in units of the last place, found by comparing with functions of
// doubles on a net of floats: exp 0.76, log 0.78, tanh 1.4, erf 1.1, powf 0.6,
// erfc 2.3 (2.8 without fusing). Exponentials that are part of a sigmoid may be
// less exact: the sigmoid 1.9 (2.0 without fusing).

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include <limits>

namespace onnxquant {
#define GEN_PASS_DEF_EXPANDMATH
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {

/// Writes formulas on values of one shape: a scalar, or the lanes of a vector.
class Formula : public ImplicitLocOpBuilder {
public:
  Formula(Operation *op, OpBuilder &builder, bool fuses)
      : ImplicitLocOpBuilder(op->getLoc(), builder), fuses(fuses),
        shape(op->getResult(0).getType()) {}

  /// The type of an element in this shape.
  Type of(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value constant(TypedAttr value) {
    Type type = of(value.getType());
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(*this, value);
  }
  Value number(double value, Type element = {}) {
    return constant(getFloatAttr(element ? element : getF32Type(), value));
  }
  Value integer(int64_t value, unsigned bits = 32) {
    return constant(getIntegerAttr(getIntegerType(bits), value));
  }
  /// `value` in the precision of `like`.
  Value numberLike(Value like, double value) {
    return number(value, getElementTypeOrSelf(like.getType()));
  }

  Value add(Value x, Value y) { return arith::AddFOp::create(*this, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(*this, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(*this, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(*this, x, y); }
  Value abs(Value x) { return math::AbsFOp::create(*this, x); }
  Value neg(Value x) { return arith::NegFOp::create(*this, x); }
  Value withSign(Value x, Value sign) {
    return math::CopySignOp::create(*this, x, sign);
  }
  /// x * y + z, rounded once where the target can.
  Value fma(Value x, Value y, Value z) {
    if (fuses)
      return math::FmaOp::create(*this, x, y, z);
    return add(mul(x, y), z);
  }
  Value fma(Value x, double y, Value z) { return fma(x, numberLike(x, y), z); }
  /// The polynomial with these coefficients, the highest power's first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = numberLike(x, coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, numberLike(x, coefficient));
    return sum;
  }
  Value compare(arith::CmpFPredicate predicate, Value x, double y) {
    return compare(predicate, x, numberLike(x, y));
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(*this, predicate, x, y);
  }
  Value less(Value x, double y) {
    return compare(arith::CmpFPredicate::OLT, x, y);
  }
  Value greater(Value x, double y) {
    return compare(arith::CmpFPredicate::OGT, x, y);
  }
  Value isNaN(Value x) { return compare(arith::CmpFPredicate::UNO, x, x); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(*this, condition, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(*this, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(*this, x, y); }
  Value negate(Value condition) {
    return arith::XOrIOp::create(*this, condition, integer(1, 1));
  }
  /// NaN stays NaN.
  Value atMost(Value x, double limit) {
    return select(greater(x, limit), numberLike(x, limit), x);
  }
  Value atLeast(Value x, double limit) {
    return select(less(x, limit), numberLike(x, limit), x);
  }
  Value bits(Value x) {
    unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
    return arith::BitcastOp::create(*this, of(getIntegerType(width)), x);
  }
  Value fromBits(Value x) {
    bool isWide = getElementTypeOrSelf(x.getType()).isInteger(64);
    return arith::BitcastOp::create(
        *this, of(isWide ? Type(getF64Type()) : Type(getF32Type())), x);
  }
  Value addInt(Value x, Value y) { return arith::AddIOp::create(*this, x, y); }
  Value subInt(Value x, Value y) { return arith::SubIOp::create(*this, x, y); }
  Value andInt(Value x, Value y) { return arith::AndIOp::create(*this, x, y); }

  const bool fuses;

private:
  Type shape;
};

} // namespace

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
/// ln(2) in two parts; products of the first with small integers are exact.
static constexpr double ln2High = 0.693359375, ln2Low = -2.12194440e-4;

/// 2^n * e^r of no positive number, with what is rounded on the way left as it
/// is. The polynomial is 2^-64 times e^r, so that the other factor is a float
/// even where the product is none that is normal.
static Value expandBelow(Formula &f, Value operand) {
  Value x = f.atLeast(operand, -104);
  Value shifted = f.fma(x, 1.44269504088896341, f.number(12582912));
  Value n = f.sub(shifted, f.number(12582912));
  Value r = f.fma(n, -ln2Low, f.fma(n, -ln2High, x));
  SmallVector<double> coefficients = {0x1.684fe4p-10,
                                      0x1.123bf0p-7,
                                      0x1.555b9ap-5,
                                      0x1.55548ep-3,
                                      0x1.fffff8p-2,
                                      1,
                                      1};
  for (double &coefficient : coefficients)
    coefficient *= 0x1p-64;
  Value power = f.polynomial(r, coefficients);
  Value exponent = arith::ShLIOp::create(f, f.bits(shifted), f.integer(23));
  return f.mul(power,
               f.fromBits(f.addInt(exponent, f.integer((127 + 64) << 23))));
}

/// Whether a number is the negative of a size.
static bool isBelow(Value value) {
  auto negative = value.getDefiningOp<arith::NegFOp>();
  return negative && negative.getOperand().getDefiningOp<math::AbsFOp>();
}

/// 2^n * e^r with r in +-ln(2)/2; in two steps, since 2^n itself may be no
/// float.
static Value expand(Formula &f, math::ExpOp op, ValueRange operands) {
  // An op that is allowed to be less exact.
  if (op && isBelow(operands[0]) &&
      bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
    return expandBelow(f, operands[0]);
  Value x = f.atLeast(f.atMost(operands[0], 89), -104);
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  Value shifted = f.fma(x, 1.44269504088896341, f.number(12582912));
  Value n = f.sub(shifted, f.number(12582912));
  Value high = f.fma(n, -ln2High, x);
  Value r = f.fma(n, -ln2Low, high);
  Value lost = f.fma(n, -ln2Low, f.sub(high, r));
  Value tail = f.polynomial(r, {0x1.684fe4p-10, 0x1.123bf0p-7, 0x1.555b9ap-5,
                                0x1.55548ep-3, 0x1.fffff8p-2});
  tail = f.fma(tail, f.mul(r, r), lost);
  Value head = f.add(f.number(1), r);
  Value rest = f.add(f.sub(f.number(1), head), r);
  Value power = f.add(head, f.add(rest, tail));
  Value count = f.subInt(f.bits(shifted), f.integer(0x4b400000));
  Value half = arith::ShRSIOp::create(f, count, f.integer(1));
  for (Value part : {half, f.subInt(count, half)}) {
    Value exponent = f.addInt(part, f.integer(127));
    power = f.mul(
        power, f.fromBits(arith::ShLIOp::create(f, exponent, f.integer(23))));
  }
  return power;
}

/// e * ln(2) + ln(m) with m in [sqrt(1/2), sqrt(2)).
static Value expand(Formula &f, math::LogOp, ValueRange operands) {
  Value x = operands[0];
  Value isTiny = f.less(x, 0x1p-126);
  Value scaled = f.select(isTiny, f.mul(x, f.number(8388608)), x);
  Value bias = f.select(isTiny, f.number(-23), f.number(0));
  Value root = f.integer(0x3f3504f3);
  Value offset = f.subInt(f.bits(scaled), root);
  Value exponent = arith::ShRSIOp::create(f, offset, f.integer(23));
  Value e =
      f.add(arith::SIToFPOp::create(f, f.of(f.getF32Type()), exponent), bias);
  Value m = f.fromBits(f.addInt(f.andInt(offset, f.integer(0x7fffff)), root));
  Value u = f.sub(m, f.number(1)), square = f.mul(u, u);
  Value y =
      f.polynomial(u, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                       -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                       2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = f.mul(f.mul(y, u), square);
  y = f.fma(e, ln2Low, y);
  y = f.fma(square, -0.5, y);
  y = f.fma(e, ln2High, f.add(u, y));
  y = f.select(f.less(x, infinity), y, x);
  y = f.select(f.compare(arith::CmpFPredicate::OEQ, x, 0), f.number(-infinity),
               y);
  return f.select(f.less(x, 0), f.number(notANumber), y);
}

/// An exponential that is itself expanded.
static Value exponential(Formula &f, Value x) {
  return expand(f, math::ExpOp(), x);
}

static Value expand(Formula &f, math::TanhOp, ValueRange operands) {
  Value x = operands[0], size = f.abs(x), square = f.mul(x, x);
  Value p = f.polynomial(square, {-5.70498872745e-3, 2.06390887954e-2,
                                  -5.37397155531e-2, 1.33314422036e-1,
                                  -3.33332819422e-1});
  Value small = f.fma(f.mul(p, square), x, x);
  Value power = exponential(f, f.add(size, size));
  Value large =
      f.sub(f.number(1), f.div(f.number(2), f.add(power, f.number(1))));
  return f.withSign(f.select(f.less(size, 0.625), small, large), x);
}

/// erf(x) / x - 1 for small x, from its square.
static Value erfTail(Formula &f, Value square) {
  return f.polynomial(square, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2,
                               1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
}

static Value expand(Formula &f, math::ErfOp, ValueRange operands) {
  Value x = operands[0];
  // From 4 on this is 1.
  Value size = f.atMost(f.abs(x), 4), square = f.mul(size, size);
  Value upper = f.fma(f.number(-1.72853470e-5), size, f.number(3.83197126e-4));
  Value lower = f.fma(f.number(-3.88396438e-3), size, f.number(2.42546219e-2));
  Value exponent = f.fma(upper, square, lower);
  for (double coefficient : {-1.06777877e-1, -6.34846687e-1, -1.28717512e-1})
    exponent = f.fma(exponent, size, f.number(coefficient));
  exponent = f.fma(exponent, size, f.neg(size));
  Value large = f.withSign(f.sub(f.number(1), exponential(f, exponent)), x);
  Value small = f.fma(erfTail(f, square), x, x);
  return f.select(f.greater(size, 0.927734375), large, small);
}

/// The rounded square minus x * x.
static Value squareError(Formula &f, Value x, Value square) {
  if (f.fuses)
    return f.neg(f.fma(x, x, f.neg(square)));
  Value high = f.fromBits(f.andInt(f.bits(x), f.integer(-4096)));
  Value low = f.sub(x, high), cross = f.mul(high, low);
  Value rest = f.sub(square, f.mul(high, high));
  rest = f.sub(f.sub(rest, cross), cross);
  return f.sub(rest, f.mul(low, low));
}

/// exp(-a^2) times a function of (a - 2) / (a + 2), after Shepherd and
/// Laframboise; 1 - erf(x) near 0.
static Value expand(Formula &f, math::ErfcOp, ValueRange operands) {
  Value x = operands[0], one = f.number(1);
  Value a = f.atMost(f.abs(x), 10.5);
  Value r = f.div(one, f.add(a, f.number(2)));
  Value q = f.mul(f.sub(a, f.number(2)), r);
  Value back = f.fma(f.add(q, one), -2, a);
  q = f.fma(r, f.fma(q, f.neg(a), back), q);
  Value p = f.polynomial(q, {-0x1.a4a000p-12, -0x1.42a260p-10, 0x1.585714p-10,
                             0x1.1adcc4p-07, -0x1.081b82p-07, -0x1.bc0b6ap-05,
                             0x1.4ffc46p-03, -0x1.540840p-03, -0x1.7bf616p-04,
                             0x1.1ba03ap-02});
  r = f.div(one, f.fma(a, 2, one));
  q = f.fma(p, r, r);
  Value residual = f.fma(f.fma(q, f.neg(a), f.number(0.5)), 2, f.sub(p, q));
  r = f.fma(residual, r, q);
  Value square = f.mul(a, a), power = exponential(f, f.neg(square));
  Value product = f.mul(r, power);
  Value large = f.fma(r, power, f.mul(product, squareError(f, a, square)));
  large = f.select(f.less(x, 0), f.sub(f.number(2), large), large);
  Value small = f.sub(f.sub(one, x), f.mul(erfTail(f, f.mul(x, x)), x));
  Value y = f.select(f.less(a, 0.45), small, large);
  return f.select(f.isNaN(x), x, y);
}

/// The exponent y of x^y, if it is a small integer.
static std::optional<int64_t> smallExponent(Value y) {
  APFloat value(0.0f);
  if (!matchPattern(y, m_ConstantFloat(&value)))
    return std::nullopt;
  double number = value.convertToDouble();
  if (number != 1 && number != 2 && number != 3)
    return std::nullopt;
  return static_cast<int64_t>(number);
}

/// 2^(y * log2|x|) in doubles.
static Value powerOfSize(Formula &f, Value size, Value y) {
  Type wide = f.getF64Type();
  auto number = [&](double value) { return f.number(value, wide); };
  // The bits of sqrt(1/2), and what moves exponents of 0 to bit 52.
  constexpr int64_t root = 0x3fe6a09e667f3bcd, zero = int64_t(1023) << 52;
  Value moved = f.addInt(f.bits(size), f.integer(zero - root, 64));
  Value biased = arith::ShRUIOp::create(f, moved, f.integer(52, 64));
  Value exponent = arith::SIToFPOp::create(
      f, f.of(wide),
      f.subInt(arith::TruncIOp::create(f, f.of(f.getI32Type()), biased),
               f.integer(1023)));
  Value m = f.fromBits(
      f.addInt(f.andInt(moved, f.integer((int64_t(1) << 52) - 1, 64)),
               f.integer(root, 64)));
  Value u = f.div(f.sub(m, number(1)), f.add(m, number(1)));
  constexpr double c = 2.885390081777926814;
  Value p = f.polynomial(
      f.mul(u, u), {c / 15, c / 13, c / 11, c / 9, c / 7, c / 5, c / 3, c});
  Value t = f.mul(f.fma(p, u, exponent), y);
  t = f.atLeast(f.atMost(t, 1000), -1000);
  Value shifted = f.add(t, number(6755399441055744.0));
  Value r = f.sub(t, f.sub(shifted, number(6755399441055744.0)));
  Value power = f.polynomial(r, {1.5252733804059838e-05, 1.5403530393381606e-04,
                                 1.3333558146428443e-03, 9.6181291076284772e-03,
                                 5.5504108664821580e-02, 2.4022650695910072e-01,
                                 6.9314718055994531e-01, 1.0});
  Value scale = arith::ShLIOp::create(f, f.bits(shifted), f.integer(52, 64));
  Value result = f.fromBits(f.addInt(f.bits(power), scale));
  return arith::TruncFOp::create(f, f.of(f.getF32Type()), result);
}

static Value expand(Formula &f, math::PowFOp, ValueRange operands) {
  using Predicate = arith::CmpFPredicate;
  Value x = operands[0], y = operands[1];
  if (std::optional<int64_t> exponent = smallExponent(y)) {
    Value product = x;
    for (int64_t i = 1; i < *exponent; ++i)
      product = f.mul(product, x);
    return product;
  }
  Type wide = f.of(f.getF64Type());
  Value size = f.abs(x);
  Value power = powerOfSize(f, arith::ExtFOp::create(f, wide, size),
                            arith::ExtFOp::create(f, wide, y));
  Value zero = f.number(0), large = f.number(infinity);
  Value isDown = f.less(y, 0);
  Value isZero = f.compare(Predicate::OEQ, size, 0);
  Value isInfinite = f.compare(Predicate::OEQ, size, infinity);
  power = f.select(isZero, f.select(isDown, large, zero), power);
  power = f.select(isInfinite, f.select(isDown, zero, large), power);
  // To the power of an infinity.
  Value grows = arith::CmpIOp::create(f, arith::CmpIPredicate::ne,
                                      f.greater(size, 1), isDown);
  Value limit = f.select(f.compare(Predicate::OEQ, size, 1), f.number(1),
                         f.select(grows, large, zero));
  power = f.select(f.compare(Predicate::OEQ, f.abs(y), infinity), limit, power);
  // Of a negative number.
  Value half = f.mul(y, f.number(0.5));
  Value isInteger =
      f.compare(Predicate::OEQ, math::RoundEvenOp::create(f, y), y);
  Value isOdd =
      f.both(isInteger, f.compare(Predicate::ONE,
                                  math::RoundEvenOp::create(f, half), half));
  power = f.select(isOdd, f.withSign(power, x), power);
  Value hasNoRoot =
      f.both(f.both(f.less(x, 0), f.negate(isInteger)), f.negate(isInfinite));
  power = f.select(hasNoRoot, f.number(notANumber), power);
  Value isUnknown = f.compare(Predicate::UNO, x, y);
  power = f.select(isUnknown, f.add(x, y), power);
  Value isOne = f.either(f.compare(Predicate::OEQ, y, 0),
                         f.compare(Predicate::OEQ, x, 1));
  return f.select(isOne, f.number(1), power);
}

namespace {

template <typename OpTy> struct ExpandOp : OpRewritePattern<OpTy> {
  ExpandOp(MLIRContext *context, bool fuses)
      : OpRewritePattern<OpTy>(context), fuses(fuses) {}
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "elements aren't f32");
    Formula formula(op, rewriter, fuses);
    rewriter.replaceOp(op, expand(formula, op, op->getOperands()));
    return success();
  }
  bool fuses;
};

struct ExpandMath : public onnxquant::impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandOp<math::ExpOp>, ExpandOp<math::LogOp>,
                 ExpandOp<math::TanhOp>, ExpandOp<math::ErfOp>,
                 ExpandOp<math::ErfcOp>, ExpandOp<math::PowFOp>>(&getContext(),
                                                                 fma);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
