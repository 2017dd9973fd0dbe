// Running sums of errors.

#include "OnnxQuant/Debugging/Errors.h"
#include "OnnxQuant/Support/Quantization.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

/// Bins of the histograms; they are drawn in fewer.
static constexpr int64_t histogramBins = 4096;
/// Elements of a tensor that a histogram looks at, about.
static constexpr int64_t histogramElements = 65536;
/// Channels that are told apart, at most.
static constexpr int64_t mostChannels = 65536;

void ErrorSums::addOne(float right, float other, ChannelErrors &channel) {
  if (!std::isfinite(right) || !std::isfinite(other)) {
    ++nonFinite;
    return;
  }
  if (std::fabs(right) >= sentinelMagnitude) {
    ++sentinels;
    return;
  }
  double x = right, y = other, error = x - y;
  min = count == 0 ? x : std::min(min, x);
  max = count == 0 ? x : std::max(max, x);
  ++count;
  channel.signal += x * x;
  channel.noise += error * error;
  channel.difference += error;
  ++channel.count;
  otherEnergy += y * y;
  dot += x * y;
  maxError = std::max(maxError, std::fabs(error));
  channel.min = std::min(channel.min, right);
  channel.max = std::max(channel.max, right);
  channel.otherMin = std::min(channel.otherMin, other);
  channel.otherMax = std::max(channel.otherMax, other);
}

void ErrorSums::add(ArrayRef<float> right, ArrayRef<float> other,
                    ArrayRef<int64_t> dims, int64_t axis) {
  int64_t number = 1, inner = right.size();
  if (axis >= 0 && axis < static_cast<int64_t>(dims.size()) && dims[axis] > 0 &&
      dims[axis] <= mostChannels) {
    number = dims[axis];
    inner = 1;
    for (int64_t dim : dims.drop_front(axis + 1))
      inner *= dim;
  }
  if (static_cast<int64_t>(channels.size()) < number)
    channels.resize(number);
  std::vector<ChannelErrors> before(number);
  for (auto [mine, all] : zip(before, channels)) {
    mine = all;
    mine.signal = mine.noise = 0;
  }
  auto size = static_cast<int64_t>(std::min(right.size(), other.size()));
  for (int64_t start = 0, channel = 0; start < size; start += inner) {
    for (int64_t i = start; i < std::min(start + inner, size); ++i)
      addOne(right[i], other[i], before[channel]);
    channel = channel + 1 == number ? 0 : channel + 1;
  }
  for (auto [mine, all] : zip(before, channels)) {
    signal += mine.signal;
    noise += mine.noise;
    mine.signal += all.signal;
    mine.noise += all.noise;
    all = mine;
  }
  if (histogram.empty()) {
    histogram.counts.assign(histogramBins, 0);
    otherHistogram.counts.assign(histogramBins, 0);
  }
  int64_t step = std::max<int64_t>(1, size / histogramElements);
  for (int64_t i = 0; i < size; i += step)
    if (std::isfinite(right[i]) && std::isfinite(other[i]) &&
        std::fabs(right[i]) < sentinelMagnitude &&
        std::fabs(other[i]) < sentinelMagnitude) {
      histogram.add(right[i]);
      otherHistogram.add(other[i]);
    }
}

double ErrorSums::decibels() const {
  return signalToNoise(std::sqrt(signal), std::sqrt(noise));
}

double ErrorSums::noiseToSignal() const {
  return std::pow(10.0, -decibels() / 10);
}

double ErrorSums::noiseShare() const { return std::sqrt(noiseToSignal()); }

double ErrorSums::cosine() const {
  double product = std::sqrt(signal) * std::sqrt(otherEnergy);
  if (product > 0)
    return dot / product;
  return signal == otherEnergy ? 1 : 0;
}

std::optional<std::pair<int64_t, double>> ErrorSums::worstChannel() const {
  if (channels.size() < 2)
    return std::nullopt;
  std::optional<std::pair<int64_t, double>> worst;
  for (auto [index, channel] : enumerate(channels)) {
    // Nothing but zeros is not of interest.
    if (channel.signal == 0 && channel.noise == 0)
      continue;
    double value =
        signalToNoise(std::sqrt(channel.signal), std::sqrt(channel.noise));
    if (!worst || value < worst->second)
      worst = std::pair(static_cast<int64_t>(index), value);
  }
  return worst;
}

int64_t ErrorSums::deadChannels() const {
  return channels.size() < 2
             ? 0
             : count_if(
                   channels, [](const ChannelErrors &c) { return c.isDead(); });
}
