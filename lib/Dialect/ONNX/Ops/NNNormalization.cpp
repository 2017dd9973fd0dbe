// Normalizations: verifiers and shapes.

#include "NNVerify.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::nn;

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

/// Labels C1 and C2: operands are X, scale, B, mean and variance.
static LogicalResult verifyBatch(Operation *op) {
  Value x = op->getOperand(0);
  if (failed(verifyMinRank(op, x, "X", 1, 1)))
    return failure();
  static constexpr llvm::StringLiteral names[] = {"scale", "B", "the mean",
                                                  "the variance"};
  int64_t channels = getChannels(x);
  for (auto [value, name] :
       llvm::zip_equal(op->getOperands().drop_front(), names)) {
    if (failed(verifyPerChannel(op, value, name, channels, 2)))
      return failure();
    if (channels == dynamic)
      channels = getDim(value, 0);
  }
  return success();
}

/// The dimensions of the running statistics: the channels.
static std::optional<Dims> inferStatistics(ShapeContext &ctx,
                                           BatchNormalizationOp op) {
  for (Value value : op->getOperands().drop_front())
    if (std::optional<Dims> dims = ctx.getDims(value))
      return dims;
  std::optional<Dims> input = ctx.getDims(op.getX());
  if (input && input->size() >= 2)
    return Dims{(*input)[1]};
  return Dims{ctx.unknown()};
}

LogicalResult BatchNormalizationOp::verify() {
  if (failed(verifyBatch(*this)))
    return failure();
  if (getTrainingMode() == 0 &&
      !(isLeftOut(getRunningMean()) && isLeftOut(getRunningVar())))
    return emitOpError("expects a running mean and variance with training_mode "
                       "only, but got them without (C3)");
  return success();
}

LogicalResult BatchNormalizationOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()) ||
      failed(ctx.set(cast<OpResult>(getY()), getElementType(getX()),
                     ctx.getDims(getX()))))
    return failure();
  if (getTrainingMode() == 0)
    return success();
  Type type = getElementType(getInputMean());
  std::optional<Dims> dims = inferStatistics(ctx, *this);
  if (failed(ctx.set(cast<OpResult>(getRunningMean()), type, dims)))
    return failure();
  return ctx.set(cast<OpResult>(getRunningVar()), type, dims);
}

LogicalResult BatchNormalizationInferenceModeOp::verify() {
  return verifyBatch(*this);
}

LogicalResult
BatchNormalizationInferenceModeOp::inferShapes(ShapeContext &ctx) {
  return failed(verify()) ? failure() : shape::sameAs(ctx, *this, 0);
}

LogicalResult BatchNormalizationInferenceModeOp::canonicalize(
    BatchNormalizationInferenceModeOp op, PatternRewriter &rewriter) {
  Type none = rewriter.getNoneType();
  auto node = BatchNormalizationOp::create(
      rewriter, op.getLoc(), TypeRange{op.getY().getType(), none, none},
      op->getOperands(), op->getAttrs());
  rewriter.replaceOp(op, node.getY());
  return success();
}

//===----------------------------------------------------------------------===//
// Channels and groups of them
//===----------------------------------------------------------------------===//

LogicalResult InstanceNormalizationOp::verify() {
  if (failed(verifyMinRank(*this, getInput(), "input", 2, 1)))
    return failure();
  int64_t channels = getChannels(getInput());
  if (failed(verifyPerChannel(*this, getScale(), "scale", channels, 2)))
    return failure();
  return verifyPerChannel(*this, getB(), "B", channels, 2);
}

LogicalResult InstanceNormalizationOp::inferShapes(ShapeContext &ctx) {
  return failed(verify()) ? failure() : shape::sameAs(ctx, *this, 0);
}

/// A float type that statistics can be computed in.
static LogicalResult verifyStashType(Operation *op, int64_t type,
                                     unsigned label) {
  if (isa_and_nonnull<Float16Type, BFloat16Type, Float32Type, Float64Type>(
          elementTypeFromOnnx(type, op->getContext())))
    return success();
  return op->emitOpError("expects stash_type to be 1, 10, 11 or 16, but got ")
         << type << " (C" << label << ")";
}

LogicalResult GroupNormalizationOp::verify() {
  if (failed(verifyMinRank(*this, getX(), "X", 2, 1)))
    return failure();
  int64_t channels = getChannels(getX()), groups = getNumGroups();
  if (groups < 1)
    return emitOpError("expects a positive num_groups, but got ")
           << groups << " (C2)";
  if (channels != dynamic && channels % groups != 0)
    return emitOpError("expects channels that are a multiple of num_groups, "
                       "but got ")
           << channels << " channels for " << groups << " groups (C2)";
  if (failed(verifyPerChannel(*this, getScale(), "scale", channels, 3)) ||
      failed(verifyPerChannel(*this, getBias(), "bias", channels, 3)))
    return failure();
  return verifyStashType(*this, getStashType(), 4);
}

LogicalResult GroupNormalizationOp::inferShapes(ShapeContext &ctx) {
  return failed(verify()) ? failure() : shape::sameAs(ctx, *this, 0);
}

LogicalResult LRNOp::verify() {
  if (failed(verifyMinRank(*this, getX(), "X", 2, 1)))
    return failure();
  int64_t size = getSize();
  if (size < 1)
    return emitOpError("expects a positive size, but got ") << size << " (C2)";
  return success();
}

LogicalResult LRNOp::inferShapes(ShapeContext &ctx) {
  return failed(verify()) ? failure() : shape::sameAs(ctx, *this, 0);
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

LogicalResult LayerNormalizationOp::verify() {
  if (failed(verifyAxis(*this, getX(), getAxis(), 1)) ||
      failed(verifyBroadcastsTo(*this, getScale(), "Scale", getX(), 2)) ||
      failed(verifyBroadcastsTo(*this, getB(), "B", getX(), 2)))
    return failure();
  return verifyStashType(*this, getStashType(), 3);
}

LogicalResult LayerNormalizationOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  std::optional<Dims> dims = ctx.getDims(getX());
  if (failed(ctx.set(cast<OpResult>(getY()), getElementType(getX()), dims)))
    return failure();
  if (dims) {
    FailureOr<int64_t> axis = shape::normalizeAxis(getAxis(), dims->size());
    if (failed(axis))
      return failure();
    std::fill(dims->begin() + *axis, dims->end(), Dim(1));
  }
  Type stash = elementTypeFromOnnx(getStashType(), getContext());
  if (failed(ctx.set(cast<OpResult>(getMean()), stash, dims)))
    return failure();
  return ctx.set(cast<OpResult>(getInvStdDev()), stash, dims);
}

LogicalResult RMSNormalizationOp::verify() {
  if (failed(verifyAxis(*this, getX(), getAxis(), 1)) ||
      failed(verifyBroadcastsTo(*this, getScale(), "scale", getX(), 2)))
    return failure();
  return verifyStashType(*this, getStashType(), 3);
}

LogicalResult RMSNormalizationOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  return shape::sameDimsAs(ctx, *this, 0, getElementType(getScale()));
}

LogicalResult LpNormalizationOp::verify() {
  if (failed(verifyAxis(*this, getInput(), getAxis(), 1)))
    return failure();
  if (getP() != 1 && getP() != 2)
    return emitOpError("expects p to be 1 or 2, but got ") << getP() << " (C2)";
  return success();
}

LogicalResult LpNormalizationOp::inferShapes(ShapeContext &ctx) {
  return failed(verify()) ? failure() : shape::sameAs(ctx, *this, 0);
}

LogicalResult MeanVarianceNormalizationOp::verify() {
  std::optional<ArrayRef<int64_t>> shape = getShape(getX());
  if (!shape)
    return success();
  SmallVector<int64_t> axes = shape::getInts(getAxes());
  if (!getAxes())
    axes = {0, 2, 3};
  llvm::SmallSet<int64_t, 4> seen;
  for (int64_t axis : axes) {
    if (failed(verifyAxis(*this, getX(), axis, 1)))
      return failure();
    if (!seen.insert(axis < 0 ? axis + shape->size() : axis).second)
      return emitOpError("expects every axis once, but got ")
             << axis << " again (C1)";
  }
  return success();
}

LogicalResult MeanVarianceNormalizationOp::inferShapes(ShapeContext &ctx) {
  return failed(verify()) ? failure() : shape::sameAs(ctx, *this, 0);
}
