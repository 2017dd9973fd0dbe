// Ranges of activations and constants, by ESP-DL's rules.

#include "OnnxQuant/ESP/Quantize.h"
#include <algorithm>
#include <cmath>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::ArrayRef;

/// The share of values that a percentile keeps.
static constexpr double kept = 0.9999;

/// What lies at the upper and the lower percentile.
static std::pair<float, float> percentiles(ArrayRef<float> values) {
  std::vector<float> sorted(values.begin(), values.end());
  int64_t count = sorted.size();
  int64_t high =
              std::min<int64_t>(static_cast<int64_t>(count * kept), count - 1),
          low = static_cast<int64_t>(count * (1 - kept));
  std::nth_element(sorted.begin(), sorted.begin() + high, sorted.end());
  float most = sorted[high];
  std::nth_element(sorted.begin(), sorted.begin() + low, sorted.end());
  return {sorted[low], most};
}

int64_t esp::fittingExponent(double magnitude, int bits) {
  double scale = 2 * magnitude / (std::ldexp(1.0, bits) - 1);
  return static_cast<int64_t>(std::ceil(std::log2(std::max(scale, 1e-8))));
}

int64_t esp::constantExponent(ArrayRef<float> values, int bits,
                              bool usesPercentile) {
  if (values.empty())
    return fittingExponent(0, bits);
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::pair<float, float> range = {*low, *high};
  if (usesPercentile)
    range = percentiles(values);
  return fittingExponent(
      std::max(std::abs(range.first), std::abs(range.second)), bits);
}

/// log2 of how often a magnitude fits into the largest number of a type.
static double room(double magnitude, int bits) {
  return std::log2((bits == 8 ? 127 : 32767) / magnitude);
}

int64_t esp::legacyExponent(double magnitude, int bits) {
  return magnitude > 0
             ? -static_cast<int64_t>(std::floor(room(magnitude, bits)))
             : 0;
}

int64_t esp::legacyInputExponent(double magnitude, int bits) {
  return magnitude > 0
             ? -static_cast<int64_t>(std::nearbyint(room(magnitude, bits)))
             : 0;
}

int64_t esp::legacyEntropyExponent(double threshold, int bits) {
  if (!(threshold > 0))
    return 0;
  double steps = room(threshold, bits);
  double whole = steps - std::floor(steps) > 0.75 ? std::nearbyint(steps)
                                                  : std::floor(steps);
  return -static_cast<int64_t>(whole);
}

double Observer::magnitude() const {
  return std::max(std::abs(low), std::abs(high));
}

/// Bins and levels of the old toolkit's entropy.
static constexpr int64_t oldBins = 2048, oldLevels = 128;

int64_t Observer::numBins(int bits) const {
  return method == Method::OldEntropy ? oldBins : int64_t(32) << (bits - 1);
}

void Observer::observeRange(ArrayRef<float> values) {
  if (values.empty())
    return;
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  low = batches ? std::min(low, *least) : *least;
  high = batches ? std::max(high, *most) : *most;
  if (method == Method::Percentile) {
    auto [a, b] = percentiles(values);
    percentileSum += std::max(std::abs(a), std::abs(b));
  }
  ++batches;
}

void Observer::observeHistogram(ArrayRef<float> values, int bits) {
  std::vector<int64_t> &bins = bits == 8 ? bins8 : bins16;
  bins.resize(numBins(bits));
  double range = magnitude();
  if (range <= 0)
    return;
  double perBin = range / bins.size();
  for (float value : values) {
    if (std::isnan(value))
      continue;
    int64_t bin = static_cast<int64_t>(std::abs(double(value)) / perBin);
    ++bins[std::min<int64_t>(bin, bins.size() - 1)];
  }
}

/// How far the first `range` bins are from what `levels` steps make of them.
static double divergence(ArrayRef<int64_t> bins, int64_t range, int64_t levels,
                         double total, double tail) {
  int64_t group = range / levels;
  double spread = 0;
  for (int64_t i = 0; i < range; ++i)
    spread += bins[i];
  double loss = 0;
  for (int64_t first = 0; first < range; first += group) {
    int64_t sum = 0, filled = 0;
    for (int64_t i = first; i < first + group; ++i) {
      sum += bins[i];
      filled += bins[i] > 0;
    }
    for (int64_t i = first; i < first + group; ++i) {
      double p = bins[i] + (i + 1 == range ? tail : 0);
      if (p == 0)
        continue;
      p /= total;
      double q = bins[i] > 0 && filled && spread > 0
                     ? double(sum) / filled / spread
                     : 0;
      loss += p * (std::log10(p + 1e-30) - std::log10(q + 1e-30));
    }
  }
  return loss;
}

int64_t Observer::klExponent(int bits) const {
  std::vector<int64_t> bins = bits == 8 ? bins8 : bins16;
  double range = magnitude();
  if (bins.empty() || range <= 0)
    return fittingExponent(range, bits);
  // Values next to zero are many and need no steps.
  int64_t dropped = static_cast<int64_t>(0.002 * bins.size());
  std::fill_n(bins.begin(), dropped, 0);
  bins[dropped] = 1;
  double total = 0;
  for (int64_t count : bins)
    total += count;
  int64_t levels = int64_t(1) << (bits - 1), size = bins.size(), best = size;
  double least = HUGE_VAL, tail = 0;
  // From the widest range to the narrowest, so that the tail is summed once;
  // equal losses go to the narrowest, which is the first in the rule's order.
  for (int64_t candidate = size; candidate > 0; candidate -= levels) {
    double loss = divergence(bins, candidate, levels, total, tail);
    if (loss <= least) {
      least = loss;
      best = candidate;
    }
    for (int64_t i = candidate - levels; i < candidate; ++i)
      tail += bins[i];
  }
  double scale = best * (range / size) / levels;
  return static_cast<int64_t>(
      std::floor(std::log2(std::max(scale, 1e-8)) + 0.5));
}

/// The range whose values are least changed by 128 levels. What lies beyond a
/// range counts as its last bin; levels spread over the bins that have values.
double Observer::entropyThreshold() const {
  double least = HUGE_VAL, range = magnitude(), best = range;
  if (bins8.empty() || range <= 0)
    return range;
  int64_t all = 0;
  for (int64_t count : bins8)
    all += count;
  int64_t inside = 0;
  for (int64_t i = 0; i < oldLevels; ++i)
    inside += bins8[i];
  for (int64_t end = oldLevels; end <= oldBins; ++end) {
    double loss = 0, tail = all - inside, filledTotal = inside;
    for (int64_t level = 0; level < oldLevels; ++level) {
      int64_t first = level * end / oldLevels,
              last = (level + 1) * end / oldLevels, sum = 0, filled = 0;
      for (int64_t i = first; i < last; ++i) {
        sum += bins8[i];
        filled += bins8[i] > 0;
      }
      for (int64_t i = first; i < last; ++i) {
        double p = (bins8[i] + (i + 1 == end ? tail : 0)) / all;
        if (p <= 0)
          continue;
        double q = bins8[i] > 0 ? double(sum) / filled / filledTotal : 1e-30;
        loss += p * (std::log(p) - std::log(q));
      }
    }
    if (loss < least) {
      least = loss;
      best = range * end / oldBins;
    }
    if (end < oldBins)
      inside += bins8[end];
  }
  return best;
}

int64_t Observer::exponent(int bits) const {
  if (method == Method::OldMinMax)
    return legacyExponent(magnitude(), bits);
  if (method == Method::OldEntropy)
    return legacyEntropyExponent(entropyThreshold(), bits);
  if (method == Method::KL)
    return klExponent(bits);
  if (method == Method::Percentile)
    return fittingExponent(batches ? percentileSum / batches : 0, bits);
  return fittingExponent(magnitude(), bits);
}
