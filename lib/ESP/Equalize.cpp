// Channels of a tensor between two products made alike: the first product's
// outputs are divided by a factor per channel, the second one's inputs
// multiplied by it. Relu and other positively homogeneous functions between
// them let factors through.

#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

namespace {

class Equalizer {
public:
  Equalizer(Model &model, const EqualizeOptions &options);
  int64_t run();

private:
  struct Pair {
    Node *first, *second;
  };
  /// The product that alone reads a tensor, through what lets factors pass.
  Node *readerOf(const std::string &tensor);
  Node *onlyConsumer(const std::string &tensor);
  Tensor *weights(const Node &node) {
    return node.inputs.size() > 1 ? find(node.inputs[1]) : nullptr;
  }
  Tensor *find(StringRef name);
  bool isShared(StringRef name) const;
  static bool isDepthwise(const Node &node) {
    return node.opType == "Conv" && node.getInt("group", 1) > 1;
  }
  /// Where the channel of a weight is: outputs or inputs, and its number.
  static int64_t channelOf(const Node &node, const Tensor &w, int64_t index,
                           bool isOutput);
  static int64_t numChannels(const Node &node, const Tensor &w, bool isOutput);
  std::vector<double> ranges(const Node &node, const Tensor &w, bool isOutput);
  void scale(const Node &node, Tensor &w, llvm::ArrayRef<double> factors,
             bool isOutput);
  double factorOf(double up, double down) const;
  bool equalize(const Pair &pair);

  Model &model;
  const EqualizeOptions &options;
  std::map<std::string, std::vector<Node *>> consumers;
  std::map<std::string, int> uses;
};

Equalizer::Equalizer(Model &model, const EqualizeOptions &options)
    : model(model), options(options) {
  for (Node &node : model.nodes)
    for (const std::string &name : node.inputs) {
      consumers[name].push_back(&node);
      ++uses[name];
    }
  // Results of the model stay as they are.
  for (const Value &value : model.outputs)
    consumers[value.name].push_back(nullptr);
}

Tensor *Equalizer::find(StringRef name) {
  for (Tensor &tensor : model.initializers)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

bool Equalizer::isShared(StringRef name) const {
  auto found = uses.find(name.str());
  return found != uses.end() && found->second > 1;
}

Node *Equalizer::onlyConsumer(const std::string &tensor) {
  auto &list = consumers[tensor];
  return list.size() == 1 ? list[0] : nullptr;
}

Node *Equalizer::readerOf(const std::string &tensor) {
  std::string name = tensor;
  while (Node *node = onlyConsumer(name)) {
    if (node->inputs[0] != name)
      return nullptr;
    if (node->opType == "Conv" || node->opType == "Gemm")
      return node;
    bool passes = llvm::is_contained(
        {"Relu", "LeakyRelu", "MaxPool", "AveragePool", "GlobalAveragePool"},
        node->opType);
    // A vector of channels may lose its places.
    const Value *from = model.findValue(name),
                *to = model.findValue(node->outputs[0]);
    bool flattens =
        llvm::is_contained({"Flatten", "Reshape", "Squeeze"}, node->opType) &&
        from && to && from->dims.size() > 1 && to->dims.size() == 2 &&
        to->dims[1] == from->dims[1];
    if (!passes && !flattens)
      return nullptr;
    name = node->outputs[0];
  }
  return nullptr;
}

int64_t Equalizer::numChannels(const Node &node, const Tensor &w,
                               bool isOutput) {
  if (node.opType == "Gemm")
    return w.dims[(node.getInt("transB", 0) != 0) == isOutput ? 0 : 1];
  return isOutput || isDepthwise(node) ? w.dims[0] : w.dims[1];
}

int64_t Equalizer::channelOf(const Node &node, const Tensor &w, int64_t index,
                             bool isOutput) {
  if (node.opType == "Gemm") {
    bool isRow = (node.getInt("transB", 0) != 0) == isOutput;
    return isRow ? index / w.dims[1] : index % w.dims[1];
  }
  int64_t places = 1;
  for (size_t i = 2; i < w.dims.size(); ++i)
    places *= w.dims[i];
  int64_t row = index / (places * w.dims[1]);
  return isOutput || isDepthwise(node) ? row : index / places % w.dims[1];
}

std::vector<double> Equalizer::ranges(const Node &node, const Tensor &w,
                                      bool isOutput) {
  std::vector<double> most(numChannels(node, w, isOutput));
  for (int64_t i = 0; i < w.numElements(); ++i) {
    double &own = most[channelOf(node, w, i, isOutput)];
    own = std::max(own, std::abs(w.at(i)));
  }
  return most;
}

static void multiply(Tensor &tensor, int64_t index, double factor) {
  float value = static_cast<float>(tensor.at(index) * factor);
  std::memcpy(tensor.data.data() + index * sizeof(float), &value,
              sizeof(float));
}

void Equalizer::scale(const Node &node, Tensor &w,
                      llvm::ArrayRef<double> factors, bool isOutput) {
  for (int64_t i = 0; i < w.numElements(); ++i)
    multiply(w, i, factors[channelOf(node, w, i, isOutput)]);
}

/// What the first product's outputs are multiplied by.
double Equalizer::factorOf(double up, double down) const {
  if (up <= 0 || down <= 0 || up + down < options.threshold)
    return 1;
  double factor = 1 / std::sqrt(up / down);
  factor = std::clamp(factor, 1 / options.most, options.most);
  // Powers of two change no bit of a float but its exponent.
  return options.powersOfTwo ? std::exp2(std::round(std::log2(factor)))
                             : factor;
}

bool Equalizer::equalize(const Pair &pair) {
  Tensor *a = weights(*pair.first), *b = weights(*pair.second);
  Tensor *bias =
      pair.first->inputs.size() > 2 ? find(pair.first->inputs[2]) : nullptr;
  if (!a || !b || a->type != Float || b->type != Float || isShared(a->name) ||
      isShared(b->name) ||
      (bias && (isShared(bias->name) || bias->type != Float)))
    return false;
  std::vector<double> up = ranges(*pair.first, *a, true),
                      down = ranges(*pair.second, *b, false);
  if (up.size() != down.size() ||
      (bias && bias->numElements() != int64_t(up.size())))
    return false;
  std::vector<double> factors, inverse;
  bool changes = false;
  for (auto [i, most] : llvm::enumerate(up)) {
    if (bias)
      most = std::max(most, std::abs(bias->at(i)) * options.biasShare);
    factors.push_back(factorOf(most, down[i]));
    inverse.push_back(1 / factors.back());
    changes |= factors.back() != 1;
  }
  if (!changes)
    return false;
  scale(*pair.first, *a, factors, true);
  scale(*pair.second, *b, inverse, false);
  for (size_t i = 0; bias && i < factors.size(); ++i)
    multiply(*bias, i, factors[i]);
  return true;
}

int64_t Equalizer::run() {
  std::vector<Pair> pairs;
  for (Node &node : model.nodes) {
    std::string activation = node.getString("activation", "Linear");
    if ((node.opType != "Conv" && node.opType != "Gemm") ||
        activation == "PRelu")
      continue;
    if (Node *reader = readerOf(node.outputs[0]))
      pairs.push_back({&node, reader});
  }
  for (int64_t i = 0; i < options.iterations; ++i) {
    bool changed = false;
    for (const Pair &pair : pairs)
      changed |= equalize(pair);
    if (!changed)
      break;
  }
  return pairs.size();
}

} // namespace

int64_t esp::equalizeChannels(Model &model, const EqualizeOptions &options) {
  return Equalizer(model, options).run();
}

void esp::correctBiases(
    Model &model, const QuantizeOptions &options,
    const std::map<std::string, std::vector<double>> &means) {
  for (Node &node : model.nodes) {
    if (node.opType != "Conv" && node.opType != "Gemm")
      continue;
    const Tensor *w = model.findInitializer(node.input(1));
    auto mean = means.find(node.inputs[0]);
    if (!w || mean == means.end())
      continue;
    // Weights as the chip has them, less those of the model.
    std::vector<float> rounded = roundedWeights(node, *w, options);
    bool depthwise = node.getInt("group", 1) > 1;
    bool isGemm = node.opType == "Gemm", transposed = node.getInt("transB", 0);
    int64_t outputs = w->dims[isGemm && !transposed ? 1 : 0],
            inputs = depthwise ? 1 : w->dims[isGemm && !transposed ? 0 : 1];
    int64_t places = w->numElements() / std::max<int64_t>(outputs * inputs, 1);
    if (!depthwise && inputs != int64_t(mean->second.size()))
      continue;
    std::vector<double> change(outputs);
    for (int64_t i = 0; i < w->numElements(); ++i) {
      int64_t o = isGemm && !transposed ? i % outputs : i / (inputs * places);
      int64_t c = depthwise               ? o
                  : isGemm && !transposed ? i / outputs
                                          : i / places % inputs;
      change[o] += (w->at(i) - rounded[i]) * mean->second[c];
    }
    Tensor bias;
    if (const Tensor *given = model.findInitializer(node.input(2))) {
      if (given->numElements() != outputs)
        continue;
      bias = *given;
    } else {
      bias.type = Float;
      bias.dims = {outputs};
      bias.data.assign(outputs * sizeof(float), 0);
    }
    // Of its own, so that other readers keep theirs.
    bias.name = node.name + "_corrected_bias";
    for (int64_t o = 0; o < outputs; ++o) {
      float value = static_cast<float>(bias.at(o) + change[o]);
      std::memcpy(bias.data.data() + o * sizeof(float), &value, sizeof(float));
    }
    node.inputs.resize(3);
    node.inputs[2] = bias.name;
    model.initializers.push_back(std::move(bias));
  }
}
