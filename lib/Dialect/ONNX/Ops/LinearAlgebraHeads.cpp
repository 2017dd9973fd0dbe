// Attention and RotaryEmbedding: verifiers and shapes. Both take tensors whose
// heads are an axis (rank 4) or part of the last axis (rank 3); what is checked
// and inferred here sees the first form only.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;

static RankedTensorType getRanked(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static bool differ(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
}

/// The shape (batches, heads, positions, features) of a tensor of rank 4, or of
/// rank 3 and with `heads` heads in its last axis; all dynamic if unranked.
static SmallVector<int64_t, 4> splitHeads(Value value, int64_t heads) {
  RankedTensorType type = getRanked(value);
  if (!type)
    return SmallVector<int64_t, 4>(4, ShapedType::kDynamic);
  SmallVector<int64_t, 4> shape(type.getShape());
  if (shape.size() != 3)
    return shape;
  int64_t features =
      ShapedType::isDynamic(shape[2]) ? shape[2] : shape[2] / heads;
  return {shape[0], heads, shape[1], features};
}

/// The same as dimensions.
static Dims splitHeads(ShapeContext &ctx, Value value, int64_t heads) {
  std::optional<Dims> dims = ctx.getDims(value);
  if (!dims)
    return ctx.unknowns(4);
  if (dims->size() != 3)
    return *dims;
  return {(*dims)[0], heads, (*dims)[1], (*dims)[2].floorDiv(heads)};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The rank of Q, K and V, as far as one of them tells.
static std::optional<int64_t> getCommonRank(AttentionOp op) {
  for (Value value : {op.getQ(), op.getK(), op.getV()})
    if (RankedTensorType type = getRanked(value))
      return type.getRank();
  return std::nullopt;
}

static LogicalResult verifyRanks(AttentionOp op) {
  std::optional<int64_t> rank = getCommonRank(op);
  for (Value value : {op.getQ(), op.getK(), op.getV()}) {
    RankedTensorType type = getRanked(value);
    if (type && (type.getRank() != *rank || (*rank != 3 && *rank != 4)))
      return op.emitOpError("expects Q, K and V all of rank 3 or all of rank "
                            "4, but got ")
             << op.getQ().getType() << ", " << op.getK().getType() << " and "
             << op.getV().getType() << " (C1)";
  }
  return success();
}

static LogicalResult verifyHeads(AttentionOp op) {
  if (getCommonRank(op) != 3)
    return success();
  int64_t queryHeads = op.getQNumHeads().value_or(0);
  int64_t keyHeads = op.getKvNumHeads().value_or(0);
  if (queryHeads <= 0 || keyHeads <= 0)
    return op.emitOpError("expects positive numbers of heads for rank 3, but "
                          "got ")
           << queryHeads << " and " << keyHeads << " (C2)";
  for (auto [value, heads] : {std::pair<Value, int64_t>(op.getQ(), queryHeads),
                              std::pair<Value, int64_t>(op.getK(), keyHeads),
                              std::pair<Value, int64_t>(op.getV(), keyHeads)}) {
    RankedTensorType type = getRanked(value);
    if (type && !type.isDynamicDim(2) && type.getDimSize(2) % heads != 0)
      return op.emitOpError("expects a last dimension that ")
             << heads << " heads divide, but got " << type << " (C2)";
  }
  return success();
}

/// Checks a cached tensor against the one that is appended to it.
static LogicalResult verifyPast(AttentionOp op, Value past,
                                ArrayRef<int64_t> shape, StringRef name) {
  RankedTensorType type = getRanked(past);
  if (!type)
    return success();
  if (type.getRank() != 4)
    return op.emitOpError("expects ")
           << name << " of rank 4, but got " << type << " (C5)";
  for (int64_t axis : {0, 1, 3})
    if (differ(type.getDimSize(axis), shape[axis]))
      return op.emitOpError("expects ")
             << name << " with " << shape[axis] << " in dimension " << axis
             << ", but got " << type << " (C6)";
  return success();
}

static LogicalResult verifyShapes(AttentionOp op) {
  int64_t keyHeads = op.getKvNumHeads().value_or(0);
  SmallVector<int64_t, 4> q =
      splitHeads(op.getQ(), op.getQNumHeads().value_or(0));
  SmallVector<int64_t, 4> k = splitHeads(op.getK(), keyHeads);
  SmallVector<int64_t, 4> v = splitHeads(op.getV(), keyHeads);
  if (!ShapedType::isDynamic(q[1]) && !ShapedType::isDynamic(k[1]) &&
      (k[1] == 0 || q[1] % k[1] != 0))
    return op.emitOpError("expects a multiple of ")
           << k[1] << " q heads, but got " << q[1] << " (C3)";
  if (differ(q[0], k[0]) || differ(k[0], v[0]) || differ(q[0], v[0]) ||
      differ(k[1], v[1]) || differ(k[2], v[2]) || differ(q[3], k[3]))
    return op.emitOpError("expects Q, K and V that go together, but got ")
           << op.getQ().getType() << ", " << op.getK().getType() << " and "
           << op.getV().getType() << " (C4)";
  if (isLeftOut(op.getPastKey()) != isLeftOut(op.getPastValue()))
    return op.emitOpError("expects past_key and past_value together, but got "
                          "one of them (C5)");
  if (failed(verifyPast(op, op.getPastKey(), k, "past_key")))
    return failure();
  return verifyPast(op, op.getPastValue(), v, "past_value");
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyRanks(*this)) || failed(verifyHeads(*this)) ||
      failed(verifyShapes(*this)))
    return failure();
  RankedTensorType mask = getRanked(getAttnMask());
  if (mask && mask.getRank() > 4)
    return emitOpError("expects attn_mask of rank 4 at most, but got ")
           << mask << " (C7)";
  int64_t mode = getQkMatmulOutputMode();
  if (mode < 0 || mode > 3)
    return emitOpError("expects qk_matmul_output_mode of 0, 1, 2 or 3, but "
                       "got ")
           << mode << " (C8)";
  int64_t precision = getSoftmaxPrecision().value_or(1);
  if (precision != 1 && precision != 10 && precision != 11 && precision != 16)
    return emitOpError("expects softmax_precision of 1, 10, 11 or 16, but got ")
           << precision << " (C9)";
  return success();
}

/// The first dimension that is a number, or the first one.
static Dim choose(const Dim &a, const Dim &b) {
  return !a.isConstant() && b.isConstant() ? b : a;
}

/// The number of keys that a cache holds already.
static Dim getPastLength(ShapeContext &ctx, Value past) {
  if (isLeftOut(past))
    return 0;
  std::optional<Dims> dims = ctx.getDims(past);
  return dims ? (*dims)[2] : ctx.unknown();
}

LogicalResult AttentionOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  Operation *op = getOperation();
  Type keyType = getElementType(getQ()), valueType = getElementType(getV());
  std::optional<int64_t> rank = getCommonRank(*this);
  if (!rank) {
    // The cache has rank 4 in any case.
    if (failed(ctx.set(op->getOpResult(0), keyType)) ||
        failed(ctx.set(op->getOpResult(1), keyType, ctx.unknowns(4))) ||
        failed(ctx.set(op->getOpResult(2), valueType, ctx.unknowns(4))) ||
        failed(ctx.set(op->getOpResult(3), keyType, ctx.unknowns(4))))
      return failure();
    return success();
  }
  int64_t keyHeads = getKvNumHeads().value_or(0);
  Dims q = splitHeads(ctx, getQ(), getQNumHeads().value_or(0));
  Dims k = splitHeads(ctx, getK(), keyHeads);
  Dims v = splitHeads(ctx, getV(), keyHeads);
  Dim batches = choose(choose(q[0], k[0]), v[0]);
  Dim keys = choose(k[2], v[2]);
  Dim heads = choose(k[1], v[1]);
  Dim total = getPastLength(ctx, getPastKey()) + keys;
  Dims y = {batches, q[1], q[2], v[3]};
  if (*rank == 3)
    y = {batches, q[2], q[1] * v[3]};
  if (failed(ctx.set(op->getOpResult(0), keyType, y)) ||
      failed(ctx.set(op->getOpResult(1), keyType,
                     Dims{batches, heads, total, choose(k[3], q[3])})) ||
      failed(ctx.set(op->getOpResult(2), valueType,
                     Dims{batches, heads, total, v[3]})) ||
      failed(ctx.set(op->getOpResult(3), keyType,
                     Dims{batches, q[1], q[2], total})))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

/// Checks X and gives its head size, which may be dynamic.
static FailureOr<int64_t> getHeadSize(RotaryEmbeddingOp op) {
  RankedTensorType type = getRanked(op.getX());
  if (!type)
    return ShapedType::kDynamic;
  if (type.getRank() != 3 && type.getRank() != 4)
    return op.emitOpError("expects X of rank 3 or 4, but got ")
           << type << " (C1)";
  int64_t heads = op.getNumHeads().value_or(0);
  if (type.getRank() == 3 && (heads <= 0 || (!type.isDynamicDim(2) &&
                                             type.getDimSize(2) % heads != 0)))
    return op.emitOpError("expects a positive number of heads that divides "
                          "the last dimension of ")
           << type << ", but got " << heads << " (C2)";
  return splitHeads(op.getX(), heads)[3];
}

LogicalResult RotaryEmbeddingOp::verify() {
  FailureOr<int64_t> headSize = getHeadSize(*this);
  if (failed(headSize))
    return failure();
  int64_t rotated = getRotaryEmbeddingDim();
  if (rotated == 0)
    rotated = *headSize;
  bool known = !ShapedType::isDynamic(rotated) || getRotaryEmbeddingDim() != 0;
  if (known && (rotated < 0 || rotated % 2 != 0 ||
                (!ShapedType::isDynamic(*headSize) && rotated > *headSize)))
    return emitOpError("expects an even number of rotated features within the "
                       "head size, but got ")
           << rotated << " (C3)";
  int64_t rank = isLeftOut(getPositionIds()) ? 3 : 2;
  for (Value cache : {getCosCache(), getSinCache()}) {
    RankedTensorType type = getRanked(cache);
    if (!type)
      continue;
    if (type.getRank() != rank)
      return emitOpError("expects caches of rank ")
             << rank << ", but got " << type << " (C4)";
    if (known && differ(type.getShape().back(), rotated / 2))
      return emitOpError("expects caches of ")
             << rotated / 2 << " pairs, but got " << type << " (C5)";
  }
  RankedTensorType ids = getRanked(getPositionIds());
  if (ids && ids.getRank() != 2)
    return emitOpError("expects position_ids of rank 2, but got ")
           << ids << " (C6)";
  return success();
}
