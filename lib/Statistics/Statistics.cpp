// Statistics of tensors: reading observers' records, merging, means.

#include "OnnxQuant/Statistics/Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

//===----------------------------------------------------------------------===//
// Histogram
//===----------------------------------------------------------------------===//

double Histogram::width() const {
  return std::ldexp(2.0, exponent) / static_cast<double>(bins());
}

double Histogram::edge(int64_t bin) const {
  return static_cast<double>(bin - bins() / 2) * width();
}

int64_t Histogram::total() const {
  int64_t sum = 0;
  for (int64_t count : counts)
    sum += count;
  return sum;
}

void Histogram::add(float value) {
  float magnitude = std::fabs(value);
  int needed = ObserverRecord::minExponent;
  if (magnitude > 0) {
    std::frexp(magnitude, &needed);
    needed = std::max<int>(needed, ObserverRecord::minExponent);
  }
  growTo(needed);
  int64_t half = bins() / 2;
  auto k = static_cast<int64_t>(
      std::ldexp(static_cast<double>(magnitude), -exponent) *
      static_cast<double>(half));
  k = std::min(k, half - 1);
  ++counts[value < 0 ? half - 1 - k : half + k];
}

/// Merges pairs of bins outward from zero.
static void fold(std::vector<int64_t> &counts) {
  int64_t half = counts.size() / 2;
  for (int64_t k = 0; k < half; ++k) {
    bool inner = k < half / 2;
    counts[half + k] =
        inner ? counts[half + 2 * k] + counts[half + 2 * k + 1] : 0;
    counts[half - 1 - k] =
        inner ? counts[half - 1 - 2 * k] + counts[half - 2 - 2 * k] : 0;
  }
}

void Histogram::growTo(int64_t wanted) {
  if (empty() || wanted <= exponent)
    return;
  // After so many levels everything is next to zero.
  int64_t levels = std::min<int64_t>(wanted - exponent, 17);
  for (int64_t i = 0; i < levels; ++i)
    fold(counts);
  exponent = wanted;
}

Histogram Histogram::coarsened(int64_t wanted) const {
  Histogram result = *this;
  while (result.bins() > wanted && result.bins() > 2) {
    fold(result.counts);
    // The outer half is empty now: drop it, and the range stays.
    int64_t quarter = result.bins() / 4;
    result.counts.erase(result.counts.end() - quarter, result.counts.end());
    result.counts.erase(result.counts.begin(), result.counts.begin() + quarter);
  }
  return result;
}

void Histogram::merge(Histogram other) {
  int64_t common = std::max(exponent, other.exponent);
  growTo(common);
  other.growTo(common);
  for (auto [mine, theirs] : zip(counts, other.counts))
    mine += theirs;
}

//===----------------------------------------------------------------------===//
// MovingAverage
//===----------------------------------------------------------------------===//

void MovingAverage::add(double newMin, double newMax, bool isFirst) {
  min = isFirst ? newMin : min + constant * (newMin - min);
  max = isFirst ? newMax : max + constant * (newMax - max);
}

//===----------------------------------------------------------------------===//
// TensorStatistics
//===----------------------------------------------------------------------===//

TensorStatistics::TensorStatistics(const ObserverLayout &layout,
                                   int64_t channelAxis)
    : channelAxis(channelAxis), channelMins(layout.channels),
      channelMaxs(layout.channels), channelCounts(layout.channels),
      channelSums(layout.channels) {
  histogram.counts.assign(layout.bins, 0);
}

void TensorStatistics::addSample(float sampleMin, float sampleMax) {
  if (sampleMin > sampleMax)
    return;
  if (moving)
    moving->add(sampleMin, sampleMax, samples == 0);
  minSum.add(static_cast<double>(sampleMin));
  maxSum.add(static_cast<double>(sampleMax));
  ++samples;
}

void TensorStatistics::addRecord(const ObserverLayout &layout,
                                 ArrayRef<int64_t> words, int64_t numSamples) {
  const ObserverRecord &record = *layout.record(words.data());
  if (record.executions == 0)
    return;
  executions += numSamples;
  nans += record.nans;
  infinities += record.infinities;
  sentinels += record.sentinels;
  if (record.count == 0)
    return;
  const ObserverExtremes &all = record.extremes;
  min = count == 0 ? all.min : std::min(min, all.min);
  max = count == 0 ? all.max : std::max(max, all.max);
  count += record.count;
  const ObserverExtremes *parts = layout.partExtremes(words.data());
  for (int64_t i = 0; i < numSamples; ++i) {
    const ObserverExtremes &own = i < record.partsUsed ? parts[i] : all;
    addSample(own.min, own.max);
  }
  for (int64_t c = 0; c < layout.channels; ++c) {
    const ObserverChannel &channel = *layout.channel(words.data(), c);
    if (channel.count == 0)
      continue;
    auto [low, high] = channel.extremes;
    bool isFirst = channelCounts[c] == 0;
    channelMins[c] = isFirst ? low : std::min(channelMins[c], low);
    channelMaxs[c] = isFirst ? high : std::max(channelMaxs[c], high);
    channelCounts[c] += channel.count;
    channelSums[c].addLimbs(channel.sum);
  }
  if (layout.bins > 0) {
    Histogram added;
    added.exponent = record.exponent;
    const int64_t *bins = layout.histogram(words.data());
    added.counts.assign(bins, bins + layout.bins);
    histogram.merge(std::move(added));
  }
}

Error TensorStatistics::merge(const TensorStatistics &other) {
  if (channelAxis != other.channelAxis || channels() != other.channels())
    return fail("expects the same channels, but got " + Twine(channels()) +
                " along axis " + Twine(channelAxis) + " and " +
                Twine(other.channels()) + " along axis " +
                Twine(other.channelAxis));
  if (histogram.bins() != other.histogram.bins())
    return fail("expects histograms of one size, but got " +
                Twine(histogram.bins()) + " and " +
                Twine(other.histogram.bins()) + " bins");
  if (moving || other.moving)
    return fail("has a moving average, which follows the order of samples and "
                "can't be merged");
  if (other.count > 0) {
    min = count == 0 ? other.min : std::min(min, other.min);
    max = count == 0 ? other.max : std::max(max, other.max);
  }
  executions += other.executions;
  samples += other.samples;
  count += other.count;
  nans += other.nans;
  infinities += other.infinities;
  sentinels += other.sentinels;
  minSum.add(other.minSum);
  maxSum.add(other.maxSum);
  for (int64_t c = 0; c < channels(); ++c) {
    if (other.channelCounts[c] == 0)
      continue;
    bool isFirst = channelCounts[c] == 0;
    channelMins[c] = isFirst ? other.channelMins[c]
                             : std::min(channelMins[c], other.channelMins[c]);
    channelMaxs[c] = isFirst ? other.channelMaxs[c]
                             : std::max(channelMaxs[c], other.channelMaxs[c]);
    channelCounts[c] += other.channelCounts[c];
    channelSums[c].add(other.channelSums[c]);
  }
  histogram.merge(other.histogram);
  return Error::success();
}

bool TensorStatistics::operator==(const TensorStatistics &other) const {
  return channelAxis == other.channelAxis && executions == other.executions &&
         samples == other.samples && count == other.count &&
         nans == other.nans && infinities == other.infinities &&
         sentinels == other.sentinels && min == other.min && max == other.max &&
         minSum == other.minSum && maxSum == other.maxSum &&
         channelMins == other.channelMins && channelMaxs == other.channelMaxs &&
         channelCounts == other.channelCounts &&
         channelSums == other.channelSums && histogram == other.histogram &&
         moving == other.moving;
}

double TensorStatistics::mean() const {
  ExactSum sum;
  for (const ExactSum &part : channelSums)
    sum.add(part);
  return count == 0 ? 0 : sum.toDouble() / static_cast<double>(count);
}

double TensorStatistics::channelMean(int64_t channel) const {
  return channelCounts[channel] == 0
             ? 0
             : channelSums[channel].toDouble() /
                   static_cast<double>(channelCounts[channel]);
}

Error StatisticsTable::merge(const StatisticsTable &other) {
  if (tensors.empty()) {
    *this = other;
    return Error::success();
  }
  if (method != other.method)
    return fail("expects tables of one method, but got " + method + " and " +
                other.method);
  if (next != 0 || other.next != 0)
    return fail("a table is a checkpoint of an unfinished calibration");
  for (const auto &[name, statistics] : tensors)
    if (!other.tensors.count(name))
      return fail("tensor '" + name + "' is missing in a table");
  for (const auto &[name, statistics] : other.tensors) {
    auto mine = tensors.find(name);
    if (mine == tensors.end())
      return fail("tensor '" + name + "' is missing in a table");
    if (Error error = mine->second.merge(statistics))
      return fail("tensor '" + name + "' " + toString(std::move(error)));
  }
  samples += other.samples;
  skipped += other.skipped;
  return Error::success();
}
