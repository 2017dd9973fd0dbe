// Shape rules of the Tensor ops that pad, crop, resize and sample.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "TensorHelpers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::tensor;

LogicalResult PadOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> in = ctx.getDims(getData());
  std::optional<int64_t> length = lengthOf(ctx, getPads());
  if (!in) {
    // Without axes, there are two pads per dimension.
    if (!length || !isLeftOut(getAxes()))
      return ctx.set(result, elementType);
    if (failed(checkRank(*this, *length / 2)))
      return failure();
    return ctx.set(result, elementType, ctx.unknowns(*length / 2));
  }
  int64_t rank = in->size();
  SmallVector<int64_t> axes = allAxes(rank);
  if (!isLeftOut(getAxes())) {
    std::optional<SmallVector<int64_t>> given = ctx.getConstants(getAxes());
    if (!given)
      return ctx.set(result, elementType, ctx.unknowns(rank));
    FailureOr<SmallVector<int64_t>> normal = normalizeAxes(*this, *given, rank);
    if (failed(normal))
      return failure();
    axes = *normal;
  }
  Dims out = *in;
  std::optional<Dims> pads = ctx.getContents(getPads());
  if (pads && pads->size() != 2 * axes.size())
    return emitOpError("expects pads of ")
           << 2 * axes.size() << " elements, but got " << pads->size();
  for (auto [index, axis] : llvm::enumerate(axes))
    out[axis] = pads ? out[axis] + (*pads)[index] + (*pads)[index + axes.size()]
                     : ctx.unknown();
  return ctx.set(result, elementType, out);
}

LogicalResult CenterCropPadOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getInputData());
  std::optional<Dims> wanted = ctx.getContents(getShape());
  std::optional<Dims> out = ctx.getDims(getInputData());
  if (!out) {
    // Without axes, the sizes wanted are all there are.
    std::optional<int64_t> length = lengthOf(ctx, getShape());
    if (getAxes() || !length)
      return ctx.set(result, elementType);
    if (failed(checkRank(*this, *length)))
      return failure();
    out = ctx.unknowns(*length);
  }
  SmallVector<int64_t> axes = allAxes(out->size());
  if (getAxes()) {
    FailureOr<SmallVector<int64_t>> normal =
        normalizeAxes(*this, shape::getInts(getAxes()), out->size());
    if (failed(normal))
      return failure();
    axes = *normal;
  }
  if (wanted && wanted->size() != axes.size())
    return emitOpError("expects shape of ")
           << axes.size() << " elements, but got " << wanted->size();
  for (auto [index, axis] : llvm::enumerate(axes))
    (*out)[axis] = wanted ? (*wanted)[index] : ctx.unknown();
  return ctx.set(result, elementType, out);
}

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

/// floor(size * scale) for a finite, positive scale. Numbers are multiplied as
/// 32-bit floats, as every runtime does: 10 * 0.7 is 7, not 6. A symbol takes
/// scales that are fractions of a power of two.
static Dim scaleDim(ShapeContext &ctx, const Dim &size, double scale) {
  if (std::optional<int64_t> number = size.getConstant()) {
    float product =
        std::floor(static_cast<float>(*number) * static_cast<float>(scale));
    if (!(product < 0x1p62f))
      return Dim::invalid(/*overflow=*/true);
    return Dim(static_cast<int64_t>(product));
  }
  constexpr int maxShift = 10;
  for (int shift = 0; shift <= maxShift; ++shift) {
    double numerator = std::ldexp(scale, shift);
    if (numerator > 0x1p20)
      break;
    if (numerator == std::floor(numerator))
      return (size * Dim(static_cast<int64_t>(numerator)))
          .floorDiv(Dim(int64_t(1) << shift));
  }
  return ctx.unknown();
}

/// The sizes that a policy other than stretch gives: all axes are scaled by one
/// ratio of a size wanted to a size there is. None where some isn't a number.
static std::optional<SmallVector<int64_t>>
keepAspectRatio(ArrayRef<Dim> sizes, ArrayRef<Dim> wanted, bool notLarger) {
  SmallVector<int64_t> from, to;
  for (auto [size, want] : llvm::zip_equal(sizes, wanted)) {
    std::optional<int64_t> a = size.getConstant(), b = want.getConstant();
    // Products of two such numbers, doubled, stay within 64 bits.
    if (!a || !b || *a <= 0 || *b < 0 || *a > INT32_MAX / 2 ||
        *b > INT32_MAX / 2)
      return std::nullopt;
    from.push_back(*a);
    to.push_back(*b);
  }
  size_t best = 0;
  for (size_t i = 1; i < from.size(); ++i) {
    bool smaller = to[i] * from[best] < to[best] * from[i];
    bool larger = to[i] * from[best] > to[best] * from[i];
    if (notLarger ? smaller : larger)
      best = i;
  }
  SmallVector<int64_t> result;
  for (int64_t size : from)
    result.push_back((2 * to[best] * size + from[best]) / (2 * from[best]));
  return result;
}

static LogicalResult resizeBySizes(ResizeOp op, ShapeContext &ctx,
                                   ArrayRef<int64_t> axes, Dims &out) {
  std::optional<Dims> wanted = ctx.getContents(op.getSizes());
  if (!wanted) {
    for (int64_t axis : axes)
      out[axis] = ctx.unknown();
    return success();
  }
  if (wanted->size() != axes.size())
    return op.emitOpError("expects sizes of ")
           << axes.size() << " elements, but got " << wanted->size();
  StringRef policy = op.getKeepAspectRatioPolicy();
  if (policy == "stretch" || axes.empty()) {
    for (auto [axis, size] : llvm::zip_equal(axes, *wanted))
      out[axis] = size;
    return success();
  }
  Dims from;
  for (int64_t axis : axes)
    from.push_back(out[axis]);
  std::optional<SmallVector<int64_t>> sizes =
      keepAspectRatio(from, *wanted, policy == "not_larger");
  for (auto [index, axis] : llvm::enumerate(axes))
    out[axis] = sizes ? Dim((*sizes)[index]) : ctx.unknown();
  return success();
}

static LogicalResult resizeByScales(ResizeOp op, ShapeContext &ctx,
                                    ArrayRef<int64_t> axes, Dims &out) {
  std::optional<SmallVector<double>> scales =
      readFloats(getConstant(op.getScales()), maxRank);
  if (scales && scales->size() != axes.size())
    return op.emitOpError("expects scales of ")
           << axes.size() << " elements, but got " << scales->size();
  // A region of interest scales once more, by numbers that come at run time.
  bool crops = op.getCoordinateTransformationMode() == "tf_crop_and_resize";
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (!scales) {
      out[axis] = ctx.unknown();
      continue;
    }
    double scale = (*scales)[index];
    if (!std::isfinite(scale) || scale <= 0)
      return op.emitOpError("expects positive scales, but got ")
             << std::to_string(scale);
    out[axis] = crops ? ctx.unknown() : scaleDim(ctx, out[axis], scale);
  }
  return success();
}

LogicalResult ResizeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getX());
  std::optional<Dims> out = ctx.getDims(getX());
  bool bySizes = !isLeftOut(getSizes()) && lengthOf(ctx, getSizes()) != 0;
  if (!out) {
    // Without axes, the sizes or scales tell the rank.
    std::optional<int64_t> length =
        lengthOf(ctx, bySizes ? getSizes() : getScales());
    if (getAxes() || !length)
      return ctx.set(result, elementType);
    if (failed(checkRank(*this, *length)))
      return failure();
    out = ctx.unknowns(*length);
  }
  SmallVector<int64_t> axes = allAxes(out->size());
  if (getAxes()) {
    FailureOr<SmallVector<int64_t>> normal =
        normalizeAxes(*this, shape::getInts(getAxes()), out->size());
    if (failed(normal))
      return failure();
    axes = *normal;
  }
  if (failed(bySizes ? resizeBySizes(*this, ctx, axes, *out)
                     : resizeByScales(*this, ctx, axes, *out)))
    return failure();
  return ctx.set(result, elementType, out);
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

LogicalResult GridSampleOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getX());
  std::optional<Dims> in = ctx.getDims(getX());
  std::optional<Dims> grid = ctx.getDims(getGrid());
  if (!in && !grid)
    return ctx.set(result, elementType);
  if (!in)
    in = ctx.unknowns(grid->size());
  if (!grid)
    grid = ctx.unknowns(in->size());
  if (in->size() != grid->size() || in->size() < 3)
    return emitOpError("expects X and grid of the same rank, at least 3, but "
                       "got ")
           << in->size() << " and " << grid->size();
  if (grid->back().isConstant() && !grid->back().isConstant(in->size() - 2))
    return emitOpError("expects grid with a last dimension of ")
           << in->size() - 2 << ", but got " << grid->back().str();
  FailureOr<Dim> batch = unify((*in)[0], (*grid)[0]);
  if (failed(batch))
    return emitOpError("expects grid of batch ")
           << (*in)[0].str() << ", but got " << (*grid)[0].str();
  Dims out{*batch, (*in)[1]};
  out.append(grid->begin() + 1, grid->end() - 1);
  return ctx.set(result, elementType, out);
}

LogicalResult AffineGridOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getTheta());
  std::optional<Dims> theta = ctx.getDims(getTheta());
  std::optional<int64_t> length = lengthOf(ctx, getSize());
  if (!length && theta && theta->size() == 3) {
    if (std::optional<int64_t> rows = (*theta)[1].getConstant())
      length = *rows + 2;
    else if (std::optional<int64_t> columns = (*theta)[2].getConstant())
      length = *columns + 1;
  }
  if (!length)
    return ctx.set(result, elementType);
  if (*length != 4 && *length != 5)
    return emitOpError("expects size of 4 or 5 elements, but got ") << *length;
  std::optional<Dims> size = ctx.getContents(getSize());
  if (!size || static_cast<int64_t>(size->size()) != *length)
    size = ctx.unknowns(*length);
  Dim batch = size->front();
  if (theta && theta->size() == 3) {
    FailureOr<Dim> joined = unify(batch, theta->front());
    if (failed(joined))
      return emitOpError("expects theta of batch ")
             << batch.str() << ", but got " << theta->front().str();
    batch = *joined;
  }
  Dims out{batch};
  out.append(size->begin() + 2, size->end());
  out.push_back(Dim(*length - 2));
  return ctx.set(result, elementType, out);
}

//===----------------------------------------------------------------------===//
// Encoded data
//===----------------------------------------------------------------------===//

LogicalResult ImageDecoderOp::inferShapes(ShapeContext &ctx) {
  Dims out = ctx.unknowns(2);
  out.push_back(Dim(getPixelFormat() == "Grayscale" ? 1 : 3));
  Type elementType = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  return ctx.set((*this)->getOpResult(0), elementType, out);
}

LogicalResult TfIdfVectorizerOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = Float32Type::get(getContext());
  std::optional<Dims> out = ctx.getDims(getX());
  if (!out)
    return ctx.set(result, elementType);
  if (out->empty() || out->size() > 2)
    return emitOpError("expects X of rank 1 or 2, but got rank ")
           << out->size();
  SmallVector<int64_t> indexes = shape::getInts(getNgramIndexes());
  if (indexes.empty())
    return emitOpError("expects ngram_indexes, but got none");
  out->back() = Dim(*llvm::max_element(indexes)) + Dim(1);
  return ctx.set(result, elementType, out);
}
