// DynamicQuantizeLSTM: an LSTM whose products are of integers.
//
// Every product's left side is quantized by its own range: the input once for
// all steps, the hidden state at every step. Weights lose their zero points
// before the loop.

#include "RecurrentSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ms = onnxquant::onnx::microsoft;

namespace {
/// A weight [K, C] without its zero points, and its scales, [C] or one.
struct IntegerWeight {
  Tensor values;
  Tensor scales;

  /// [.., K] real numbers times the weight.
  Tensor multiply(Emitter &e, Tensor x) const {
    Type f32 = e.getF32Type();
    Quantizer found = dynamicQuantizer(e, x);
    Tensor sums = matmul(e, x, values, e.getI32Type(), quantized(found));
    if (hasOneElement(scales)) {
      Scalar scale = e.mul(found.scale, onlyElement(e, scales));
      return e.map({sums}, e.sizes(sums), f32, [&](ArrayRef<Scalar> in) {
        return e.mul(e.cast(in[0], f32), scale);
      });
    }
    return zipRows(
        e, {sums, scales}, e.sizes(sums), f32, [&](ArrayRef<Scalar> in) {
          return e.mul(e.cast(in[0], f32), e.mul(found.scale, in[1]));
        });
  }
};
} // namespace

static IntegerWeight makeWeight(Emitter &e, Tensor weight, Tensor scales,
                                Tensor zeros, int64_t direction) {
  Tensor part = sliceDirection(e, weight, direction);
  Tensor zero = sliceDirection(e, zeros, direction);
  Type i32 = e.getI32Type();
  return {loaded(e, part, i32, minusZero(e, part, zero, 1, i32)),
          sliceDirection(e, scales, direction)};
}

/// What lies behind all sequences doesn't widen the input's range.
static Tensor withoutPadding(Emitter &e, const RecurrentNode &node) {
  if (!node.lengths)
    return node.x;
  Type i32 = e.getI32Type();
  Scalar longest = e.read(
      e.reduce(node.lengths, {0}, /*keepDims=*/false, e.integer(0, i32),
               [&](Scalar length, Scalar acc) { return e.max(length, acc); }),
      {});
  Value end = e.toIndex(longest.value);
  return writeOver(e, node.x, e.empty(e.sizes(node.x), node.type),
                   [&](Scalar x, ArrayRef<Value> indices) {
                     Value counts =
                         e.cmpIndex(arith::CmpIPredicate::slt, indices[0], end);
                     return e.select(counts, x, e.number(0, node.type));
                   });
}

namespace {
struct LowerDynamicQuantizeLSTM : OpLowering<ms::DynamicQuantizeLSTMOp> {
  using OpLowering::OpLowering;
  Results lower(ms::DynamicQuantizeLSTMOp op, Operands operands,
                Emitter &e) const override {
    RecurrentNode node;
    node.op = op;
    node.gates = 4;
    node.numStates = 2;
    node.directions = op.getDirection() == "bidirectional" ? 2 : 1;
    node.isReverse = op.getDirection() == "reverse";
    if (op.getClip() && op.getClip()->convertToFloat() > 0)
      node.clip = op.getClip()->convertToFloat();
    node.functions = readActivations(
        op.getActivations(), op.getActivationAlpha(), op.getActivationBeta(),
        lstmFunctions(), node.directions);
    if (node.functions.size() < 3 * static_cast<size_t>(node.directions))
      return refuse(op, "expects 3 activations per direction");
    for (const Activation &function : node.functions)
      if (!findActivation(function.name))
        return refuse(op, "the activation '" + function.name + "' isn't known");
    node.x = operands[0];
    node.b = operands[3];
    node.lengths = operands[4];
    node.initial[0] = operands[5];
    node.initial[1] = operands[6];
    node.p = operands[7];
    Tensor w = operands[1], r = operands[2];
    prepareNode(e, node, op.getHiddenSize(), e.size(r, 1));
    checkWeights(e, node, w, r);
    node.x = withoutPadding(e, node);

    return runRecurrent(
        e, node,
        [&](int64_t d) -> Products {
          IntegerWeight input = makeWeight(e, w, operands[8], operands[9], d);
          IntegerWeight hidden =
              makeWeight(e, r, operands[10], operands[11], d);
          return {[=](Emitter &e, Tensor x) { return input.multiply(e, x); },
                  [=](Emitter &e, Tensor h, int64_t, int64_t) {
                    return hidden.multiply(e, h);
                  }};
        },
        [&](int64_t d, const Products &products) {
          return makeLstmStep(e, node, d, products, op.getInputForget() != 0);
        });
  }

  static void checkWeights(Emitter &e, const RecurrentNode &node, Tensor w,
                           Tensor r) {
    const char *message = "a weight has another size than the layer";
    OpFoldResult columns = e.mulSize(node.hidden, e.getIndexAttr(4));
    for (Tensor weight : {w, r}) {
      checkEqual(e, e.size(weight, 0), e.getIndexAttr(node.directions),
                 message);
      checkEqual(e, e.size(weight, 2), columns, message);
    }
    checkEqual(e, e.size(w, 1), e.size(node.x, 2), message);
    checkEqual(e, e.size(r, 1), node.hidden, message);
  }
};
} // namespace

void onnxquant::lowering::addQuantizedRecurrent(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerDynamicQuantizeLSTM>(types, patterns.getContext());
}
