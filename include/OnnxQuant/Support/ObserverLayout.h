// Where an observer's record keeps what: shared by the compiled observers and
// by those who read their words.
//
// Word 0 of a state is the number of samples in the run. A record follows for
// each observed tensor. Floats are kept as their bits. Sums are exact: a sum is
// a row of limbs, and limb i stands for limb * 2^(32 * i - bias).

#ifndef ONNXQUANT_SUPPORT_OBSERVERLAYOUT_H
#define ONNXQUANT_SUPPORT_OBSERVERLAYOUT_H

#include <cstdint>

namespace onnxquant {

struct ObserverLayout {
  /// Limbs of a sum of elements and of a sum of squares, and their biases.
  static constexpr int64_t sumLimbs = 14, sumBias = 224;
  static constexpr int64_t squareLimbs = 22, squareBias = 352;
  /// Magnitudes from here on are sentinels, not values.
  static constexpr float limit = 1e38f;
  /// The smallest range of a histogram is 2^minExponent.
  static constexpr int64_t minExponent = -100;

  /// Words at fixed places.
  enum Word : int64_t {
    Executions = 0,
    Count = 1,
    NaNs = 2,
    Infinities = 3,
    Sentinels = 4,
    Min = 5,
    Max = 6,
    Exponent = 7,
    /// How many parts have extremes of their own; 0 if none has.
    PartsUsed = 8,
    Squares = 9,
  };

  /// Entries along the channel axis; 1 without one.
  int64_t channels = 1;
  /// Bins of the histogram; 0 without one.
  int64_t bins = 0;
  /// Samples that a run can hold at most.
  int64_t parts = 1;

  /// Where the lists begin: extremes by part (min, max), extremes by channel
  /// (min, max), sums by channel, counts by channel, the histogram.
  int64_t partExtremes() const { return Squares + squareLimbs; }
  int64_t channelExtremes() const { return partExtremes() + 2 * parts; }
  int64_t channelSums() const { return channelExtremes() + 2 * channels; }
  int64_t channelCounts() const { return channelSums() + sumLimbs * channels; }
  int64_t histogram() const { return channelCounts() + channels; }
  int64_t words() const { return histogram() + bins; }
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_OBSERVERLAYOUT_H
