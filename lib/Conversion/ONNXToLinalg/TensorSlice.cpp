// Lowerings of ops that cut a tensor or add to it at its ends: Slice, Pad and
// CenterCropPad. Parts with positive steps are views.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// Positions `start`, `start + step`, ..., `size` of them.
struct Positions {
  Value start, size, step;
};
} // namespace

/// A bound below 0 counts from the end; then it is brought into [low, high].
static Value clampBound(Emitter &e, Value bound, Value dim, Value low,
                        Value high) {
  std::optional<int64_t> constant = e.constant(getAsOpFoldResult(bound));
  std::optional<int64_t> least = e.constant(getAsOpFoldResult(low));
  // Whatever the dimension is, these are its beginning and its end.
  constexpr int64_t beyond = int64_t(1) << 62;
  if (constant && *constant >= beyond)
    return high;
  if (constant && *constant <= -beyond)
    return e.minIndex(low, high);
  if (constant && least && *constant == 0 && *least == 0 && high == dim)
    return bound;
  return clampIndex(e, e.wrapIndex(bound, dim), low, high);
}

/// ONNX's reading of bounds and step along a dimension.
static Positions findPositions(Emitter &e, Value start, Value end, Value step,
                               Value dim) {
  Value zero = e.index(0), one = e.index(1);
  // Larger steps see one element, as these do.
  Value limit = e.index(int64_t(1) << 62);
  step = clampIndex(e, step, e.subIndex(zero, limit), limit);
  e.check(e.cmpIndex(Predicate::ne, step, zero), "expects no step of 0");
  std::optional<int64_t> known = e.constant(getAsOpFoldResult(step));
  Value isUp = e.cmpIndex(Predicate::sgt, step, zero);
  Value first, span;
  if (!known || *known > 0) {
    first = clampBound(e, start, dim, zero, dim);
    span = e.subIndex(clampBound(e, end, dim, zero, dim), first);
  }
  if (!known || *known <= 0) {
    Value last = e.subIndex(dim, one);
    Value downFirst = clampBound(e, start, dim, zero, last);
    Value downSpan =
        e.subIndex(downFirst, clampBound(e, end, dim, e.index(-1), last));
    first = first ? choose(e, isUp, first, downFirst) : downFirst;
    span = span ? choose(e, isUp, span, downSpan) : downSpan;
  }
  Value stride = choose(e, isUp, step, e.subIndex(zero, step));
  Value rounded = e.addIndex(e.maxIndex(span, zero), e.subIndex(stride, one));
  Value size = known == 1 ? rounded : e.floorDivIndex(rounded, stride);
  return {first, size, step};
}

namespace {

struct LowerSlice : OpLowering<onnx::SliceOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::SliceOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = asStored(operands[0]);
    Indices dims = toValues(e, e.sizes(data));
    Indices zeros(dims.size(), e.index(0)), ones(dims.size(), e.index(1));
    SmallVector<Indices> values = {zeros, dims, ones};
    SmallVector<List> lists = {{op.getStarts(), operands[1]},
                               {op.getEnds(), operands[2]}};
    if (operands[4])
      lists.push_back({op.getSteps(), operands[4]});
    if (!dims.empty())
      spreadOverAxes(e, lists, {op.getAxes(), operands[3]},
                     MutableArrayRef(values).take_front(lists.size()));
    Indices starts, steps;
    Sizes sizes;
    bool isView = true;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      Positions at = {zeros[d], dim, ones[d]};
      if (values[0][d] != zeros[d] || values[1][d] != dim ||
          values[2][d] != ones[d])
        at = findPositions(e, values[0][d], values[1][d], values[2][d], dim);
      starts.push_back(at.start);
      steps.push_back(at.step);
      sizes.push_back(getAsOpFoldResult(at.size));
      isView &= e.constant(getAsOpFoldResult(at.step)).value_or(0) > 0;
    }
    sizes = agreedSizes(e, op, 0, sizes);
    for (auto [d, dim] : llvm::enumerate(dims)) {
      bool isWhole = e.constant(sizes[d]) &&
                     e.constant(sizes[d]) == e.constant(getAsOpFoldResult(dim));
      if (isWhole && e.constant(getAsOpFoldResult(steps[d])) == 1)
        starts[d] = zeros[d];
    }
    if (isView)
      return SmallVector<Value>{
          takePart(e, data, toSizes(starts), sizes, toSizes(steps)).value};
    Tensor result =
        e.generate(sizes, data.elementType, [&](ArrayRef<Value> at) {
          Indices from;
          for (auto [position, start, step] : llvm::zip(at, starts, steps))
            from.push_back(e.addIndex(start, e.mulIndex(position, step)));
          return e.read(data, from);
        });
    return SmallVector<Value>{result.value};
  }
};

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// One dimension of a Pad: what is cut off, what is left, what is added.
struct PadPlan {
  Value cut, left, before, size;
  bool isUntouched;
};

} // namespace

static PadPlan planPad(Emitter &e, Value dim, Value before, Value after) {
  Value zero = e.index(0);
  auto negativePart = [&](Value count) {
    return e.maxIndex(e.subIndex(zero, count), zero);
  };
  PadPlan plan;
  plan.isUntouched = e.constant(getAsOpFoldResult(before)) == 0 &&
                     e.constant(getAsOpFoldResult(after)) == 0;
  if (plan.isUntouched)
    return {zero, dim, zero, dim, true};
  // Counts beyond any memory would wrap around when they are added.
  Value most = e.index(int64_t(1) << 48);
  for (Value count : {before, after})
    if (!e.constant(getAsOpFoldResult(count)))
      e.check(e.cmpIndex(Predicate::sle, count, most), "a pad is too large");
  plan.size = e.addIndex(dim, e.addIndex(before, after));
  plan.cut = e.minIndex(negativePart(before), dim);
  plan.left = e.maxIndex(
      e.subIndex(e.subIndex(dim, plan.cut), negativePart(after)), zero);
  plan.before =
      e.minIndex(e.maxIndex(before, zero), e.maxIndex(plan.size, zero));
  return plan;
}

/// Where the elements of a padded dimension come from, as a table.
static Tensor padTable(Emitter &e, const PadPlan &plan, OpFoldResult size,
                       StringRef mode) {
  Value zero = e.index(0), one = e.index(1);
  return e.generate({size}, e.getI64Type(), [&](ArrayRef<Value> at) {
    Value position = e.subIndex(at[0], plan.before);
    Value last = e.subIndex(plan.left, one);
    if (mode == "edge") {
      position = clampIndex(e, position, zero, last);
    } else if (mode == "wrap") {
      position = e.wrapIndex(e.remIndex(position, e.maxIndex(plan.left, one)),
                             plan.left);
    } else {
      Value period = e.maxIndex(e.mulIndex(last, e.index(2)), one);
      position = e.wrapIndex(e.remIndex(position, period), period);
      Value mirrored = e.subIndex(period, position);
      position = choose(e, e.cmpIndex(Predicate::sgt, position, last), mirrored,
                        position);
      // A single element has no mirror image but itself.
      position = e.minIndex(position, last);
    }
    return Scalar{e.toI64(e.addIndex(position, plan.cut)), e.getI64Type()};
  });
}

/// A tensor of `fill` with a part of `data` in it, per dimension from `from`,
/// `counts` long, at `to`.
static Value placeInto(Emitter &e, Tensor data, Scalar fill,
                       ArrayRef<OpFoldResult> sizes, ArrayRef<Value> from,
                       ArrayRef<Value> counts, ArrayRef<Value> to) {
  Tensor part = takePart(e, data, toSizes(from), toSizes(counts));
  return putPart(e, part, e.filled(sizes, fill), toSizes(to)).value;
}

/// The elements at positions that tables give for some dimensions.
static Value gatherByTables(Emitter &e, Tensor data, ArrayRef<Tensor> tables,
                            ArrayRef<OpFoldResult> sizes) {
  return e
      .generate(sizes, data.elementType,
                [&](ArrayRef<Value> at) {
                  Indices from(at);
                  for (auto [position, table] : llvm::zip(from, tables))
                    if (table)
                      position = e.readIndex(table, position);
                  return e.read(data, from);
                })
      .value;
}

namespace {

struct LowerPad : OpLowering<onnx::PadOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::PadOp op, Operands operands, Emitter &e) const override {
    Tensor data = asStored(operands[0]);
    Indices dims = toValues(e, e.sizes(data));
    Indices zeros(dims.size(), e.index(0));
    SmallVector<Indices> counts = {zeros, zeros};
    List pads = {op.getPads(), operands[1]};
    if (dims.empty())
      return SmallVector<Value>{data.value};
    spreadOverAxes(e, pads, {op.getAxes(), operands[3]}, counts);
    SmallVector<PadPlan> plans;
    Sizes sizes;
    for (auto [dim, before, after] : llvm::zip(dims, counts[0], counts[1])) {
      plans.push_back(planPad(e, dim, before, after));
      sizes.push_back(getAsOpFoldResult(plans.back().size));
    }
    sizes = agreedSizes(e, op, 0, sizes);
    if (op.getMode() == "constant") {
      Indices from, left, to;
      for (const PadPlan &plan : plans) {
        from.push_back(plan.cut);
        left.push_back(plan.left);
        to.push_back(plan.before);
      }
      Scalar fill = e.integer(0, data.elementType);
      if (Tensor value = operands[2])
        fill = e.read(asStored(value), Indices(value.rank(), e.index(0)));
      return SmallVector<Value>{
          placeInto(e, data, fill, sizes, from, left, to)};
    }
    SmallVector<Tensor> tables;
    for (auto [plan, size] : llvm::zip(plans, sizes)) {
      Value isEmpty = e.cmpIndex(Predicate::sle, e.asValue(size), e.index(0));
      e.check(
          either(e, e.cmpIndex(Predicate::sgt, plan.left, e.index(0)), isEmpty),
          "expects elements to pad with, but a dimension has none");
      tables.push_back(
          plan.isUntouched ? Tensor() : padTable(e, plan, size, op.getMode()));
    }
    return SmallVector<Value>{gatherByTables(e, data, tables, sizes)};
  }
};

struct LowerCenterCropPad : OpLowering<onnx::CenterCropPadOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::CenterCropPadOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = asStored(operands[0]);
    SmallVector<int64_t> axes = normalAxes(op.getAxes(), data.rank());
    Indices wanted =
        readList(e, {op.getShape(), operands[1]}, axes.size(), "shape");
    Indices counts = toValues(e, e.sizes(data)), sizes = counts;
    Indices from(sizes.size(), e.index(0)), to = from;
    Value zero = e.index(0), two = e.index(2);
    for (auto [axis, want] : llvm::zip(axes, wanted)) {
      Value dim = sizes[axis];
      Value more = e.maxIndex(e.subIndex(want, dim), zero);
      Value less = e.maxIndex(e.subIndex(dim, want), zero);
      from[axis] = e.floorDivIndex(less, two);
      to[axis] = e.floorDivIndex(more, two);
      counts[axis] = e.minIndex(dim, want);
      sizes[axis] = want;
    }
    Scalar fill = e.integer(0, data.elementType);
    return SmallVector<Value>{placeInto(e, data, fill,
                                        agreedSizes(e, op, 0, toSizes(sizes)),
                                        from, counts, to)};
  }
};

} // namespace

void tensors::addTensorSliceLowerings(RewritePatternSet &patterns,
                                      const StorageTypeConverter &types) {
  patterns.add<LowerSlice, LowerPad, LowerCenterCropPad>(types,
                                                         patterns.getContext());
}
