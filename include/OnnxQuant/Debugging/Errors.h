// Running sums that tell how far two tensors are apart. Memory doesn't depend
// on how much is added.

#ifndef ONNXQUANT_DEBUGGING_ERRORS_H
#define ONNXQUANT_DEBUGGING_ERRORS_H

#include "OnnxQuant/Statistics/Statistics.h"
#include "llvm/ADT/ArrayRef.h"
#include <limits>
#include <optional>
#include <vector>

namespace onnxquant {

/// Extremes and energies of one channel.
struct ChannelErrors {
  double signal = 0, noise = 0;
  /// Of what the others lack, and how many there are.
  double difference = 0;
  int64_t count = 0;
  float min = std::numeric_limits<float>::infinity(),
        max = -std::numeric_limits<float>::infinity();
  float otherMin = std::numeric_limits<float>::infinity(),
        otherMax = -std::numeric_limits<float>::infinity();

  double meanDifference() const {
    return count ? difference / static_cast<double>(count) : 0;
  }
  /// Numbers that vary became one.
  bool isDead() const { return otherMin == otherMax && min < max; }
};

/// What is kept of pairs of numbers: the right ones and those that stand for
/// them.
struct ErrorSums {
  int64_t count = 0;
  /// Pairs left out: not finite, or 1e38 and more, which stand for no value.
  int64_t nonFinite = 0, sentinels = 0;
  double signal = 0, noise = 0, otherEnergy = 0, dot = 0, maxError = 0;
  double min = 0, max = 0;
  std::vector<ChannelErrors> channels;
  Histogram histogram, otherHistogram;

  /// Adds the elements of two tensors of one shape; `axis` is that of the
  /// channels, -1 for none. Histograms look at evenly spread elements of large
  /// tensors.
  void add(llvm::ArrayRef<float> right, llvm::ArrayRef<float> other,
           llvm::ArrayRef<int64_t> dims, int64_t axis);

  /// 20 log10(|x| / |x - y|) (F36).
  double decibels() const;
  /// Noise to signal as energies, as F36 bounds them.
  double noiseToSignal() const;
  /// |x - y| / |x|: the share of the signal that the noise is.
  double noiseShare() const;
  double cosine() const;
  /// The channel with the lowest signal to noise, and that in decibels.
  std::optional<std::pair<int64_t, double>> worstChannel() const;
  int64_t deadChannels() const;

private:
  void addOne(float right, float other, ChannelErrors &channel);
};

/// Magnitudes from here on stand for no value: padding of a maximum.
inline constexpr float sentinelMagnitude = 1e38f;

} // namespace onnxquant

#endif // ONNXQUANT_DEBUGGING_ERRORS_H
