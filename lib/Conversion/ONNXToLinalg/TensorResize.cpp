// Lowering of Resize. Nearest reads every element through tables of positions,
// or repeats elements where the scales are whole numbers. The others take one
// axis after the other, the last first, through tables of positions and
// weights; what is between two axes keeps the type that is computed in.

#include "TensorResize.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

/// Filters of so many taps are written out instead of looped over.
static constexpr int64_t maxUnrolled = 8;

/// Whether nearest takes element i / k for a whole scale k, and k.
static std::optional<int64_t> wholeScale(onnx::ResizeOp op,
                                         const ResizeAxis &axis) {
  if (axis.isIdentity)
    return 1;
  if (!axis.knownScale || *axis.knownScale != std::floor(*axis.knownScale) ||
      *axis.knownScale < 1 || *axis.knownScale > 1024)
    return std::nullopt;
  StringRef mode = op.getCoordinateTransformationMode();
  StringRef rounding = op.getNearestMode();
  bool isCentered =
      mode.ends_with("half_pixel") || mode == "half_pixel_symmetric";
  bool fits =
      isCentered ? rounding.starts_with("round")
                 : rounding == "floor" &&
                       (mode == "asymmetric" || mode == "tf_half_pixel_for_nn");
  return fits ? std::optional<int64_t>(*axis.knownScale) : std::nullopt;
}

/// A truth that holds where every coordinate is inside; none if that is always.
static Value insideEverywhere(Emitter &e, ArrayRef<ResizeAxis> axes,
                              ArrayRef<ResizeTables> tables,
                              ArrayRef<Value> at) {
  Value result;
  for (auto [axis, table] : llvm::zip(axes, tables)) {
    if (!table.isInside)
      continue;
    Value inside = e.read(table.isInside, at[axis.axis]).value;
    result = result ? both(e, result, inside) : inside;
  }
  return result;
}

/// The value outside of what tf_crop_and_resize crops.
static Scalar extrapolated(Emitter &e, onnx::ResizeOp op, Type type) {
  Scalar value =
      e.number(op.getExtrapolationValue().convertToFloat(), e.getF32Type());
  return e.cast(value, type);
}

static Tensor resizeNearest(Emitter &e, onnx::ResizeOp op, Tensor data,
                            const ResizePlan &plan) {
  SmallVector<std::optional<int64_t>> wholes;
  for (const ResizeAxis &axis : plan.axes)
    wholes.push_back(wholeScale(op, axis));
  if (llvm::all_of(wholes, [](auto whole) { return whole.has_value(); })) {
    Sizes ones(data.rank(), e.getIndexAttr(1)), repeats = ones;
    for (auto [axis, whole] : llvm::zip(plan.axes, wholes))
      repeats[axis.axis] = e.getIndexAttr(*whole);
    return repeatDims(e, data, ones, repeats);
  }
  SmallVector<ResizeTables> tables;
  for (const ResizeAxis &axis : plan.axes)
    tables.push_back(axis.isIdentity ? ResizeTables()
                                     : makeResizeTables(e, op, axis));
  Tensor source = asStored(data);
  Scalar outside = {e.store(extrapolated(e, op, data.elementType)),
                    source.elementType};
  return e.generate(plan.sizes, source.elementType, [&](ArrayRef<Value> at) {
    Indices from(at);
    for (auto [axis, table] : llvm::zip(plan.axes, tables))
      if (table.positions)
        from[axis.axis] = e.readIndex(table.positions, at[axis.axis]);
    Scalar element = e.read(source, from);
    Value inside = insideEverywhere(e, plan.axes, tables, at);
    return inside ? e.select(inside, element, outside) : element;
  });
}

/// A computed element in the type of the result: integers are truncated, and
/// brought into their range first.
static Scalar finish(Emitter &e, Scalar value, Type type) {
  if (!isFloat(type) && !isBool(type)) {
    Scalar low = e.cast(e.lowest(type), value.elementType);
    Scalar high = e.cast(e.highest(type), value.elementType);
    value = e.min(e.max(value, low), high);
  }
  return e.cast(value, type);
}

/// The weighted sum of elements along one axis.
static Scalar filter(Emitter &e, Tensor data, int64_t axis,
                     const ResizeTables &table, ArrayRef<Value> at, Type type) {
  auto product = [&](Value tap) {
    Indices from(at), entry = {at[axis], tap};
    from[axis] = e.readIndex(table.positions, entry);
    Scalar weight = e.cast(e.read(table.weights, entry), type);
    return e.mul(weight, e.cast(e.read(data, from), type));
  };
  std::optional<int64_t> taps = e.constant(table.taps);
  if (taps && *taps <= maxUnrolled) {
    Scalar sum = product(e.index(0));
    for (int64_t tap = 1; tap < *taps; ++tap)
      sum = e.add(sum, product(e.index(tap)));
    return sum;
  }
  SmallVector<Value> sum =
      e.forEach(table.taps, e.number(0, type).value,
                [&](ArrayRef<Value> tap, ValueRange current) {
                  return SmallVector<Value>{
                      e.add({current[0], type}, product(tap[0])).value};
                });
  return {sum[0], type};
}

/// Whether an axis turns out at run time to stay as it is.
static Value staysAsIs(Emitter &e, const ResizeAxis &axis) {
  Scalar one = e.number(1, axis.scale.elementType);
  return both(e, e.cmpIndex(arith::CmpIPredicate::eq, axis.in, axis.out),
              e.compare(Emitter::EQ, axis.scale, one));
}

/// One axis's pass over `data`, left out at run time where it changes nothing:
/// batches and channels often come with sizes that nobody knows before.
static Tensor filterAxis(Emitter &e, onnx::ResizeOp op, Tensor data,
                         const ResizeAxis &axis, Type next,
                         function_ref<Tensor()> pass) {
  StringRef mode = op.getCoordinateTransformationMode();
  bool maySkip = next == data.elementType && mode != "tf_crop_and_resize" &&
                 mode != "tf_half_pixel_for_nn" && !axis.knownScale;
  std::optional<int64_t> in = e.constant(getAsOpFoldResult(axis.in));
  std::optional<int64_t> out = e.constant(getAsOpFoldResult(axis.out));
  if (in && out && in != out)
    maySkip = false;
  if (!maySkip)
    return pass();
  // The pass decides about the type: what it makes has the result's sizes.
  auto branches = scf::IfOp::create(
      e, staysAsIs(e, axis),
      [&](OpBuilder &builder, Location loc) {
        OpBuilder::InsertionGuard guard(e);
        e.setInsertionPointToEnd(builder.getInsertionBlock());
        Sizes sizes = e.sizes(data);
        sizes[axis.axis] = getAsOpFoldResult(axis.out);
        SmallVector<int64_t> shape;
        for (OpFoldResult size : sizes)
          shape.push_back(e.constant(size).value_or(ShapedType::kDynamic));
        auto type = RankedTensorType::get(shape, storedType(data));
        Value same = data.value;
        if (same.getType() != type)
          same = tensor::CastOp::create(e, type, same);
        scf::YieldOp::create(e, same);
      },
      [&](OpBuilder &builder, Location loc) {
        OpBuilder::InsertionGuard guard(e);
        e.setInsertionPointToEnd(builder.getInsertionBlock());
        scf::YieldOp::create(e, pass().value);
      });
  return {branches.getResult(0), next};
}

static Tensor resizeByFilter(Emitter &e, onnx::ResizeOp op, Tensor data,
                             const ResizePlan &plan) {
  Type result = data.elementType, type = resizeCoordinateType(op);
  SmallVector<ResizeAxis> axes;
  SmallVector<ResizeTables> tables;
  for (const ResizeAxis &axis : llvm::reverse(plan.axes)) {
    if (axis.isIdentity)
      continue;
    axes.push_back(axis);
    tables.push_back(makeResizeTables(e, op, axis));
  }
  Sizes sizes = e.sizes(data);
  for (size_t number = 0; number < axes.size(); ++number) {
    bool isLast = number + 1 == axes.size();
    int64_t axis = axes[number].axis;
    sizes[axis] = plan.sizes[axis];
    Tensor source = data;
    Type next = isLast ? result : type;
    data = filterAxis(e, op, data, axes[number], next, [&] {
      return e.generate(sizes, next, [&](ArrayRef<Value> at) {
        Scalar sum = filter(e, source, axis, tables[number], at, type);
        if (!isLast)
          return sum;
        Scalar element = finish(e, sum, result);
        Value inside = insideEverywhere(e, axes, tables, at);
        return inside ? e.select(inside, element, extrapolated(e, op, result))
                      : element;
      });
    });
  }
  return data;
}

namespace {

struct LowerResize : OpLowering<onnx::ResizeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ResizeOp op, Operands operands,
                Emitter &e) const override {
    FailureOr<ResizePlan> plan = planResize(e, op, operands);
    if (failed(plan))
      return failure();
    Tensor result = op.getMode() == "nearest"
                        ? resizeNearest(e, op, operands[0], *plan)
                        : resizeByFilter(e, op, operands[0], *plan);
    return SmallVector<Value>{result.value};
  }
};

} // namespace

void tensors::addTensorResizeLowerings(RewritePatternSet &patterns,
                                       const StorageTypeConverter &types) {
  patterns.add<LowerResize>(types, patterns.getContext());
}
