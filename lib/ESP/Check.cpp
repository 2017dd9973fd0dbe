// What ESP-DL's runtime lacks of a float model, node by node: before anything
// is measured. What the rules of quantization and simulation refuse is found by
// running them with exponents that stand for any.

#include "OnnxQuant/ESP/Simulate.h"
#include "Quantizer.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

namespace {

/// A node with the model that it is in.
struct Case {
  const Node &node;
  const Model &model;

  const Tensor *constant(size_t input) const {
    return model.findInitializer(node.input(input));
  }
  Dims dims(size_t input) const {
    if (const Tensor *tensor = constant(input))
      return tensor->dims;
    const Value *value = model.findValue(node.input(input));
    return value ? value->dims : Dims();
  }
  Dims resultDims() const {
    const Value *value =
        node.outputs.empty() ? nullptr : model.findValue(node.outputs[0]);
    return value ? value->dims : Dims();
  }
  bool has(size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }
};

bool isKnown(StringRef op) {
  return isTabulated(op) || llvm::is_contained({"Add",
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
                                                "Unsqueeze"},
                                               op);
}

/// Kernels of images have one, with a window of two dimensions at most.
std::string againstImage(const Case &at) {
  Dims dims = at.dims(0);
  if (!dims.empty() && dims[0] > 1)
    return "has a batch of " + std::to_string(dims[0]) +
           "; the runtime takes 1";
  if (dims.size() > 4)
    return "has a window of three dimensions";
  return "";
}

std::string againstProduct(const Case &at) {
  StringRef op = at.node.opType;
  const Tensor *weights = at.constant(1);
  if (op == "Gemm")
    return weights ? "" : "has weights that aren't constant";
  if (!weights)
    return "has a filter that isn't constant";
  int64_t group = at.node.getInt("group", 1);
  if (group != 1 && (group != weights->dims[0] || weights->dims[1] != 1))
    return "has " + std::to_string(group) +
           " groups; the runtime takes 1, or one per channel";
  return "";
}

std::string againstPool(const Case &at) {
  if (llvm::any_of(at.node.getInts("dilations"),
                   [](int64_t d) { return d != 1; }))
    return "has dilations, which ESP-DL's pools lack";
  if (at.node.opType == "MaxPool")
    return at.has(1) ? "gives places of maxima, which ESP-DL's kernels don't"
                     : "";
  Dims in = at.dims(0), out = at.resultDims();
  Window window = windowOf(at.node, in);
  bool isPadded = llvm::any_of(window.pads, [](int64_t p) { return p != 0; });
  if (isPadded && !at.node.getInt("count_include_pad", 0))
    return "leaves padding out of its mean (count_include_pad = 0), which "
           "ESP-DL's kernels count";
  for (size_t i = 0; i < window.kernel.size() && 2 + i < out.size(); ++i)
    if ((out[2 + i] - 1) * window.strides[i] + window.kernel[i] >
        in[2 + i] + window.pads[i] + window.pads[window.kernel.size() + i])
      return "has a window beyond its input and padding (ceil_mode = 1), all "
             "of which ESP-DL's kernels count in the mean";
  return "";
}

/// Where a Resize by the nearest place takes an output from.
int64_t nearestPlace(const Node &node, int64_t o, int64_t in, int64_t out,
                     double scale) {
  std::string from =
      node.getString("coordinate_transformation_mode", "half_pixel");
  double x = o / scale;
  if (from == "half_pixel" || (from == "pytorch_half_pixel" && out > 1))
    x = (o + 0.5) / scale - 0.5;
  else if (from == "pytorch_half_pixel")
    x = 0;
  else if (from == "align_corners")
    x = out > 1 ? o * (in - 1.0) / (out - 1.0) : 0;
  std::string mode = node.getString("nearest_mode", "round_prefer_floor");
  double place = mode == "floor"               ? std::floor(x)
                 : mode == "ceil"              ? std::ceil(x)
                 : mode == "round_prefer_ceil" ? std::floor(x + 0.5)
                                               : std::ceil(x - 0.5);
  return static_cast<int64_t>(std::clamp<double>(place, 0, in - 1));
}

/// Other rules for the nearest place may come to the runtime's.
std::string againstNearest(const Case &at, const Dims &in, const Dims &out) {
  std::string from =
      at.node.getString("coordinate_transformation_mode", "half_pixel");
  if (from == "tf_crop_and_resize" || from == "half_pixel_symmetric")
    return "takes places by '" + from + "'; the runtime has 'asymmetric'";
  std::vector<double> scales = resizeScales(at.node, at.constant(2), in, out);
  for (size_t axis = 2; axis < in.size(); ++axis)
    for (int64_t o = 0; o < out[axis]; ++o) {
      float step = float(in[axis]) / float(out[axis]);
      int64_t own = std::min(int64_t(o * step), in[axis] - 1);
      if (nearestPlace(at.node, o, in[axis], out[axis], scales[axis]) != own)
        return "takes the nearest place by '" + from + "' and '" +
               at.node.getString("nearest_mode", "round_prefer_floor") +
               "'; the runtime takes 'asymmetric' with rounding down";
    }
  return "";
}

std::string againstResize(const Case &at) {
  std::string mode = at.node.getString("mode", "nearest"),
              place = at.node.getString("coordinate_transformation_mode",
                                        "half_pixel");
  if (mode != "nearest" && mode != "linear")
    return "has the mode '" + mode + "'; the runtime has nearest and linear";
  if (at.node.getInt("antialias", 0))
    return "has antialias = 1, which ESP-DL lacks";
  Dims in = at.dims(0), out = at.resultDims();
  if (in.size() != out.size() || in.size() < 3)
    return "expects an image";
  if (in[0] != out[0] || in[1] != out[1])
    return "changes batch or channels";
  if (mode == "nearest")
    return againstNearest(at, in, out);
  if (place == "pytorch_half_pixel")
    // It differs where one place is left.
    return llvm::is_contained(llvm::ArrayRef(out).drop_front(2), 1)
               ? "interpolates by 'pytorch_half_pixel' to a size of 1"
               : "";
  if (place != "half_pixel" && place != "align_corners")
    return "interpolates by '" + place +
           "'; the runtime has half_pixel and align_corners";
  return "";
}

/// Slopes are one number, or one per channel.
std::string againstPRelu(const Case &at) {
  const Tensor *slopes = at.constant(1);
  if (!slopes || slopes->numElements() == 1)
    return slopes ? "" : "has slopes that aren't constant";
  Dims in = at.dims(0), dims = slopes->dims;
  dims.insert(dims.begin(), in.size() - std::min(in.size(), dims.size()), 1);
  for (size_t axis = 0; axis < in.size(); ++axis)
    if (dims[axis] != (axis == 1 || in.size() < 2 ? in[axis] : 1))
      return "has slopes that aren't one per channel";
  return "";
}

std::string reasonAgainst(const Case &at) {
  StringRef op = at.node.opType;
  if (!at.node.domain.empty())
    return "is of the domain " + at.node.domain;
  if (!isKnown(op))
    return "isn't an operator that ESP-DL's runtime quantizes";
  if (isImageOp(op))
    if (std::string reason = againstImage(at); !reason.empty())
      return reason;
  if (op == "Conv" || op == "ConvTranspose" || op == "Gemm")
    return againstProduct(at);
  if (op == "MaxPool" || op == "AveragePool")
    return againstPool(at);
  if (op == "Resize")
    return againstResize(at);
  if (llvm::is_contained({"Add", "Sub", "Mul", "Div", "MatMul"}, op) &&
      (at.dims(0).size() > 4 || at.dims(1).size() > 4))
    return "has operands of more than 4 dimensions";
  if (op == "GRU" || op == "LSTM")
    return reasonAgainstRecurrent(at.node);
  if (op == "PRelu")
    return againstPRelu(at);
  if (op.starts_with("Reduce") && at.node.getInt("noop_with_empty_axes", 0) &&
      at.node.getInts("axes").empty() &&
      (!at.constant(1) || at.constant(1)->numElements() == 0))
    return "reduces nothing (noop_with_empty_axes = 1)";
  if (op == "Mod" && !at.node.getInt("fmod", 0))
    return "has fmod = 0; the runtime takes fmod = 1";
  if (op == "Pad" && at.node.getString("mode", "constant") == "wrap")
    return "pads by wrapping around";
  if (op == "ScatterND" && at.node.getString("reduction", "none") != "none")
    return "has the reduction '" + at.node.getString("reduction") +
           "'; the runtime has none";
  return "";
}

} // namespace

std::vector<double> esp::resizeScales(const Node &node, const Tensor *given,
                                      const Dims &in, const Dims &out) {
  std::vector<double> scales;
  for (auto [from, to] : llvm::zip(in, out))
    scales.push_back(from ? double(to) / from : 1);
  if (!given || given->numElements() == 0)
    return scales;
  Dims axes = node.getInts("axes");
  for (int64_t i = 0; i < given->numElements(); ++i) {
    int64_t axis = i < int64_t(axes.size()) ? axes[i] : i;
    axis += axis < 0 ? int64_t(in.size()) : 0;
    if (axis >= 0 && axis < int64_t(scales.size()))
      scales[axis] = given->at(i);
  }
  return scales;
}

std::vector<std::string> esp::checkModel(const Model &model) {
  std::vector<std::string> lines;
  for (const Node &node : model.nodes)
    if (std::string reason = reasonAgainst({node, model}); !reason.empty())
      lines.push_back("node '" + node.name + "' (" + node.opType + ") " +
                      reason);
  return lines;
}

std::vector<std::string> esp::checkPrepared(const Model &model,
                                            const QuantizeOptions &options) {
  Exponents exponents;
  for (const auto *list : {&model.inputs, &model.values, &model.outputs})
    for (const Value &value : *list)
      exponents[value.name] = 0;
  std::vector<std::string> lines = Quantizer(model, exponents, options).check();
  if (!lines.empty())
    return lines;
  auto device = quantizeModel(model, exponents, options);
  if (!device)
    return {llvm::toString(device.takeError())};
  SimulationOptions simulation;
  simulation.chip = options.chip;
  auto simulated = simulate(*device, simulation);
  if (!simulated)
    return {llvm::toString(simulated.takeError())};
  return {};
}
