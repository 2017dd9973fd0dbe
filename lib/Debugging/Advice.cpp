// What to try for a tensor that loses accuracy: rules from what is measured to
// options of `onnxq quantize`.

#include "Comparison.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::debugging;

/// Noise to signal from which a tensor is called bad: noise of a tenth of the
/// signal, 20 dB.
static constexpr double badRatio = 0.01;
/// A range this much wider than the values wastes two bits.
static constexpr double wideRange = 4;
/// A share of saturated values that is more than a few outliers.
static constexpr double manySaturated = 0.01;
/// Channels whose weights differ this much don't go with one scale.
static constexpr double unlikeChannels = 8;
/// Decibels of a channel that is as good as lost.
static constexpr double lostChannel = 10;
/// The end of a range that is no value of a network.
static constexpr double sentinelRange = 1e30;

namespace {

class Adviser {
public:
  Adviser(const DebugTensor &tensor, ArrayRef<const DebugWeight *> weights)
      : tensor(tensor), weights(weights) {}

  std::vector<Advice> run() {
    isBad = tensor.added() > badRatio;
    checkRange();
    for (const DebugWeight *weight : weights)
      weight->kind == "bias" ? checkBias(*weight) : checkWeight(*weight);
    checkChannels();
    if (isBad && advice.empty())
      lastResort();
    return std::move(advice);
  }

private:
  void add(std::string text, StringRef option = "", StringRef value = "") {
    advice.push_back({std::move(text), option.str(), value.str()});
  }
  void checkRange();
  void checkWeight(const DebugWeight &weight);
  void checkBias(const DebugWeight &weight);
  void checkChannels();
  void lastResort();

  const DebugTensor &tensor;
  ArrayRef<const DebugWeight *> weights;
  bool isBad = false;
  std::vector<Advice> advice;
};

} // namespace

bool debugging::isBadRatio(double noiseToSignal) {
  return noiseToSignal > badRatio;
}

static std::string number(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.4g", value);
  return text;
}

void Adviser::checkRange() {
  if (!tensor.stored.range)
    return;
  auto [least, most] = *tensor.stored.range;
  if (std::max(std::fabs(least), std::fabs(most)) >= sentinelRange) {
    add("The range " + number(least) + " to " + number(most) +
        " holds a padding value that stands for no number, and nothing is left "
        "for the others. Calibrate again with 'onnxq calibrate', which leaves "
        "such values out, or give the range with --tensor-overrides.");
    return;
  }
  double share = tensor.saturatedShare();
  if (share > manySaturated) {
    add(number(100 * share) + " % of the values lie beyond the range " +
        number(least) + " to " + number(most) +
        ", and are cut off; they reach from " + number(tensor.errors.min) +
        " to " + number(tensor.errors.max) +
        ". Calibrate with samples of the same kind as these.");
    return;
  }
  double span = tensor.errors.max - tensor.errors.min;
  double width = std::max(0.0, most) - std::min(0.0, least);
  if (isBad && span > 0 && width > wideRange * span)
    add("The range " + number(least) + " to " + number(most) + " is " +
        number(width / span) +
        " times as wide as the values. Calibrate with samples of the same "
        "kind, or with --method percentile, entropy or mse.");
  else if (isBad && tensor.own.count > 0 &&
           tensor.own.noiseToSignal() > badRatio && tensor.stored.type != "" &&
           !StringRef(tensor.stored.type).ends_with("16"))
    add("Few large values stretch the range. Try --method percentile or mse, "
        "or 16 bits: --int16-tensors '" +
            tensor.name + "'.",
        "int16-tensors", tensor.name);
}

void Adviser::checkWeight(const DebugWeight &weight) {
  if (weight.saturated > manySaturated)
    add(number(100 * weight.saturated) + " % of the weights '" + weight.name +
        "' are cut off at the ends of " + weight.stored.type +
        ". Quantize them again from the float model.");
  auto worst = weight.errors.worstChannel();
  if (!worst || (!isBad && worst->second > lostChannel))
    return;
  double least = INFINITY, most = 0;
  for (const ChannelErrors &channel : weight.errors.channels) {
    double magnitude = std::max(std::fabs(channel.min), std::fabs(channel.max));
    if (magnitude <= 0 || !std::isfinite(magnitude))
      continue;
    least = std::min(least, magnitude);
    most = std::max(most, magnitude);
  }
  if (weight.stored.scales.size() == 1 && most > unlikeChannels * least)
    add("The channels of the weights '" + weight.name + "' differ " +
            number(most / least) +
            " times in size and have one scale. Try --per-channel.",
        "per-channel", "true");
  else if (weight.errors.noiseToSignal() > badRatio &&
           StringRef(weight.stored.type).ends_with("4"))
    add("4 bits are few for the weights '" + weight.name +
            "'. Try --block-size 32, or 8 bits.",
        "block-size", "32");
}

void Adviser::checkBias(const DebugWeight &weight) {
  if (weight.saturated <= 0)
    return;
  add(number(100 * weight.saturated) + " % of the bias '" + weight.name +
      "' don't fit 32 bits: the scales of input and weights are too small for "
      "it. Quantize again with 'onnxq quantize', which enlarges the scale of "
      "such channels, or leave the node out: --nodes-to-exclude '" +
      tensor.node + "'.");
}

void Adviser::checkChannels() {
  int64_t dead = tensor.errors.deadChannels();
  if (dead > 0 && tensor.stored.type != "" && isBad)
    add(std::to_string(dead) + " of " +
            std::to_string(tensor.errors.channels.size()) +
            " channels became constant: they are small beside the others, "
            "which share their scale. Try 16 bits: --int16-tensors '" +
            tensor.name + "'.",
        "int16-tensors", tensor.name);
}

void Adviser::lastResort() {
  if (tensor.stored.dynamic)
    add("Its scale is that of each input's extremes. Try a static range from "
        "data, without --dynamic.");
  if (!tensor.node.empty())
    add("Leave the node in float: --nodes-to-exclude '" + tensor.node + "'.",
        "nodes-to-exclude", tensor.node);
  if (!tensor.stored.type.empty() && !tensor.stored.dynamic &&
      !StringRef(tensor.stored.type).ends_with("16"))
    add("Store the tensor in 16 bits: --int16-tensors '" + tensor.name + "'.",
        "int16-tensors", tensor.name);
}

std::vector<Advice> debugging::adviseOn(const DebugTensor &tensor,
                                        ArrayRef<const DebugWeight *> weights) {
  return Adviser(tensor, weights).run();
}
