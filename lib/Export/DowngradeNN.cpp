// Downgrade rules of neural network layers.

#include "DowngradeUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Before opset 13 the axis and all behind it were one; that is the same if
/// those behind it have size 1.
static LogicalResult softmax13(Node &node) {
  int64_t axis = getInt(node, "axis").value_or(-1);
  auto type = dyn_cast<RankedTensorType>(node.operand(0).getType());
  if (axis != -1) {
    if (!type || axis < -type.getRank() || axis >= type.getRank())
      return failure();
    int64_t positive = axis < 0 ? axis + type.getRank() : axis;
    if (llvm::any_of(type.getShape().drop_front(positive + 1),
                     [](int64_t dim) { return dim != 1; }))
      return failure();
  }
  setInt(node, "axis", axis);
  return success();
}

static LogicalResult softmax11(Node &node) {
  return makeAxesPositive(node, "axis", rankOf(node.operand(0)));
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// Before opset 15 scale and bias had the input's type.
static LogicalResult batchNormalization15(Node &node) {
  return success(haveSameElements(node.operand(0), node.operand(1)) &&
                 haveSameElements(node.operand(0), node.operand(2)) &&
                 haveSameElements(node.operand(3), node.operand(4)));
}

/// Before opset 14 training showed in two more results, which are lost.
static LogicalResult batchNormalization14(Node &node) {
  if (hasResult(node, 1) || hasResult(node, 2) ||
      !haveSameElements(node.operand(0), node.operand(3)))
    return failure();
  return dropDefault(node, "training_mode", int64_t(0));
}

static LogicalResult batchNormalization7(Node &node) {
  setInt(node, "is_test", 1);
  return success();
}

/// Opset 1 asks for this attribute, which tells that the statistics may be
/// written in place.
static LogicalResult batchNormalization6(Node &node) {
  setInts(node, "consumed_inputs", {0, 0, 0, 1, 1});
  return success();
}

/// A scale per channel is one per group only where each group is one channel.
static LogicalResult groupNormalization21(Node &node) {
  auto type = dyn_cast<RankedTensorType>(node.operand(0).getType());
  if (!type || type.getRank() < 2 || type.isDynamicDim(1) ||
      getInt(node, "num_groups") != type.getDimSize(1))
    return failure();
  return dropDefault(node, "stash_type", int64_t(1));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

static LogicalResult dropout12(Node &node) {
  if (node.has(2)) {
    std::optional<Ints> training = getConstantInts(node.operand(2));
    if (!training || training->size() != 1 || training->front() != 0)
      return failure();
  }
  if (failed(refuse(node, "seed")) || failed(operandToFloat(node, 1, "ratio")))
    return failure();
  keepOperands(node, 1);
  return success();
}

/// The mask was numbers.
static LogicalResult dropout10(Node &node) {
  return success(!hasResult(node, 1));
}

static LogicalResult dropout7(Node &node) {
  setInt(node, "is_test", 1);
  return success();
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

static LogicalResult dropDilations(Node &node) {
  return dropOnes(node, "dilations");
}

static LogicalResult dropCeilMode(Node &node) {
  return dropDefault(node, "ceil_mode", int64_t(0));
}

static LogicalResult dropCeilModeAndDilations(Node &node) {
  if (failed(dropCeilMode(node)))
    return failure();
  return dropDilations(node);
}

static LogicalResult averagePool7(Node &node) {
  return dropDefault(node, "count_include_pad", int64_t(0));
}

static LogicalResult maxPool8(Node &node) {
  if (hasResult(node, 1))
    return failure();
  return dropDefault(node, "storage_order", int64_t(0));
}

/// The norm's order was a float.
static LogicalResult lpPool2(Node &node) {
  if (!node.attributes.get("p"))
    return success();
  std::optional<int64_t> p = getInt(node, "p");
  if (!p || *p < 1 || *p > (int64_t(1) << 24))
    return failure();
  setFloat(node, "p", static_cast<float>(*p));
  return success();
}

static LogicalResult roiAlign16(Node &node) {
  if (!node.attributes.get("coordinate_transformation_mode"))
    return failure();
  return dropDefault(node, "coordinate_transformation_mode",
                     "output_half_pixel");
}

ArrayRef<DowngradeRule> exporting::getNNDowngrades() {
  static constexpr DowngradeRule rules[] = {
      {"AveragePool", 7, averagePool7},
      {"AveragePool", 10, dropCeilMode},
      {"AveragePool", 19, dropDilations},
      {"BatchNormalization", 6, batchNormalization6},
      {"BatchNormalization", 7, batchNormalization7},
      {"BatchNormalization", 14, batchNormalization14},
      {"BatchNormalization", 15, batchNormalization15},
      {"Dropout", 7, dropout7},
      {"Dropout", 10, dropout10},
      {"Dropout", 12, dropout12},
      {"GlobalLpPool", 2, lpPool2},
      {"GroupNormalization", 21, groupNormalization21},
      {"Hardmax", 11, softmax11},
      {"Hardmax", 13, softmax13},
      {"LogSoftmax", 11, softmax11},
      {"LogSoftmax", 13, softmax13},
      {"LpPool", 2, lpPool2},
      {"LpPool", 18, dropCeilModeAndDilations},
      {"MaxPool", 8, maxPool8},
      {"MaxPool", 10, dropCeilModeAndDilations},
      {"RoiAlign", 16, roiAlign16},
      {"Softmax", 11, softmax11},
      {"Softmax", 13, softmax13},
  };
  return rules;
}
