// Upgrade rules of reductions and of operators that look for elements.

#include "UpgradeUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

static LogicalResult reduce11(Node &node, Upgrader &upgrader) {
  return makeAxesPositive(node, upgrader, "axes",
                          rankOf(upgrader, node.operand(0)));
}

/// A list without axes reduced all of them, as a left out one does.
static LogicalResult axesToOperand(Node &node, Upgrader &upgrader) {
  return intsToOperand(node, upgrader, "axes", 1, /*dropEmpty=*/true);
}

static LogicalResult arg11(Node &node, Upgrader &upgrader) {
  return makeAxesPositive(node, upgrader, "axis",
                          rankOf(upgrader, node.operand(0)));
}

static LogicalResult topK10(Node &node, Upgrader &upgrader) {
  auto k = takeInt(node, upgrader, "k");
  if (failed(k))
    return failure();
  if (!*k)
    return upgrader.error() << "expects attribute 'k'";
  if (node.operands.size() > 1)
    return upgrader.error()
           << "expects one operand, but got " << node.operands.size();
  node.setOperand(1, upgrader.constant({**k}, "k"));
  return success();
}

/// -1 always was the last axis of TopK; only smaller numbers are newer.
static LogicalResult topK11(Node &node, Upgrader &upgrader) {
  return makeAxesPositive(node, upgrader, "axis",
                          rankOf(upgrader, node.operand(0)), -1);
}

ArrayRef<UpgradeRule> import::getReductionUpgrades() {
  static constexpr UpgradeRule rules[] = {
      {"ArgMax", 11, arg11},
      {"ArgMin", 11, arg11},
      {"ReduceL1", 11, reduce11},
      {"ReduceL1", 18, axesToOperand},
      {"ReduceL2", 11, reduce11},
      {"ReduceL2", 18, axesToOperand},
      {"ReduceLogSum", 11, reduce11},
      {"ReduceLogSum", 18, axesToOperand},
      {"ReduceLogSumExp", 11, reduce11},
      {"ReduceLogSumExp", 18, axesToOperand},
      {"ReduceMax", 11, reduce11},
      {"ReduceMax", 18, axesToOperand},
      {"ReduceMean", 11, reduce11},
      {"ReduceMean", 18, axesToOperand},
      {"ReduceMin", 11, reduce11},
      {"ReduceMin", 18, axesToOperand},
      {"ReduceProd", 11, reduce11},
      {"ReduceProd", 18, axesToOperand},
      {"ReduceSum", 11, reduce11},
      {"ReduceSum", 13, axesToOperand},
      {"ReduceSumSquare", 11, reduce11},
      {"ReduceSumSquare", 18, axesToOperand},
      {"TopK", 10, topK10},
      {"TopK", 11, topK11},
  };
  return rules;
}
