// Layers of recurrent networks: sequences, steps, directions, and the step of
// an LSTM.

#include "RecurrentSupport.h"

using namespace mlir;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

Tensor onnxquant::lowering::sliceDirection(Emitter &e, Tensor tensor,
                                           int64_t index) {
  if (!tensor)
    return tensor;
  SmallVector<OpFoldResult> offsets(tensor.rank(), e.getIndexAttr(0));
  offsets[0] = e.getIndexAttr(index);
  Sizes sizes = e.sizes(tensor);
  sizes[0] = e.getIndexAttr(1);
  return partOf(e, tensor, offsets, sizes, /*dropped=*/1);
}

Tensor onnxquant::lowering::sliceGates(Emitter &e, Tensor tensor,
                                       OpFoldResult hidden, int64_t first,
                                       int64_t count) {
  SmallVector<OpFoldResult> offsets(tensor.rank(), e.getIndexAttr(0));
  offsets.back() = e.mulSize(hidden, e.getIndexAttr(first));
  Sizes sizes = e.sizes(tensor);
  sizes.back() = e.mulSize(hidden, e.getIndexAttr(count));
  return partOf(e, tensor, offsets, sizes);
}

Tensor
onnxquant::lowering::zipRows(Emitter &e, ArrayRef<Tensor> inputs,
                             ArrayRef<OpFoldResult> sizes, Type type,
                             function_ref<Scalar(ArrayRef<Scalar>)> body) {
  unsigned rank = sizes.size();
  AffineMap whole = e.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps;
  for (Tensor input : inputs)
    maps.push_back(whole.getMinorSubMap(input.rank()));
  maps.push_back(whole);
  return emitLoops(e, inputs, e.empty(sizes, type), maps,
                   [&](ArrayRef<Scalar> in, Scalar) { return body(in); });
}

Scalar onnxquant::lowering::clipped(Emitter &e, const RecurrentNode &node,
                                    Scalar x) {
  if (!node.clip)
    return x;
  Scalar low = e.number(-*node.clip, x.elementType);
  Scalar high = e.number(*node.clip, x.elementType);
  return e.max(e.min(x, high), low);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Lengths are between 0 and the number of steps.
static void checkLengths(Emitter &e, const RecurrentNode &node) {
  Tensor lengths = node.lengths;
  Type type = lengths.elementType;
  checkEqual(e, e.size(lengths, 0), node.batch,
             "sequence_lens are not as many as the sequences");
  Scalar zero = e.integer(0, type);
  auto bound = [&](bool isUpper) {
    return e.read(e.reduce(lengths, {0}, /*keepDims=*/false, zero,
                           [&](Scalar length, Scalar acc) {
                             return isUpper ? e.max(length, acc)
                                            : e.min(length, acc);
                           }),
                  {});
  };
  Value steps = e.asValue(node.steps);
  Value fits = e.cmpIndex(arith::CmpIPredicate::sle,
                          e.toIndex(bound(true).value), steps);
  Value isPositive = e.compare(Emitter::GE, bound(false), zero);
  e.check(e.createOrFold<arith::AndIOp>(fits, isPositive),
          "sequence_lens are not between 0 and the number of steps");
}

void onnxquant::lowering::prepareNode(Emitter &e, RecurrentNode &node,
                                      std::optional<int64_t> hidden,
                                      OpFoldResult rHidden) {
  node.resultType = node.x.elementType;
  node.type = computeType(node.resultType);
  if (node.isBatchFirst) {
    node.x = e.transpose(node.x, {1, 0, 2});
    for (Tensor &initial : node.initial)
      if (initial)
        initial = e.transpose(initial, {1, 0, 2});
  }
  node.x = castTo(e, node.x, node.type);
  node.steps = e.size(node.x, 0);
  node.batch = e.size(node.x, 1);
  node.hidden = hidden ? OpFoldResult(e.getIndexAttr(*hidden)) : rHidden;
  if (node.lengths)
    checkLengths(e, node);

  OpFoldResult directions = e.getIndexAttr(node.directions);
  auto checkSizes = [&](Tensor tensor, ArrayRef<OpFoldResult> expected,
                        const Twine &message) {
    for (auto [i, size] : llvm::enumerate(expected))
      checkEqual(e, e.size(tensor, i), size, message);
  };
  for (Tensor &initial : node.initial) {
    if (!initial)
      continue;
    checkSizes(initial, {directions, node.batch, node.hidden},
               "an initial state has another size than the layer");
    initial = castTo(e, initial, node.type);
  }
  if (node.b) {
    OpFoldResult count = e.getIndexAttr(2 * node.gates);
    checkSizes(node.b, {directions, e.mulSize(node.hidden, count)},
               "the biases have another size than the layer");
    node.b = castTo(e, node.b, node.type);
  }
  if (node.p) {
    checkSizes(node.p, {directions, e.mulSize(node.hidden, e.getIndexAttr(3))},
               "the peephole weights have another size than the layer");
    node.p = castTo(e, node.p, node.type);
  }
}

/// Reverses the steps of [T, N, ..] that belong to each sequence; those behind
/// it stay.
static Tensor reverseSteps(Emitter &e, const RecurrentNode &node, Tensor x) {
  Value steps = e.asValue(node.steps), one = e.index(1);
  return e.generate(e.sizes(x), x.elementType, [&](ArrayRef<Value> indices) {
    Indices at(indices.begin(), indices.end());
    Value length =
        node.lengths ? e.readIndex(node.lengths, {indices[1]}) : steps;
    Value mirrored = e.subIndex(e.subIndex(length, one), indices[0]);
    if (node.lengths)
      mirrored = arith::SelectOp::create(
          e, e.cmpIndex(arith::CmpIPredicate::slt, indices[0], length),
          mirrored, indices[0]);
    at[0] = mirrored;
    return e.read(x, at);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
/// What a layer leaves: all hidden states [T, N, H] if they are asked for, and
/// the last states [N, H].
struct LayerResult {
  Tensor sequence;
  SmallVector<Tensor> states;
};
} // namespace

/// The states that a layer starts with.
static SmallVector<Tensor> initialStates(Emitter &e, const RecurrentNode &node,
                                         int64_t direction) {
  Sizes sizes = {node.batch, node.hidden};
  SmallVector<Tensor> states;
  for (int64_t i = 0; i < node.numStates; ++i) {
    if (!node.initial[i]) {
      states.push_back(e.filled(sizes, e.number(0, node.type)));
      continue;
    }
    Tensor part = sliceDirection(e, node.initial[i], direction);
    states.push_back(zipRows(e, {part}, sizes, node.type,
                             [](ArrayRef<Scalar> in) { return in[0]; }));
  }
  return states;
}

/// Chooses by sequence: `a` where `condition` [N] of its length holds, else `b`
/// (zero if null).
static Tensor chooseBySequence(Emitter &e, const RecurrentNode &node, Tensor a,
                               Tensor b,
                               function_ref<Value(Scalar length)> condition) {
  AffineMap whole = e.getMultiDimIdentityMap(2);
  AffineMap row = AffineMap::get(2, 0, e.getAffineDimExpr(0));
  SmallVector<Tensor> inputs = {node.lengths, a};
  SmallVector<AffineMap> maps = {row, whole};
  if (b) {
    inputs.push_back(b);
    maps.push_back(whole);
  }
  maps.push_back(whole);
  Sizes sizes = {node.batch, node.hidden};
  return emitLoops(e, inputs, e.empty(sizes, node.type), maps,
                   [&](ArrayRef<Scalar> in, Scalar) {
                     Scalar other =
                         in.size() > 2 ? in[2] : e.number(0, node.type);
                     return e.select(condition(in[0]), in[1], other);
                   });
}

/// Runs the steps of one direction over `projected` [T, N, gates * H].
static LayerResult runSteps(Emitter &e, const RecurrentNode &node,
                            Tensor projected, ArrayRef<Tensor> initial,
                            const Step &step, bool wantsSequence) {
  Sizes rowSizes = {e.getIndexAttr(1), node.batch, e.size(projected, 2)};
  Sizes stateSizes = {e.getIndexAttr(1), node.batch, node.hidden};
  SmallVector<Value> carried;
  for (Tensor state : initial)
    carried.push_back(state.value);
  if (wantsSequence)
    carried.push_back(
        e.empty({node.steps, node.batch, node.hidden}, node.type).value);

  auto body = [&](ArrayRef<Value> indices, ValueRange values) {
    SmallVector<OpFoldResult> offsets(3, e.getIndexAttr(0));
    offsets[0] = indices[0];
    auto isRunning = [&](Scalar length) {
      return e.cmpIndex(arith::CmpIPredicate::slt, indices[0],
                        e.toIndex(length.value));
    };
    // A step behind a sequence's end leaves zeros; they only matter to ranges
    // over all sequences.
    auto wasRunning = [&](Scalar length) {
      return e.cmpIndex(arith::CmpIPredicate::sle, indices[0],
                        e.toIndex(length.value));
    };
    SmallVector<Tensor> before, visible;
    for (Value value : values.take_front(node.numStates)) {
      before.push_back({value, node.type});
      visible.push_back(node.lengths ? chooseBySequence(e, node, before.back(),
                                                        {}, wasRunning)
                                     : before.back());
    }
    SmallVector<Tensor> after =
        step(e, partOf(e, projected, offsets, rowSizes, 1), visible);
    SmallVector<Value> results;
    for (auto [old, fresh] : llvm::zip(before, after))
      results.push_back((node.lengths
                             ? chooseBySequence(e, node, fresh, old, isRunning)
                             : fresh)
                            .value);
    if (wantsSequence) {
      Tensor output = node.lengths
                          ? chooseBySequence(e, node, after[0], {}, isRunning)
                          : after[0];
      Tensor sequence = {values.back(), node.type};
      results.push_back(
          putPart(e, output, sequence, offsets, stateSizes).value);
    }
    return results;
  };
  SmallVector<Value> results = e.forEach({node.steps}, carried, body);

  LayerResult result;
  for (Value value : ArrayRef(results).take_front(node.numStates)) {
    Tensor state = {value, node.type};
    // An empty sequence leaves zeros, not what it started with.
    if (node.lengths)
      state = chooseBySequence(e, node, state, {}, [&](Scalar length) {
        return e.compare(Emitter::GT, length, e.integer(0, length.elementType));
      });
    result.states.push_back(state);
  }
  if (wantsSequence)
    result.sequence = {results.back(), node.type};
  return result;
}

SmallVector<Value> onnxquant::lowering::runRecurrent(
    Emitter &e, const RecurrentNode &node,
    function_ref<Products(int64_t)> makeProducts,
    function_ref<Step(int64_t, const Products &)> makeStep) {
  OpFoldResult directions = e.getIndexAttr(node.directions);
  OpFoldResult one = e.getIndexAttr(1), zero = e.getIndexAttr(0);
  bool wantsSequence = !onnx::isLeftOut(node.op->getResult(0));
  Tensor sequence;
  if (wantsSequence)
    sequence =
        e.empty({node.steps, directions, node.batch, node.hidden}, node.type);
  SmallVector<Tensor> states;
  for (int64_t i = 0; i < node.numStates; ++i)
    states.push_back(e.empty({directions, node.batch, node.hidden}, node.type));

  for (int64_t d = 0; d < node.directions; ++d) {
    bool isReverse = node.isReverse || d == 1;
    Products products = makeProducts(d);
    Step step = makeStep(d, products);
    Tensor x = isReverse ? reverseSteps(e, node, node.x) : node.x;
    LayerResult layer =
        runSteps(e, node, products.input(e, x), initialStates(e, node, d), step,
                 wantsSequence);
    OpFoldResult direction = e.getIndexAttr(d);
    for (auto [all, state] : llvm::zip(states, layer.states))
      all = putPart(e, state, all, {direction, zero, zero},
                    {one, node.batch, node.hidden});
    if (!wantsSequence)
      continue;
    Tensor part =
        isReverse ? reverseSteps(e, node, layer.sequence) : layer.sequence;
    Tensor split = splitDim(e, part, 0, node.steps, one);
    sequence = putPart(e, split, sequence, {zero, direction, zero, zero},
                       {node.steps, one, node.batch, node.hidden});
  }

  Type type = node.resultType;
  SmallVector<Value> results(node.op->getNumResults());
  if (wantsSequence) {
    if (node.isBatchFirst)
      sequence = e.transpose(sequence, {2, 0, 1, 3});
    results[0] = castTo(e, sequence, type).value;
  }
  for (auto [i, state] : llvm::enumerate(states)) {
    if (i + 1 >= results.size() || onnx::isLeftOut(node.op->getResult(i + 1)))
      continue;
    if (node.isBatchFirst)
      state = e.transpose(state, {1, 0, 2});
    results[i + 1] = castTo(e, state, type).value;
  }
  return results;
}

//===----------------------------------------------------------------------===//
// LSTM
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> onnxquant::lowering::lstmFunctions() {
  static const StringRef names[] = {"Sigmoid", "Tanh", "Tanh"};
  return names;
}

namespace {
/// One direction of an LSTM: gates i, o, f, c, and peepholes i, o, f.
struct LstmLayer {
  const RecurrentNode &node;
  Products products;
  Activation f, g, h;
  /// [4 * H], or null; [3 * H], or null.
  Tensor bias, peepholes;
  bool inputForget;

  /// What a function is applied to: the products' sum, the peephole's part and
  /// the bias, as far as they are there.
  struct Terms {
    Tensor gates, peephole, bias;
  };
  Terms terms(Emitter &e, Tensor gates, int64_t gate, bool hasPeephole) const {
    return {sliceGates(e, gates, node.hidden, gate, 1),
            hasPeephole && peepholes
                ? sliceGates(e, peepholes, node.hidden, gate, 1)
                : Tensor(),
            bias ? sliceGates(e, bias, node.hidden, gate, 1) : Tensor()};
  }
  static void append(SmallVector<Tensor> &inputs, const Terms &terms) {
    for (Tensor tensor : {terms.gates, terms.peephole, terms.bias})
      if (tensor)
        inputs.push_back(tensor);
  }
  /// Takes a gate's terms from the front of `in`, and `memory` for the
  /// peephole.
  Scalar enter(Emitter &e, ArrayRef<Scalar> &in, Scalar memory,
               bool hasPeephole) const {
    Scalar sum = in[0];
    in = in.drop_front();
    if (hasPeephole && peepholes) {
      sum = e.add(sum, e.mul(in[0], memory));
      in = in.drop_front();
    }
    if (bias) {
      sum = e.add(sum, in[0]);
      in = in.drop_front();
    }
    return clipped(e, node, sum);
  }

  SmallVector<Tensor> step(Emitter &e, Tensor input, Tensor hidden,
                           Tensor memory) const {
    Sizes sizes = {node.batch, node.hidden};
    Sizes all = {node.batch, e.mulSize(node.hidden, e.getIndexAttr(4))};
    Tensor gates = input;
    if (Tensor recurrent = products.hidden(e, hidden, 0, 4))
      gates = zipRows(e, {input, recurrent}, all, node.type,
                      [&](ArrayRef<Scalar> in) { return e.add(in[0], in[1]); });

    SmallVector<Tensor> inputs = {memory};
    append(inputs, terms(e, gates, 0, true));
    if (!inputForget)
      append(inputs, terms(e, gates, 2, true));
    append(inputs, terms(e, gates, 3, false));
    Tensor fresh =
        zipRows(e, inputs, sizes, node.type, [&](ArrayRef<Scalar> in) {
          Scalar before = in[0];
          in = in.drop_front();
          Scalar admit = activate(e, f, enter(e, in, before, true));
          Scalar keep = inputForget
                            ? e.sub(e.number(1, node.type), admit)
                            : activate(e, f, enter(e, in, before, true));
          Scalar candidate = activate(e, g, enter(e, in, before, false));
          return e.add(e.mul(keep, before), e.mul(admit, candidate));
        });

    inputs = {fresh};
    append(inputs, terms(e, gates, 1, true));
    Tensor output =
        zipRows(e, inputs, sizes, node.type, [&](ArrayRef<Scalar> in) {
          Scalar memory = in[0];
          in = in.drop_front();
          Scalar show = activate(e, f, enter(e, in, memory, true));
          return e.mul(show, activate(e, h, memory));
        });
    return {output, fresh};
  }
};
} // namespace

Step onnxquant::lowering::makeLstmStep(Emitter &e, const RecurrentNode &node,
                                       int64_t direction,
                                       const Products &products,
                                       bool inputForget) {
  ArrayRef<Activation> functions =
      ArrayRef(node.functions).slice(direction * 3, 3);
  LstmLayer layer = {node,
                     products,
                     functions[0],
                     functions[1],
                     functions[2],
                     {},
                     sliceDirection(e, node.p, direction),
                     inputForget};
  if (node.b) {
    Tensor both = sliceDirection(e, node.b, direction);
    OpFoldResult columns = e.mulSize(node.hidden, e.getIndexAttr(4));
    layer.bias = zipRows(e,
                         {sliceGates(e, both, node.hidden, 0, 4),
                          sliceGates(e, both, node.hidden, 4, 4)},
                         {columns}, node.type, [&](ArrayRef<Scalar> in) {
                           return e.add(in[0], in[1]);
                         });
  }
  return [layer](Emitter &e, Tensor input, ArrayRef<Tensor> states) {
    return layer.step(e, input, states[0], states[1]);
  };
}
