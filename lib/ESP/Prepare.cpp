// A float model made ready: Relu is fused, factors of products are folded, and
// a copy with quantized weights is written for calibration.

#include "GraphPieces.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

bool esp::isProduct(StringRef op) {
  return op == "Conv" || op == "ConvTranspose" || op == "Gemm" ||
         op == "MatMul";
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// Factors and summands of a BatchNormalization with constants; nothing if it
/// has others.
static std::optional<std::pair<std::vector<float>, std::vector<float>>>
affineOf(const Model &model, const Node &node) {
  const Tensor *parts[4];
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = model.findInitializer(node.input(1 + i));
    if (!parts[i] || parts[i]->type != Float ||
        parts[i]->dims != parts[0]->dims)
      return std::nullopt;
  }
  double epsilon = node.getFloat("epsilon", 1e-5f);
  std::vector<float> factors, summands;
  for (int64_t c = 0, e = parts[0]->numElements(); c < e; ++c) {
    double factor = parts[0]->at(c) / std::sqrt(parts[3]->at(c) + epsilon);
    factors.push_back(static_cast<float>(factor));
    summands.push_back(
        static_cast<float>(parts[1]->at(c) - parts[2]->at(c) * factor));
  }
  return std::pair(std::move(factors), std::move(summands));
}

static std::string addFloats(Model &model, const std::string &name, Dims dims,
                             llvm::ArrayRef<float> values) {
  Tensor &tensor = model.initializers.emplace_back();
  tensor.name = name;
  tensor.type = Float;
  tensor.dims = std::move(dims);
  for (float value : values)
    appendElement(tensor.data, value);
  return name;
}

void esp::replaceBatchNorms(Model &model) {
  std::vector<Node> nodes;
  for (Node &node : model.nodes) {
    const Value *x = model.findValue(node.input(0));
    auto affine = node.opType == "BatchNormalization" && x
                      ? affineOf(model, node)
                      : std::nullopt;
    if (!affine || x->dims.size() < 2 ||
        x->dims[1] != int64_t(affine->first.size())) {
      nodes.push_back(std::move(node));
      continue;
    }
    int64_t channels = x->dims[1];
    bool isImage = x->dims.size() > 2;
    // A filter of one place per channel; without places, a product and a sum.
    Dims dims = {channels};
    if (isImage)
      dims.resize(x->dims.size(), 1);
    Value before = *x;
    std::string factors = addFloats(model, node.name + "_factors", dims,
                                    affine->first),
                summands = addFloats(model, node.name + "_summands", {channels},
                                     affine->second);
    Node &made = nodes.emplace_back();
    made.name = node.name;
    made.inputs = {node.inputs[0], factors};
    made.outputs = {node.outputs[0]};
    if (isImage) {
      made.opType = "Conv";
      made.inputs.push_back(summands);
      made.setInt("group", channels);
      continue;
    }
    before.name = node.name + "_product";
    model.values.push_back(before);
    made.opType = "Mul";
    made.outputs = {before.name};
    Node &sum = nodes.emplace_back();
    sum.name = node.name + "_sum";
    sum.opType = "Add";
    sum.inputs = {before.name, summands};
    sum.outputs = {node.outputs[0]};
  }
  model.nodes = std::move(nodes);
}

/// A factor of a product becomes part of a constant: of a new one, as others
/// may read it, too.
static void foldFactor(Model &model, Node &node, StringRef attribute,
                       size_t input) {
  float factor = node.getFloat(attribute, 1);
  node.setFloat(attribute, 1);
  const Tensor *found = model.findInitializer(node.input(input));
  if (factor == 1 || !found || found->type != Float)
    return;
  Tensor scaled = *found;
  scaled.data.clear();
  for (int64_t i = 0, e = found->numElements(); i < e; ++i)
    appendElement(scaled.data, factor * static_cast<float>(found->at(i)));
  scaled.name = node.name + "_" + attribute.str() + "_times_" + found->name;
  node.inputs[input] = scaled.name;
  if (!model.findInitializer(scaled.name))
    model.initializers.push_back(std::move(scaled));
}

void esp::prepareFloat(Model &model, bool legacy) {
  for (Node &node : model.nodes)
    if (!legacy && node.opType == "Gemm") {
      foldFactor(model, node, "alpha", 1);
      foldFactor(model, node, "beta", 2);
    }
  llvm::StringMap<int> readers;
  for (const Node &node : model.nodes)
    for (const std::string &name : node.inputs)
      ++readers[name];
  for (const Value &value : model.outputs)
    ++readers[value.name];
  llvm::StringMap<size_t> producers;
  std::vector<bool> gone(model.nodes.size());
  llvm::StringSet<> dropped;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    Node &node = model.nodes[i];
    auto found =
        node.inputs.empty() ? producers.end() : producers.find(node.inputs[0]);
    bool fuses =
        node.opType == "Relu" ||
        (legacy &&
         (node.opType == "LeakyRelu" ||
          (node.opType == "PRelu" && model.findInitializer(node.input(1)))));
    if (fuses && found != producers.end() && readers[node.inputs[0]] == 1 &&
        isProduct(model.nodes[found->second].opType) &&
        !model.nodes[found->second].find("activation")) {
      Node &before = model.nodes[found->second];
      before.setString("activation", node.opType);
      before.setString("activation_node", node.name);
      if (node.opType == "LeakyRelu")
        before.setFloat("activation_alpha", node.getFloat("alpha", 0.01f));
      if (node.opType == "PRelu")
        before.setString("activation_slopes", node.input(1));
      dropped.insert(before.outputs[0]);
      before.outputs[0] = node.outputs[0];
      producers[node.outputs[0]] = found->second;
      gone[i] = true;
      continue;
    }
    for (const std::string &name : node.outputs)
      producers[name] = i;
  }
  size_t index = 0;
  llvm::erase_if(model.nodes, [&](const Node &) { return gone[index++]; });
  llvm::erase_if(model.values, [&](const Value &value) {
    return dropped.contains(value.name);
  });
}

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

/// The axis of a product's weights that its outputs are along.
static size_t outputAxis(const Node &node) {
  if (node.opType == "ConvTranspose")
    return node.getInt("group", 1) > 1 ? 0 : 1;
  if (node.opType == "Gemm")
    return node.getInt("transB", 0) ? 0 : 1;
  return 0;
}

static std::vector<float> floatsOf(const Tensor &tensor) {
  std::vector<float> values;
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i)
    values.push_back(static_cast<float>(tensor.at(i)));
  return values;
}

static int bitsOf(const Node &node, const QuantizeOptions &options) {
  auto found = options.nodeBits.find(node.name);
  return found == options.nodeBits.end() ? options.bits : found->second;
}

/// How far apart the elements of one output's weights begin, where each output
/// has an exponent; 0 where there is one exponent.
static int64_t channelStride(const Node &node, const Tensor &w,
                             const QuantizeOptions &options) {
  if (!options.perChannel || node.opType == "MatMul")
    return 0;
  int64_t inner = 1;
  for (size_t i = outputAxis(node) + 1; i < w.dims.size(); ++i)
    inner *= w.dims[i];
  return inner;
}

std::vector<int64_t> esp::weightExponents(const Node &node, const Tensor &w,
                                          const QuantizeOptions &options) {
  std::vector<float> values = floatsOf(w);
  int bits = bitsOf(node, options);
  int64_t inner = channelStride(node, w, options);
  if (inner == 0)
    return {constantExponent(values, bits, /*usesPercentile=*/true)};
  std::vector<std::vector<float>> parts(w.dims[outputAxis(node)]);
  for (auto [i, value] : llvm::enumerate(values))
    parts[i / inner % parts.size()].push_back(value);
  std::vector<int64_t> exponents;
  for (const std::vector<float> &part : parts)
    exponents.push_back(constantExponent(part, bits, /*usesPercentile=*/false));
  return exponents;
}

std::vector<float> esp::roundedWeights(const Node &node, const Tensor &w,
                                       const QuantizeOptions &options) {
  std::vector<float> values = floatsOf(w);
  // The old toolkit measured the float model.
  if (options.legacy)
    return values;
  std::vector<int64_t> exponents = weightExponents(node, w, options);
  int64_t inner = channelStride(node, w, options);
  double limit = bitsOf(node, options) == 8 ? 127 : 32767;
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t exponent = exponents[inner ? i / inner % exponents.size() : 0];
    float scaled = value * std::ldexp(1.0f, -exponent);
    double q =
        std::clamp(roundAs(options.chip->rounding, scaled), -limit - 1, limit);
    value = static_cast<float>(std::ldexp(q, exponent));
  }
  return values;
}

std::string esp::writeCalibrationModel(const Model &model,
                                       const QuantizeOptions &options,
                                       std::vector<std::string> &tensors) {
  OnnxGraph graph(model.graphName);
  llvm::StringMap<Term> terms;
  std::vector<Term> outputs;
  for (const Value &value : model.inputs)
    terms[value.name] = graph.input(value.name, value.type, value.dims);
  for (const Node &node : model.nodes) {
    graph.setPrefix(node.name);
    std::vector<Term> inputs;
    for (auto [index, name] : llvm::enumerate(node.inputs)) {
      const Tensor *constant = model.findInitializer(name);
      if (name.empty())
        inputs.push_back(Term());
      else if (constant && index == 1 && isProduct(node.opType))
        inputs.push_back(graph.floats(
            constant->dims, roundedWeights(node, *constant, options)));
      else if (constant)
        inputs.push_back(
            graph.constant(constant->type, constant->dims, constant->data));
      else
        inputs.push_back(terms[name]);
    }
    Settings settings = settingsOf(node);
    std::string activation = node.getString("activation");
    std::vector<Term> made;
    for (const std::string &name : node.outputs) {
      const Value *value = model.findValue(name);
      made.push_back({name, value ? value->type : int32_t(Float),
                      value ? value->dims : Dims()});
    }
    if (!activation.empty()) {
      Term before = made[0];
      before.name += "/before";
      graph.nodes(node.opType, inputs, {before}, settings);
      std::vector<Term> operands = {before};
      Settings own;
      if (activation == "LeakyRelu")
        own = {{"alpha", node.getFloat("activation_alpha", 0.01f)}};
      if (activation == "PRelu") {
        const Tensor *slopes =
            model.findInitializer(node.getString("activation_slopes"));
        operands.push_back(
            graph.constant(slopes->type, slopes->dims, slopes->data));
      }
      graph.nodes(activation, operands, {made[0]}, own);
    } else if (node.opType == "Swish") {
      // ONNX has it in two.
      Term gate = graph.unary("Sigmoid", inputs[0]);
      graph.nodes("Mul", {inputs[0], gate}, made);
    } else {
      graph.nodes(node.opType, inputs, made, settings);
    }
    for (const Term &term : made) {
      terms[term.name] = term;
      if (term.type == Float && !term.name.empty())
        outputs.push_back(term);
    }
  }
  for (const Term &term : outputs) {
    graph.output(term);
    tensors.push_back(term.name);
  }
  return graph.serialize();
}
