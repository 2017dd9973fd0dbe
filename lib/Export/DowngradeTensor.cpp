// Downgrade rules of operators that move, cut and resize tensors.

#include "DowngradeUtils.h"

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

//===----------------------------------------------------------------------===//
// Axes and indices
//===----------------------------------------------------------------------===//

static LogicalResult axis11(Node &node) {
  return makeAxesPositive(node, "axis", rankOf(node.operand(0)));
}

static LogicalResult squeeze11(Node &node) {
  return makeAxesPositive(node, "axes", rankOf(node.operand(0)));
}

static LogicalResult unsqueeze11(Node &node) {
  std::optional<int64_t> rank = rankOf(node.operand(0));
  std::optional<Ints> axes = getInts(node, "axes");
  if (rank && axes)
    *rank += static_cast<int64_t>(axes->size());
  return makeAxesPositive(node, "axes", rank);
}

static LogicalResult oneHot11(Node &node) {
  std::optional<int64_t> rank = rankOf(node.operand(0));
  if (rank)
    ++*rank;
  return makeAxesPositive(node, "axis", rank, -1);
}

static LogicalResult axesToAttribute(Node &node) {
  if (failed(operandToInts(node, 1, "axes")))
    return failure();
  keepOperands(node, 1);
  return success();
}

static LogicalResult indices11(Node &node) { return refuseNegative(node, 1); }

static LogicalResult gatherND12(Node &node) {
  return dropDefault(node, "batch_dims", int64_t(0));
}

static LogicalResult scatter18(Node &node) {
  std::optional<StringRef> reduction = getString(node, "reduction");
  return success(!reduction || (*reduction != "max" && *reduction != "min"));
}

static LogicalResult scatter16(Node &node) {
  return dropDefault(node, "reduction", "none");
}

static LogicalResult scatterElements11(Node &node) {
  if (failed(refuseNegative(node, 1)))
    return failure();
  node.opType = "Scatter";
  return success();
}

//===----------------------------------------------------------------------===//
// Shape, Reshape, Split, Slice, Pad, DepthToSpace, GridSample
//===----------------------------------------------------------------------===//

static LogicalResult shape15(Node &node) {
  if (failed(refuse(node, "end")))
    return failure();
  return dropDefault(node, "start", int64_t(0));
}

static LogicalResult reshape14(Node &node) {
  return dropDefault(node, "allowzero", int64_t(0));
}

static LogicalResult reshape5(Node &node) {
  if (!node.has(1) || failed(operandToInts(node, 1, "shape")))
    return failure();
  keepOperands(node, 1);
  return success();
}

/// Before opset 18 parts were equal, or all given. A dimension that isn't known
/// to be otherwise is taken to divide.
static LogicalResult split18(Node &node) {
  if (node.has(1))
    return refuse(node, "num_outputs");
  int64_t numResults = node.op->getNumResults();
  std::optional<int64_t> numOutputs = getInt(node, "num_outputs");
  if (numResults < 1 || numOutputs != numResults)
    return failure();
  node.attributes.erase("num_outputs");
  auto type = dyn_cast<RankedTensorType>(node.operand(0).getType());
  int64_t axis = getInt(node, "axis").value_or(0);
  if (!type || axis < -type.getRank() || axis >= type.getRank())
    return success();
  int64_t size = type.getDimSize(axis < 0 ? axis + type.getRank() : axis);
  return success(ShapedType::isDynamic(size) || size % numResults == 0);
}

static LogicalResult split13(Node &node) {
  if (failed(operandToInts(node, 1, "split")))
    return failure();
  keepOperands(node, 1);
  return success();
}

static LogicalResult split2(Node &node) {
  if (!node.attributes.get("axis"))
    setInt(node, "axis", 0);
  return success();
}

static LogicalResult slice11(Node &node) { return refuseNegative(node, 3); }

static LogicalResult slice10(Node &node) {
  if (node.has(4)) {
    std::optional<Ints> steps = getConstantInts(node.operand(4));
    if (!steps || llvm::any_of(*steps, [](int64_t s) { return s != 1; }))
      return failure();
  }
  if (!node.has(1) || !node.has(2) ||
      failed(operandToInts(node, 1, "starts")) ||
      failed(operandToInts(node, 2, "ends")) ||
      failed(operandToInts(node, 3, "axes")))
    return failure();
  keepOperands(node, 1);
  return success();
}

static LogicalResult pad19(Node &node) {
  return success(getString(node, "mode") != StringRef("wrap"));
}

static LogicalResult pad18(Node &node) {
  if (node.has(3))
    return failure();
  keepOperands(node, 3);
  return success();
}

static LogicalResult pad11(Node &node) {
  if (!node.has(1) || failed(operandToInts(node, 1, "pads")) ||
      failed(operandToFloat(node, 2, "value")))
    return failure();
  keepOperands(node, 1);
  return success();
}

static LogicalResult pad2(Node &node) {
  if (Attribute pads = node.attributes.erase("pads"))
    node.attributes.set("paddings", pads);
  return success();
}

static LogicalResult depthToSpace11(Node &node) {
  return dropDefault(node, "mode", "DCR");
}

static LogicalResult gridSample20(Node &node) {
  std::optional<int64_t> rank = rankOf(node.operand(0));
  if (rank && *rank != 4)
    return failure();
  std::optional<StringRef> mode = getString(node, "mode");
  if (mode == StringRef("linear"))
    setString(node, "mode", "bilinear");
  if (mode == StringRef("cubic"))
    setString(node, "mode", "bicubic");
  return success();
}

//===----------------------------------------------------------------------===//
// Resize and Upsample
//===----------------------------------------------------------------------===//

static LogicalResult resize19(Node &node) {
  return success(getString(node, "coordinate_transformation_mode") !=
                 StringRef("half_pixel_symmetric"));
}

static LogicalResult resize18(Node &node) {
  if (failed(dropDefault(node, "antialias", int64_t(0))) ||
      failed(dropDefault(node, "keep_aspect_ratio_policy", "stretch")))
    return failure();
  return refuse(node, "axes");
}

/// Opset 11 asks for the operands that opset 13 lets be left out.
static LogicalResult resize13(Node &node) {
  return success(node.has(1) && node.has(2));
}

static LogicalResult resize11(Node &node) {
  std::optional<StringRef> mode = getString(node, "mode");
  bool isNearest = !mode || *mode == "nearest";
  if ((!isNearest && *mode != "linear") || !node.has(2) || node.has(3) ||
      getString(node, "coordinate_transformation_mode") !=
          StringRef("asymmetric"))
    return failure();
  if (isNearest && getString(node, "nearest_mode") != StringRef("floor"))
    return failure();
  if (!isNearest &&
      failed(dropDefault(node, "nearest_mode", "round_prefer_floor")))
    return failure();
  // A region of interest counts for other coordinates only; one that holds
  // numbers would come back as an empty one.
  ElementsAttr roi = onnx::getConstant(node.operand(1));
  if (!roi || roi.getNumElements() != 0 ||
      failed(dropDefault(node, "cubic_coeff_a", -0.75)) ||
      failed(dropDefault(node, "exclude_outside", int64_t(0))) ||
      failed(dropDefault(node, "extrapolation_value", 0.0)))
    return failure();
  node.attributes.erase("coordinate_transformation_mode");
  node.attributes.erase("nearest_mode");
  node.operands = {node.operand(0), node.operand(2)};
  return success();
}

/// Upsample can't make a tensor smaller.
static LogicalResult resize10(Node &node) {
  ElementsAttr scales = onnx::getConstant(node.operand(1));
  auto values = scales ? onnx::readFloats(scales, 64) : std::nullopt;
  if (!values || llvm::any_of(*values, [](double v) { return !(v >= 1); }))
    return failure();
  node.opType = "Upsample";
  return success();
}

static LogicalResult upsample9(Node &node) {
  if (failed(operandToFloats(node, 1, "scales")))
    return failure();
  keepOperands(node, 1);
  return success();
}

static LogicalResult upsample7(Node &node) {
  auto scales = dyn_cast_or_null<ArrayAttr>(node.attributes.erase("scales"));
  Type type = elementTypeOf(node.operand(0));
  if (!scales || scales.size() != 4 || !type ||
      !(type.isF16() || type.isF32() || type.isF64()))
    return failure();
  auto scale = [&](size_t index) {
    return cast<FloatAttr>(scales[index]).getValueAsDouble();
  };
  if (scale(0) != 1 || scale(1) != 1)
    return failure();
  setFloat(node, "height_scale", static_cast<float>(scale(2)));
  setFloat(node, "width_scale", static_cast<float>(scale(3)));
  if (getString(node, "mode") == StringRef("linear"))
    setString(node, "mode", "bilinear");
  return success();
}

ArrayRef<DowngradeRule> exporting::getTensorDowngrades() {
  static constexpr DowngradeRule rules[] = {
      {"Compress", 11, axis11},
      {"Concat", 11, axis11},
      {"DepthToSpace", 11, depthToSpace11},
      {"Flatten", 11, axis11},
      {"Gather", 11, indices11},
      {"GatherND", 12, gatherND12},
      {"GridSample", 20, gridSample20},
      {"OneHot", 11, oneHot11},
      {"Pad", 2, pad2},
      {"Pad", 11, pad11},
      {"Pad", 18, pad18},
      {"Pad", 19, pad19},
      {"Reshape", 5, reshape5},
      {"Reshape", 14, reshape14},
      {"Resize", 10, resize10},
      {"Resize", 11, resize11},
      {"Resize", 13, resize13},
      {"Resize", 18, resize18},
      {"Resize", 19, resize19},
      {"ScatterElements", 11, scatterElements11},
      {"ScatterElements", 16, scatter16},
      {"ScatterElements", 18, scatter18},
      {"ScatterND", 16, scatter16},
      {"ScatterND", 18, scatter18},
      {"Shape", 15, shape15},
      {"Slice", 10, slice10},
      {"Slice", 11, slice11},
      {"Split", 2, split2},
      {"Split", 11, axis11},
      {"Split", 13, split13},
      {"Split", 18, split18},
      {"Squeeze", 11, squeeze11},
      {"Squeeze", 13, axesToAttribute},
      {"Tile", 6, refuseAll},
      {"Unsqueeze", 11, unsqueeze11},
      {"Unsqueeze", 13, axesToAttribute},
      {"Upsample", 7, upsample7},
      {"Upsample", 9, upsample9},
  };
  return rules;
}
