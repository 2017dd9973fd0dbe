// Quantized ops of com.microsoft that work element by element, on rows
// (softmax) or by moving elements (concatenation). All compute on the real
// numbers and quantize once, at the end.

#include "QuantizationSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ms = onnxquant::onnx::microsoft;

static Scalar toReal(Emitter &e, Scalar q, Quantizer quantizer) {
  return dequantize(e, q, quantizer.scale, quantizer.zero);
}

static Scalar fromReal(Emitter &e, Scalar real, Quantizer quantizer,
                       Type type) {
  return quantize(e, real, quantizer.scale, quantizer.zero, type);
}

namespace {
struct LowerQLinearAdd : OpLowering<ms::QLinearAddOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearAddOp op, Operands operands,
                Emitter &e) const override {
    Quantizer a = onlyQuantizer(e, operands[1], operands[2]);
    Quantizer b = onlyQuantizer(e, operands[4], operands[5]);
    Quantizer c = onlyQuantizer(e, operands[6], operands[7]);
    Type type = resultType(op);
    Tensor y =
        e.map({operands[0], operands[3]}, type, [&](ArrayRef<Scalar> in) {
          Scalar sum = e.add(toReal(e, in[0], a), toReal(e, in[1], b));
          return fromReal(e, sum, c, type);
        });
    return SmallVector<Value>{y.value};
  }
};

struct LowerQLinearMul : OpLowering<ms::QLinearMulOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearMulOp op, Operands operands,
                Emitter &e) const override {
    Quantizer a = onlyQuantizer(e, operands[1], operands[2]);
    Quantizer b = onlyQuantizer(e, operands[4], operands[5]);
    Quantizer c = onlyQuantizer(e, operands[6], operands[7]);
    Scalar multiplier = e.div(e.mul(a.scale, b.scale), c.scale);
    Type type = resultType(op), i32 = e.getI32Type(), f32 = e.getF32Type();
    Tensor y =
        e.map({operands[0], operands[3]}, type, [&](ArrayRef<Scalar> in) {
          Scalar product = e.mul(difference(e, in[0], a.zero, i32),
                                 difference(e, in[1], b.zero, i32));
          Scalar scaled = e.mul(e.cast(product, f32), multiplier);
          return roundAndClamp(e, scaled, c.zero, type);
        });
    return SmallVector<Value>{y.value};
  }
};

/// A function of one quantized tensor: X, its scale and zero point, then those
/// of Y.
template <typename OpTy> struct UnaryLowering : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  virtual Scalar apply(OpTy op, Scalar x, Emitter &e) const = 0;

  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Quantizer x = onlyQuantizer(e, operands[1], operands[2]);
    Quantizer y = onlyQuantizer(e, operands[3], operands[4]);
    Type type = resultType(op);
    Tensor result = e.map(
        {operands[0]}, e.sizes(operands[0]), type, [&](ArrayRef<Scalar> in) {
          return fromReal(e, apply(op, toReal(e, in[0], x), e), y, type);
        });
    return SmallVector<Value>{result.value};
  }
};

struct LowerQLinearLeakyRelu : UnaryLowering<ms::QLinearLeakyReluOp> {
  using UnaryLowering::UnaryLowering;
  Scalar apply(ms::QLinearLeakyReluOp op, Scalar x, Emitter &e) const override {
    Scalar slope = e.number(op.getAlpha().convertToFloat(), x.elementType);
    Scalar zero = e.number(0, x.elementType);
    return e.select(e.compare(Emitter::GE, x, zero), x, e.mul(x, slope));
  }
};

struct LowerQLinearSigmoid : UnaryLowering<ms::QLinearSigmoidOp> {
  using UnaryLowering::UnaryLowering;
  Scalar apply(ms::QLinearSigmoidOp, Scalar x, Emitter &e) const override {
    Scalar one = e.number(1, x.elementType);
    return e.div(one, e.add(one, e.math<math::ExpOp>(e.neg(x))));
  }
};

struct LowerQLinearWhere : OpLowering<ms::QLinearWhereOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearWhereOp op, Operands operands,
                Emitter &e) const override {
    Quantizer x = onlyQuantizer(e, operands[2], operands[3]);
    Quantizer y = onlyQuantizer(e, operands[5], operands[6]);
    Quantizer z = onlyQuantizer(e, operands[7], operands[8]);
    Type type = resultType(op);
    Tensor result = e.map({operands[0], operands[1], operands[4]}, type,
                          [&](ArrayRef<Scalar> in) {
                            Scalar chosen =
                                e.select(in[0].value, toReal(e, in[1], x),
                                         toReal(e, in[2], y));
                            return fromReal(e, chosen, z, type);
                          });
    return SmallVector<Value>{result.value};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Softmax along one axis. Differences to the maximum are exact integers.
static Tensor softmaxAlong(Emitter &e, Tensor x, int64_t axis, Quantizer from,
                           Quantizer to, Type type) {
  Type i32 = e.getI32Type(), f32 = e.getF32Type();
  Tensor top = e.reduce(
      x, {axis}, /*keepDims=*/true,
      e.integer(std::numeric_limits<int32_t>::min(), i32),
      [&](Scalar q, Scalar most) { return e.max(e.cast(q, i32), most); });
  Tensor powers = e.map({x, top}, e.sizes(x), f32, [&](ArrayRef<Scalar> in) {
    Scalar below = e.cast(e.sub(e.cast(in[0], i32), in[1]), f32);
    return e.math<math::ExpOp>(e.mul(below, from.scale));
  });
  Tensor sums =
      e.reduce(powers, {axis}, /*keepDims=*/true, e.number(0, f32),
               [&](Scalar power, Scalar sum) { return e.add(sum, power); });
  return e.map({powers, sums}, e.sizes(powers), type, [&](ArrayRef<Scalar> in) {
    return fromReal(e, e.div(in[0], in[1]), to, type);
  });
}

namespace {
struct LowerQLinearSoftmax : OpLowering<ms::QLinearSoftmaxOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearSoftmaxOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    Quantizer from = onlyQuantizer(e, operands[1], operands[2]);
    Quantizer to = onlyQuantizer(e, operands[3], operands[4]);
    Type type = resultType(op);
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + x.rank() : op.getAxis();
    if (op.getOpset() >= 13)
      return SmallVector<Value>{softmaxAlong(e, x, axis, from, to, type).value};
    // Over all dimensions from the axis on, as the rows of a matrix.
    Sizes sizes = e.sizes(x);
    ArrayRef<OpFoldResult> all = sizes;
    Tensor matrix = e.reshape(x, {e.productOf(all.take_front(axis)),
                                  e.productOf(all.drop_front(axis))});
    Tensor y = softmaxAlong(e, matrix, 1, from, to, type);
    return SmallVector<Value>{e.reshape(y, sizes).value};
  }
};

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

struct LowerQLinearConcat : OpLowering<ms::QLinearConcatOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QLinearConcatOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Quantizer to = onlyQuantizer(e, operands[0], operands[1]);
    int64_t rank = operands[2].rank();
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
    Sizes sizes = e.sizes(operands[2]);
    for (size_t i = 5; i < operands.size(); i += 3)
      for (int64_t dim = 0; dim < rank; ++dim) {
        OpFoldResult size = e.size(operands[i], dim);
        if (dim == axis)
          sizes[dim] = e.addSize(sizes[dim], size);
        else
          checkEqual(e, sizes[dim], size,
                     "sizes of operands don't go together");
      }
    sizes = e.resultSizes(0, sizes);

    Tensor result = e.empty(sizes, type);
    SmallVector<OpFoldResult> offsets(rank, e.getIndexAttr(0));
    for (size_t i = 2; i < operands.size(); i += 3) {
      Quantizer from = onlyQuantizer(e, operands[i + 1], operands[i + 2]);
      Sizes partSizes = e.sizes(operands[i]);
      Tensor part =
          e.map({operands[i]}, partSizes, type, [&](ArrayRef<Scalar> in) {
            return fromReal(e, toReal(e, in[0], from), to, type);
          });
      result = putPart(e, part, result, offsets, partSizes);
      offsets[axis] = e.addSize(offsets[axis], partSizes[axis]);
    }
    return SmallVector<Value>{result.value};
  }
};
} // namespace

void onnxquant::lowering::addMicrosoftElementwise(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerQLinearAdd, LowerQLinearMul, LowerQLinearLeakyRelu,
               LowerQLinearSigmoid, LowerQLinearWhere, LowerQLinearSoftmax,
               LowerQLinearConcat>(types, patterns.getContext());
}
