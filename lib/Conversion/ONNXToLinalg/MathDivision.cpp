// Div, Mod and Pow: the elementwise ops that can fail on integers.
//
// Zero divisors, and zeros raised to negative powers, are looked for before the
// loop that computes, which stays free of checks.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

/// How many elements of a constant are looked at.
static constexpr int64_t readLimit = 4096;

/// Checks that all elements of a boolean tensor are set.
static void checkAll(Emitter &e, Tensor flags, const Twine &message) {
  Type boolean = e.getI1Type();
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, flags.rank()));
  Tensor all = e.reduce(flags, axes, /*keepDims=*/false, e.integer(1, boolean),
                        [&](Scalar element, Scalar accumulator) {
                          return logicalAnd(e, element, accumulator);
                        });
  e.check(e.read(all, {}).value, message);
}

/// Checks that an integer divisor has no zeros, unless that is known. Tells
/// whether it is a constant without -1 too, so that no quotient can overflow.
static bool checkDivisor(Emitter &e, Value original, Tensor divisor) {
  if (isFloat(divisor.elementType))
    return true;
  std::optional<SmallVector<int64_t>> known =
      onnx::readInts(onnx::getConstant(original), readLimit);
  if (known && !llvm::is_contained(*known, 0))
    return !llvm::is_contained(*known, -1);
  Tensor flags = e.map({divisor}, e.getI1Type(), [&](ArrayRef<Scalar> v) {
    Scalar zero = e.integer(0, divisor.elementType);
    return Scalar{e.compare(Emitter::NE, v[0], zero), e.getI1Type()};
  });
  checkAll(e, flags, "division of integers by zero");
  return false;
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// A power with a known exponent by few multiplications; none if it takes more.
static std::optional<Scalar> powerByConstant(Emitter &e, Scalar x,
                                             double exponent) {
  Type type = x.elementType;
  if (exponent == 0)
    return e.number(1, type);
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return e.mul(x, x);
  if (exponent == 3)
    return e.mul(e.mul(x, x), x);
  if (exponent == 4)
    return e.mul(e.mul(x, x), e.mul(x, x));
  if (!isFloat(type))
    return std::nullopt;
  if (exponent == -1)
    return e.div(e.number(1, type), x);
  if (exponent == 0.5) {
    // A power of -inf is inf, but its square root is NaN.
    Value isLowest = e.compare(Emitter::EQ, x, e.lowest(type));
    return e.select(isLowest, e.highest(type), e.math<math::SqrtOp>(x));
  }
  return std::nullopt;
}

/// The type that a power is computed in unless both operands are integers.
static Type powerType(Emitter &e, Type x, Type y) {
  bool exponentFitsSingle =
      isFloat(y) ? !y.isF64() : y.getIntOrFloatBitWidth() < 32;
  bool isSingle = isFloat(x) && !x.isF64() && exponentFitsSingle;
  return isSingle ? Type(e.getF32Type()) : e.getF64Type();
}

/// `x ^ y` for an exponent that is not negative, by squaring; wraps around.
static Scalar powerBySquaring(Emitter &e, Scalar x, Value exponent) {
  Type type = x.elementType;
  Value zero = e.integer(0, e.getI64Type()).value,
        one = e.integer(1, e.getI64Type()).value;
  SmallVector<Value> start = {e.integer(1, type).value, x.value, exponent};
  auto loop = scf::WhileOp::create(e, TypeRange(ValueRange(start)), start);
  OpBuilder::InsertionGuard guard(e);
  SmallVector<Location> locs(3, e.getLoc());
  Block *before =
      e.createBlock(&loop.getBefore(), {}, TypeRange(ValueRange(start)), locs);
  Value more = arith::CmpIOp::create(e, arith::CmpIPredicate::ne,
                                     before->getArgument(2), zero);
  scf::ConditionOp::create(e, more, before->getArguments());
  Block *after =
      e.createBlock(&loop.getAfter(), {}, TypeRange(ValueRange(start)), locs);
  Scalar result{after->getArgument(0), type}, base{after->getArgument(1), type};
  Value rest = after->getArgument(2);
  Value isOdd = arith::CmpIOp::create(
      e, arith::CmpIPredicate::ne, arith::AndIOp::create(e, rest, one), zero);
  Scalar next = e.select(isOdd, e.mul(result, base), result);
  Value halved = arith::ShRUIOp::create(e, rest, one);
  scf::YieldOp::create(e,
                       ValueRange{next.value, e.mul(base, base).value, halved});
  return {loop.getResult(0), type};
}

/// Powers of integers. A negative exponent leaves 0, but for bases 1 and -1.
static Scalar integerPower(Emitter &e, Scalar x, Scalar y) {
  Type i64 = e.getI64Type(), type = x.elementType;
  Value exponent = e.cast(y, i64).value;
  if (isUnsigned(y.elementType))
    return powerBySquaring(e, x, exponent);
  Value zero = e.integer(0, i64).value;
  Value isNegative =
      arith::CmpIOp::create(e, arith::CmpIPredicate::slt, exponent, zero);
  // 1 and -1 are their own reciprocals: for them the parity is enough.
  Value parity = arith::AndIOp::create(e, exponent, e.integer(1, i64).value);
  Scalar power = powerBySquaring(
      e, x, arith::SelectOp::create(e, isNegative, parity, exponent));
  Value isUnit = e.compare(Emitter::EQ, x, e.integer(1, type));
  if (!isUnsigned(type))
    isUnit = arith::OrIOp::create(
        e, isUnit, e.compare(Emitter::EQ, x, e.integer(-1, type)));
  Value isLost = arith::AndIOp::create(
      e, isNegative,
      arith::XOrIOp::create(e, isUnit, e.integer(1, e.getI1Type()).value));
  return e.select(isLost, e.integer(0, type), power);
}

static void checkIntegerPower(Emitter &e, Value exponents, Tensor x, Tensor y) {
  std::optional<SmallVector<int64_t>> known =
      onnx::readInts(onnx::getConstant(exponents), readLimit);
  if (isUnsigned(y.elementType) ||
      (known && llvm::all_of(*known, [](int64_t n) { return n >= 0; })))
    return;
  Tensor flags = e.map({x, y}, e.getI1Type(), [&](ArrayRef<Scalar> v) {
    Value baseFits = e.compare(Emitter::NE, v[0], e.integer(0, x.elementType));
    Value exponentFits =
        e.compare(Emitter::GE, v[1], e.integer(0, y.elementType));
    return Scalar{arith::OrIOp::create(e, baseFits, exponentFits),
                  e.getI1Type()};
  });
  checkAll(e, flags, "integer zero raised to a negative power");
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct LowerDiv : OpLowering<onnx::DivOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DivOp op, Operands operands, Emitter &e) const override {
    bool isSafe = checkDivisor(e, op.getB(), operands[1]);
    Tensor c = e.map(operands.all(), resultType(op), [&](ArrayRef<Scalar> v) {
      return isSafe ? e.div(v[0], v[1]) : wrappingDiv(e, v[0], v[1]);
    });
    return SmallVector<Value>{c.value};
  }
};

struct LowerMod : OpLowering<onnx::ModOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ModOp op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    bool isSafe = checkDivisor(e, op.getB(), operands[1]);
    bool followsDivisor = !op.getFmod() && !isFloat(type) && !isUnsigned(type);
    Tensor c = e.map(operands.all(), type, [&](ArrayRef<Scalar> v) {
      Scalar rest = isSafe ? e.rem(v[0], v[1]) : wrappingRem(e, v[0], v[1]);
      return followsDivisor ? withSignOf(e, rest, v[1]) : rest;
    });
    return SmallVector<Value>{c.value};
  }

  /// Moves a remainder that has the other sign than the divisor.
  static Scalar withSignOf(Emitter &e, Scalar rest, Scalar divisor) {
    Scalar zero = e.integer(0, rest.elementType);
    Value differs =
        arith::XOrIOp::create(e, e.compare(Emitter::LT, rest, zero),
                              e.compare(Emitter::LT, divisor, zero));
    Value moves =
        arith::AndIOp::create(e, differs, e.compare(Emitter::NE, rest, zero));
    return e.select(moves, e.add(rest, divisor), rest);
  }
};

struct LowerPow : OpLowering<onnx::PowOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::PowOp op, Operands operands, Emitter &e) const override {
    Tensor x = operands[0], y = operands[1];
    Type type = resultType(op), exponentType = y.elementType;
    bool isInteger = !isFloat(type) && !isFloat(exponentType);
    std::optional<SmallVector<double>> known =
        onnx::readFloats(onnx::getConstant(op.getY()), 1);
    if (isInteger)
      checkIntegerPower(e, op.getY(), x, y);
    Type wide = powerType(e, type, exponentType);
    SmallVector<Tensor> inputs = {x};
    if (!known || known->size() != 1 || y.rank() > x.rank())
      inputs.push_back(y);
    Tensor z = e.map(inputs, type, [&](ArrayRef<Scalar> v) {
      std::optional<Scalar> simple;
      if (known && known->size() == 1)
        simple = powerByConstant(e, v[0], known->front());
      if (simple)
        return *simple;
      Scalar exponent =
          v.size() > 1 ? v[1] : e.number(known->front(), exponentType);
      if (isInteger)
        return integerPower(e, v[0], exponent);
      Value power = math::PowFOp::create(e, e.cast(v[0], wide).value,
                                         e.cast(exponent, wide).value);
      return castOnce(e, {power, wide}, type);
    });
    return SmallVector<Value>{z.value};
  }
};

} // namespace

void onnxquant::lowering::addMathDivisionLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerDiv, LowerMod, LowerPow>(types, patterns.getContext());
}
