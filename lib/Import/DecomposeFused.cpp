// Takes apart products with what was fused behind them, activations with a
// bias, and normalizations.

#include "DecomposeHeads.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::import;

static constexpr llvm::StringLiteral standard = "ai.onnx";
static constexpr llvm::StringLiteral microsoft = "com.microsoft";

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Whether `activate` knows a fused activation.
static bool isKnownActivation(StringRef name) {
  return llvm::is_contained({"", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu",
                             "Clip", "HardSigmoid", "HardSwish", "Softplus",
                             "Softsign", "ThresholdedRelu"},
                            name);
}

/// The activation that a fused node has at its end. `parameters` are the
/// operator's attributes in ONNX's order.
static Value activate(Parts &parts, Value x, StringRef name,
                      ArrayRef<double> parameters, Type type) {
  auto parameter = [&](size_t index, double missing) {
    return index < parameters.size() ? parameters[index] : missing;
  };
  if (name.empty())
    return x;
  if (name == "Clip") {
    double largest = std::numeric_limits<float>::max();
    return parts("Clip",
                 {x, parts.scalar(parameter(0, -largest), type, "min"),
                  parts.scalar(parameter(1, largest), type, "max")},
                 "activation");
  }
  // HardSwish is younger than the models that have it fused.
  if (name == "HardSwish") {
    Value gate = parts(
        "HardSigmoid", {x}, "gate",
        {parts.attribute("alpha", 1.0 / 6), parts.attribute("beta", 0.5)});
    return parts.mul(x, gate, "activation");
  }
  SmallVector<NamedAttribute> attributes;
  if (name == "LeakyRelu")
    attributes.push_back(parts.attribute("alpha", parameter(0, 0.01)));
  if (name == "Elu" || name == "ThresholdedRelu")
    attributes.push_back(parts.attribute("alpha", parameter(0, 1.0)));
  if (name == "HardSigmoid") {
    attributes.push_back(parts.attribute("alpha", parameter(0, 0.2)));
    attributes.push_back(parts.attribute("beta", parameter(1, 0.5)));
  }
  return parts(name, {x}, "activation", attributes);
}

/// `x + bias`, or `x` without a bias.
static Value biased(Parts &parts, Value x, Value bias, StringRef suffix) {
  return bias ? parts.add(x, bias, suffix) : x;
}

/// Gelu(A + B): the sum may become part of the product before it.
static LogicalResult biasGelu(Node &node, Upgrader &upgrader) {
  Parts parts(node, upgrader);
  if (!node.operand(0) || !node.operand(1))
    return success();
  Value sum = parts.add(node.operand(0), node.operand(1), "bias");
  return parts.finish(parts("com.microsoft.Gelu", {sum}, ""));
}

static LogicalResult fastGelu(Node &node, Upgrader &upgrader) {
  Parts parts(node, upgrader);
  if (!node.operand(1))
    return success();
  Value sum = parts.add(node.operand(0), node.operand(1), "bias");
  return parts.finish(parts("com.microsoft.FastGelu", {sum}, ""));
}

/// x * sigmoid(alpha * x).
static LogicalResult quickGelu(Node &node, Upgrader &upgrader) {
  Parts parts(node, upgrader);
  Value x = node.operand(0);
  if (!x)
    return success();
  double alpha = floatOr(node, "alpha", 1.702);
  Value scaled = x;
  if (alpha != 1)
    scaled = parts.mul(
        x, parts.scalar(alpha, floatTypeOf(upgrader, x), "alpha"), "scaled");
  return parts.finish(parts.mul(x, parts("Sigmoid", {scaled}, "sigmoid"), ""));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Attributes of a node but for those of these names.
static SmallVector<NamedAttribute> without(const Node &node,
                                           ArrayRef<StringRef> names) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : node.attributes)
    if (!llvm::is_contained(names, attribute.getName().getValue()))
      kept.push_back(attribute);
  return kept;
}

/// Activation(Conv(X, W, B) + Z).
static LogicalResult fusedConv(Node &node, Upgrader &upgrader) {
  std::string activation = textOr(node, "activation", "");
  if (!isKnownActivation(activation) || !node.operand(0))
    return success();
  Type type = floatTypeOf(upgrader, node.operand(0));
  SmallVector<double> parameters = floatsOf(node, "activation_params");
  Parts parts(node, upgrader);
  Value y = parts("Conv", {node.operand(0), node.operand(1), node.operand(2)},
                  "", without(node, {"activation", "activation_params"}));
  y = biased(parts, y, node.operand(3), "sum");
  return parts.finish(activate(parts, y, activation, parameters, type));
}

/// Activation(Gemm(A, B, C)).
static LogicalResult fusedGemm(Node &node, Upgrader &upgrader) {
  std::string activation = textOr(node, "activation", "");
  if (!isKnownActivation(activation) || !node.operand(0))
    return success();
  SmallVector<double> parameters;
  for (StringRef name : {"activation_alpha", "activation_beta"})
    if (node.attributes.get(name))
      parameters.push_back(floatOr(node, name, 0));
  Parts parts(node, upgrader);
  Value y =
      parts("Gemm", {node.operand(0), node.operand(1), node.operand(2)}, "",
            without(node, {"activation", "activation_alpha", "activation_beta",
                           "activation_gamma"}));
  return parts.finish(activate(parts, y, activation, parameters,
                               floatTypeOf(upgrader, node.operand(0))));
}

/// An operand of FusedMatMul as a plain product has it; null if its rank isn't
/// known but needed.
static Value arranged(Parts &parts, Upgrader &upgrader, Value x,
                      bool isTransposed, bool movesBatch, StringRef suffix) {
  if (!isTransposed && !movesBatch)
    return x;
  std::optional<int64_t> rank = rankOf(upgrader, x);
  if (!rank)
    return {};
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(*rank));
  if (movesBatch && *rank > 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (isTransposed && *rank > 1)
    std::swap(order[*rank - 1], order[*rank - 2]);
  return llvm::is_sorted(order) ? x : parts.transpose(x, order, suffix);
}

/// alpha * A' * B'.
static LogicalResult fusedMatMul(Node &node, Upgrader &upgrader) {
  if (!rankOf(upgrader, node.operand(0)) || !rankOf(upgrader, node.operand(1)))
    return success();
  Parts parts(node, upgrader);
  Value a =
      arranged(parts, upgrader, node.operand(0), intOr(node, "transA", 0) != 0,
               intOr(node, "transBatchA", 0) != 0, "a");
  Value b =
      arranged(parts, upgrader, node.operand(1), intOr(node, "transB", 0) != 0,
               intOr(node, "transBatchB", 0) != 0, "b");
  double alpha = floatOr(node, "alpha", 1);
  Value y = parts("MatMul", {a, b}, "");
  if (alpha != 1)
    y = parts.mul(
        y, parts.scalar(alpha, floatTypeOf(upgrader, node.operand(0)), "alpha"),
        "scaled");
  return parts.finish(y);
}

/// [N, H, W, C] pooled as [N, C, H, W].
static LogicalResult nhwcMaxPool(Node &node, Upgrader &upgrader) {
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (!rank || *rank < 3)
    return success();
  SmallVector<int64_t> first = {0, *rank - 1}, last = {0};
  for (int64_t i = 1; i < *rank - 1; ++i)
    first.push_back(i);
  for (int64_t i = 2; i < *rank; ++i)
    last.push_back(i);
  last.push_back(1);
  Parts parts(node, upgrader);
  Value x = parts.transpose(node.operand(0), first, "nchw");
  Value y = parts("MaxPool", {x}, "", without(node, {}));
  return parts.finish(parts.transpose(y, last, "nhwc"));
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// x / sqrt(mean(x^2) + epsilon) over the dimensions from `axis` on, times
/// `scale`; `inverse` becomes 1 / sqrt(...). Computed in f32 at least.
static Value normalized(Parts &parts, Upgrader &upgrader, Value x, Value scale,
                        ArrayRef<int64_t> axes, double epsilon, Value *inverse,
                        StringRef suffix) {
  Type type = floatTypeOf(upgrader, x);
  Type real = type.getIntOrFloatBitWidth() < 32
                  ? Type(upgrader.builder().getF32Type())
                  : type;
  Value wide = type == real ? x : parts.cast(x, real, "wide");
  Value squares = parts("Pow", {wide, parts.scalar(2, real, "two")}, "squares");
  Value mean = parts("ReduceMean", {squares, parts.ints(axes, "axes")}, "mean",
                     parts.attribute("keepdims", int64_t(1)));
  Value sum =
      parts.add(mean, parts.scalar(epsilon, real, "epsilon"), "with_epsilon");
  Value root = parts("Sqrt", {sum}, "root");
  if (inverse)
    *inverse = parts("Reciprocal", {root}, "inverse");
  Value y = parts("Div", {wide, root}, "normalized");
  if (type != real)
    y = parts.cast(y, type, "narrow");
  return parts.mul(y, scale, suffix);
}

/// ONNX Runtime has this operator in ai.onnx at every opset.
static LogicalResult simplifiedLayerNorm(Node &node, Upgrader &upgrader) {
  std::optional<int64_t> rank = rankOf(upgrader, node.operand(0));
  if (!rank || !node.operand(1))
    return upgrader.error() << "expects an input of known rank and a scale";
  int64_t axis = intOr(node, "axis", -1);
  if (axis < -*rank || axis >= *rank)
    return upgrader.error() << "expects axis in [" << -*rank << ", " << *rank
                            << "), but got " << axis;
  SmallVector<int64_t> axes =
      axis < 0 ? llvm::to_vector(llvm::seq<int64_t>(axis, 0))
               : llvm::to_vector(llvm::seq<int64_t>(axis, *rank));
  Parts parts(node, upgrader);
  SmallVector<Value> results(2);
  results[0] = normalized(parts, upgrader, node.operand(0), node.operand(1),
                          axes, floatOr(node, "epsilon", 1e-5),
                          isNamed(node, 1) ? &results[1] : nullptr, "");
  return parts.finish(results);
}

static LogicalResult skipSimplifiedLayerNorm(Node &node, Upgrader &upgrader) {
  if (!node.operand(0) || !node.operand(1) || !node.operand(2) ||
      isNamed(node, 1))
    return success();
  Parts parts(node, upgrader);
  Value sum = parts.add(node.operand(0), node.operand(1), "sum");
  sum = biased(parts, sum, node.operand(3), "biased");
  SmallVector<Value> results(4);
  results[0] = normalized(parts, upgrader, sum, node.operand(2), {-1},
                          floatOr(node, "epsilon", 1e-12),
                          isNamed(node, 2) ? &results[2] : nullptr, "");
  results[3] = sum;
  return parts.finish(results);
}

ArrayRef<DecomposeRule> import::getFusedDecompositions() {
  static const DecomposeRule rules[] = {
      {microsoft, "BiasGelu", biasGelu},
      {microsoft, "FastGelu", fastGelu},
      {microsoft, "QuickGelu", quickGelu},
      {microsoft, "FusedConv", fusedConv},
      {microsoft, "FusedGemm", fusedGemm},
      {microsoft, "FusedMatMul", fusedMatMul},
      {microsoft, "TransposeMatMul", fusedMatMul},
      {microsoft, "NhwcMaxPool", nhwcMaxPool},
      {microsoft, "SkipSimplifiedLayerNormalization", skipSimplifiedLayerNorm},
      {standard, "SimplifiedLayerNormalization", simplifiedLayerNorm},
  };
  return rules;
}
