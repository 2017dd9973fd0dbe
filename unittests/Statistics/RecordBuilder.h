// An observer in plain loops: what compiled observers must leave in a record.

#ifndef ONNXQUANT_UNITTESTS_CALIBRATION_RECORDBUILDER_H
#define ONNXQUANT_UNITTESTS_CALIBRATION_RECORDBUILDER_H

#include "OnnxQuant/Statistics/Statistics.h"
#include <cmath>
#include <limits>
#include <vector>

namespace onnxquant::test {

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
  std::vector<int64_t> words(layout.words(), 0);
  ObserverRecord &record = *layout.record(words.data());
  ObserverChannel &channel = *layout.channel(words.data(), 0);
  float inf = std::numeric_limits<float>::infinity();
  Histogram histogram;
  histogram.counts.assign(layout.bins, 0);
  record.executions = record.partsUsed = 1;
  record.extremes = {inf, -inf};
  for (float value : values) {
    if (std::isnan(value)) {
      ++record.nans;
      continue;
    }
    if (std::isinf(value)) {
      ++record.infinities;
      continue;
    }
    if (std::fabs(value) >= ObserverRecord::limit) {
      ++record.sentinels;
      continue;
    }
    ++record.count;
    record.extremes.min = std::min(record.extremes.min, value);
    record.extremes.max = std::max(record.extremes.max, value);
    addTo(channel.sum, ObserverChannel::sumBias, value);
    if (layout.bins > 0)
      histogram.add(value);
  }
  *layout.partExtremes(words.data()) = channel.extremes = record.extremes;
  channel.count = record.count;
  record.exponent = histogram.exponent;
  std::copy(histogram.counts.begin(), histogram.counts.end(),
            layout.histogram(words.data()));
  return words;
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
