// Upgrade rules of elementwise operators.
//
// Before opset 7 a binary operator broadcast its second operand by attributes:
// `broadcast` allowed it, `axis` told with which dimension of the first operand
// the second one starts. Today both align at the last dimension, so dimensions
// of size 1 are put behind the second operand.

#include "UpgradeUtils.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

/// Appends `count` dimensions of size 1 to an operand.
static LogicalResult appendOnes(Node &node, Upgrader &upgrader, size_t index,
                                int64_t rank, int64_t count) {
  Ints axes;
  for (int64_t i = 0; i < count; ++i)
    axes.push_back(rank + i);
  Value axesValue = upgrader.constant(axes, "broadcast_axes");
  auto unsqueezed = emitOne(upgrader, "Unsqueeze",
                            {node.operand(index), axesValue}, {}, "broadcast");
  if (failed(unsqueezed))
    return failure();
  node.setOperand(index, *unsqueezed);
  return success();
}

static LogicalResult binary7(Node &node, Upgrader &upgrader) {
  auto broadcast = takeInt(node, upgrader, "broadcast");
  auto axis = takeInt(node, upgrader, "axis");
  if (failed(broadcast) || failed(axis))
    return failure();
  if (broadcast->value_or(0) == 0 || !*axis ||
      hasOneElement(upgrader, node.operand(1)))
    return success();
  std::optional<int64_t> rankA = rankOf(upgrader, node.operand(0));
  std::optional<int64_t> rankB = rankOf(upgrader, node.operand(1));
  if (!rankA || !rankB)
    return upgrader.error()
           << "expects operands of known rank, as attribute 'axis' aligns them";
  int64_t start = **axis;
  if (start < 0 && start >= -*rankA)
    start += *rankA;
  if (start < 0 || start > *rankA - *rankB)
    return upgrader.error()
           << "expects attribute 'axis' to place " << *rankB
           << " dimensions among " << *rankA << ", but got " << **axis;
  int64_t count = *rankA - *rankB - start;
  return count == 0 ? success() : appendOnes(node, upgrader, 1, *rankB, count);
}

/// A slope per channel stood for channels at axis 1, whatever came behind.
static LogicalResult prelu7(Node &node, Upgrader &upgrader) {
  std::optional<int64_t> slopeRank = rankOf(upgrader, node.operand(1));
  if (hasOneElement(upgrader, node.operand(1)) || (slopeRank && *slopeRank > 1))
    return success();
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (!slopeRank || !rank)
    return upgrader.error() << "expects operands of known rank, as the slope "
                               "belongs to channels";
  if (*slopeRank == 0 || *rank <= 2 || *rank > 64)
    return success();
  return appendOnes(node, upgrader, 1, 1, *rank - 2);
}

/// The numbers of the exponential's constants got more digits.
static LogicalResult selu6(Node &node, Upgrader &upgrader) {
  node.take("consumed_inputs");
  struct {
    const char *name;
    float before, after;
  } constants[] = {{"alpha", 1.6732f, 1.67326319217681884765625f},
                   {"gamma", 1.0507f, 1.05070102214813232421875f}};
  for (auto [name, before, after] : constants) {
    auto value = takeFloat(node, upgrader, name);
    if (failed(value))
      return failure();
    float used = static_cast<float>(value->value_or(before));
    if (used != after)
      setFloat(node, upgrader, name, used);
  }
  return success();
}

static LogicalResult clip11(Node &node, Upgrader &upgrader) {
  Type type = floatTypeOf(upgrader, node.operand(0));
  if (failed(floatToOperand(node, upgrader, "min", 1, type, "min")))
    return failure();
  return floatToOperand(node, upgrader, "max", 2, type, "max");
}

/// The type was named; later it is a number.
static LogicalResult cast6(Node &node, Upgrader &upgrader) {
  Attribute to = node.attributes.get("to");
  auto name = dyn_cast_or_null<StringAttr>(to);
  if (!name)
    return success();
  int64_t number = llvm::StringSwitch<int64_t>(name.getValue().upper())
                       .Case("FLOAT", 1)
                       .Case("UINT8", 2)
                       .Case("INT8", 3)
                       .Case("UINT16", 4)
                       .Case("INT16", 5)
                       .Case("INT32", 6)
                       .Case("INT64", 7)
                       .Case("STRING", 8)
                       .Case("BOOL", 9)
                       .Case("FLOAT16", 10)
                       .Case("DOUBLE", 11)
                       .Case("UINT32", 12)
                       .Case("UINT64", 13)
                       .Case("COMPLEX64", 14)
                       .Case("COMPLEX128", 15)
                       .Default(0);
  if (number == 0)
    return upgrader.error()
           << "expects attribute 'to' to name an element type, but got " << to;
  setInt(node, upgrader, "to", number);
  return success();
}

ArrayRef<UpgradeRule> import::getMathUpgrades() {
  static constexpr UpgradeRule rules[] = {
      {"Abs", 6, dropConsumedInputs},
      {"Add", 6, dropConsumedInputs},
      {"Ceil", 6, dropConsumedInputs},
      {"Clip", 6, dropConsumedInputs},
      {"Div", 6, dropConsumedInputs},
      {"Elu", 6, dropConsumedInputs},
      {"Exp", 6, dropConsumedInputs},
      {"Floor", 6, dropConsumedInputs},
      {"HardSigmoid", 6, dropConsumedInputs},
      {"LeakyRelu", 6, dropConsumedInputs},
      {"Log", 6, dropConsumedInputs},
      {"Max", 6, dropConsumedInputs},
      {"Mean", 6, dropConsumedInputs},
      {"Min", 6, dropConsumedInputs},
      {"Mul", 6, dropConsumedInputs},
      {"Neg", 6, dropConsumedInputs},
      {"PRelu", 6, dropConsumedInputs},
      {"Reciprocal", 6, dropConsumedInputs},
      {"Relu", 6, dropConsumedInputs},
      {"Sigmoid", 6, dropConsumedInputs},
      {"Sqrt", 6, dropConsumedInputs},
      {"Sub", 6, dropConsumedInputs},
      {"Sum", 6, dropConsumedInputs},
      {"Tanh", 6, dropConsumedInputs},
      {"Selu", 6, selu6},
      {"Cast", 6, cast6},
      {"Add", 7, binary7},
      {"And", 7, binary7},
      {"Div", 7, binary7},
      {"Equal", 7, binary7},
      {"Greater", 7, binary7},
      {"Less", 7, binary7},
      {"Mul", 7, binary7},
      {"Or", 7, binary7},
      {"Pow", 7, binary7},
      {"Sub", 7, binary7},
      {"Xor", 7, binary7},
      {"PRelu", 7, prelu7},
      {"Clip", 11, clip11},
  };
  return rules;
}
