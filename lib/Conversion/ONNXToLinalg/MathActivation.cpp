// Activations with attributes, and PRelu whose slope is an operand.

#include "MathSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// The element's function, by op
//===----------------------------------------------------------------------===//

static double get(APFloat value) { return value.convertToFloat(); }

static Scalar activate(onnx::CeluOp op, Emitter &e, Scalar x) {
  double alpha = get(op.getAlpha());
  Scalar zero = e.number(0, x.elementType),
         scale = e.number(alpha, x.elementType);
  Scalar curve = e.mul(scale, expMinusOne(e, e.div(x, scale)));
  return e.add(e.max(zero, x), e.min(zero, curve));
}

static Scalar activate(onnx::EluOp op, Emitter &e, Scalar x) {
  return elu(e, x, get(op.getAlpha()));
}

static Scalar activate(onnx::GeluOp op, Emitter &e, Scalar x) {
  return op.getApproximate() == "tanh" ? geluTanh(e, x) : gelu(e, x);
}

static Scalar activate(onnx::HardSigmoidOp op, Emitter &e, Scalar x) {
  return hardSigmoid(e, x, get(op.getAlpha()), get(op.getBeta()));
}

static Scalar activate(onnx::LeakyReluOp op, Emitter &e, Scalar x) {
  return leakyRelu(e, x, get(op.getAlpha()));
}

static Scalar activate(onnx::SeluOp op, Emitter &e, Scalar x) {
  return e.mul(e.number(get(op.getGamma()), x.elementType),
               elu(e, x, get(op.getAlpha())));
}

/// Integers are compared with the threshold and moved as `f64`.
static Scalar activate(onnx::ShrinkOp op, Emitter &e, Scalar x) {
  Type type = x.elementType;
  Type wide = isFloat(type) ? type : e.getF64Type();
  Scalar value = e.cast(x, wide), bias = e.number(get(op.getBias()), wide);
  double threshold = get(op.getLambd());
  Value isLow = e.compare(Emitter::LT, value, e.number(-threshold, wide));
  Value isHigh = e.compare(Emitter::GT, value, e.number(threshold, wide));
  Scalar high = e.select(isHigh, e.sub(value, bias), e.number(0, wide));
  return e.cast(e.select(isLow, e.add(value, bias), high), type);
}

static Scalar activate(onnx::ThresholdedReluOp op, Emitter &e, Scalar x) {
  return thresholdedRelu(e, x, get(op.getAlpha()));
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

template <typename OpTy> struct LowerActivation : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Tensor y = e.map({operands[0]}, resultType(op),
                     [&](ArrayRef<Scalar> x) { return activate(op, e, x[0]); });
    return SmallVector<Value>{y.value};
  }
};

/// The slope broadcasts to `X`; what the types leave open is checked.
struct LowerPRelu : OpLowering<onnx::PReluOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::PReluOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], slope = operands[1];
    if (slope.rank() > x.rank())
      return refuse(op, "the slope has more dimensions than the input");
    int64_t offset = x.rank() - slope.rank();
    for (int64_t i = 0; i < slope.rank(); ++i)
      checkFits(e, e.size(slope, i), e.size(x, offset + i));
    Type type = resultType(op);
    Tensor y = e.map({x, slope}, e.sizes(x), type, [&](ArrayRef<Scalar> v) {
      Value negative = e.compare(Emitter::LT, v[0], e.integer(0, type));
      return e.select(negative, e.mul(v[0], v[1]), v[0]);
    });
    return SmallVector<Value>{y.value};
  }

  static void checkFits(Emitter &e, OpFoldResult from, OpFoldResult to) {
    std::optional<int64_t> size = e.constant(from);
    if (size == 1 || (size && size == e.constant(to)))
      return;
    Value equal =
        e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(from), e.asValue(to));
    Value isOne =
        e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(from), e.index(1));
    e.check(e.createOrFold<arith::OrIOp>(equal, isOne),
            "the slope doesn't broadcast to the input");
  }
};

} // namespace

void onnxquant::lowering::addMathActivationLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns
      .add<LowerActivation<onnx::CeluOp>, LowerActivation<onnx::EluOp>,
           LowerActivation<onnx::GeluOp>, LowerActivation<onnx::HardSigmoidOp>,
           LowerActivation<onnx::LeakyReluOp>, LowerActivation<onnx::SeluOp>,
           LowerActivation<onnx::ShrinkOp>,
           LowerActivation<onnx::ThresholdedReluOp>, LowerPRelu>(
          types, patterns.getContext());
}
