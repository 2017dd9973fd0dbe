// An observer in plain loops: what compiled observers must leave in a record.

#ifndef ONNXQUANT_UNITTESTS_CALIBRATION_RECORDBUILDER_H
#define ONNXQUANT_UNITTESTS_CALIBRATION_RECORDBUILDER_H

#include "OnnxQuant/Calibration/Statistics.h"
#include <cmath>
#include <cstring>
#include <vector>

namespace onnxquant::test {

inline int64_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// value = mantissa * 2^exponent, added to the limb that it begins in.
inline void addTo(int64_t *limbs, int64_t bias, double value) {
  if (value == 0)
    return;
  int exponent;
  double fraction = std::frexp(value, &exponent);
  auto mantissa = static_cast<int64_t>(std::ldexp(fraction, 31));
  double rest =
      value - std::ldexp(static_cast<double>(mantissa), exponent - 31);
  int64_t position = exponent - 31 + bias;
  __int128 wide = static_cast<__int128>(mantissa) << (position & 31);
  limbs[position >> 5] += static_cast<int64_t>(wide & 0xffffffff);
  limbs[(position >> 5) + 1] += static_cast<int64_t>(wide >> 32);
  addTo(limbs, bias, rest);
}

/// The record of one sample of one channel.
inline std::vector<int64_t> recordOf(const ObserverLayout &layout,
                                     const std::vector<float> &values) {
  std::vector<int64_t> record(layout.words(), 0);
  float inf = std::numeric_limits<float>::infinity();
  float low = inf, high = -inf;
  Histogram histogram;
  histogram.counts.assign(layout.bins, 0);
  record[ObserverLayout::Executions] = 1;
  record[ObserverLayout::PartsUsed] = 1;
  for (float value : values) {
    if (std::isnan(value)) {
      ++record[ObserverLayout::NaNs];
      continue;
    }
    if (std::isinf(value)) {
      ++record[ObserverLayout::Infinities];
      continue;
    }
    if (std::fabs(value) >= ObserverLayout::limit) {
      ++record[ObserverLayout::Sentinels];
      continue;
    }
    ++record[ObserverLayout::Count];
    low = std::min(low, value);
    high = std::max(high, value);
    addTo(&record[layout.channelSums()], ObserverLayout::sumBias, value);
    addTo(&record[ObserverLayout::Squares], ObserverLayout::squareBias,
          static_cast<double>(value) * value);
    if (layout.bins > 0)
      histogram.add(value);
  }
  for (int64_t at : {static_cast<int64_t>(ObserverLayout::Min),
                     layout.partExtremes(), layout.channelExtremes()}) {
    record[at] = bitsOf(low);
    record[at + 1] = bitsOf(high);
  }
  record[layout.channelCounts()] = record[ObserverLayout::Count];
  record[ObserverLayout::Exponent] = histogram.exponent;
  std::copy(histogram.counts.begin(), histogram.counts.end(),
            record.begin() + layout.histogram());
  return record;
}

/// Statistics of samples, each a list of values.
inline TensorStatistics
statisticsOf(const std::vector<std::vector<float>> &samples,
             int64_t bins = 64) {
  ObserverLayout layout{1, bins, 1};
  TensorStatistics statistics(layout, -1);
  for (const std::vector<float> &sample : samples)
    statistics.addRecord(layout, recordOf(layout, sample), 1);
  return statistics;
}

} // namespace onnxquant::test

#endif // ONNXQUANT_UNITTESTS_CALIBRATION_RECORDBUILDER_H
