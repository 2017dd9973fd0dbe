// Activation functions by name, with their parameters.

#include "MathSupport.h"
#include "RecurrentSupport.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace onnxquant::lowering;

namespace {
/// A function's number of parameters and their values if none are given.
struct Usage {
  int count;
  double alpha;
  double beta;
};
} // namespace

static std::optional<Usage> usageOf(StringRef name) {
  return llvm::StringSwitch<std::optional<Usage>>(name.lower())
      .Cases({"relu", "tanh", "sigmoid", "softsign", "softplus"},
             Usage{0, 0, 0})
      .Case("affine", Usage{2, 1, 0})
      .Case("leakyrelu", Usage{1, 0.01f, 0})
      .Case("thresholdedrelu", Usage{1, 1, 0})
      .Case("scaledtanh", Usage{2, 1, 1})
      .Case("hardsigmoid", Usage{2, 0.2f, 0.5})
      .Case("elu", Usage{1, 1, 0})
      .Default(std::nullopt);
}

std::optional<Activation> onnxquant::lowering::findActivation(StringRef name) {
  std::optional<Usage> usage = usageOf(name);
  if (!usage)
    return std::nullopt;
  return Activation{name.lower(), usage->alpha, usage->beta};
}

static SmallVector<double> readFloats(std::optional<ArrayAttr> attribute) {
  SmallVector<double> values;
  if (attribute)
    for (auto value : attribute->getAsRange<FloatAttr>())
      values.push_back(value.getValueAsDouble());
  return values;
}

SmallVector<Activation> onnxquant::lowering::readActivations(
    std::optional<ArrayAttr> names, std::optional<ArrayAttr> alphas,
    std::optional<ArrayAttr> betas, ArrayRef<StringRef> defaults,
    int64_t directions) {
  SmallVector<StringRef> all;
  if (names)
    for (auto name : names->getAsRange<StringAttr>())
      all.push_back(name.getValue());
  if (all.empty())
    for (int64_t i = 0; i < directions; ++i)
      all.append(defaults.begin(), defaults.end());

  SmallVector<double> alpha = readFloats(alphas), beta = readFloats(betas);
  SmallVector<Activation> functions;
  size_t nextAlpha = 0, nextBeta = 0;
  for (StringRef name : all) {
    Usage usage = usageOf(name).value_or(Usage{0, 0, 0});
    Activation function = {name.lower(), usage.alpha, usage.beta};
    if (usage.count > 0 && nextAlpha < alpha.size())
      function.alpha = alpha[nextAlpha++];
    if (usage.count > 1 && nextBeta < beta.size())
      function.beta = beta[nextBeta++];
    functions.push_back(function);
  }
  return functions;
}

Scalar onnxquant::lowering::activate(Emitter &e, const Activation &function,
                                     Scalar x) {
  Type type = x.elementType;
  StringRef name = function.name;
  Scalar alpha = e.number(function.alpha, type);
  Scalar beta = e.number(function.beta, type);
  if (name == "relu")
    return relu(e, x);
  if (name == "tanh")
    return e.math<math::TanhOp>(x);
  if (name == "sigmoid")
    return sigmoid(e, x);
  if (name == "softsign")
    return softsign(e, x);
  if (name == "softplus")
    return softplus(e, x);
  if (name == "affine")
    return e.add(e.mul(alpha, x), beta);
  if (name == "leakyrelu")
    return leakyRelu(e, x, function.alpha);
  if (name == "thresholdedrelu")
    return e.select(e.compare(Emitter::GE, x, alpha), x, e.number(0, type));
  if (name == "scaledtanh")
    return e.mul(alpha, e.math<math::TanhOp>(e.mul(beta, x)));
  if (name == "hardsigmoid")
    return hardSigmoid(e, x, function.alpha, function.beta);
  // Callers let no other name through.
  return elu(e, x, function.alpha);
}
