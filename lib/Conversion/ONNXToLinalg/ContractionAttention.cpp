// Scaled dot product attention, and the rotation of features by position.
//
// Heads stand in a dimension of their own; where one key and value head serves
// several query heads, these are a dimension that keys and values broadcast
// along.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "NNSupport.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// [batches, tokens, heads * size] as [batches, heads, tokens, size]; a tensor
/// of rank 4 is that already.
static Tensor splitHeads(Emitter &e, Tensor x, int64_t heads) {
  if (x.rank() == 4)
    return x;
  OpFoldResult count = e.getIndexAttr(heads), width = e.size(x, 2);
  OpFoldResult size = e.floorDivSize(width, count);
  checkEqual(e, e.mulSize(size, count), width,
             "the heads don't divide the last dimension");
  return e.transpose(splitDim(e, x, 2, count, size), {0, 2, 1, 3});
}

/// Two tensors one after another along axis 2.
static Tensor concatTokens(Emitter &e, Tensor first, Tensor second) {
  Sizes a = e.sizes(first), b = e.sizes(second), sizes = b;
  for (int64_t axis : {0, 1, 3})
    checkEqual(e, a[axis], b[axis],
               "the cache does not have the sizes of what is appended");
  sizes[2] = e.addSize(a[2], b[2]);
  Tensor out = e.empty(sizes, second.elementType);
  Sizes offsets(4, e.getIndexAttr(0));
  for (Tensor part : {first, second}) {
    Tensor room = slice(e, out, offsets, e.sizes(part));
    Tensor copy =
        writeOver(e, part, room, [](Scalar v, ArrayRef<Value>) { return v; });
    out = insertSlice(e, copy, out, offsets);
    offsets[2] = a[2];
  }
  return out;
}

namespace {
struct AttentionParts {
  Emitter &e;
  onnx::AttentionOp op;
  Type type;
  /// Of rank 4, in the op's own types; keys and values with the cache.
  Tensor query, key, value, mask;
  /// How many keys come from the cache.
  OpFoldResult pastKeys;

  void checkSizes();
  /// [batches, kv heads, 1, ..] or [batches, kv heads, q heads of each, ..].
  Tensor groupHeads(Tensor x, bool isQuery);
  Scalar getScaleRoot();
  Tensor scale(Tensor x);
  Tensor getScores();
  Tensor applySoftcap(Tensor scores);
  Tensor applyMask(Tensor scores);
  Tensor applySoftmax(Tensor scores);
  Tensor weigh(Tensor shares);
};
} // namespace

void AttentionParts::checkSizes() {
  Sizes q = e.sizes(query), k = e.sizes(key), v = e.sizes(value);
  StringRef message = "queries, keys and values don't go together";
  checkEqual(e, q[0], k[0], message);
  checkEqual(e, k[0], v[0], message);
  checkEqual(e, k[1], v[1], message);
  checkEqual(e, k[2], v[2], message);
  checkEqual(e, q[3], k[3], message);
  checkAtLeast(e, k[1], e.getIndexAttr(1), "there are no heads");
  checkEqual(e, e.mulSize(e.floorDivSize(q[1], k[1]), k[1]), q[1],
             "the q heads are not a multiple of the kv heads");
}

Tensor AttentionParts::groupHeads(Tensor x, bool isQuery) {
  OpFoldResult kvHeads = e.size(key, 1), one = e.getIndexAttr(1);
  return splitDim(e, x, 1, kvHeads,
                  isQuery ? e.floorDivSize(e.size(x, 1), kvHeads) : one);
}

/// The root of the scale, which both factors are multiplied with.
Scalar AttentionParts::getScaleRoot() {
  if (std::optional<APFloat> given = op.getScale())
    return e.math<math::SqrtOp>(e.number(given->convertToDouble(), type));
  Value size = e.toI64(e.asValue(e.size(query, 3)));
  Scalar number = {arith::SIToFPOp::create(e, computeType(type), size), type};
  return e.math<math::SqrtOp>(
      e.div(e.number(1, type), e.math<math::SqrtOp>(number)));
}

Tensor AttentionParts::scale(Tensor x) {
  Scalar factor = getScaleRoot();
  return e.map({x}, e.sizes(x), type, [&](ArrayRef<Scalar> v) {
    return e.mul(e.cast(v[0], type), factor);
  });
}

Tensor AttentionParts::getScores() {
  Tensor scores = multiplyTransposed(e, groupHeads(scale(query), true),
                                     groupHeads(scale(key), false));
  return mergeDims(e, scores, 1, 2);
}

Tensor AttentionParts::applySoftcap(Tensor scores) {
  double cap = op.getSoftcap().convertToDouble();
  if (cap == 0)
    return scores;
  Scalar limit = e.number(cap, type);
  return e.map({scores}, e.sizes(scores), type, [&](ArrayRef<Scalar> v) {
    return e.mul(limit, e.math<math::TanhOp>(e.div(v[0], limit)));
  });
}

Tensor AttentionParts::applyMask(Tensor scores) {
  Sizes sizes = e.sizes(scores);
  Scalar least = e.lowest(type);
  if (mask) {
    Sizes own = e.sizes(mask);
    for (auto [size, full] :
         llvm::zip(llvm::reverse(own), llvm::reverse(sizes)))
      checkBroadcast(e, size, full);
    scores = e.map({scores, mask}, sizes, type, [&](ArrayRef<Scalar> v) {
      if (isBool(mask.elementType))
        return e.select(v[1].value, v[0], least);
      return e.add(v[0], e.cast(v[1], type));
    });
  }
  if (op.getIsCausal() == 0)
    return scores;
  Value past = e.asValue(pastKeys);
  return writeOver(
      e, scores, e.empty(sizes, type), [&](Scalar v, ArrayRef<Value> indices) {
        Value last = e.addIndex(indices[2], past);
        Value isSeen = e.cmpIndex(arith::CmpIPredicate::sle, indices[3], last);
        return e.select(isSeen, v, least);
      });
}

Tensor AttentionParts::applySoftmax(Tensor scores) {
  Type precision = type;
  if (std::optional<int64_t> number = op.getSoftmaxPrecision())
    if (Type given = onnx::elementTypeFromOnnx(*number, op.getContext()))
      precision = accumulatorTypeFor(given);
  Tensor shares = softmax(e, castTo(e, scores, precision), 3);
  return castTo(e, shares, type);
}

Tensor AttentionParts::weigh(Tensor shares) {
  Tensor result = matmul(e, groupHeads(shares, true),
                         groupHeads(castTo(e, value, type), false), type);
  return mergeDims(e, result, 1, 2);
}

namespace {
struct LowerAttention : OpLowering<onnx::AttentionOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::AttentionOp op, Operands operands,
                Emitter &e) const override {
    int64_t qHeads = op.getQNumHeads().value_or(1);
    int64_t kvHeads = op.getKvNumHeads().value_or(1);
    Tensor key = splitHeads(e, operands[1], kvHeads);
    Tensor value = splitHeads(e, operands[2], kvHeads);
    OpFoldResult past = e.getIndexAttr(0);
    if (operands[4]) {
      past = e.size(operands[4], 2);
      key = concatTokens(e, operands[4], key);
      value = concatTokens(e, operands[5], value);
    }
    AttentionParts parts{e,
                         op,
                         accumulatorTypeFor(resultType(op)),
                         splitHeads(e, operands[0], qHeads),
                         key,
                         value,
                         operands[3],
                         past};
    parts.checkSizes();
    SmallVector<Tensor> stages = {parts.getScores()};
    stages.push_back(parts.applySoftcap(stages.back()));
    stages.push_back(parts.applyMask(stages.back()));
    stages.push_back(parts.applySoftmax(stages.back()));
    Tensor y = castTo(e, parts.weigh(stages.back()), resultType(op));
    if (operands[0].rank() == 3)
      y = mergeDims(e, e.transpose(y, {0, 2, 1, 3}), 2, 2);

    SmallVector<Value> results = {y.value};
    size_t mode = op.getQkMatmulOutputMode();
    for (auto [number, tensor] :
         {std::pair(1, key), std::pair(2, value),
          std::pair(3, stages[std::min<size_t>(mode, 3)])}) {
      bool isLeftOut = isa<NoneType>(op->getResult(number).getType());
      results.push_back(isLeftOut
                            ? Value()
                            : castTo(e, tensor, resultType(op, number)).value);
    }
    return results;
  }
};

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

/// Features of one head at one position: [batches, heads, positions, size] or
/// [batches, positions, heads, size].
struct Rotation {
  Emitter &e;
  onnx::RotaryEmbeddingOp op;
  Tensor x, cosines, sines, positions;
  Type type;
  /// Which dimension the positions are.
  unsigned positionAxis;
  /// How many features are rotated.
  Value rotated;

  /// The cosine or sine of pair `pair`.
  Scalar readCache(Tensor cache, ArrayRef<Value> indices, Value pair);
  /// The feature's pair, its partner and whether it is the second of the pair.
  std::tuple<Value, Value, Value> getPair(Value feature);
  Scalar rotate(ArrayRef<Value> indices);
};
} // namespace

Scalar Rotation::readCache(Tensor cache, ArrayRef<Value> indices, Value pair) {
  Value position = indices[positionAxis];
  if (!positions)
    return e.cast(e.read(cache, {indices[0], position, pair}), type);
  Value row = e.readIndex(positions, {indices[0], position});
  return e.cast(e.read(cache, {row, pair}), type);
}

std::tuple<Value, Value, Value> Rotation::getPair(Value feature) {
  Value two = e.index(2), one = e.index(1);
  if (op.getInterleaved()) {
    Value odd =
        e.cmpIndex(arith::CmpIPredicate::eq, e.remIndex(feature, two), one);
    Value partner = e.createOrFold<arith::SelectOp>(
        odd, e.subIndex(feature, one), e.addIndex(feature, one));
    return {e.floorDivIndex(feature, two), partner, odd};
  }
  Value half = e.floorDivIndex(rotated, two);
  Value second = e.cmpIndex(arith::CmpIPredicate::sge, feature, half);
  Value back = e.subIndex(feature, half), forth = e.addIndex(feature, half);
  return {e.createOrFold<arith::SelectOp>(second, back, feature),
          e.createOrFold<arith::SelectOp>(second, back, forth), second};
}

Scalar Rotation::rotate(ArrayRef<Value> indices) {
  Value feature = indices[3];
  Scalar own = e.cast(e.read(x, indices), type);
  Value isRotated = e.cmpIndex(arith::CmpIPredicate::slt, feature, rotated);
  Value result = branch(
      e, isRotated, own.value.getType(),
      [&] {
        auto [pair, partner, isSecond] = getPair(feature);
        Indices from(indices);
        from[3] = partner;
        Scalar other = e.cast(e.read(x, from), type);
        Scalar cosine = readCache(cosines, indices, pair);
        Scalar sine = readCache(sines, indices, pair);
        Scalar straight = e.mul(own, cosine), crossed = e.mul(other, sine);
        return SmallVector<Value>{e.select(isSecond, e.add(straight, crossed),
                                           e.sub(straight, crossed))
                                      .value};
      },
      [&] { return SmallVector<Value>{own.value}; })[0];
  return {result, type};
}

namespace {
struct LowerRotaryEmbedding : OpLowering<onnx::RotaryEmbeddingOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::RotaryEmbeddingOp op, Operands operands,
                Emitter &e) const override;
};
} // namespace

Results LowerRotaryEmbedding::lower(onnx::RotaryEmbeddingOp op,
                                    Operands operands, Emitter &e) const {
  Type result = resultType(op);
  Tensor input = operands[0], x = input, positions = operands[3];
  bool isHeadMajor = input.rank() == 4;
  if (!isHeadMajor) {
    OpFoldResult heads = e.getIndexAttr(op.getNumHeads().value_or(1));
    OpFoldResult width = e.size(input, 2);
    OpFoldResult size = e.floorDivSize(width, heads);
    checkEqual(e, e.mulSize(size, heads), width,
               "the heads don't divide the last dimension");
    x = splitDim(e, input, 2, heads, size);
  }
  Sizes sizes = e.sizes(x);
  OpFoldResult features = op.getRotaryEmbeddingDim() > 0
                              ? e.getIndexAttr(op.getRotaryEmbeddingDim())
                              : sizes[3];
  checkAtLeast(e, sizes[3], features, "there are fewer features than rotate");
  OpFoldResult two = e.getIndexAttr(2), pairs = e.floorDivSize(features, two);
  checkEqual(e, e.mulSize(pairs, two), features,
             "the number of rotated features is odd");
  OpFoldResult tokens = sizes[isHeadMajor ? 2 : 1];
  for (Tensor cache : {operands[1], operands[2]}) {
    checkEqual(e, e.size(cache, cache.rank() - 1), pairs,
               "a cache does not have an element per pair");
    if (!positions) {
      checkEqual(e, e.size(cache, 0), sizes[0],
                 "a cache does not have the input's batches");
      checkEqual(e, e.size(cache, 1), tokens,
                 "a cache does not have the input's positions");
    }
  }
  if (positions) {
    checkEqual(e, e.size(positions, 0), sizes[0],
               "position_ids do not have the input's batches");
    checkEqual(e, e.size(positions, 1), tokens,
               "position_ids do not have the input's positions");
    Value limit =
        e.asValue(minSize(e, e.size(operands[1], 0), e.size(operands[2], 0)));
    checkAll(e, positions, "a position is outside of the caches",
             [&](Scalar position) {
               return e.cmpIndex(arith::CmpIPredicate::ult,
                                 e.toIndex(position.value), limit);
             });
  }
  Rotation rotation{e,
                    op,
                    x,
                    operands[1],
                    operands[2],
                    positions,
                    accumulatorTypeFor(result),
                    isHeadMajor ? 2u : 1u,
                    e.asValue(features)};
  Tensor y = e.generate(sizes, result, [&](ArrayRef<Value> indices) {
    return e.cast(rotation.rotate(indices), result);
  });
  return SmallVector<Value>{isHeadMajor ? y.value
                                        : mergeDims(e, y, 2, 2).value};
}

void onnxquant::lowering::addAttentionLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerAttention, LowerRotaryEmbedding>(types,
                                                     patterns.getContext());
}
