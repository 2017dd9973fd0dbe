// Convolutions: verifiers and shapes.

#include "NNVerify.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::nn;

//===----------------------------------------------------------------------===//
// Conv
//===----------------------------------------------------------------------===//

LogicalResult ConvOp::verify() {
  return window::verifyConv(*this, getX(), getW(), getB(), 1);
}

LogicalResult ConvOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  FailureOr<std::optional<Dims>> dims =
      window::inferConvDims(ctx, *this, getX(), getW());
  if (failed(dims))
    return failure();
  return ctx.set(cast<OpResult>(getY()), getElementType(getX()), *dims);
}

//===----------------------------------------------------------------------===//
// ConvTranspose
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getSpatialRank(Value x, Value w) {
  std::optional<ArrayRef<int64_t>> shape = getShape(x);
  if (!shape)
    shape = getShape(w);
  if (!shape)
    return std::nullopt;
  return static_cast<int64_t>(shape->size()) - 2;
}

/// Checks a list of sizes for the output; one for all dimensions is as good as
/// one for the spatial ones if `allowsAll`.
static LogicalResult verifyOutputSizes(ConvTransposeOp op, StringRef name,
                                       std::optional<ArrayAttr> attribute,
                                       std::optional<int64_t> spatialRank,
                                       bool allowsAll) {
  SmallVector<int64_t> sizes = shape::getInts(attribute);
  if (sizes.empty())
    return success();
  int64_t count = sizes.size();
  if (spatialRank && count != *spatialRank &&
      !(allowsAll && count == *spatialRank + 2))
    return op.emitOpError("expects ")
           << name << " to have one entry per spatial dimension ("
           << *spatialRank << " dimensions), but got " << count
           << " entries (C8)";
  for (int64_t size : sizes)
    if (size < 0)
      return op.emitOpError("expects ")
             << name << " to have non-negative entries, but got " << size
             << " (C8)";
  return success();
}

LogicalResult ConvTransposeOp::verify() {
  if (failed(verifyMinRank(*this, getX(), "X", 3, 5)) ||
      failed(verifyMinRank(*this, getW(), "W", 3, 5)))
    return failure();
  std::optional<ArrayRef<int64_t>> input = getShape(getX());
  std::optional<ArrayRef<int64_t>> weight = getShape(getW());
  if (input && failed(verifyRank(*this, getW(), "W", input->size(), 5)))
    return failure();
  std::optional<int64_t> spatialRank = getSpatialRank(getX(), getW());
  if (failed(window::verifyWindow(*this, spatialRank, 1)))
    return failure();
  SmallVector<int64_t> kernel = shape::getInts(getKernelShape());
  if (weight)
    for (auto [i, size] : llvm::enumerate(kernel))
      if (failed(verifyDim(*this, getW(), "W", i + 2, size, 2)))
        return failure();

  int64_t group = getGroup(), channels = getDim(getX(), 1);
  if (group < 1)
    return emitOpError("expects a positive group, but got ")
           << group << " (C6)";
  if (failed(verifyDim(*this, getW(), "W", 0, channels, 6)))
    return failure();
  if (channels == dynamic)
    channels = getDim(getW(), 0);
  if (channels != dynamic && channels % group != 0)
    return emitOpError("expects channels that are a multiple of group, but "
                       "got ")
           << channels << " channels for group " << group << " (C6)";
  int64_t outChannels = getDim(getW(), 1);
  if (outChannels != dynamic &&
      llvm::MulOverflow(outChannels, group, outChannels))
    return emitOpError("expects output channels that fit into 64 bits, but "
                       "got ")
           << getDim(getW(), 1) << " times " << group << " (C6)";
  if (failed(verifyPerChannel(*this, getB(), "B", outChannels, 7)))
    return failure();
  if (failed(verifyOutputSizes(*this, "output_padding", getOutputPadding(),
                               spatialRank, /*allowsAll=*/false)))
    return failure();
  return verifyOutputSizes(*this, "output_shape", getOutputShape(), spatialRank,
                           /*allowsAll=*/true);
}

LogicalResult ConvTransposeOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  std::optional<Dims> input = ctx.getDims(getX());
  std::optional<Dims> weight = ctx.getDims(getW());
  auto result = cast<OpResult>(getY());
  Type type = getElementType(getX());
  if (!input && !weight)
    return ctx.set(result, type);
  size_t rank = input ? input->size() : weight->size();
  Dims dims = input ? *input : ctx.unknowns(rank);
  Dims kernel = weight ? *weight : ctx.unknowns(rank);
  window::Window window =
      window::getWindow(*this, rank - 2, ArrayRef<Dim>(kernel).drop_front(2));
  SmallVector<int64_t> outputShape = shape::getInts(getOutputShape());
  FailureOr<Dims> spatial = window::inferTransposedSpatialDims(
      *this, window, ArrayRef<Dim>(dims).drop_front(2),
      shape::getInts(getOutputPadding()),
      outputShape.size() == rank ? ArrayRef<int64_t>(outputShape).drop_front(2)
                                 : ArrayRef<int64_t>(outputShape));
  if (failed(spatial))
    return failure();
  Dims output = {dims[0], kernel[1] * Dim(static_cast<int64_t>(getGroup()))};
  output.append(spatial->begin(), spatial->end());
  return ctx.set(result, type, std::optional<Dims>(output));
}

//===----------------------------------------------------------------------===//
// DeformConv
//===----------------------------------------------------------------------===//

/// `factor` times the number of kernel elements, or `dynamic`.
static int64_t getKernelMultiple(DeformConvOp op, int64_t factor) {
  SmallVector<int64_t> kernel = shape::getInts(op.getKernelShape());
  if (kernel.empty()) {
    std::optional<ArrayRef<int64_t>> weight = getShape(op.getW());
    if (!weight)
      return dynamic;
    kernel.assign(weight->drop_front(2));
  }
  for (int64_t size : kernel)
    if (size == dynamic || llvm::MulOverflow(factor, size, factor))
      return dynamic;
  return factor;
}

LogicalResult DeformConvOp::verify() {
  if (failed(window::verifyConv(*this, getX(), getW(), getB(), 0)))
    return failure();
  int64_t groups = getOffsetGroup(), channels = getDim(getX(), 1);
  if (groups < 1)
    return emitOpError("expects a positive offset_group, but got ")
           << groups << " (C7)";
  if (channels != dynamic && channels % groups != 0)
    return emitOpError("expects channels that are a multiple of offset_group, "
                       "but got ")
           << channels << " channels for offset_group " << groups << " (C7)";

  std::optional<int64_t> spatialRank = getSpatialRank(getX(), getW());
  if (!spatialRank)
    return success();
  int64_t perMask = getKernelMultiple(*this, groups), perOffset = dynamic;
  if (perMask != dynamic && llvm::MulOverflow(perMask, *spatialRank, perOffset))
    perOffset = dynamic;
  int64_t batch = getDim(getX(), 0);
  for (auto [value, name, size] :
       {std::tuple<Value, StringRef, int64_t>(getOffset(), "offset", perOffset),
        std::tuple<Value, StringRef, int64_t>(getMask(), "mask", perMask)})
    if (failed(verifyRank(*this, value, name, *spatialRank + 2, 8)) ||
        failed(verifyDim(*this, value, name, 0, batch, 8)) ||
        failed(verifyDim(*this, value, name, 1, size, 8)))
      return failure();
  return success();
}

LogicalResult DeformConvOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  FailureOr<std::optional<Dims>> dims =
      window::inferConvDims(ctx, *this, getX(), getW());
  if (failed(dims))
    return failure();
  if (*dims)
    for (size_t i = 2; i < (*dims)->size(); ++i)
      if (std::optional<int64_t> size = (**dims)[i].getConstant())
        for (auto [value, name] :
             {std::pair<Value, StringRef>(getOffset(), "offset"),
              std::pair<Value, StringRef>(getMask(), "mask")})
          if (failed(verifyDim(*this, value, name, i, *size, 8)))
            return failure();
  return ctx.set(cast<OpResult>(getY()), getElementType(getX()), *dims);
}

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

/// Images of more dimensions than this get no shape.
static constexpr size_t maxImageRank = 62;

LogicalResult Col2ImOp::verify() {
  if (failed(verifyRank(*this, getInput(), "input", 3, 1)) ||
      failed(verifyRank(*this, getImageShape(), "image_shape", 1, 1)) ||
      failed(verifyRank(*this, getBlockShape(), "block_shape", 1, 1)))
    return failure();
  int64_t length = getDim(getImageShape(), 0);
  if (failed(verifyDim(*this, getBlockShape(), "block_shape", 0, length, 1)))
    return failure();
  if (length == dynamic)
    length = getDim(getBlockShape(), 0);
  std::optional<int64_t> spatialRank;
  if (length != dynamic)
    spatialRank = length;
  return window::verifyWindow(*this, spatialRank, 0);
}

LogicalResult Col2ImOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  auto result = cast<OpResult>(getOutput());
  Type type = getElementType(getInput());
  std::optional<Dims> image = ctx.getContents(getImageShape());
  std::optional<Dims> block = ctx.getContents(getBlockShape());
  if (!image && block)
    image = ctx.unknowns(block->size());
  if (!image || image->size() > maxImageRank)
    return ctx.set(result, type);
  if (!block)
    block = ctx.unknowns(image->size());
  if (block->size() != image->size())
    return emitOpError("expects image_shape and block_shape of the same "
                       "length, but got ")
           << image->size() << " and " << block->size();
  for (const Dim &size : *block)
    if (std::optional<int64_t> number = size.getConstant();
        number && *number < 1)
      return emitOpError("expects block_shape to have positive elements, but "
                         "got ")
             << *number;

  Dims input = ctx.getDims(getInput()).value_or(ctx.unknowns(3));
  Dim blockSize = shape::product(*block);
  std::optional<int64_t> rows = input[1].getConstant();
  std::optional<int64_t> perBlock = blockSize.getConstant();
  if (rows && perBlock && *rows % *perBlock != 0)
    return emitOpError("expects dimension 1 of input to be a multiple of the "
                       "block's elements, but got ")
           << *rows << " for " << *perBlock;

  window::Window window = window::getWindow(*this, image->size(), *block);
  FailureOr<Dims> places = window::inferSpatialDims(*this, window, *image);
  if (failed(places))
    return failure();
  std::optional<int64_t> count = shape::product(*places).getConstant();
  std::optional<int64_t> columns = input[2].getConstant();
  if (count && columns && *count != *columns)
    return emitOpError("expects a column for every place of the block, but "
                       "got ")
           << *columns << " columns for " << *count << " places";

  Dims output = {input[0], input[1].floorDiv(blockSize)};
  output.append(image->begin(), image->end());
  return ctx.set(result, type, std::optional<Dims>(output));
}
