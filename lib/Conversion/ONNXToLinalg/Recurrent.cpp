// RNN, GRU and LSTM with float weights.
//
// The product of all steps' inputs comes first, as one large product; a step
// then has only that of the hidden state. Weights are transposed once, so that
// the inner loops are contiguous.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "RecurrentSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Reads what RNN, GRU and LSTM have in common.
template <typename OpTy>
static RecurrentNode readNode(Emitter &e, OpTy op, Operands operands,
                              ArrayRef<StringRef> defaults) {
  RecurrentNode node;
  node.op = op;
  node.gates = OpTy::numGates;
  node.numStates = std::is_same_v<OpTy, onnx::LSTMOp> ? 2 : 1;
  node.directions = op.getDirection() == "bidirectional" ? 2 : 1;
  node.isReverse = op.getDirection() == "reverse";
  node.isBatchFirst = op.getLayout() == 1;
  if (op.getClip() && op.getClip()->convertToFloat() > 0)
    node.clip = op.getClip()->convertToFloat();
  node.functions =
      readActivations(op.getActivations(), op.getActivationAlpha(),
                      op.getActivationBeta(), defaults, node.directions);
  node.x = operands[0];
  node.b = operands[3];
  node.lengths = operands[4];
  node.initial[0] = operands[5];
  if (node.numStates == 2) {
    node.initial[1] = operands[6];
    node.p = operands[7];
  }
  prepareNode(e, node, op.getHiddenSize(), e.size(operands[2], 2));

  OpFoldResult columns = e.mulSize(node.hidden, e.getIndexAttr(node.gates));
  OpFoldResult directions = e.getIndexAttr(node.directions);
  const char *message = "a weight has another size than the layer";
  for (Tensor weight : {operands[1], operands[2]}) {
    checkEqual(e, e.size(weight, 0), directions, message);
    checkEqual(e, e.size(weight, 1), columns, message);
  }
  checkEqual(e, e.size(operands[1], 2), e.size(node.x, 2), message);
  checkEqual(e, e.size(operands[2], 2), node.hidden, message);
  return node;
}

/// The direction's part of a weight [D, C, K] as [K, C] in the layer's type.
static Tensor transposedWeight(Emitter &e, const RecurrentNode &node,
                               Tensor weight, int64_t direction) {
  Tensor part = sliceDirection(e, weight, direction);
  return castTo(e, e.transpose(part, {1, 0}), node.type);
}

/// The products of W; what a kernel computed holds those of all directions.
static std::function<Tensor(Emitter &, Tensor)>
makeInputProduct(Emitter &e, const RecurrentNode &node, Tensor w,
                 int64_t direction) {
  if (!node.op->hasAttr(inputProjectedAttr)) {
    Tensor input = transposedWeight(e, node, w, direction);
    return [=, type = node.type](Emitter &e, Tensor x) {
      return matmul(e, x, input, type);
    };
  }
  if (node.directions == 1)
    return [](Emitter &, Tensor x) { return x; };
  return [=, width = node.hidden, gates = node.gates](Emitter &e, Tensor x) {
    return sliceGates(e, x, width, direction * gates, gates);
  };
}

static Products makeProducts(Emitter &e, const RecurrentNode &node, Tensor w,
                             Tensor r, int64_t direction) {
  auto input = makeInputProduct(e, node, w, direction);
  // What the sums contain already.
  if (node.op->hasAttr(hiddenProjectedAttr))
    return {input,
            [](Emitter &, Tensor, int64_t, int64_t) { return Tensor(); }};
  Tensor hidden = transposedWeight(e, node, r, direction);
  Type type = node.type;
  OpFoldResult width = node.hidden;
  int64_t gates = node.gates;
  return {input, [=](Emitter &e, Tensor h, int64_t first, int64_t count) {
            Tensor part = count == gates
                              ? hidden
                              : sliceGates(e, hidden, width, first, count);
            return matmul(e, h, part, type);
          }};
}

/// Half of the direction's biases, [gates * H]: those of W, or those of R.
static Tensor biasHalf(Emitter &e, const RecurrentNode &node, int64_t direction,
                       int64_t half) {
  return sliceGates(e, sliceDirection(e, node.b, direction), node.hidden,
                    half * node.gates, node.gates);
}

static ArrayRef<Activation> functionsOf(const RecurrentNode &node,
                                        int64_t direction, int64_t count) {
  return ArrayRef(node.functions).slice(direction * count, count);
}

//===----------------------------------------------------------------------===//
// RNN
//===----------------------------------------------------------------------===//

namespace {
struct LowerRNN : OpLowering<onnx::RNNOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::RNNOp op, Operands operands, Emitter &e) const override {
    RecurrentNode node = readNode(e, op, operands, {"Tanh"});
    return runRecurrent(
        e, node,
        [&](int64_t d) {
          return makeProducts(e, node, operands[1], operands[2], d);
        },
        [&](int64_t d, const Products &products) {
          return makeStep(e, node, d, products);
        });
  }

  static Step makeStep(Emitter &e, const RecurrentNode &node, int64_t direction,
                       const Products &products) {
    Activation function = functionsOf(node, direction, 1)[0];
    SmallVector<Tensor> biases;
    if (node.b)
      biases = {biasHalf(e, node, direction, 0),
                biasHalf(e, node, direction, 1)};
    return [=, &node](Emitter &e, Tensor input, ArrayRef<Tensor> states) {
      SmallVector<Tensor> terms = {input};
      if (Tensor hidden = products.hidden(e, states[0], 0, 1))
        terms.push_back(hidden);
      size_t count = terms.size();
      terms.append(biases);
      Sizes sizes = {node.batch, node.hidden};
      Tensor h = zipRows(e, terms, sizes, node.type, [&](ArrayRef<Scalar> in) {
        Scalar sum = count == 2 ? e.add(in[0], in[1]) : in[0];
        if (in.size() > count)
          sum = e.add(sum, e.add(in[count], in[count + 1]));
        return activate(e, function, clipped(e, node, sum));
      });
      return SmallVector<Tensor>{h};
    };
  }
};

//===----------------------------------------------------------------------===//
// GRU
//===----------------------------------------------------------------------===//

/// One direction of a GRU: gates z, r, h.
struct GruLayer {
  const RecurrentNode &node;
  Products products;
  Activation f, g;
  /// [3 * H] each, or null.
  Tensor inputBias, hiddenBias;
  bool isLinearBeforeReset;

  /// f(W x + R h + biases) of the gates z and r together, [N, 2 * H].
  Tensor updateAndReset(Emitter &e, Tensor input, Tensor recurrent) const {
    OpFoldResult two = e.getIndexAttr(2);
    Sizes sizes = {node.batch, e.mulSize(node.hidden, two)};
    SmallVector<Tensor> terms = {sliceGates(e, input, node.hidden, 0, 2),
                                 recurrent};
    if (inputBias)
      for (Tensor bias : {inputBias, hiddenBias})
        terms.push_back(sliceGates(e, bias, node.hidden, 0, 2));
    return zipRows(e, terms, sizes, node.type, [&](ArrayRef<Scalar> in) {
      Scalar sum = e.add(in[0], in[1]);
      if (in.size() > 2)
        sum = e.add(sum, e.add(in[2], in[3]));
      return activate(e, f, clipped(e, node, sum));
    });
  }

  /// What g is applied to, but for the part of W: Rh (r * h) + Rbh, or
  /// r * (Rh h + Rbh).
  Tensor candidate(Emitter &e, Tensor reset, Tensor h) const {
    Sizes sizes = {node.batch, node.hidden};
    auto multiply = [&](ArrayRef<Scalar> in) { return e.mul(in[0], in[1]); };
    auto addTo = [&](Tensor product) {
      if (!hiddenBias)
        return product;
      Tensor bias = sliceGates(e, hiddenBias, node.hidden, 2, 1);
      return zipRows(e, {product, bias}, sizes, node.type,
                     [&](ArrayRef<Scalar> in) { return e.add(in[0], in[1]); });
    };
    if (isLinearBeforeReset)
      return zipRows(e, {reset, addTo(products.hidden(e, h, 2, 1))}, sizes,
                     node.type, multiply);
    Tensor kept = zipRows(e, {reset, h}, sizes, node.type, multiply);
    return addTo(products.hidden(e, kept, 2, 1));
  }

  Tensor step(Emitter &e, Tensor input, Tensor h) const {
    Tensor gates = updateAndReset(e, input, products.hidden(e, h, 0, 2));
    Tensor update = sliceGates(e, gates, node.hidden, 0, 1);
    Tensor reset = sliceGates(e, gates, node.hidden, 1, 1);
    SmallVector<Tensor> terms = {update, h,
                                 sliceGates(e, input, node.hidden, 2, 1),
                                 candidate(e, reset, h)};
    if (inputBias)
      terms.push_back(sliceGates(e, inputBias, node.hidden, 2, 1));
    Sizes sizes = {node.batch, node.hidden};
    return zipRows(e, terms, sizes, node.type, [&](ArrayRef<Scalar> in) {
      Scalar sum = e.add(in[2], in[3]);
      if (in.size() > 4)
        sum = e.add(sum, in[4]);
      Scalar fresh = activate(e, g, clipped(e, node, sum));
      Scalar share = e.sub(e.number(1, node.type), in[0]);
      return e.add(e.mul(share, fresh), e.mul(in[0], in[1]));
    });
  }
};

struct LowerGRU : OpLowering<onnx::GRUOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GRUOp op, Operands operands, Emitter &e) const override {
    RecurrentNode node = readNode(e, op, operands, {"Sigmoid", "Tanh"});
    bool isLinear = op.getLinearBeforeReset() != 0;
    return runRecurrent(
        e, node,
        [&](int64_t d) {
          return makeProducts(e, node, operands[1], operands[2], d);
        },
        [&](int64_t d, const Products &products) -> Step {
          ArrayRef<Activation> functions = functionsOf(node, d, 2);
          GruLayer layer = {node, products, functions[0], functions[1],
                            {},   {},       isLinear};
          if (node.b) {
            layer.inputBias = biasHalf(e, node, d, 0);
            layer.hiddenBias = biasHalf(e, node, d, 1);
          }
          return [=](Emitter &e, Tensor input, ArrayRef<Tensor> states) {
            return SmallVector<Tensor>{layer.step(e, input, states[0])};
          };
        });
  }
};

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

struct LowerLSTM : OpLowering<onnx::LSTMOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::LSTMOp op, Operands operands, Emitter &e) const override {
    RecurrentNode node = readNode(e, op, operands, lstmFunctions());
    return runRecurrent(
        e, node,
        [&](int64_t d) {
          return makeProducts(e, node, operands[1], operands[2], d);
        },
        [&](int64_t d, const Products &products) {
          return makeLstmStep(e, node, d, products, op.getInputForget() != 0);
        });
  }
};
} // namespace

void onnxquant::lowering::addRecurrentLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerRNN, LowerGRU, LowerLSTM>(types, patterns.getContext());
}
