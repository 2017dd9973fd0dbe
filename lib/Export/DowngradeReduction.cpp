// Downgrade rules of reductions and of operators that look for elements.

#include "DowngradeUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

static LogicalResult axesToAttribute(Node &node) {
  if (failed(dropDefault(node, "noop_with_empty_axes", int64_t(0))) ||
      failed(operandToInts(node, 1, "axes")))
    return failure();
  if (std::optional<Ints> axes = getInts(node, "axes"); axes && axes->empty())
    node.attributes.erase("axes");
  keepOperands(node, 1);
  return success();
}

static LogicalResult reduce11(Node &node) {
  return makeAxesPositive(node, "axes", rankOf(node.operand(0)));
}

static LogicalResult arg12(Node &node) {
  return dropDefault(node, "select_last_index", int64_t(0));
}

static LogicalResult arg11(Node &node) {
  return makeAxesPositive(node, "axis", rankOf(node.operand(0)));
}

static LogicalResult topK11(Node &node) {
  if (failed(dropDefault(node, "largest", int64_t(1))) ||
      failed(dropDefault(node, "sorted", int64_t(1))))
    return failure();
  return makeAxesPositive(node, "axis", rankOf(node.operand(0)), -1);
}

static LogicalResult topK10(Node &node) {
  std::optional<Ints> k = getConstantInts(node.operand(1));
  if (!k || k->size() != 1)
    return failure();
  setInt(node, "k", k->front());
  keepOperands(node, 1);
  return success();
}

ArrayRef<DowngradeRule> exporting::getReductionDowngrades() {
  static constexpr DowngradeRule rules[] = {
      {"ArgMax", 11, arg11},
      {"ArgMax", 12, arg12},
      {"ArgMin", 11, arg11},
      {"ArgMin", 12, arg12},
      {"ReduceL1", 11, reduce11},
      {"ReduceL1", 18, axesToAttribute},
      {"ReduceL2", 11, reduce11},
      {"ReduceL2", 18, axesToAttribute},
      {"ReduceLogSum", 11, reduce11},
      {"ReduceLogSum", 18, axesToAttribute},
      {"ReduceLogSumExp", 11, reduce11},
      {"ReduceLogSumExp", 18, axesToAttribute},
      {"ReduceMax", 11, reduce11},
      {"ReduceMax", 18, axesToAttribute},
      {"ReduceMean", 11, reduce11},
      {"ReduceMean", 18, axesToAttribute},
      {"ReduceMin", 11, reduce11},
      {"ReduceMin", 18, axesToAttribute},
      {"ReduceProd", 11, reduce11},
      {"ReduceProd", 18, axesToAttribute},
      {"ReduceSum", 11, reduce11},
      {"ReduceSum", 13, axesToAttribute},
      {"ReduceSumSquare", 11, reduce11},
      {"ReduceSumSquare", 18, axesToAttribute},
      {"TopK", 10, topK10},
      {"TopK", 11, topK11},
  };
  return rules;
}
