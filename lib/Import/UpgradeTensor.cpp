// Upgrade rules of operators that move, cut and resize tensors.
//
// Most of them turn an attribute into an operand. A Resize of opset 10 and the
// Upsample before it get the coordinates they implied, and an empty region of
// interest: opsets 11 and 12 ask for that operand, so it is not left out.

#include "UpgradeUtils.h"

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

static LogicalResult axis11(Node &node, Upgrader &upgrader) {
  return makeAxesPositive(node, upgrader, "axis",
                          rankOf(upgrader, node.operand(0)));
}

static LogicalResult squeeze11(Node &node, Upgrader &upgrader) {
  return makeAxesPositive(node, upgrader, "axes",
                          rankOf(upgrader, node.operand(0)));
}

/// Axes of Unsqueeze count in the result.
static LogicalResult unsqueeze11(Node &node, Upgrader &upgrader) {
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (auto axes = dyn_cast_or_null<ArrayAttr>(node.attributes.get("axes"));
      axes && rank)
    rank = *rank + static_cast<int64_t>(axes.size());
  return makeAxesPositive(node, upgrader, "axes", rank);
}

/// -1 always was the last axis of OneHot; only smaller numbers are newer.
static LogicalResult oneHot11(Node &node, Upgrader &upgrader) {
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (rank)
    ++*rank;
  return makeAxesPositive(node, upgrader, "axis", rank, -1);
}

static LogicalResult axesToOperand(Node &node, Upgrader &upgrader) {
  return intsToOperand(node, upgrader, "axes", 1);
}

//===----------------------------------------------------------------------===//
// Concat, Split, Slice, Tile, Reshape, Pad
//===----------------------------------------------------------------------===//

static LogicalResult concat4(Node &node, Upgrader &upgrader) {
  if (!node.attributes.get("axis"))
    setInt(node, upgrader, "axis", 1);
  return success();
}

/// Split had its parts as an operand of the input's type, then as an attribute.
static LogicalResult split2(Node &node, Upgrader &upgrader) {
  if (!node.attributes.get("axis"))
    setInt(node, upgrader, "axis", 0);
  Value parts = node.operand(1);
  if (!parts)
    return success();
  ElementsAttr constant = onnx::getConstant(parts);
  auto values = constant ? onnx::readFloats(constant, 65536) : std::nullopt;
  if (!values)
    return upgrader.error() << "expects operand 'split' of opset " << node.opset
                            << " to be a small constant";
  Ints sizes;
  for (double value : *values) {
    if (!(value >= 0 && value < 0x1p53))
      return upgrader.error()
             << "expects operand 'split' to hold sizes, but got " << value;
    sizes.push_back(static_cast<int64_t>(value));
  }
  node.operands.resize(1);
  node.attributes.set("split", upgrader.builder().getI64ArrayAttr(sizes));
  return success();
}

static LogicalResult split13(Node &node, Upgrader &upgrader) {
  return intsToOperand(node, upgrader, "split", 1);
}

static LogicalResult split18(Node &node, Upgrader &upgrader) {
  if (!node.operand(1))
    setInt(node, upgrader, "num_outputs",
           static_cast<int64_t>(node.resultNames.size()));
  return success();
}

static LogicalResult slice10(Node &node, Upgrader &upgrader) {
  auto starts = takeInts(node, upgrader, "starts");
  auto ends = takeInts(node, upgrader, "ends");
  auto axes = takeInts(node, upgrader, "axes");
  if (failed(starts) || failed(ends) || failed(axes))
    return failure();
  if (!*starts || !*ends)
    return upgrader.error() << "expects attributes 'starts' and 'ends'";
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  int64_t count = (*starts)->size();
  if (!*axes && rank != count) {
    *axes = Ints();
    for (int64_t i = 0; i < count; ++i)
      (*axes)->push_back(i);
  }
  if (*axes && rank)
    for (int64_t &axis : **axes)
      if (axis < 0 && axis >= -*rank)
        axis += *rank;
  if (node.operands.size() > 1)
    return upgrader.error()
           << "expects one operand, but got " << node.operands.size();
  node.setOperand(1, upgrader.constant(**starts, "starts"));
  node.setOperand(2, upgrader.constant(**ends, "ends"));
  if (*axes)
    node.setOperand(3, upgrader.constant(**axes, "axes"));
  return success();
}

/// Tile repeated along one axis, both given as operands of the input's type.
static LogicalResult tile6(Node &node, Upgrader &upgrader) {
  if (node.operands.size() != 3)
    return success();
  auto readOne = [&](size_t index) -> std::optional<int64_t> {
    Value value = node.operand(index);
    ElementsAttr constant = value ? onnx::getConstant(value) : ElementsAttr();
    auto numbers = constant ? onnx::readFloats(constant, 1) : std::nullopt;
    if (!numbers || numbers->size() != 1 ||
        !(numbers->front() >= 0 && numbers->front() < 0x1p53))
      return std::nullopt;
    return static_cast<int64_t>(numbers->front());
  };
  std::optional<int64_t> tiles = readOne(1), axis = readOne(2);
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (!tiles || !axis || !rank || *axis >= *rank)
    return upgrader.error()
           << "expects constant operands 'tiles' and 'axis' and an input of "
              "known rank, which tells the repeats of all axes";
  Ints repeats(*rank, 1);
  repeats[*axis] = *tiles;
  node.operands.resize(1);
  node.setOperand(1, upgrader.constant(repeats, "repeats"));
  return success();
}

static LogicalResult reshape5(Node &node, Upgrader &upgrader) {
  node.take("consumed_inputs");
  if (node.operand(1))
    return success();
  if (!node.attributes.get("shape"))
    return upgrader.error() << "expects attribute 'shape'";
  return intsToOperand(node, upgrader, "shape", 1);
}

static LogicalResult pad2(Node &node, Upgrader &) {
  if (Attribute paddings = node.take("paddings"))
    node.attributes.set("pads", paddings);
  return success();
}

static LogicalResult pad11(Node &node, Upgrader &upgrader) {
  if (!node.attributes.get("pads"))
    return upgrader.error() << "expects attribute 'pads'";
  if (failed(intsToOperand(node, upgrader, "pads", 1)))
    return failure();
  return floatToOperand(node, upgrader, "value", 2,
                        floatTypeOf(upgrader, node.operand(0)), "value");
}

//===----------------------------------------------------------------------===//
// Upsample and Resize
//===----------------------------------------------------------------------===//

/// Two factors of an image become factors of all dimensions.
static LogicalResult upsample7(Node &node, Upgrader &upgrader) {
  auto height = takeFloat(node, upgrader, "height_scale");
  auto width = takeFloat(node, upgrader, "width_scale");
  auto mode = takeString(node, upgrader, "mode");
  if (failed(height) || failed(width) || failed(mode))
    return failure();
  if (!*height || !*width)
    return upgrader.error()
           << "expects attributes 'height_scale' and 'width_scale'";
  if (*mode)
    setString(node, upgrader, "mode", **mode == "bilinear" ? "linear" : **mode);
  float scales[] = {1, 1, static_cast<float>(**height),
                    static_cast<float>(**width)};
  node.attributes.set("scales", upgrader.builder().getF32ArrayAttr(scales));
  return success();
}

static LogicalResult upsample9(Node &node, Upgrader &upgrader) {
  auto scales = takeFloats(node, upgrader, "scales");
  if (failed(scales))
    return failure();
  if (!*scales)
    return upgrader.error() << "expects attribute 'scales'";
  if (node.operands.size() > 1)
    return upgrader.error()
           << "expects one operand, but got " << node.operands.size();
  node.setOperand(1, floatsConstant(upgrader, **scales, "scales"));
  return success();
}

static LogicalResult upsample10(Node &node, Upgrader &upgrader) {
  node.opType = "Resize";
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  if (mode && mode.getValue() == "bilinear")
    setString(node, upgrader, "mode", "linear");
  return success();
}

static bool isNearest(Node &node) {
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  return !mode || mode.getValue() == "nearest";
}

static LogicalResult resize11(Node &node, Upgrader &upgrader) {
  Value scales = node.operand(1);
  setString(node, upgrader, "coordinate_transformation_mode", "asymmetric");
  if (isNearest(node))
    setString(node, upgrader, "nearest_mode", "floor");
  Value roi = floatsConstant(upgrader, {}, "roi");
  // Constants stand in the order of the operands, as when the new form is
  // imported.
  Operation *constant = scales ? scales.getDefiningOp() : nullptr;
  if (isa_and_nonnull<onnx::ConstantOp>(constant) && scales.use_empty() &&
      constant->getBlock() == roi.getDefiningOp()->getBlock())
    constant->moveAfter(roi.getDefiningOp());
  node.operands.resize(1);
  node.setOperand(1, roi);
  node.setOperand(2, scales);
  return success();
}

/// `tf_half_pixel_for_nn` is `half_pixel` moved by half a pixel, which rounding
/// up takes back. With other roundings it has no newer form, and stays.
static LogicalResult resize13(Node &node, Upgrader &upgrader) {
  auto mode = dyn_cast_or_null<StringAttr>(
      node.attributes.get("coordinate_transformation_mode"));
  if (!mode || mode.getValue() != "tf_half_pixel_for_nn")
    return success();
  auto nearest =
      dyn_cast_or_null<StringAttr>(node.attributes.get("nearest_mode"));
  if (!isNearest(node) || !nearest || nearest.getValue() != "floor")
    return success();
  setString(node, upgrader, "coordinate_transformation_mode", "half_pixel");
  setString(node, upgrader, "nearest_mode", "round_prefer_ceil");
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter, GridSample
//===----------------------------------------------------------------------===//

/// Deprecated since opset 11, but still there under its old name.
static LogicalResult renameScatter(Node &node, Upgrader &) {
  node.opType = "ScatterElements";
  return success();
}

static LogicalResult gridSample20(Node &node, Upgrader &upgrader) {
  auto mode = dyn_cast_or_null<StringAttr>(node.attributes.get("mode"));
  if (mode && mode.getValue() == "bilinear")
    setString(node, upgrader, "mode", "linear");
  if (mode && mode.getValue() == "bicubic")
    setString(node, upgrader, "mode", "cubic");
  return success();
}

ArrayRef<UpgradeRule> import::getTensorUpgrades() {
  static constexpr UpgradeRule rules[] = {
      {"Compress", 11, axis11},
      {"Concat", 4, concat4},
      {"Concat", 11, axis11},
      {"Flatten", 11, axis11},
      {"GridSample", 20, gridSample20},
      {"OneHot", 11, oneHot11},
      {"Pad", 2, pad2},
      {"Pad", 11, pad11},
      {"Reshape", 5, reshape5},
      {"Resize", 11, resize11},
      {"Resize", 13, resize13},
      {"Scatter", std::numeric_limits<int64_t>::max(), renameScatter},
      {"Slice", 10, slice10},
      {"Split", 2, split2},
      {"Split", 11, axis11},
      {"Split", 13, split13},
      {"Split", 18, split18},
      {"Squeeze", 11, squeeze11},
      {"Squeeze", 13, axesToOperand},
      {"Tile", 6, tile6},
      {"Unsqueeze", 11, unsqueeze11},
      {"Unsqueeze", 13, axesToOperand},
      {"Upsample", 7, upsample7},
      {"Upsample", 9, upsample9},
      {"Upsample", 10, upsample10},
  };
  return rules;
}
