// A float model made ready: what the runtime lacks is found, Relu is fused, and
// a copy with quantized weights is written for calibration.

#include "GraphPieces.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

static bool isProduct(StringRef op) {
  return op == "Conv" || op == "ConvTranspose" || op == "Gemm" ||
         op == "MatMul";
}

//===----------------------------------------------------------------------===//
// What the runtime lacks
//===----------------------------------------------------------------------===//

static std::string reasonAgainst(const Node &node, const Model &model) {
  StringRef op = node.opType;
  if (!node.domain.empty())
    return "is of the domain " + node.domain;
  static constexpr llvm::StringLiteral known[] = {"Add",
                                                  "AveragePool",
                                                  "Clip",
                                                  "Concat",
                                                  "Conv",
                                                  "ConvTranspose",
                                                  "DepthToSpace",
                                                  "Div",
                                                  "Equal",
                                                  "Flatten",
                                                  "GRU",
                                                  "Gather",
                                                  "Gemm",
                                                  "GlobalAveragePool",
                                                  "Greater",
                                                  "GreaterOrEqual",
                                                  "Identity",
                                                  "LSTM",
                                                  "LayerNormalization",
                                                  "Less",
                                                  "LessOrEqual",
                                                  "LogSoftmax",
                                                  "LpNormalization",
                                                  "MatMul",
                                                  "MaxPool",
                                                  "Mod",
                                                  "Mul",
                                                  "PRelu",
                                                  "Pad",
                                                  "Pow",
                                                  "RMSNormalization",
                                                  "ReduceL1",
                                                  "ReduceL2",
                                                  "ReduceLogSum",
                                                  "ReduceLogSumExp",
                                                  "ReduceMax",
                                                  "ReduceMean",
                                                  "ReduceMin",
                                                  "ReduceProd",
                                                  "ReduceSum",
                                                  "ReduceSumSquare",
                                                  "Reshape",
                                                  "Resize",
                                                  "ReverseSequence",
                                                  "ScatterND",
                                                  "Slice",
                                                  "Softmax",
                                                  "SpaceToDepth",
                                                  "Split",
                                                  "Squeeze",
                                                  "Sub",
                                                  "Transpose",
                                                  "Unsqueeze"};
  if (!isTabulated(op) && !llvm::is_contained(known, op))
    return "isn't an operator that ESP-DL's runtime quantizes";
  auto rankOf = [&](StringRef name) -> size_t {
    if (const Tensor *tensor = model.findInitializer(name))
      return tensor->dims.size();
    const Value *value = model.findValue(name);
    return value ? value->dims.size() : 0;
  };
  for (const std::string &name : node.inputs)
    if (const Value *value = model.findValue(name))
      if (value->hasShape && !value->dims.empty() && value->dims[0] > 1 &&
          op == "Conv")
        return "has a batch of " + std::to_string(value->dims[0]) +
               "; the runtime takes 1";
  if (op == "Conv" || op == "ConvTranspose") {
    const Tensor *filter = model.findInitializer(node.input(1));
    int64_t group = node.getInt("group", 1);
    if (!filter)
      return "has a filter that isn't constant";
    if (filter->dims.size() > 4)
      return "has a window of three dimensions";
    if (group != 1 && (group != filter->dims[0] || filter->dims[1] != 1))
      return "has " + std::to_string(group) +
             " groups; the runtime takes 1, or one per channel";
  }
  if ((op == "Add" || op == "Sub" || op == "Mul" || op == "Div" ||
       op == "MatMul") &&
      (rankOf(node.input(0)) > 4 || rankOf(node.input(1)) > 4))
    return "has operands of more than 4 dimensions";
  if (op == "GRU" || op == "LSTM")
    return reasonAgainstRecurrent(node);
  if (op == "Mod" && !node.getInt("fmod", 0))
    return "has fmod = 0; the runtime takes fmod = 1";
  if (op == "Gemm" && !model.findInitializer(node.input(1)))
    return "has weights that aren't constant";
  if (op == "Pad" && node.getString("mode", "constant") == "wrap")
    return "pads by wrapping around";
  if (op == "Resize") {
    std::string mode = node.getString("mode", "nearest"),
                place = node.getString("coordinate_transformation_mode",
                                       "half_pixel");
    if (mode == "nearest" && place != "asymmetric")
      return "takes the nearest place by '" + place +
             "'; the runtime takes 'asymmetric' with rounding down";
    if (mode != "nearest" && mode != "linear")
      return "has the mode '" + mode + "'; the runtime has nearest and linear";
    if (mode == "linear" && place != "half_pixel" && place != "align_corners")
      return "interpolates by '" + place +
             "'; the runtime has half_pixel and align_corners";
  }
  return "";
}

std::vector<std::string> esp::checkModel(const Model &model) {
  std::vector<std::string> lines;
  for (const Node &node : model.nodes)
    if (std::string reason = reasonAgainst(node, model); !reason.empty())
      lines.push_back("node '" + node.name + "' (" + node.opType + ") " +
                      reason);
  return lines;
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

void esp::prepareFloat(Model &model, bool legacy) {
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
    return 1;
  if (node.opType == "Gemm")
    return node.getInt("transB", 0) ? 0 : 1;
  return 0;
}

std::vector<float> esp::roundedWeights(const Node &node, const Tensor &w,
                                       const QuantizeOptions &options) {
  // The old toolkit measured the float model.
  if (options.legacy) {
    std::vector<float> plain;
    for (int64_t i = 0; i < w.numElements(); ++i)
      plain.push_back(static_cast<float>(w.at(i)));
    return plain;
  }
  auto found = options.nodeBits.find(node.name);
  int bits = found == options.nodeBits.end() ? options.bits : found->second;
  int64_t count = w.numElements();
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(w.at(i)));
  int64_t channels = 1, inner = count;
  if (options.perChannel && node.opType != "MatMul") {
    size_t axis = outputAxis(node);
    channels = w.dims[axis];
    inner = 1;
    for (size_t i = axis + 1; i < w.dims.size(); ++i)
      inner *= w.dims[i];
  }
  std::vector<std::vector<float>> parts(channels);
  auto channelOf = [&](int64_t i) {
    return channels == 1 ? 0 : i / inner % channels;
  };
  for (int64_t i = 0; i < count; ++i)
    parts[channelOf(i)].push_back(values[i]);
  std::vector<int64_t> exponents;
  for (const std::vector<float> &part : parts)
    exponents.push_back(constantExponent(part, bits, channels == 1));
  double limit = bits == 8 ? 127 : 32767;
  for (int64_t i = 0; i < count; ++i) {
    int64_t exponent = exponents[channelOf(i)];
    float scaled = values[i] * std::ldexp(1.0f, -exponent);
    double q =
        std::clamp(roundAs(options.chip->rounding, scaled), -limit - 1, limit);
    values[i] = static_cast<float>(std::ldexp(q, exponent));
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
