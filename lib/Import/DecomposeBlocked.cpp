// Undoes the blocked layout that ONNX Runtime's highest level writes: nodes of
// com.microsoft.nchwc on tensors [N, C / b, H, W, b], with weights laid out for
// them.
//
// Blocked tensors become plain ones whose channels are still a multiple of the
// block: where the layout filled channels up, a Pad and a Slice stay. The file
// doesn't tell the block's size; what there is of evidence is weighed once per
// model (ChannelBlock.cpp).

#include "Decompose.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

static constexpr llvm::StringLiteral blocked = "com.microsoft.nchwc";

/// The raw elements of a constant of f32; none if they can't be read, or are
/// all one.
static std::optional<ArrayRef<char>> rawFloats(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return std::nullopt;
    return blob->getData();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense || dense.isSplat())
    return std::nullopt;
  return dense.getRawData();
}

/// Whether the inputs of a convolution's filter aren't blocked: it reads plain
/// channels, or one channel each.
static bool hasPlainInputs(ArrayRef<int64_t> shape, int64_t group,
                           int64_t block) {
  return group > 1 ? shape[1] == 1 && shape[0] == group : shape[1] < block;
}

/// Filters [O / b][I / b][H][W][b of I][b of O], or [O / b][I][H][W][b of O],
/// as [O][I][H][W].
static std::vector<char> unblock(ArrayRef<char> data, ArrayRef<int64_t> shape,
                                 int64_t block, bool plainInputs) {
  std::vector<char> result(data.size());
  int64_t inner = plainInputs ? 1 : block;
  int64_t places = shape[2] * shape[3], inputs = shape[1];
  const char *from = data.data();
  for (int64_t o = 0; o < shape[0]; o += block)
    for (int64_t i = 0; i < inputs; i += inner)
      for (int64_t place = 0; place < places; ++place)
        for (int64_t ii = 0; ii < inner; ++ii)
          for (int64_t oo = 0; oo < block; ++oo, from += sizeof(float)) {
            int64_t to = ((o + oo) * inputs + i + ii) * places + place;
            std::memcpy(result.data() + to * sizeof(float), from,
                        sizeof(float));
          }
  return result;
}

/// The filter of a blocked convolution in ONNX's layout; null with an error.
static Value plainFilter(Node &node, Upgrader &upgrader) {
  ElementsAttr elements =
      node.operand(1) ? onnx::getConstant(node.operand(1)) : ElementsAttr();
  if (!elements || !elements.getElementType().isF32() ||
      elements.getShapedType().getRank() != 4) {
    upgrader.error() << "expects a constant filter of float and rank 4";
    return {};
  }
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  int64_t block = upgrader.channelBlock();
  bool plainInputs = hasPlainInputs(shape, intOr(node, "group", 1), block);
  if (shape[0] % block != 0 || (!plainInputs && shape[1] % block != 0)) {
    upgrader.error() << "expects a filter in blocks of " << block
                     << " channels, but got " << elements.getShapedType();
    return {};
  }
  std::optional<ArrayRef<char>> data = rawFloats(elements);
  // Elements that are all one have no order.
  if (!data)
    return node.operand(1);
  if (data->size() != elements.getNumElements() * sizeof(float)) {
    upgrader.error() << "has a filter whose data is missing";
    return {};
  }
  std::vector<char> plain = unblock(*data, shape, block, plainInputs);
  auto type = cast<RankedTensorType>(elements.getShapedType());
  node.operand(1).getDefiningOp()->setAttr(supersededAttr,
                                           upgrader.builder().getUnitAttr());
  // Small constants are no resources, as everywhere.
  if (plain.size() < 1024)
    return upgrader.constant(DenseElementsAttr::getFromRawBuffer(type, plain),
                             "filter");
  return upgrader.constant(
      DenseResourceElementsAttr::get(
          type, node.name + "_filter",
          HeapAsmResourceBlob::allocateAndCopyWithAlign(ArrayRef(plain), 64)),
      "filter");
}

/// Attributes of a node but for those of these names.
static NamedAttrList without(const Node &node, ArrayRef<StringRef> names) {
  NamedAttrList kept;
  for (NamedAttribute attribute : node.attributes)
    if (!llvm::is_contained(names, attribute.getName().getValue()))
      kept.push_back(attribute);
  return kept;
}

/// A convolution is then what FusedConv is.
static LogicalResult conv(Node &node, Upgrader &upgrader) {
  Value filter = plainFilter(node, upgrader);
  if (!filter)
    return failure();
  node.setOperand(1, filter);
  node.opType = "FusedConv";
  return decomposeNode("com.microsoft", node, upgrader);
}

/// Pooling is the same in both layouts.
static LogicalResult pool(Node &node, Upgrader &upgrader) {
  Parts parts(node, upgrader);
  Value y =
      parts(node.opType, {node.operand(0)}, "", without(node, {}).getAttrs());
  return parts.finish(y);
}

static LogicalResult upsample(Node &node, Upgrader &upgrader) {
  SmallVector<int64_t> scales = intsOf(node, "scales");
  std::string mode = textOr(node, "mode", "nearest");
  SmallVector<double> factors(scales.begin(), scales.end());
  Builder &b = upgrader.builder();
  Parts parts(node, upgrader);
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("mode", b.getStringAttr(mode)),
      b.getNamedAttr(
          "coordinate_transformation_mode",
          b.getStringAttr(
              textOr(node, "coordinate_transformation_mode", "asymmetric")))};
  if (mode == "nearest")
    attributes.push_back(
        b.getNamedAttr("nearest_mode", b.getStringAttr("floor")));
  Value y = parts("Resize",
                  {node.operand(0), Value(),
                   floatsConstant(upgrader, factors, "scales"), Value()},
                  "", attributes);
  return parts.finish(y);
}

/// The channels of a tensor [N, C, ...]; none with an error.
static std::optional<int64_t> channelsOf(Node &node, Upgrader &upgrader,
                                         int64_t axis) {
  std::optional<int64_t> channels = sizeAt(upgrader, node.operand(0), axis);
  if (!channels || rankOf(upgrader, node.operand(0)) != 4)
    upgrader.error() << "expects a tensor of rank 4 with known channels";
  return rankOf(upgrader, node.operand(0)) == 4 ? channels : std::nullopt;
}

static LogicalResult reorderInput(Node &node, Upgrader &upgrader) {
  bool isLast = intOr(node, "channels_last", 0) != 0;
  std::optional<int64_t> channels = channelsOf(node, upgrader, isLast ? 3 : 1);
  if (!channels)
    return failure();
  Parts parts(node, upgrader);
  Value x = node.operand(0);
  if (isLast)
    x = parts.transpose(x, {0, 3, 1, 2}, "nchw");
  int64_t block = upgrader.channelBlock();
  int64_t missing = (block - *channels % block) % block;
  if (missing > 0)
    x = parts("Pad", {x, parts.ints({0, 0, 0, 0, 0, missing, 0, 0}, "pads")},
              "", {});
  return parts.finish(x);
}

static LogicalResult reorderOutput(Node &node, Upgrader &upgrader) {
  std::optional<int64_t> given = channelsOf(node, upgrader, 1);
  if (!given)
    return failure();
  int64_t channels = intOr(node, "channels", *given);
  Parts parts(node, upgrader);
  Value x = node.operand(0);
  if (channels < *given)
    x = parts("Slice",
              {x, parts.ints({0}, "begin"), parts.ints({channels}, "end"),
               parts.ints({1}, "axis")},
              "");
  if (intOr(node, "channels_last", 0) != 0)
    x = parts.transpose(x, {0, 2, 3, 1}, "nhwc");
  return parts.finish(x);
}

ArrayRef<DecomposeRule> import::getBlockedDecompositions() {
  static const DecomposeRule rules[] = {
      {blocked, "Conv", conv},
      {blocked, "MaxPool", pool},
      {blocked, "AveragePool", pool},
      {blocked, "GlobalMaxPool", pool},
      {blocked, "GlobalAveragePool", pool},
      {blocked, "Upsample", upsample},
      {blocked, "ReorderInput", reorderInput},
      {blocked, "ReorderOutput", reorderOutput},
  };
  return rules;
}
