// QuantizeLinear and DequantizeLinear of both domains, and
// DynamicQuantizeLinear.
//
// A scale serves the whole tensor (read once, before the loop), an index of the
// axis (broadcast) or a block of them (read at the element's block).

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "QuantizationSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {
/// A tensor whose elements have scales and zero points.
struct Linear {
  Tensor x;
  Tensor scale;
  Tensor zero;
  int64_t axis;
  int64_t blockSize;
};
} // namespace

static int64_t normalized(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// Checks that a parameter has one entry per block of `axis` and the operand's
/// other sizes.
static void checkBlocks(Emitter &e, const Linear &linear, Tensor parameter) {
  for (int64_t i = 0; i < linear.x.rank(); ++i) {
    OpFoldResult expected = e.size(linear.x, i);
    if (i == linear.axis)
      expected = e.floorDivSize(
          e.addSize(expected, e.getIndexAttr(linear.blockSize - 1)),
          e.getIndexAttr(linear.blockSize));
    checkEqual(e, e.size(parameter, i), expected,
               "a scale or zero point has another size than the blocks");
  }
}

/// Converts every element with its scale and zero point.
static Tensor
mapLinear(Emitter &e, Linear linear, Type type,
          function_ref<Scalar(Scalar x, Scalar scale, Scalar zero)> body) {
  Tensor x = linear.x;
  Sizes sizes = e.sizes(x);
  linear.axis = normalized(linear.axis, x.rank());
  // An axis that isn't one goes with a single element only.
  bool isAxis = linear.axis >= 0 && linear.axis < x.rank();
  if (hasOneElement(linear.scale) || !isAxis) {
    Scalar scale = onlyElement(e, linear.scale);
    Scalar zero = onlyElement(e, linear.zero);
    return e.map({x}, sizes, type,
                 [&](ArrayRef<Scalar> in) { return body(in[0], scale, zero); });
  }
  if (linear.blockSize > 0 && linear.scale.rank() == x.rank()) {
    checkBlocks(e, linear, linear.scale);
    if (linear.zero)
      checkBlocks(e, linear, linear.zero);
    return e.generate(sizes, type, [&](ArrayRef<Value> indices) {
      Indices at(indices.begin(), indices.end());
      at[linear.axis] =
          e.floorDivIndex(at[linear.axis], e.index(linear.blockSize));
      Scalar zero = linear.zero ? e.read(linear.zero, at) : Scalar{};
      return body(e.read(x, indices), e.read(linear.scale, at), zero);
    });
  }
  OpFoldResult channels = sizes[linear.axis];
  SmallVector<Tensor> inputs = {
      x, alongAxis(e, linear.scale, linear.axis, x.rank())};
  if (linear.zero)
    inputs.push_back(alongAxis(e, linear.zero, linear.axis, x.rank()));
  for (Tensor parameter : {linear.scale, linear.zero}) {
    if (!parameter || parameter.rank() != 1 || hasOneElement(parameter))
      continue;
    Value size = e.asValue(e.size(parameter, 0));
    Value fits = e.createOrFold<arith::OrIOp>(
        e.cmpIndex(arith::CmpIPredicate::eq, size, e.asValue(channels)),
        e.cmpIndex(arith::CmpIPredicate::eq, size, e.index(1)));
    e.check(fits, "a scale or zero point has another size than the axis");
  }
  return e.map(inputs, sizes, type, [&](ArrayRef<Scalar> in) {
    return body(in[0], in[1], in.size() > 2 ? in[2] : Scalar{});
  });
}

/// Rounds a real number to a small float type and back.
static Scalar roundedTo(Emitter &e, Scalar real, Type type) {
  if (!type || computeType(type) == type)
    return real;
  Scalar small = e.cast(real, type);
  return e.cast(e.load(e.store(small), type), real.elementType);
}

/// `precision` is the type of the division, null for that of real numbers.
static Tensor emitQuantize(Emitter &e, const Linear &linear, Type type,
                           Type precision, bool saturate) {
  Type real = realType(linear.scale.elementType);
  if (precision && precision.isF64())
    real = precision;
  return mapLinear(e, linear, type, [&](Scalar x, Scalar scale, Scalar zero) {
    Scalar quotient = e.div(e.cast(x, real), e.cast(scale, real));
    return roundAndClamp(e, roundedTo(e, quotient, precision), zero, type,
                         saturate);
  });
}

static Tensor emitDequantize(Emitter &e, const Linear &linear, Type type) {
  return mapLinear(e, linear, type, [&](Scalar x, Scalar scale, Scalar zero) {
    return e.cast(dequantize(e, x, scale, zero), type);
  });
}

namespace {
struct LowerQuantizeLinear : OpLowering<onnx::QuantizeLinearOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::QuantizeLinearOp op, Operands operands,
                Emitter &e) const override {
    Type precision;
    if (op.getPrecision() != 0)
      precision = onnx::elementTypeFromOnnx(op.getPrecision(), op.getContext());
    Linear linear = {operands[0], operands[1], operands[2], op.getAxis(),
                     op.getBlockSize()};
    Tensor y = emitQuantize(e, linear, resultType(op), precision,
                            op.getSaturate() != 0);
    return SmallVector<Value>{y.value};
  }
};

struct LowerDequantizeLinear : OpLowering<onnx::DequantizeLinearOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DequantizeLinearOp op, Operands operands,
                Emitter &e) const override {
    Linear linear = {operands[0], operands[1], operands[2], op.getAxis(),
                     op.getBlockSize()};
    return SmallVector<Value>{emitDequantize(e, linear, resultType(op)).value};
  }
};

struct LowerMicrosoftQuantizeLinear
    : OpLowering<onnx::microsoft::QuantizeLinearOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::microsoft::QuantizeLinearOp op, Operands operands,
                Emitter &e) const override {
    Linear linear = {operands[0], operands[1], operands[2], op.getAxis(),
                     op.getBlockSize()};
    Tensor y = emitQuantize(e, linear, resultType(op), {}, /*saturate=*/true);
    return SmallVector<Value>{y.value};
  }
};

struct LowerMicrosoftDequantizeLinear
    : OpLowering<onnx::microsoft::DequantizeLinearOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::microsoft::DequantizeLinearOp op, Operands operands,
                Emitter &e) const override {
    Linear linear = {operands[0], operands[1], operands[2], op.getAxis(),
                     op.getBlockSize()};
    return SmallVector<Value>{emitDequantize(e, linear, resultType(op)).value};
  }
};

struct LowerDynamicQuantizeLinear : OpLowering<onnx::DynamicQuantizeLinearOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DynamicQuantizeLinearOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    Quantizer found = dynamicQuantizer(e, x);
    Type type = resultType(op);
    Tensor y = e.map({x}, e.sizes(x), type, [&](ArrayRef<Scalar> in) {
      return quantize(e, in[0], found.scale, found.zero, type);
    });
    return SmallVector<Value>{y.value, e.filled({}, found.scale).value,
                              e.filled({}, found.zero).value};
  }
};
} // namespace

void onnxquant::lowering::addLinearQuantizers(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerQuantizeLinear, LowerDequantizeLinear,
               LowerMicrosoftQuantizeLinear, LowerMicrosoftDequantizeLinear,
               LowerDynamicQuantizeLinear>(types, patterns.getContext());
}
