// Downgrade rules of elementwise operators.

#include "DowngradeUtils.h"

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::exporting;

/// Before opset 7 only the second operand broadcast, and only to dimensions in
/// front of its own, or from one element.
static LogicalResult binary7(Node &node) {
  Value a = node.operand(0), b = node.operand(1);
  if (haveSameDims(a, b))
    return success();
  bool isScalar = hasOneElement(b) && rankOf(a) && *rankOf(b) <= *rankOf(a);
  if (!isScalar && !isSuffixOf(b, a))
    return failure();
  setInt(node, "broadcast", 1);
  return success();
}

/// Before opset 8 operands of any number didn't broadcast.
static LogicalResult variadic8(Node &node) {
  for (Value operand : node.operands)
    if (!haveSameDims(operand, node.operands.front()))
      return failure();
  return success();
}

/// A slope was one number, or one for each channel at axis 1.
static LogicalResult prelu7(Node &node) {
  Value x = node.operand(0), slope = node.operand(1);
  return success(
      hasOneElement(slope) ||
      (rankOf(x) == 2 && rankOf(slope) == 1 && isSuffixOf(slope, x)));
}

/// Left out constants had other values.
static LogicalResult selu6(Node &node) {
  if (!node.attributes.get("alpha"))
    setFloat(node, "alpha", 1.67326319217681884765625f);
  if (!node.attributes.get("gamma"))
    setFloat(node, "gamma", 1.05070102214813232421875f);
  return success();
}

static LogicalResult clip11(Node &node) {
  if (failed(operandToFloat(node, 1, "min")) ||
      failed(operandToFloat(node, 2, "max")))
    return failure();
  keepOperands(node, 1);
  return success();
}

/// Before opset 12 both operands of Pow had one type.
static LogicalResult pow12(Node &node) {
  return success(haveSameElements(node.operand(0), node.operand(1)));
}

static LogicalResult dropSaturate(Node &node) {
  return dropDefault(node, "saturate", int64_t(1));
}

/// Before opset 6 the type was named.
static LogicalResult cast6(Node &node) {
  static constexpr StringRef names[] = {
      "",       "FLOAT",  "UINT8",     "INT8",      "UINT16",  "INT16",
      "INT32",  "INT64",  "",          "BOOL",      "FLOAT16", "DOUBLE",
      "UINT32", "UINT64", "COMPLEX64", "COMPLEX128"};
  auto to = dyn_cast_or_null<TypeAttr>(node.attributes.get("to"));
  if (!to)
    return failure();
  std::optional<int64_t> number = onnx::onnxFromElementType(to.getValue());
  if (!number || *number < 1 || *number >= int64_t(std::size(names)) ||
      names[*number].empty())
    return failure();
  setString(node, "to", names[*number]);
  return success();
}

ArrayRef<DowngradeRule> exporting::getMathDowngrades() {
  static constexpr DowngradeRule rules[] = {
      {"Add", 7, binary7},
      {"And", 7, binary7},
      {"Cast", 6, cast6},
      {"Cast", 19, dropSaturate},
      {"CastLike", 19, dropSaturate},
      {"Clip", 11, clip11},
      {"Div", 7, binary7},
      {"Equal", 7, binary7},
      {"Greater", 7, binary7},
      {"Less", 7, binary7},
      {"Max", 8, variadic8},
      {"Mean", 8, variadic8},
      {"Min", 8, variadic8},
      {"Mul", 7, binary7},
      {"Or", 7, binary7},
      {"PRelu", 7, prelu7},
      {"Pow", 7, binary7},
      {"Pow", 12, pow12},
      {"Selu", 6, selu6},
      {"Sub", 7, binary7},
      {"Sum", 8, variadic8},
      {"Xor", 7, binary7},
  };
  return rules;
}
