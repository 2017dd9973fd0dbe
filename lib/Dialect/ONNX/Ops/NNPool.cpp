// Poolings: verifiers and shapes.

#include "NNVerify.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::nn;

//===----------------------------------------------------------------------===//
// Sliding windows
//===----------------------------------------------------------------------===//

static LogicalResult verifyPool(Operation *op, unsigned firstLabel = 1) {
  Value x = op->getOperand(0);
  if (failed(verifyMinRank(op, x, "X", 3, firstLabel + 4)))
    return failure();
  std::optional<int64_t> spatialRank;
  if (std::optional<ArrayRef<int64_t>> shape = getShape(x))
    spatialRank = shape->size() - 2;
  return window::verifyWindow(op, spatialRank, firstLabel,
                              /*needsKernel=*/true);
}

/// The dimensions of X, or as many unknown ones as the kernel says.
static Dims getInputDims(ShapeContext &ctx, Operation *op) {
  if (std::optional<Dims> dims = ctx.getDims(op->getOperand(0)))
    return *dims;
  return ctx.unknowns(window::getIntsOf(op, "kernel_shape", 0, 0).size() + 2);
}

static FailureOr<Dims> inferPool(ShapeContext &ctx, Operation *op) {
  Dims dims = getInputDims(ctx, op);
  window::Window window = window::getWindow(op, dims.size() - 2);
  FailureOr<Dims> spatial =
      window::inferSpatialDims(op, window, ArrayRef<Dim>(dims).drop_front(2));
  if (failed(spatial))
    return failure();
  llvm::copy(*spatial, dims.begin() + 2);
  return dims;
}

/// Infers a pooling with one result, after a check of the types as they are.
template <typename OpTy>
static LogicalResult inferOneResult(ShapeContext &ctx, OpTy op) {
  if (failed(op.verify()))
    return failure();
  FailureOr<Dims> dims = inferPool(ctx, op);
  if (failed(dims))
    return failure();
  return ctx.set(cast<OpResult>(op.getY()), getElementType(op.getX()),
                 std::optional<Dims>(*dims));
}

LogicalResult AveragePoolOp::verify() { return verifyPool(*this); }

LogicalResult AveragePoolOp::inferShapes(ShapeContext &ctx) {
  return inferOneResult(ctx, *this);
}

LogicalResult LpPoolOp::verify() {
  if (failed(verifyPool(*this)))
    return failure();
  if (getP() < 1)
    return emitOpError("expects a positive p, but got ") << getP() << " (C6)";
  return success();
}

LogicalResult LpPoolOp::inferShapes(ShapeContext &ctx) {
  return inferOneResult(ctx, *this);
}

LogicalResult MaxPoolOp::verify() {
  if (failed(verifyPool(*this)))
    return failure();
  if (getStorageOrder() != 0 && getStorageOrder() != 1)
    return emitOpError("expects storage_order to be 0 or 1, but got ")
           << getStorageOrder() << " (C6)";
  return success();
}

LogicalResult MaxPoolOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  FailureOr<Dims> dims = inferPool(ctx, *this);
  if (failed(dims))
    return failure();
  std::optional<Dims> known(*dims);
  if (failed(ctx.set(cast<OpResult>(getY()), getElementType(getX()), known)))
    return failure();
  return ctx.set(cast<OpResult>(getIndices()),
                 IntegerType::get(getContext(), 64), known);
}

LogicalResult MaxUnpoolOp::verify() {
  if (failed(verifyPool(*this, 0)))
    return failure();
  std::optional<ArrayRef<int64_t>> shape = getShape(getX());
  if (shape) {
    if (failed(verifyRank(*this, getI(), "I", shape->size(), 5)))
      return failure();
    for (auto [i, size] : llvm::enumerate(*shape))
      if (failed(verifyDim(*this, getI(), "I", i, size, 5)))
        return failure();
  }
  if (failed(verifyRank(*this, getOutputShape(), "output_shape", 1, 6)))
    return failure();
  if (!shape)
    return success();
  return verifyDim(*this, getOutputShape(), "output_shape", 0, shape->size(),
                   6);
}

LogicalResult MaxUnpoolOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  auto result = cast<OpResult>(getOutput());
  Type type = getElementType(getX());
  Dims dims = getInputDims(ctx, *this);
  if (!isLeftOut(getOutputShape())) {
    std::optional<Dims> contents = ctx.getContents(getOutputShape());
    if (!contents)
      return ctx.set(result, type,
                     std::optional<Dims>(ctx.unknowns(dims.size())));
    if (contents->size() != dims.size())
      return emitOpError("expects output_shape to have ")
             << dims.size() << " elements, but got " << contents->size();
    return ctx.set(result, type, contents);
  }
  window::Window window = window::getWindow(*this, dims.size() - 2);
  FailureOr<Dims> spatial = window::inferTransposedSpatialDims(
      *this, window, ArrayRef<Dim>(dims).drop_front(2));
  if (failed(spatial))
    return failure();
  llvm::copy(*spatial, dims.begin() + 2);
  return ctx.set(result, type, std::optional<Dims>(dims));
}

//===----------------------------------------------------------------------===//
// Whole images
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult inferGlobalPool(ShapeContext &ctx, OpTy op) {
  if (failed(op.verify()))
    return failure();
  std::optional<Dims> dims = ctx.getDims(op.getX());
  if (dims)
    std::fill(dims->begin() + 2, dims->end(), Dim(1));
  return ctx.set(cast<OpResult>(op.getY()), getElementType(op.getX()), dims);
}

LogicalResult GlobalAveragePoolOp::verify() {
  return verifyMinRank(*this, getX(), "X", 2, 1);
}

LogicalResult GlobalAveragePoolOp::inferShapes(ShapeContext &ctx) {
  return inferGlobalPool(ctx, *this);
}

LogicalResult GlobalLpPoolOp::verify() {
  if (failed(verifyMinRank(*this, getX(), "X", 2, 1)))
    return failure();
  if (getP() < 1)
    return emitOpError("expects a positive p, but got ") << getP() << " (C2)";
  return success();
}

LogicalResult GlobalLpPoolOp::inferShapes(ShapeContext &ctx) {
  return inferGlobalPool(ctx, *this);
}

LogicalResult GlobalMaxPoolOp::verify() {
  return verifyMinRank(*this, getX(), "X", 2, 1);
}

LogicalResult GlobalMaxPoolOp::inferShapes(ShapeContext &ctx) {
  return inferGlobalPool(ctx, *this);
}

//===----------------------------------------------------------------------===//
// Regions of interest
//===----------------------------------------------------------------------===//

/// [regions, C, height, width].
static LogicalResult inferRegions(ShapeContext &ctx, Value x, Value rois,
                                  Value y, int64_t height, int64_t width,
                                  std::optional<Dim> count = std::nullopt) {
  std::optional<Dims> input = ctx.getDims(x), regions = ctx.getDims(rois);
  if (regions && (!count || !count->isConstant()))
    count = (*regions)[0];
  Dims dims = {count.value_or(ctx.unknown()),
               input ? (*input)[1] : ctx.unknown(), Dim(height), Dim(width)};
  return ctx.set(cast<OpResult>(y), getElementType(x),
                 std::optional<Dims>(dims));
}

LogicalResult MaxRoiPoolOp::verify() {
  if (failed(verifyRank(*this, getX(), "X", 4, 1)) ||
      failed(verifyRank(*this, getRois(), "rois", 2, 1)) ||
      failed(verifyDim(*this, getRois(), "rois", 1, 5, 1)))
    return failure();
  SmallVector<int64_t> pooled = shape::getInts(getPooledShape());
  if (pooled.size() != 2)
    return emitOpError("expects pooled_shape to have two entries, but got ")
           << pooled.size() << " (C2)";
  for (int64_t size : pooled)
    if (size < 1)
      return emitOpError("expects pooled_shape to have positive entries, but "
                         "got ")
             << size << " (C2)";
  return success();
}

LogicalResult MaxRoiPoolOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  SmallVector<int64_t> pooled = shape::getInts(getPooledShape());
  return inferRegions(ctx, getX(), getRois(), getY(), pooled[0], pooled[1]);
}

LogicalResult RoiAlignOp::verify() {
  if (failed(verifyRank(*this, getX(), "X", 4, 1)) ||
      failed(verifyRank(*this, getRois(), "rois", 2, 1)) ||
      failed(verifyDim(*this, getRois(), "rois", 1, 4, 1)) ||
      failed(verifyRank(*this, getBatchIndices(), "batch_indices", 1, 1)) ||
      failed(verifyDim(*this, getBatchIndices(), "batch_indices", 0,
                       getDim(getRois(), 0), 1)))
    return failure();
  if (getMode() != "avg" && getMode() != "max")
    return emitOpError("expects mode to be avg or max, but got '")
           << getMode() << "' (C2)";
  StringRef coordinates = getCoordinateTransformationMode();
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return emitOpError("expects coordinate_transformation_mode to be "
                       "half_pixel or output_half_pixel, but got '")
           << coordinates << "' (C3)";
  if (getOutputHeight() < 1 || getOutputWidth() < 1)
    return emitOpError("expects a positive output size, but got ")
           << getOutputHeight() << " by " << getOutputWidth() << " (C4)";
  if (getSamplingRatio() < 0)
    return emitOpError("expects a non-negative sampling_ratio, but got ")
           << getSamplingRatio() << " (C4)";
  return success();
}

LogicalResult RoiAlignOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  std::optional<Dim> count;
  if (std::optional<Dims> indices = ctx.getDims(getBatchIndices()))
    count = (*indices)[0];
  return inferRegions(ctx, getX(), getRois(), getY(), getOutputHeight(),
                      getOutputWidth(), count);
}
