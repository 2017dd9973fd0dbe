// What is known of a tensor's values after running samples: one object, from
// which every calibration method is computed.
//
// Statistics of parts of a data set merge to those of the whole, bit for bit,
// in any order: counts and sums are exact, and a histogram depends on the set
// of values only. Its range is a power of two, and grows by doubling, which
// merges bins in pairs.

#ifndef ONNXQUANT_STATISTICS_STATISTICS_H
#define ONNXQUANT_STATISTICS_STATISTICS_H

#include "OnnxQuant/Statistics/ExactSum.h"
#include "OnnxQuant/Support/ObserverRecord.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant {

/// Counts of values over (-2^exponent, 2^exponent). With n bins, bin n/2 + k
/// counts values in [k, k+1) * width, bin n/2 - 1 - k the negative ones of the
/// same magnitudes.
struct Histogram {
  int64_t exponent = ObserverRecord::minExponent;
  std::vector<int64_t> counts;

  bool empty() const { return counts.empty(); }
  int64_t bins() const { return counts.size(); }
  /// The width of a bin.
  double width() const;
  /// The lower edge of a bin.
  double edge(int64_t bin) const;
  int64_t total() const;
  /// Counts one finite value below 1e38 in magnitude.
  void add(float value);
  /// Doubles the range until it is 2^exponent.
  void growTo(int64_t exponent);
  /// The same values in fewer bins; `bins` is a power of two.
  Histogram coarsened(int64_t bins) const;
  void merge(Histogram other);
  bool operator==(const Histogram &other) const {
    return exponent == other.exponent && counts == other.counts;
  }
};

/// An exponential moving average of the extremes of samples, in their order.
struct MovingAverage {
  double constant = 0.01, min = 0, max = 0;
  void add(double newMin, double newMax, bool isFirst);
  bool operator==(const MovingAverage &other) const {
    return constant == other.constant && min == other.min && max == other.max;
  }
};

struct TensorStatistics {
  /// -1 without channels; then the lists below have one entry.
  int64_t channelAxis = -1;
  /// In how many samples the tensor was computed, and in how many it had a
  /// value.
  int64_t executions = 0, samples = 0;
  /// Values that count, and those that don't.
  int64_t count = 0, nans = 0, infinities = 0, sentinels = 0;
  /// Extremes of all values; both 0 if there is none.
  float min = 0, max = 0;
  /// Sums of the extremes of samples.
  ExactSum minSum, maxSum;
  std::vector<float> channelMins, channelMaxs;
  std::vector<int64_t> channelCounts;
  std::vector<ExactSum> channelSums;
  Histogram histogram;
  std::optional<MovingAverage> moving;

  TensorStatistics() = default;
  /// No values yet, in the form of an observer's records.
  TensorStatistics(const ObserverLayout &layout, int64_t channelAxis);

  int64_t channels() const { return channelSums.size(); }
  double mean() const;
  double channelMean(int64_t channel) const;

  /// Adds what an observer's record holds after a run of `samples` samples.
  void addRecord(const ObserverLayout &layout, llvm::ArrayRef<int64_t> record,
                 int64_t samples);
  /// Adds the statistics of other samples. Fails where they don't go together.
  llvm::Error merge(const TensorStatistics &other);
  bool operator==(const TensorStatistics &other) const;

private:
  void addSample(float sampleMin, float sampleMax);
};

/// Statistics of a model's tensors by name.
struct StatisticsTable {
  /// The method that the table was made for.
  std::string method = "minmax";
  int64_t samples = 0, skipped = 0;
  /// In a checkpoint: the sample to continue with; otherwise 0.
  int64_t next = 0;
  std::map<std::string, TensorStatistics> tensors;
  /// Of tensors with values that don't count: the samples of the first run that
  /// had some, for messages. Not part of files.
  std::map<std::string, std::string> oddSamples;

  /// Adds another shard's statistics; errors name the tensor.
  llvm::Error merge(const StatisticsTable &other);
};

} // namespace onnxquant

#endif // ONNXQUANT_STATISTICS_STATISTICS_H
