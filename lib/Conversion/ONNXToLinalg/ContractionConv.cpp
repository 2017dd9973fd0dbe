// Convolutions, plain and transposed, and the sum of overlapping blocks.
//
// A transposed convolution is a product of matrices that gives every input
// place its block of outputs, and the sum of these blocks where they overlap,
// which is what Col2Im does too.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace window = onnxquant::onnx::window;

namespace {
struct LowerConv : OpLowering<onnx::ConvOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ConvOp op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    Sizes weight = e.sizes(operands[1]);
    WindowSizes sizes =
        getWindowSizes(e, op, operands[0], ArrayRef(weight).drop_front(2));
    Tensor y = convolve(e, operands[0], operands[1], sizes, op.getGroup(),
                        accumulatorTypeFor(type), operands[2]);
    return SmallVector<Value>{castTo(e, y, type).value};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Sums of blocks
//===----------------------------------------------------------------------===//

/// The sum of blocks [N, C, kernel.., places..]: block element k of place p
/// goes to p * stride + k * dilation of a [N, C, full..] image. Elements are
/// added in the order of blocks' elements.
static Tensor sumBlocks(Emitter &e, Tensor blocks, ArrayRef<OpFoldResult> full,
                        ArrayRef<int64_t> strides,
                        ArrayRef<int64_t> dilations) {
  size_t rank = strides.size();
  Sizes loops = e.sizes(blocks), sizes = {loops[0], loops[1]};
  sizes.append(full.begin(), full.end());
  Type type = blocks.elementType;
  Tensor image = e.filled(sizes, e.integer(0, type));
  Value sum = e.forEach(
      loops, image.value, [&](ArrayRef<Value> indices, ValueRange carried) {
        Indices target = {indices[0], indices[1]};
        for (size_t i = 0; i < rank; ++i)
          target.push_back(
              e.addIndex(e.mulIndex(indices[2 + rank + i], e.index(strides[i])),
                         e.mulIndex(indices[2 + i], e.index(dilations[i]))));
        Tensor current = {carried[0], type};
        Scalar before = e.read(current, target);
        Scalar element = e.read(blocks, indices);
        Scalar after = isBool(type) ? Scalar{e.createOrFold<arith::OrIOp>(
                                                 before.value, element.value),
                                             type}
                                    : e.add(before, element);
        return SmallVector<Value>{e.write(current, target, after).value};
      })[0];
  return {sum, type};
}

/// The part [N, C, size..] of an image from `begin` on.
static Tensor crop(Emitter &e, Tensor image, ArrayRef<OpFoldResult> begin,
                   ArrayRef<OpFoldResult> size) {
  Sizes offsets(2, e.getIndexAttr(0)),
      sizes = {e.size(image, 0), e.size(image, 1)};
  offsets.append(begin.begin(), begin.end());
  sizes.append(size.begin(), size.end());
  return slice(e, image, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// ConvTranspose
//===----------------------------------------------------------------------===//

namespace {
/// What a transposed window makes of every spatial dimension.
struct TransposedSizes {
  /// Large enough for all blocks and for the output.
  Sizes full;
  /// What is cut off before the output.
  Sizes begin;
  Sizes output;
};
} // namespace

static TransposedSizes getTransposedSizes(Emitter &e, onnx::ConvTransposeOp op,
                                          const window::Window &attributes,
                                          ArrayRef<OpFoldResult> input,
                                          ArrayRef<OpFoldResult> kernel) {
  size_t rank = attributes.getRank();
  SmallVector<int64_t> extra = window::getIntsOf(op, "output_padding", rank, 0);
  SmallVector<int64_t> shape = window::getIntsOf(op, "output_shape", 0, 0);
  if (shape.size() > rank)
    shape.erase(shape.begin(), shape.end() - rank);
  bool isUpper = attributes.autoPad == window::AutoPad::SameUpper;
  bool isSame = isUpper || attributes.autoPad == window::AutoPad::SameLower;
  OpFoldResult zero = e.getIndexAttr(0), one = e.getIndexAttr(1);
  TransposedSizes sizes;
  for (size_t i = 0; i < rank; ++i) {
    OpFoldResult stride = e.getIndexAttr(attributes.strides[i]);
    OpFoldResult reach =
        e.addSize(e.mulSize(e.subSize(input[i], one), stride),
                  e.addSize(e.mulSize(e.subSize(kernel[i], one),
                                      e.getIndexAttr(attributes.dilations[i])),
                            one));
    OpFoldResult full = e.addSize(reach, e.getIndexAttr(extra[i]));
    OpFoldResult output, begin;
    if (!shape.empty() || isSame) {
      output = shape.empty() ? minSize(e, full, e.mulSize(input[i], stride))
                             : e.getIndexAttr(shape[i]);
      checkAtLeast(e, output, zero, "the kernel leaves nothing of the output");
      OpFoldResult total = maxSize(e, zero, e.subSize(full, output));
      OpFoldResult half = e.floorDivSize(total, e.getIndexAttr(2));
      begin = isUpper ? half : e.subSize(total, half);
    } else {
      begin = e.getIndexAttr(attributes.padsBegin[i]);
      output = e.subSize(e.subSize(full, begin),
                         e.getIndexAttr(attributes.padsEnd[i]));
      checkAtLeast(e, output, zero, "the pads leave nothing of the output");
    }
    sizes.full.push_back(maxSize(e, reach, e.addSize(begin, output)));
    sizes.begin.push_back(begin);
    sizes.output.push_back(output);
  }
  return sizes;
}

/// The block of outputs [N, M, kernel.., in..] that every input place adds.
static Tensor makeBlocks(Emitter &e, Tensor x, Tensor w, int64_t group,
                         Type type) {
  int64_t rank = x.rank() - 2;
  OpFoldResult groups = e.getIndexAttr(group), one = e.getIndexAttr(1);
  Sizes xSizes = e.sizes(x), wSizes = e.sizes(w);
  checkEqual(e, xSizes[1], wSizes[0],
             "the input's channels are not the weight's");
  OpFoldResult perGroup = e.floorDivSize(xSizes[1], groups);
  if (!e.constant(xSizes[1]))
    checkEqual(e, e.mulSize(perGroup, groups), xSizes[1],
               "the input's channels are not a multiple of group");
  // w: [C, M / group, k..] as [group, M / group, k.., C / group].
  Tensor weight = splitDim(e, w, 0, groups, perGroup);
  SmallVector<int64_t> order = {0};
  for (int64_t i = 2; i < weight.rank(); ++i)
    order.push_back(i);
  order.push_back(1);
  weight = transposeFolded(e, loaded(e, weight, type), order);
  weight = mergeDims(e, weight, 0, weight.rank() - 1);
  WindowSizes pointwise = getPointwise(e, ArrayRef(xSizes).drop_front(2));
  for (int64_t i = 0; i < rank; ++i)
    weight = splitDim(e, weight, 1 + i, e.size(weight, 1 + i), one);
  Tensor blocks = convolve(e, x, weight, pointwise, group, type);
  Sizes sizes = {xSizes[0], e.mulSize(wSizes[1], groups)};
  sizes.append(wSizes.begin() + 2, wSizes.end());
  sizes.append(xSizes.begin() + 2, xSizes.end());
  return e.reshape(blocks, sizes);
}

namespace {
struct LowerConvTranspose : OpLowering<onnx::ConvTransposeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ConvTransposeOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], w = operands[1], bias = operands[2];
    Type type = resultType(op), sumType = accumulatorTypeFor(type);
    size_t rank = x.rank() - 2;
    SmallVector<onnx::Dim> dims(rank, onnx::Dim(1));
    window::Window attributes = window::getWindow(op, rank, dims);
    Sizes input = e.sizes(x), kernel = e.sizes(w);
    TransposedSizes sizes =
        getTransposedSizes(e, op, attributes, ArrayRef(input).drop_front(2),
                           ArrayRef(kernel).drop_front(2));
    Tensor blocks = makeBlocks(e, x, w, op.getGroup(), sumType);
    Tensor image = sumBlocks(e, blocks, sizes.full, attributes.strides,
                             attributes.dilations);
    Tensor y = crop(e, image, sizes.begin, sizes.output);
    if (!bias)
      return SmallVector<Value>{castTo(e, y, type).value};
    checkEqual(e, e.size(bias, 0), e.size(y, 1),
               "the bias does not have an element per output channel");
    Tensor biased =
        e.map({y, perChannel(e, bias, rank)}, e.sizes(y), type,
              [&](ArrayRef<Scalar> v) {
                return e.cast(e.add(v[0], e.cast(v[1], sumType)), type);
              });
    return SmallVector<Value>{biased.value};
  }
};

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

struct LowerCol2Im : OpLowering<onnx::Col2ImOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::Col2ImOp op, Operands operands,
                Emitter &e) const override {
    auto result = cast<RankedTensorType>(op.getOutput().getType());
    size_t rank = result.getRank() - 2;
    SmallVector<int64_t> strides = window::getIntsOf(op, "strides", rank, 1);
    SmallVector<int64_t> dilations =
        window::getIntsOf(op, "dilations", rank, 1);
    SmallVector<int64_t> pads = window::getIntsOf(op, "pads", 2 * rank, 0);
    Sizes image = readSizes(e, op.getImageShape(), operands[1], rank);
    Sizes block = readSizes(e, op.getBlockShape(), operands[2], rank);
    Sizes places, full, begin;
    OpFoldResult one = e.getIndexAttr(1);
    for (size_t i = 0; i < rank; ++i) {
      OpFoldResult extent = e.addSize(
          e.mulSize(e.subSize(block[i], one), e.getIndexAttr(dilations[i])),
          one);
      full.push_back(
          e.addSize(image[i], e.getIndexAttr(pads[i] + pads[rank + i])));
      begin.push_back(e.getIndexAttr(pads[i]));
      checkAtLeast(e, block[i], one, "a block has no elements");
      checkAtLeast(e, full[i], extent,
                   "the block is larger than the padded image");
      places.push_back(e.addSize(e.floorDivSize(e.subSize(full[i], extent),
                                                e.getIndexAttr(strides[i])),
                                 one));
    }
    Tensor input = operands[0];
    OpFoldResult elements = e.productOf(block);
    OpFoldResult channels = e.floorDivSize(e.size(input, 1), elements);
    checkEqual(e, e.mulSize(channels, elements), e.size(input, 1),
               "the rows of the input are not a multiple of the block's size");
    checkEqual(e, e.productOf(places), e.size(input, 2),
               "the columns of the input are not as many as there are blocks");
    Sizes sizes = {e.size(input, 0), channels};
    sizes.append(block);
    sizes.append(places);
    Type type = resultType(op);
    Tensor blocks =
        castTo(e, e.reshape(input, sizes), accumulatorTypeFor(type));
    Tensor y =
        crop(e, sumBlocks(e, blocks, full, strides, dilations), begin, image);
    return SmallVector<Value>{castTo(e, y, type).value};
  }

  /// The elements of a vector of sizes: constants if `original`, the operand
  /// before conversion, is one.
  static Sizes readSizes(Emitter &e, Value original, Tensor vector,
                         size_t count) {
    checkEqual(e, e.size(vector, 0), e.getIndexAttr(count),
               "the number of spatial dimensions is not the output's");
    ElementsAttr constant = onnx::getConstant(original);
    std::optional<SmallVector<int64_t>> known;
    if (constant)
      known = onnx::readInts(constant, count);
    Sizes sizes;
    for (size_t i = 0; i < count; ++i) {
      sizes.push_back(known && i < known->size()
                          ? OpFoldResult(e.getIndexAttr((*known)[i]))
                          : e.readIndex(vector, {e.index(i)}));
      checkAtLeast(e, sizes[i], e.getIndexAttr(0), "a size is negative");
    }
    return sizes;
  }
};
} // namespace

void onnxquant::lowering::addConvLowerings(RewritePatternSet &patterns,
                                           const StorageTypeConverter &types) {
  patterns.add<LowerConv, LowerConvTranspose, LowerCol2Im>(
      types, patterns.getContext());
  addDeformConvLowerings(patterns, types);
}
