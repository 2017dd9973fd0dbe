// The sizes, scales and regions of a Resize, per axis.

#include "TensorResize.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;
using Predicate = arith::CmpIPredicate;

Type tensors::resizeCoordinateType(onnx::ResizeOp op) {
  Type type = resultType(op);
  bool isNarrow = isFloat(type) && !type.isF64();
  Builder builder(op.getContext());
  return isNarrow || op.getMode() == "nearest" ? Type(builder.getF32Type())
                                               : Type(builder.getF64Type());
}

namespace {
/// Reads the operands of one Resize.
class ResizeReader {
public:
  ResizeReader(Emitter &e, onnx::ResizeOp op, Operands operands)
      : e(e), op(op), data(operands[0]), roi(operands[1]), scales(operands[2]),
        sizes(operands[3]), type(resizeCoordinateType(op)),
        crops(op.getCoordinateTransformationMode() == "tf_crop_and_resize"),
        axes(normalAxes(op.getAxes(), data.rank())) {
    if (ElementsAttr constant =
            scales ? onnx::getConstant(op.getScales()) : ElementsAttr())
      knownScales = onnx::readFloats(constant, axes.size());
  }
  FailureOr<ResizePlan> read();

private:
  void readRegion(ResizeAxis &axis, size_t number);
  void readScale(ResizeAxis &axis, size_t number);
  void readSizes(MutableArrayRef<ResizeAxis> list);
  void keepAspectRatio(MutableArrayRef<ResizeAxis> list, bool notLarger);
  bool isIdentity(const ResizeAxis &axis);
  Value scaledSize(const ResizeAxis &axis);

  Emitter &e;
  onnx::ResizeOp op;
  Tensor data, roi, scales, sizes;
  Type type;
  bool crops;
  SmallVector<int64_t> axes;
  std::optional<SmallVector<double>> knownScales;
};
} // namespace

void ResizeReader::readRegion(ResizeAxis &axis, size_t number) {
  if (!crops)
    return;
  int64_t count = axes.size();
  checkEqual(e, e.size(roi, 0), e.getIndexAttr(2 * count),
             "expects roi of two elements per axis");
  auto entry = [&](int64_t position) {
    return e.cast(e.read(roi, e.index(position)), type);
  };
  axis.roiStart = entry(number);
  axis.roiEnd = entry(count + number);
}

/// floor(in * scale), a region of interest included; in 32 bits, as the type of
/// the result was inferred.
Value ResizeReader::scaledSize(const ResizeAxis &axis) {
  Type f32 = e.getF32Type();
  if (axis.knownScale == 1.0 && !crops)
    return axis.in;
  Scalar size = indexToFloat(e, axis.in, f32);
  if (crops)
    size = e.mul(size, e.cast(e.sub(axis.roiEnd, axis.roiStart), f32));
  return floatToIndex(e, e.mul(size, e.cast(axis.scale, f32)));
}

void ResizeReader::readScale(ResizeAxis &axis, size_t number) {
  if (knownScales) {
    axis.knownScale = static_cast<float>((*knownScales)[number]);
    axis.scale = e.number(*axis.knownScale, type);
  } else {
    Scalar scale = e.read(scales, e.index(number));
    Value isPositive =
        e.compare(Emitter::GT, scale, e.number(0, scale.elementType));
    Value isFinite =
        e.compare(Emitter::LT, scale, e.number(0x1p40, scale.elementType));
    e.check(both(e, isPositive, isFinite), "expects positive, finite scales");
    axis.scale = e.cast(scale, type);
  }
  auto result = cast<RankedTensorType>(op.getY().getType());
  axis.out = result.isDynamicDim(axis.axis)
                 ? scaledSize(axis)
                 : e.index(result.getDimSize(axis.axis));
  axis.width = crops ? indexToFloat(e, axis.out, type)
                     : e.mul(axis.scale, indexToFloat(e, axis.in, type));
}

/// One ratio of a wanted size to a size there is, for all axes: the smallest or
/// the largest. Ratios are compared, and sizes rounded half up, as integers.
void ResizeReader::keepAspectRatio(MutableArrayRef<ResizeAxis> list,
                                   bool notLarger) {
  Value to = list[0].out, from = list[0].in, two = e.index(2);
  for (const ResizeAxis &axis : list.drop_front()) {
    Value isBetter =
        e.cmpIndex(notLarger ? Predicate::slt : Predicate::sgt,
                   e.mulIndex(axis.out, from), e.mulIndex(to, axis.in));
    to = choose(e, isBetter, axis.out, to);
    from = choose(e, isBetter, axis.in, from);
  }
  Scalar scale = e.div(indexToFloat(e, to, type), indexToFloat(e, from, type));
  for (ResizeAxis &axis : list) {
    Value doubled = e.mulIndex(e.mulIndex(two, to), axis.in);
    axis.out = e.floorDivIndex(e.addIndex(doubled, from),
                               e.maxIndex(e.mulIndex(two, from), e.index(1)));
    axis.scale = scale;
    axis.width = e.mul(scale, indexToFloat(e, axis.in, type));
  }
}

void ResizeReader::readSizes(MutableArrayRef<ResizeAxis> list) {
  Indices wanted = readList(e, {op.getSizes(), sizes}, axes.size(), "sizes");
  auto result = cast<RankedTensorType>(op.getY().getType());
  StringRef policy = op.getKeepAspectRatioPolicy();
  bool stretches = policy == "stretch";
  for (auto [axis, size] : llvm::zip(list, wanted)) {
    bool isStatic = stretches && !result.isDynamicDim(axis.axis);
    axis.out = isStatic ? e.index(result.getDimSize(axis.axis)) : size;
    axis.width = indexToFloat(e, axis.out, type);
    axis.scale = e.div(axis.width, indexToFloat(e, axis.in, type));
    std::optional<int64_t> in = e.constant(getAsOpFoldResult(axis.in));
    std::optional<int64_t> out = e.constant(getAsOpFoldResult(axis.out));
    if (stretches && in && out && *in > 0) {
      axis.knownScale = type.isF32() ? static_cast<float>(*out) / *in
                                     : static_cast<double>(*out) / *in;
      axis.scale = e.number(*axis.knownScale, type);
    }
    e.check(e.cmpIndex(Predicate::sge, size, e.index(0)),
            "expects no negative sizes");
  }
  if (!stretches && !list.empty())
    keepAspectRatio(list, policy == "not_larger");
}

bool ResizeReader::isIdentity(const ResizeAxis &axis) {
  if (crops)
    return false;
  // One element is what every filter makes of it, wherever it lies.
  if (e.constant(getAsOpFoldResult(axis.in)) == 1 &&
      e.constant(getAsOpFoldResult(axis.out)) == 1)
    return true;
  if (axis.knownScale != 1.0)
    return false;
  // This one lies half an element beside it, which some roundings take back.
  if (op.getCoordinateTransformationMode() == "tf_half_pixel_for_nn")
    return op.getMode() == "nearest" &&
           (op.getNearestMode() == "floor" ||
            op.getNearestMode() == "round_prefer_floor");
  return true;
}

FailureOr<ResizePlan> ResizeReader::read() {
  bool hasSizes = !isAbsent(sizes), hasScales = !isAbsent(scales);
  if (hasSizes && hasScales) {
    // One of them has no elements, but the types don't tell which.
    bool sizesCount = !ShapedType::isDynamic(sizes.shape()[0]);
    bool scalesCount = !ShapedType::isDynamic(scales.shape()[0]);
    if (!sizesCount && !scalesCount)
      return op.emitOpError("cannot be run: the types of scales and sizes "
                            "don't tell which of them has elements");
    hasSizes = sizesCount;
  }
  ResizePlan plan;
  plan.sizes = e.sizes(data);
  for (auto [number, axis] : llvm::enumerate(axes)) {
    ResizeAxis entry = {};
    entry.axis = axis;
    entry.in = e.asValue(plan.sizes[axis]);
    readRegion(entry, number);
    if (!hasSizes)
      readScale(entry, number);
    plan.axes.push_back(entry);
  }
  if (hasSizes)
    readSizes(plan.axes);
  else
    checkEqual(e, e.size(scales, 0), e.getIndexAttr(axes.size()),
               "expects one scale per axis");
  for (ResizeAxis &axis : plan.axes) {
    axis.isIdentity = isIdentity(axis);
    plan.sizes[axis.axis] = getAsOpFoldResult(axis.out);
    if (axis.isIdentity)
      continue;
    Value hasElements = e.cmpIndex(Predicate::sgt, axis.in, e.index(0));
    e.check(either(e, hasElements, isEqual(e, axis.out, 0)),
            "expects elements to resize, but a dimension has none");
  }
  plan.sizes = agreedSizes(e, op, 0, plan.sizes);
  for (ResizeAxis &axis : plan.axes)
    axis.out = e.asValue(plan.sizes[axis.axis]);
  return plan;
}

FailureOr<ResizePlan> tensors::planResize(Emitter &e, onnx::ResizeOp op,
                                          Operands operands) {
  return ResizeReader(e, op, operands).read();
}
