// Self attention of com.microsoft, with a float or a quantized projection.
//
// The projection gives queries, keys and values side by side; each is cut into
// heads, [B, N, S, H]. Masks are numbers that are added to the scores before
// the softmax, as large as `mask_filter_value` says.

#include "QuantizationSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ms = onnxquant::onnx::microsoft;

namespace {
/// A node after its projection.
struct Heads {
  Operation *op;
  /// [B, S, widths of queries, keys and values].
  Tensor projected;
  /// The widths, as many as `projected` has in its last dimension.
  OpFoldResult widths[3];
  int64_t numHeads;
  Tensor mask, past, bias;
  std::optional<double> scale;
  double filter;
  bool isCausal;
};
} // namespace

/// One of queries, keys and values as [B, N, S, H].
static Tensor headsOf(Emitter &e, const Heads &node, int which) {
  OpFoldResult zero = e.getIndexAttr(0), offset = zero;
  for (int i = 0; i < which; ++i)
    offset = e.addSize(offset, node.widths[i]);
  OpFoldResult batch = e.size(node.projected, 0);
  OpFoldResult sequence = e.size(node.projected, 1);
  Tensor part = partOf(e, node.projected, {zero, zero, offset},
                       {batch, sequence, node.widths[which]});
  OpFoldResult heads = e.getIndexAttr(node.numHeads);
  OpFoldResult width = e.floorDivSize(node.widths[which], heads);
  checkEqual(e, e.mulSize(width, heads), node.widths[which],
             "the hidden size isn't a multiple of the heads");
  Tensor split = splitDim(e, part, 2, heads, width);
  return e.transpose(split, {0, 2, 1, 3});
}

/// `past[which]` [B, N, P, H] followed by `fresh` [B, N, S, H].
static Tensor withPast(Emitter &e, Tensor past, int64_t which, Tensor fresh) {
  if (!past)
    return fresh;
  OpFoldResult zero = e.getIndexAttr(0), one = e.getIndexAttr(1);
  Sizes sizes = e.sizes(fresh), pastSizes = e.sizes(past);
  for (int64_t i : {0, 1, 3})
    checkEqual(e, pastSizes[i + 1], sizes[i],
               "the past has another size than the heads");
  checkEqual(e, pastSizes[0], e.getIndexAttr(2),
             "the past doesn't hold keys and values");
  Sizes partSizes = {one, sizes[0], sizes[1], pastSizes[3], sizes[3]};
  Tensor old = partOf(e, past, {e.getIndexAttr(which), zero, zero, zero, zero},
                      partSizes, /*dropped=*/1);
  Sizes oldSizes = {sizes[0], sizes[1], pastSizes[3], sizes[3]};
  Sizes total = sizes;
  total[2] = e.addSize(sizes[2], pastSizes[3]);
  Tensor result = e.empty(total, fresh.elementType);
  result = putPart(e, castTo(e, old, fresh.elementType), result,
                   {zero, zero, zero, zero}, oldSizes);
  return putPart(e, fresh, result, {zero, zero, pastSizes[3], zero}, sizes);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

namespace {
/// Sizes and places that masks are read by.
struct MaskSizes {
  Value batch, sequence, total;
};
} // namespace

static Value isAtLeast(Emitter &e, Value a, Value b) {
  return e.cmpIndex(arith::CmpIPredicate::sge, a, b);
}

static Value isEqual(Emitter &e, Value a, Value b) {
  return e.cmpIndex(arith::CmpIPredicate::eq, a, b);
}

/// Checks the sizes of a mask, before anything is read from it.
static void checkMask(Emitter &e, Tensor mask, const MaskSizes &sizes) {
  SmallVector<Value> dims;
  for (OpFoldResult size : e.sizes(mask))
    dims.push_back(e.asValue(size));
  Value fits;
  if (mask.rank() == 1) {
    Value twice = e.mulIndex(sizes.batch, e.index(2));
    fits = e.createOrFold<arith::OrIOp>(isEqual(e, dims[0], sizes.batch),
                                        isEqual(e, dims[0], twice));
  } else if (mask.rank() == 2) {
    Value isFull = e.createOrFold<arith::AndIOp>(
        isEqual(e, dims[0], sizes.batch), isEqual(e, dims[1], sizes.total));
    // One column stands for no mask.
    fits =
        e.createOrFold<arith::OrIOp>(isFull, isEqual(e, dims[1], e.index(1)));
  } else if (mask.rank() == 3) {
    fits = e.createOrFold<arith::AndIOp>(
        isEqual(e, dims[0], sizes.batch),
        e.createOrFold<arith::AndIOp>(isEqual(e, dims[1], sizes.sequence),
                                      isEqual(e, dims[2], sizes.total)));
  } else {
    fits = e.createOrFold<arith::AndIOp>(
        isEqual(e, dims[0], sizes.batch),
        e.createOrFold<arith::AndIOp>(isAtLeast(e, dims[2], sizes.total),
                                      isAtLeast(e, dims[3], sizes.total)));
  }
  e.check(fits, "the mask doesn't fit the sequences");
}

/// Whether `mask` lets the query at `indices` [b, n, s] see the key at [.., t].
static Value isVisible(Emitter &e, Tensor mask, const MaskSizes &sizes,
                       ArrayRef<Value> indices) {
  Value b = indices[0], s = indices[2], t = indices[3];
  auto isSet = [&](ArrayRef<Value> at) {
    Scalar value = e.read(mask, at);
    return e.compare(Emitter::GT, value, e.integer(0, value.elementType));
  };
  Value first = e.asValue(e.size(mask, 0));
  if (mask.rank() == 1) {
    // Ends of the sequences, then perhaps their starts.
    Value before =
        e.cmpIndex(arith::CmpIPredicate::slt, t, e.readIndex(mask, {b}));
    Value hasStart = e.createOrFold<arith::AndIOp>(
        e.cmpIndex(arith::CmpIPredicate::ne, first, sizes.batch),
        isEqual(e, first, e.mulIndex(sizes.batch, e.index(2))));
    Value at = e.createOrFold<arith::SelectOp>(hasStart,
                                               e.addIndex(b, sizes.batch), b);
    Value start = e.createOrFold<arith::SelectOp>(
        hasStart, e.readIndex(mask, {at}), e.index(0));
    return e.createOrFold<arith::AndIOp>(before, isAtLeast(e, t, start));
  }
  if (mask.rank() == 2) {
    Value isFull = isEqual(e, e.asValue(e.size(mask, 1)), sizes.total);
    Value row = e.createOrFold<arith::SelectOp>(isFull, b, e.index(0));
    Value column = e.createOrFold<arith::SelectOp>(isFull, t, e.index(0));
    Value isDummy = arith::XOrIOp::create(
        e, isFull, arith::ConstantOp::create(e, e.getBoolAttr(true)));
    return e.createOrFold<arith::OrIOp>(isDummy, isSet({row, column}));
  }
  if (mask.rank() == 3)
    return isSet({b, s, t});
  // The rows of a square mask end with those of the queries.
  Value row = e.addIndex(e.subIndex(sizes.total, sizes.sequence), s);
  return isSet({b, e.index(0), row, t});
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Scores [B, N, S, T] with scale, bias and masks.
static Tensor scoresOf(Emitter &e, const Heads &node, Tensor q, Tensor k) {
  Type real = q.elementType;
  Tensor products = matmul(e, q, e.transpose(k, {0, 1, 3, 2}), real);
  Scalar scale;
  if (node.scale) {
    scale = e.number(*node.scale, real);
  } else {
    Value width = e.toI64(e.asValue(e.size(q, 3)));
    Scalar root = e.math<math::SqrtOp>(e.cast({width, e.getI64Type()}, real));
    scale = e.div(e.number(1, real), root);
  }
  MaskSizes sizes = {e.asValue(e.size(q, 0)), e.asValue(e.size(q, 2)),
                     e.asValue(e.size(k, 2))};
  if (node.mask)
    checkMask(e, node.mask, sizes);
  Value past = e.subIndex(sizes.total, sizes.sequence);
  SmallVector<Tensor> inputs = {products};
  if (node.bias) {
    inputs.push_back(node.bias);
    for (auto [size, expected] :
         llvm::zip(e.broadcastSizes(inputs), e.sizes(products)))
      checkEqual(e, size, expected,
                 "the attention bias doesn't fit the scores");
  }
  return e.map(inputs, e.sizes(products), real, [&](ArrayRef<Scalar> in) {
    Indices at;
    for (int64_t i = 0; i < 4; ++i)
      at.push_back(linalg::IndexOp::create(e, i));
    Scalar score = e.mul(in[0], scale);
    Scalar zero = e.number(0, real);
    if (node.mask)
      score = e.add(score, e.select(isVisible(e, node.mask, sizes, at), zero,
                                    e.number(node.filter, real)));
    if (in.size() > 1)
      score = e.add(score, e.cast(in[1], real));
    if (node.isCausal) {
      Value isLater =
          e.cmpIndex(arith::CmpIPredicate::sgt, at[3], e.addIndex(past, at[2]));
      double lowest = -static_cast<double>(std::numeric_limits<float>::max());
      score = e.select(isLater, e.number(lowest, real), score);
    }
    return score;
  });
}

static Tensor softmaxOfRows(Emitter &e, Tensor x) {
  Type real = x.elementType;
  int64_t last = x.rank() - 1;
  Tensor top = e.reduce(x, {last}, /*keepDims=*/true, e.lowest(real),
                        [&](Scalar v, Scalar acc) { return e.max(v, acc); });
  Tensor powers = e.map({x, top}, e.sizes(x), real, [&](ArrayRef<Scalar> in) {
    return e.math<math::ExpOp>(e.sub(in[0], in[1]));
  });
  Tensor sums = e.reduce(powers, {last}, /*keepDims=*/true, e.number(0, real),
                         [&](Scalar v, Scalar acc) { return e.add(acc, v); });
  return e.map({powers, sums}, e.sizes(powers), real,
               [&](ArrayRef<Scalar> in) { return e.div(in[0], in[1]); });
}

/// Keys and values [B, N, T, H] as [2, B, N, T, H].
static Tensor presentOf(Emitter &e, Tensor k, Tensor v, Type type) {
  OpFoldResult zero = e.getIndexAttr(0), one = e.getIndexAttr(1);
  Sizes part = e.sizes(k);
  for (auto [a, b] : llvm::zip(part, e.sizes(v)))
    checkEqual(e, a, b, "keys and values have different widths");
  part.insert(part.begin(), one);
  Sizes sizes = part;
  sizes[0] = e.getIndexAttr(2);
  Tensor result = e.empty(sizes, k.elementType);
  result = putPart(e, k, result, {zero, zero, zero, zero, zero}, part);
  result = putPart(e, v, result, {one, zero, zero, zero, zero}, part);
  return castTo(e, result, type);
}

static SmallVector<Value> attend(Emitter &e, const Heads &node) {
  Tensor q = headsOf(e, node, 0);
  Tensor k = withPast(e, node.past, 0, headsOf(e, node, 1));
  Tensor v = withPast(e, node.past, 1, headsOf(e, node, 2));
  Tensor seen =
      matmul(e, softmaxOfRows(e, scoresOf(e, node, q, k)), v, q.elementType);
  Tensor together = mergeDims(e, e.transpose(seen, {0, 2, 1, 3}), 2, 2);
  SmallVector<Value> results(node.op->getNumResults());
  results[0] = castTo(e, together, resultType(node.op)).value;
  if (results.size() > 1 && !onnx::isLeftOut(node.op->getResult(1)))
    results[1] = presentOf(e, k, v, resultType(node.op, 1)).value;
  return results;
}

/// Reads the attributes that both ops have; why it can't be run, if it can't.
template <typename OpTy>
static std::optional<StringRef> readAttributes(OpTy op, Heads &node) {
  node.op = op;
  node.numHeads = op.getNumHeads();
  node.isCausal = op.getUnidirectional() != 0;
  node.filter = op.getMaskFilterValue()
                    ? op.getMaskFilterValue()->convertToFloat()
                    : -10000.0;
  // A scale of zero is none.
  if (op.getScale() && !op.getScale()->isZero())
    node.scale = op.getScale()->convertToFloat();
  if (op.getDoRotary().value_or(0) != 0)
    return "rotary embeddings aren't supported here";
  if (op.getPastPresentShareBuffer().value_or(0) != 0)
    return "past and present that share a buffer aren't supported";
  if (node.mask && (node.mask.rank() < 1 || node.mask.rank() > 4))
    return "expects a mask of rank 1 to 4";
  return std::nullopt;
}

namespace {
struct LowerAttention : OpLowering<ms::AttentionOp> {
  using OpLowering::OpLowering;
  Results lower(ms::AttentionOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], w = operands[1], bias = operands[2];
    Heads node = {};
    node.mask = operands[3];
    node.past = operands[4];
    node.bias = operands[5];
    if (std::optional<StringRef> reason = readAttributes(op, node))
      return refuse(op, *reason);
    Type real = accumulatorTypeFor(x.elementType);
    Tensor product = matmul(e, x, w, real);
    OpFoldResult columns = e.size(w, 1);
    if (bias) {
      checkEqual(e, e.size(bias, 0), columns,
                 "the bias doesn't fit the projection");
      product = e.map({product, bias}, e.sizes(product), real,
                      [&](ArrayRef<Scalar> in) {
                        return e.add(in[0], e.cast(in[1], real));
                      });
    }
    node.projected = product;
    OpFoldResult third = e.floorDivSize(columns, e.getIndexAttr(3));
    for (OpFoldResult &width : node.widths)
      width = third;
    if (std::optional<ArrayAttr> sizes = op.getQkvHiddenSizes())
      for (auto [i, size] : llvm::enumerate(sizes->getAsRange<IntegerAttr>()))
        if (i < 3)
          node.widths[i] = e.getIndexAttr(size.getInt());
    OpFoldResult total =
        e.addSize(e.addSize(node.widths[0], node.widths[1]), node.widths[2]);
    checkEqual(e, total, columns,
               "the weight's columns aren't queries, keys and values");
    return attend(e, node);
  }
};

struct LowerQAttention : OpLowering<ms::QAttentionOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QAttentionOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], w = operands[1], bias = operands[2];
    Heads node = {};
    node.mask = operands[5];
    node.past = operands[8];
    if (std::optional<StringRef> reason = readAttributes(op, node))
      return refuse(op, *reason);
    Type i32 = e.getI32Type();
    Tensor sums = matmul(e, x, w, i32, minusZero(e, x, operands[6], 2, i32),
                         minusZero(e, w, operands[7], 1, i32));
    OpFoldResult columns = e.size(w, 1);
    checkEqual(e, e.size(bias, 0), columns,
               "the bias doesn't fit the projection");
    Tensor scale = scaleProduct(e, operands[3], operands[4]);
    Type real = scale.elementType;
    node.projected = e.map({sums, scale, bias}, e.sizes(sums), real,
                           [&](ArrayRef<Scalar> in) {
                             Scalar y = e.mul(e.cast(in[0], real), in[1]);
                             return e.add(y, e.cast(in[2], real));
                           });
    OpFoldResult three = e.getIndexAttr(3);
    OpFoldResult third = e.floorDivSize(columns, three);
    checkEqual(e, e.mulSize(third, three), columns,
               "the weight's columns aren't queries, keys and values");
    for (OpFoldResult &width : node.widths)
      width = third;
    return attend(e, node);
  }
};
} // namespace

void onnxquant::lowering::addMicrosoftAttention(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerAttention, LowerQAttention>(types, patterns.getContext());
}
