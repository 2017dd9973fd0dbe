// Upgrade rules of matrix products, quantization, recurrence, control flow and
// signal operators.

#include "UpgradeUtils.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

/// Gemm's third operand broadcast from the last dimension, when allowed.
static LogicalResult gemm7(Node &node, Upgrader &) {
  node.take("broadcast");
  return success();
}

/// Whether all steps are a result now shows in the result being given.
static LogicalResult recurrent7(Node &node, Upgrader &) {
  node.take("output_sequence");
  return success();
}

/// The default's spelling lacked a letter.
static LogicalResult gru3(Node &node, Upgrader &upgrader) {
  auto direction =
      dyn_cast_or_null<StringAttr>(node.attributes.get("direction"));
  if (direction && direction.getValue() == "foward")
    setString(node, upgrader, "direction", "forward");
  return success();
}

static LogicalResult dft20(Node &node, Upgrader &upgrader) {
  auto axis = takeInt(node, upgrader, "axis");
  if (failed(axis))
    return failure();
  if (node.operands.size() > 2)
    return upgrader.error()
           << "expects at most 2 operands, but got " << node.operands.size();
  auto type = RankedTensorType::get({}, upgrader.builder().getI64Type());
  node.setOperand(
      2, upgrader.constant(DenseElementsAttr::get(type, axis->value_or(1)),
                           "axis"));
  return success();
}

ArrayRef<UpgradeRule> import::getMiscUpgrades() {
  static constexpr UpgradeRule rules[] = {
      {"DFT", 20, dft20}, {"GRU", 3, gru3},        {"GRU", 7, recurrent7},
      {"Gemm", 7, gemm7}, {"LSTM", 7, recurrent7}, {"RNN", 7, recurrent7},
  };
  return rules;
}
