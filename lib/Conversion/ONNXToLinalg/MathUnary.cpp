// Functions of one operand without attributes, and tests of floats.

#include "MathSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Functions of an element
//===----------------------------------------------------------------------===//

/// A function that the math dialect has.
template <typename MathOp> static Scalar function(Emitter &e, Scalar x) {
  return e.math<MathOp>(x);
}

static Scalar absolute(Emitter &e, Scalar x) { return e.abs(x); }
static Scalar negate(Emitter &e, Scalar x) { return e.neg(x); }

static Scalar sign(Emitter &e, Scalar x) {
  Type type = x.elementType;
  Scalar zero = e.integer(0, type), one = e.integer(1, type);
  // Zero stays, and so does NaN.
  Scalar rest = x;
  if (!isUnsigned(type))
    rest = e.select(e.compare(Emitter::LT, x, zero), e.integer(-1, type), x);
  return e.select(e.compare(Emitter::GT, x, zero), one, rest);
}

/// All bits flipped; a boolean is a single one.
static Scalar flip(Emitter &e, Scalar x) {
  Scalar ones = e.integer(-1, x.elementType);
  return {arith::XOrIOp::create(e, x.value, ones.value), x.elementType};
}

static Scalar reciprocal(Emitter &e, Scalar x) {
  return e.div(e.number(1, x.elementType), x);
}

/// Integers go through `f64`, whose error function reaches 1 where it should.
static Scalar errorFunction(Emitter &e, Scalar x) {
  Type type = x.elementType;
  if (isFloat(type))
    return e.math<math::ErfOp>(x);
  return e.cast(e.math<math::ErfOp>(e.cast(x, e.getF64Type())), type);
}

static Scalar hardSwish(Emitter &e, Scalar x) {
  return e.mul(x, hardSigmoid(e, x, 1.0 / 6.0, 0.5));
}

//===----------------------------------------------------------------------===//
// Tests of floats
//===----------------------------------------------------------------------===//

namespace {

struct LowerIsNaN : OpLowering<onnx::IsNaNOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::IsNaNOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Tensor y = e.map({operands[0]}, type, [&](ArrayRef<Scalar> x) {
      return Scalar{e.compare(Emitter::NE, x[0], x[0]), type};
    });
    return SmallVector<Value>{y.value};
  }
};

struct LowerIsInf : OpLowering<onnx::IsInfOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::IsInfOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op), from = operands[0].elementType;
    bool positive = op.getDetectPositive(), negative = op.getDetectNegative();
    Tensor y = e.map({operands[0]}, type, [&](ArrayRef<Scalar> x) -> Scalar {
      if (!positive && !negative)
        return e.integer(0, type);
      Scalar element = positive && negative ? e.abs(x[0]) : x[0];
      Scalar infinity = positive ? e.highest(from) : e.lowest(from);
      return {e.compare(Emitter::EQ, element, infinity), type};
    });
    return SmallVector<Value>{y.value};
  }
};

} // namespace

void onnxquant::lowering::addMathUnaryLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<
      LowerUnary<onnx::AbsOp, absolute>, LowerUnary<onnx::NegOp, negate>,
      LowerUnary<onnx::SignOp, sign>, LowerUnary<onnx::NotOp, flip>,
      LowerUnary<onnx::BitwiseNotOp, flip>,
      LowerUnary<onnx::CeilOp, function<math::CeilOp>>,
      LowerUnary<onnx::FloorOp, function<math::FloorOp>>,
      LowerUnary<onnx::RoundOp, function<math::RoundEvenOp>>,
      LowerUnary<onnx::AcosOp, function<math::AcosOp>>,
      LowerUnary<onnx::AcoshOp, function<math::AcoshOp>>,
      LowerUnary<onnx::AsinOp, function<math::AsinOp>>,
      LowerUnary<onnx::AsinhOp, function<math::AsinhOp>>,
      LowerUnary<onnx::AtanOp, function<math::AtanOp>>,
      LowerUnary<onnx::AtanhOp, function<math::AtanhOp>>,
      LowerUnary<onnx::CosOp, function<math::CosOp>>,
      LowerUnary<onnx::CoshOp, function<math::CoshOp>>,
      LowerUnary<onnx::ErfOp, errorFunction>,
      LowerUnary<onnx::ExpOp, function<math::ExpOp>>,
      LowerUnary<onnx::LogOp, function<math::LogOp>>,
      LowerUnary<onnx::ReciprocalOp, reciprocal>,
      LowerUnary<onnx::SinOp, function<math::SinOp>>,
      LowerUnary<onnx::SinhOp, function<math::SinhOp>>,
      LowerUnary<onnx::SqrtOp, function<math::SqrtOp>>,
      LowerUnary<onnx::TanOp, function<math::TanOp>>,
      LowerUnary<onnx::TanhOp, function<math::TanhOp>>,
      LowerUnary<onnx::HardSwishOp, hardSwish>, LowerUnary<onnx::MishOp, mish>,
      LowerUnary<onnx::ReluOp, relu>, LowerUnary<onnx::SigmoidOp, sigmoid>,
      LowerUnary<onnx::SoftplusOp, softplus>,
      LowerUnary<onnx::SoftsignOp, softsign>, LowerIsInf, LowerIsNaN>(
      types, patterns.getContext());
}
