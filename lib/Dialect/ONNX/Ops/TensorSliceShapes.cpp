// The shape rule of Slice. Bounds are clamped over expressions: a length comes
// out as `max(seq-1,0)`, and only as `seq-1` where that can't be negative. An
// expression of named dimensions that is used as a bound counts as not
// negative, since that is what shapes are made of.

#include "TensorHelpers.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::tensor;

namespace {
/// Bounds as large as this mean "to the end" in what exporters write, though
/// some write the largest 32-bit number.
constexpr int64_t farAway = INT32_MAX;

/// The operands of a Slice along one axis.
struct Extent {
  Dim start, end;
  int64_t step;
};

/// A bound before clamping; `fromEnd` if the dimension was added to it, so that
/// it may still be negative.
struct Bound {
  Dim position;
  bool fromEnd;
};
} // namespace

/// Resolves a negative bound, to `low` where it stays negative; none if its
/// sign can't be told.
static std::optional<Bound> resolveBound(const Dim &bound, const Dim &size,
                                         int64_t low) {
  if (bound == size)
    return Bound{size, false};
  std::optional<int64_t> number = bound.getConstant();
  if (!number && bound.isAnonymous())
    return std::nullopt;
  if (!number || *number >= 0)
    return Bound{bound, false};
  std::optional<int64_t> sizeNumber = size.getConstant();
  if (sizeNumber ? *number + *sizeNumber < 0 : *number <= -farAway)
    return Bound{Dim(low), false};
  return Bound{size + bound, true};
}

/// ceil(distance / step), where a large step gives 1 at most.
static Dim countSteps(const Dim &distance, int64_t step) {
  return step >= farAway ? Dim::min(distance, Dim(1))
                         : distance.ceilDiv(Dim(step));
}

/// The number of elements for a positive step: with S and E the bounds, E at
/// most the size, it is E - max(S, 0), which is min(E - S, E), where positive.
static std::optional<Dim> countForward(const Dim &size, const Extent &range) {
  std::optional<Bound> start = resolveBound(range.start, size, /*low=*/0);
  std::optional<Bound> end = resolveBound(range.end, size, /*low=*/0);
  if (!start || !end)
    return std::nullopt;
  auto isFar = [&](const Bound &bound) {
    return !size.isConstant() &&
           bound.position.getConstant().value_or(0) >= farAway;
  };
  if (isFar(*start) || end->position.isConstant(0))
    return Dim(0);
  Dim stop = isFar(*end) ? size : Dim::min(end->position, size);
  Dim length = stop - start->position;
  bool notNegative = !end->fromEnd && start->position.isConstant(0);
  if (start->fromEnd) {
    notNegative = !end->fromEnd && length.getConstant().value_or(-1) >= 0;
    length = Dim::min(length, stop);
  }
  if (!notNegative)
    length = Dim::max(length, Dim(0));
  return countSteps(length, range.step);
}

/// The number of elements for a negative step: with the start clamped to
/// [0, size-1] and the end to [-1, size-1], it is their distance.
static std::optional<Dim> countBackward(const Dim &size, const Extent &range) {
  if (size.isConstant(0))
    return Dim(0);
  Dim last = size - Dim(1);
  auto clampBound = [&](const Dim &bound, int64_t low) -> std::optional<Dim> {
    // The last element needs no clamping: a size of 0 gives no elements.
    if (bound.isConstant(-1))
      return last;
    std::optional<Bound> resolved = resolveBound(bound, size, low);
    if (!resolved)
      return std::nullopt;
    const Dim &position = resolved->position;
    if (position.isConstant(-1) || (resolved->fromEnd && size.isConstant()))
      return position;
    // A size of 0 has no position 0 to clamp to.
    if (resolved->fromEnd && low == 0)
      return Dim::min(Dim::max(position, Dim(0)), last);
    if (resolved->fromEnd)
      return Dim::max(position, Dim(low));
    bool toEnd =
        !size.isConstant() && position.getConstant().value_or(0) >= farAway;
    return toEnd ? last : Dim::min(position, last);
  };
  std::optional<Dim> start = clampBound(range.start, 0);
  std::optional<Dim> end = clampBound(range.end, -1);
  if (!start || !end)
    return std::nullopt;
  Dim distance = *start - *end;
  if (!end->isConstant(-1))
    distance = Dim::max(distance, Dim(0));
  return countSteps(distance,
                    range.step == INT64_MIN ? INT64_MAX : -range.step);
}

static Dim countElements(ShapeContext &ctx, const Dim &size,
                         const Extent &range) {
  std::optional<Dim> count =
      range.step > 0 ? countForward(size, range) : countBackward(size, range);
  return count ? *count : ctx.unknown();
}

/// The sliced part of a small vector whose contents are followed.
static void sliceContents(ShapeContext &ctx, Value data, OpResult result,
                          const Extent &range) {
  std::optional<Dims> contents = ctx.getContents(data);
  std::optional<int64_t> start = range.start.getConstant();
  std::optional<int64_t> count = lengthOf(ctx, result);
  if (!contents || !start || !count || *count < 0)
    return;
  int64_t size = contents->size();
  int64_t position = *start;
  if (position < 0)
    position = position < -size ? 0 : position + size;
  position = std::min(position, range.step > 0 ? size : size - 1);
  Dims part;
  for (int64_t i = 0; i < *count; ++i) {
    if (position < 0 || position >= size)
      return;
    part.push_back((*contents)[position]);
    if (llvm::AddOverflow(position, range.step, position))
      position = -1;
  }
  ctx.setContents(result, part);
}

/// The axes that an operation slices; none if they aren't known.
static FailureOr<std::optional<SmallVector<int64_t>>>
getSlicedAxes(SliceOp op, ShapeContext &ctx, int64_t rank) {
  using Axes = std::optional<SmallVector<int64_t>>;
  SmallVector<int64_t> axes;
  if (isLeftOut(op.getAxes())) {
    std::optional<int64_t> count = lengthOf(ctx, op.getStarts());
    if (!count)
      count = lengthOf(ctx, op.getEnds());
    if (!count)
      return Axes();
    if (*count > rank)
      return op.emitOpError("expects starts of at most ")
             << rank << " elements, but got " << *count;
    return Axes(allAxes(*count));
  }
  Axes given = ctx.getConstants(op.getAxes());
  if (!given)
    return Axes();
  FailureOr<SmallVector<int64_t>> normal = normalizeAxes(op, *given, rank);
  if (failed(normal))
    return failure();
  return Axes(*normal);
}

LogicalResult SliceOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> in = ctx.getDims(getData());
  if (!in)
    return ctx.set(result, elementType);
  auto axes = getSlicedAxes(*this, ctx, in->size());
  if (failed(axes))
    return failure();
  if (!*axes)
    return ctx.set(result, elementType, ctx.unknowns(in->size()));

  std::optional<Dims> starts = ctx.getContents(getStarts());
  std::optional<Dims> ends = ctx.getContents(getEnds());
  std::optional<Dims> steps = Dims((*axes)->size(), Dim(1));
  if (!isLeftOut(getSteps()))
    steps = ctx.getContents(getSteps());
  for (const std::optional<Dims> &list : {starts, ends, steps})
    if (list && list->size() != (*axes)->size())
      return emitOpError("expects starts, ends and steps of ")
             << (*axes)->size() << " elements, but got " << list->size();

  Dims out = *in;
  std::optional<Extent> only;
  for (auto [index, axis] : llvm::enumerate(**axes)) {
    std::optional<int64_t> step;
    if (steps)
      step = (*steps)[index].getConstant();
    if (step == 0)
      return emitOpError("expects steps other than 0, but got 0 at ") << index;
    if (!starts || !ends || !step) {
      out[axis] = ctx.unknown();
      continue;
    }
    only = Extent{(*starts)[index], (*ends)[index], *step};
    out[axis] = countElements(ctx, (*in)[axis], *only);
  }
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  if (in->size() == 1 && only)
    sliceContents(ctx, getData(), result, *only);
  if (in->size() == 1 && (*axes)->empty())
    passContents(ctx, getData(), result);
  return success();
}
