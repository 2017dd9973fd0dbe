// Functions of one element, in float as the device and its quantizer compute
// them.

#include "Quantizer.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;

static float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

std::optional<std::function<float(float)>>
esp::elementFunction(const Node &node) {
  const std::string &op = node.opType;
  auto attribute = [&](const char *name, float otherwise) {
    return node.getFloat(name, otherwise);
  };
  if (op == "Relu")
    return [](float x) { return std::max(x, 0.0f); };
  if (op == "LeakyRelu")
    return
        [a = attribute("alpha", 0.01f)](float x) { return x < 0 ? a * x : x; };
  if (op == "Sigmoid")
    return sigmoid;
  if (op == "Tanh")
    return [](float x) { return std::tanh(x); };
  if (op == "HardSigmoid")
    return [a = attribute("alpha", 0.2f), b = attribute("beta", 0.5f)](
               float x) { return std::max(0.0f, std::min(1.0f, a * x + b)); };
  if (op == "HardSwish")
    return [](float x) {
      return x * std::max(0.0f, std::min(6.0f, x + 3.0f)) / 6.0f;
    };
  if (op == "Elu")
    return [a = attribute("alpha", 1.0f)](float x) {
      return x < 0 ? a * (std::exp(x) - 1.0f) : x;
    };
  if (op == "Gelu" && node.getString("approximate") == "tanh")
    return [](float x) {
      return 0.5f * x *
             (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    };
  if (op == "Gelu")
    return [](float x) {
      return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f));
    };
  if (op == "Swish")
    return
        [a = attribute("alpha", 1.0f)](float x) { return x * sigmoid(a * x); };
  if (op == "Exp")
    return [](float x) { return std::exp(x); };
  if (op == "Log")
    return [](float x) { return std::log(x); };
  if (op == "Sqrt")
    return [](float x) { return std::sqrt(x); };
  if (op == "Neg")
    return [](float x) { return -x; };
  if (op == "Abs")
    return [](float x) { return std::abs(x); };
  if (op == "Erf")
    return [](float x) { return std::erf(x); };
  if (op == "Softplus")
    return [](float x) { return std::log1p(std::exp(x)); };
  if (op == "Reciprocal")
    return [](float x) { return 1.0f / x; };
  if (op == "Mish")
    return [](float x) { return x * std::tanh(std::log1p(std::exp(x))); };
  return std::nullopt;
}
