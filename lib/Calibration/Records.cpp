// Records that follow from others. Every word is a count, a sum, an extreme or
// the exponent of a histogram's range: what an observer of the tensor would
// leave, but for how a sum is spread over limbs.

#include "OnnxQuant/Calibration/Records.h"
#include "OnnxQuant/Calibration/Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <cstring>

using namespace llvm;
using namespace onnxquant;
using Layout = ObserverLayout;

std::vector<int64_t> onnxquant::repeatRecord(const Layout &layout,
                                             ArrayRef<int64_t> record,
                                             int64_t times) {
  std::vector<int64_t> result(record.begin(), record.end());
  auto multiply = [&](int64_t from, int64_t to) {
    // A limb is less than 2^32 times the number of elements.
    for (int64_t i = from; i < to; ++i)
      result[i] *= times;
  };
  multiply(Layout::Count, Layout::Sentinels + 1);
  multiply(Layout::Squares, layout.partExtremes());
  multiply(layout.channelSums(), layout.words());
  return result;
}

static float floatOf(int64_t word) {
  auto bits = static_cast<uint32_t>(word);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Widens pairs of a minimum and a maximum.
static void widen(int64_t *pairs, const int64_t *by, int64_t count) {
  for (int64_t i = 0; i < 2 * count; i += 2) {
    if (floatOf(by[i]) < floatOf(pairs[i]))
      pairs[i] = by[i];
    if (floatOf(by[i + 1]) > floatOf(pairs[i + 1]))
      pairs[i + 1] = by[i + 1];
  }
}

static void add(int64_t *words, const int64_t *by, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    words[i] += by[i];
}

static Histogram histogramOf(const LaidRecord &record) {
  Histogram histogram;
  histogram.exponent = record.words[Layout::Exponent];
  ArrayRef<int64_t> bins =
      record.words.slice(record.layout.histogram(), record.layout.bins);
  histogram.counts.assign(bins.begin(), bins.end());
  return histogram;
}

/// Adds the lists of a part's channels, `first` being the whole's channel that
/// its first one is; `isNew` if that had none before.
static void addChannels(const Layout &layout, std::vector<int64_t> &result,
                        const LaidRecord &part, int64_t first, bool isNew) {
  const Layout &from = part.layout;
  const int64_t *words = part.words.data();
  int64_t *extremes = result.data() + layout.channelExtremes() + 2 * first;
  if (isNew)
    std::copy_n(words + from.channelExtremes(), 2 * from.channels, extremes);
  else
    widen(extremes, words + from.channelExtremes(), from.channels);
  add(result.data() + layout.channelSums() + Layout::sumLimbs * first,
      words + from.channelSums(), Layout::sumLimbs * from.channels);
  add(result.data() + layout.channelCounts() + first,
      words + from.channelCounts(), from.channels);
}

std::vector<int64_t> onnxquant::joinRecords(const Layout &layout,
                                            ArrayRef<LaidRecord> parts,
                                            bool byChannel) {
  assert(!parts.empty() && "a tensor is joined of some");
  std::vector<int64_t> result(layout.words(), 0);
  // What comes before the lists of channels has one place in all of them.
  std::copy_n(parts.front().words.data(), layout.channelExtremes(),
              result.data());
  Histogram histogram = histogramOf(parts.front());
  int64_t channel = 0;
  for (auto [number, part] : enumerate(parts)) {
    addChannels(layout, result, part, channel, byChannel || number == 0);
    if (byChannel)
      channel += part.layout.channels;
    if (number == 0)
      continue;
    const int64_t *words = part.words.data();
    add(result.data() + Layout::Count, words + Layout::Count,
        Layout::Sentinels + 1 - Layout::Count);
    widen(result.data() + Layout::Min, words + Layout::Min, 1);
    add(result.data() + Layout::Squares, words + Layout::Squares,
        Layout::squareLimbs);
    widen(result.data() + layout.partExtremes(), words + layout.partExtremes(),
          layout.parts);
    histogram.merge(histogramOf(part));
  }
  if (layout.bins > 0) {
    result[Layout::Exponent] = histogram.exponent;
    llvm::copy(histogram.counts, result.begin() + layout.histogram());
  }
  return result;
}

void onnxquant::takeHistogram(const Layout &layout,
                              std::vector<int64_t> &record,
                              const LaidRecord &from) {
  record[Layout::Exponent] = from.words[Layout::Exponent];
  llvm::copy(from.words.slice(from.layout.histogram(), from.layout.bins),
             record.begin() + layout.histogram());
}
