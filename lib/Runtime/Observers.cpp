// Observers of tensors.
//
// Values are looked at in pieces that stay in the first cache: kernels find
// extremes and sums of a piece, then its histogram is counted. A piece that
// kernels can't add exactly, because it has values that don't count or
// magnitudes too far apart, is added value by value to the same sums.

#include "OnnxQuant/Runtime/Observers.h"
#include "OnnxQuant/Runtime/ObserverKernels.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

using namespace onnxquant;

static constexpr float inf = std::numeric_limits<float>::infinity();
/// The values of a piece, and the rows of channels that are worth a piece.
static constexpr int64_t pieceValues = 1 << 12, minRows = 64;
/// Values of a channel that may wait: so many fit into 64 bits on the grid.
static constexpr int64_t maxWaiting = 1 << 12;
/// Values whose counts may wait in 32 bits.
static constexpr int64_t maxCounted = int64_t(1) << 31;
static constexpr int64_t limbMask = 0xffffffff;
/// Below that of every value.
static constexpr int64_t noExponent = -127;

static const ObserverKernels *chosenKernels = nullptr;

static void widen(ObserverExtremes &extremes, const ObserverExtremes &by) {
  extremes.min = std::min(extremes.min, by.min);
  extremes.max = std::max(extremes.max, by.max);
}

/// The smallest e with |value| < 2^e; -126 for values below the normal ones.
static int64_t exponentOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<int64_t>(bits >> 23 & 255) - 126;
}

static int64_t exponentOf(const ObserverExtremes &extremes) {
  return std::max(exponentOf(extremes.min), exponentOf(extremes.max));
}

/// Whether both are values, or there is none.
static bool isWithinLimits(const ObserverExtremes &extremes) {
  return extremes.min > -ObserverRecord::limit &&
         extremes.max < ObserverRecord::limit;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds integer * 2^exponent to the limbs of a sum, which take up carries until
/// `carry`.
static void addToSum(int64_t *limbs, int64_t integer, int64_t exponent) {
  int64_t position = exponent + ObserverChannel::sumBias;
  int64_t *limb = limbs + (position >> 5);
  __int128 wide = static_cast<__int128>(integer)
                  << static_cast<int>(position & 31);
  limb[0] += static_cast<int64_t>(wide) & limbMask;
  limb[1] += static_cast<int64_t>(wide >> 32) & limbMask;
  limb[2] += static_cast<int64_t>(wide >> 64);
}

static void addToSum(int64_t *limbs, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  int64_t exponent = bits >> 23 & 255, integer = bits & 0x7fffff;
  if (exponent > 0)
    integer |= 0x800000;
  addToSum(limbs, value < 0 ? -integer : integer,
           std::max<int64_t>(exponent, 1) - 150);
}

/// Makes limbs canonical.
static void carry(int64_t *limbs) {
  int64_t over = 0;
  for (int64_t i = 0; i + 1 < ObserverChannel::sumLimbs; ++i) {
    int64_t sum = limbs[i] + over;
    limbs[i] = sum & limbMask;
    over = sum >> 32;
  }
  limbs[ObserverChannel::sumLimbs - 1] += over;
}

//===----------------------------------------------------------------------===//
// Observer
//===----------------------------------------------------------------------===//

namespace {

/// An observer that has begun; lists follow it in scratch memory.
class Observer {
public:
  Observer(int64_t *state, int64_t offset, int64_t first,
           const ObserverLayout &layout);

  void addTensor(const float *x, int64_t outer, int64_t inner);
  void addRows(const float *x, int64_t rows, int64_t row, int64_t outer);
  void addSlice(const float *x, int64_t count, int64_t channel, int64_t slice,
                int64_t outer);
  void end();

  static int64_t countWords(int64_t channels, int64_t bins) {
    return roundUp(sizeof(Observer) / 8 + 1) + 2 * roundUp(channels) +
           2 * roundUp(countColumns(channels)) +
           roundUp(ObserverKernels::copies * ObserverKernels::stride(bins) / 2);
  }

private:
  /// What was found in values that follow each other.
  struct Piece {
    ObserverExtremes extremes = {inf, -inf};
    /// Whether all values count.
    bool isClean = true;
  };

  /// To lists of whole cache lines.
  static int64_t roundUp(int64_t words) { return (words + 7) / 8 * 8; }
  /// Columns that are channels in turns: as many as kernels take at least.
  static int64_t countColumns(int64_t channels) {
    constexpr int64_t least = ObserverKernels::minColumns;
    return channels >= least ? channels : std::lcm(channels, least);
  }

  /// Adds values of `channels` channels in turns, or all of `channel`.
  void addPiece(const float *x, int64_t count, int64_t channel, bool inTurns,
                Piece &piece);
  /// The same value by value.
  void addValues(const float *x, int64_t count, int64_t channel, bool inTurns,
                 Piece &piece);
  bool addColumns(const float *x, int64_t rows, int64_t columns,
                  ObserverExtremes &extremes);
  void takeColumns(int64_t columns);
  void takeSlice(int64_t channel);
  void addBins(const float *x, int64_t count, const Piece &piece);
  void notePart(const Piece &piece, int64_t row, int64_t outer);
  void settleSums();
  void settleBins();
  void growHistogram(int64_t exponent);

  ObserverChannel &channelAt(int64_t number) {
    return *layout.channel(words, number);
  }

  ObserverLayout layout;
  int64_t *words;
  ObserverRecord &record;
  const ObserverKernels &kernels;
  /// The grid of sums that wait; how many values of a channel are in them.
  int64_t exponent = noExponent, waiting = 0;
  /// Rows of all channels, which their counts lack.
  int64_t seenRows = 0;
  /// Values whose bins wait; whether the record's bins are all zero.
  int64_t counted = 0;
  bool isEmpty;
  /// Sums by channel that wait, of which extremes are in `mins` and `maxs`; the
  /// same of the piece at hand by column; counts of bins.
  int64_t *sums;
  float *mins, *maxs;
  ColumnSums columnSums;
  uint32_t *counts;
};

} // namespace

Observer::Observer(int64_t *state, int64_t offset, int64_t first,
                   const ObserverLayout &layout)
    : layout(layout), words(state + offset), record(*layout.record(words)),
      kernels(chosenKernels ? *chosenKernels : getObserverKernels()) {
  int64_t *next =
      reinterpret_cast<int64_t *>(this) + roundUp(sizeof(Observer) / 8 + 1);
  auto take = [&](int64_t size) {
    int64_t *list = next;
    next += roundUp(size);
    return list;
  };
  int64_t columns = countColumns(layout.channels);
  sums = take(layout.channels);
  mins = reinterpret_cast<float *>(take(layout.channels));
  maxs = mins + layout.channels;
  columnSums.sums = take(columns);
  columnSums.mins = reinterpret_cast<float *>(take(columns));
  columnSums.maxs = columnSums.mins + columns;
  counts = reinterpret_cast<uint32_t *>(next);
  std::fill_n(sums, layout.channels, 0);
  std::fill_n(mins, layout.channels, inf);
  std::fill_n(maxs, layout.channels, -inf);
  if (layout.bins > 0)
    std::fill_n(counts,
                ObserverKernels::copies * ObserverKernels::stride(layout.bins),
                0);
  isEmpty = record.executions == 0;
  if (record.executions++ == 0) {
    ObserverExtremes none = {inf, -inf};
    record.extremes = none;
    record.exponent = ObserverRecord::minExponent;
    std::fill_n(layout.partExtremes(words), layout.parts, none);
    for (int64_t c = 0; c < layout.channels; ++c)
      channelAt(c).extremes = none;
  }
  // Samples have extremes of their own where the first dimension divides.
  int64_t samples = std::max<int64_t>(state[0], 1);
  record.partsUsed =
      first % samples == 0 && samples <= layout.parts ? samples : 0;
}

bool Observer::addColumns(const float *x, int64_t rows, int64_t columns,
                          ObserverExtremes &extremes) {
  while (true) {
    bool isExact =
        kernels.addColumns(x, rows, columns, exponent, columnSums, extremes);
    if (!isWithinLimits(extremes) || extremes.min > extremes.max)
      return false;
    int64_t needed = exponentOf(extremes);
    if (needed <= exponent)
      return isExact;
    // With room for some more, so that this is seldom.
    settleSums();
    exponent = needed + 1;
  }
}

/// Adds the sums of columns, which are channels in turns, to those that wait.
void Observer::takeColumns(int64_t columns) {
  const ColumnSums &from = columnSums;
  for (int64_t begin = 0; begin < columns; begin += layout.channels)
    for (int64_t c = 0; c < layout.channels; ++c) {
      float min = from.mins[begin + c], max = from.maxs[begin + c];
      sums[c] += from.sums[begin + c];
      mins[c] = min < mins[c] ? min : mins[c];
      maxs[c] = max > maxs[c] ? max : maxs[c];
    }
}

/// Adds the sums of columns of one channel to the record.
void Observer::takeSlice(int64_t channel) {
  int64_t sum = 0;
  for (int64_t c = 0; c < ObserverKernels::minColumns; ++c) {
    sum += columnSums.sums[c];
    mins[channel] = std::min(mins[channel], columnSums.mins[c]);
    maxs[channel] = std::max(maxs[channel], columnSums.maxs[c]);
  }
  addToSum(channelAt(channel).sum, sum, exponent - ObserverKernels::bandBits);
}

void Observer::addValues(const float *x, int64_t count, int64_t channel,
                         bool inTurns, Piece &piece) {
  for (int64_t i = 0; i < count; ++i) {
    float value = x[i];
    ObserverChannel &to = channelAt(channel);
    if (std::fabs(value) < ObserverRecord::limit) {
      mins[channel] = std::min(mins[channel], value);
      maxs[channel] = std::max(maxs[channel], value);
      widen(piece.extremes, {value, value});
      addToSum(to.sum, value);
    } else {
      piece.isClean = false;
      --to.count;
      ++(std::isnan(value)   ? record.nans
         : std::isinf(value) ? record.infinities
                             : record.sentinels);
    }
    if (inTurns && ++channel == layout.channels)
      channel = 0;
  }
}

void Observer::addPiece(const float *x, int64_t count, int64_t channel,
                        bool inTurns, Piece &piece) {
  int64_t columns =
      inTurns ? countColumns(layout.channels) : ObserverKernels::minColumns;
  int64_t rows = count / columns, size = rows * columns;
  ObserverExtremes extremes;
  if (rows > 0 && addColumns(x, rows, columns, extremes)) {
    widen(piece.extremes, extremes);
    if (inTurns)
      takeColumns(columns);
    else
      takeSlice(channel);
  } else {
    addValues(x, size, channel, inTurns, piece);
  }
  addValues(x + size, count - size, channel, inTurns, piece);
}

void Observer::addRows(const float *x, int64_t rows, int64_t row,
                       int64_t outer) {
  int64_t channels = layout.channels;
  int64_t height = std::clamp(pieceValues / channels, minRows, maxWaiting);
  for (int64_t done = 0; done < rows; done += height) {
    Piece piece;
    const float *from = x + done * channels;
    int64_t some = std::min(height, rows - done), count = some * channels;
    if (waiting + some > maxWaiting)
      settleSums();
    addPiece(from, count, 0, /*inTurns=*/true, piece);
    waiting += some;
    addBins(from, count, piece);
    notePart(piece, row, outer);
  }
  seenRows += rows;
}

void Observer::addSlice(const float *x, int64_t count, int64_t channel,
                        int64_t slice, int64_t outer) {
  for (int64_t done = 0; done < count; done += pieceValues) {
    Piece piece;
    int64_t size = std::min(pieceValues, count - done);
    addPiece(x + done, size, channel, /*inTurns=*/false, piece);
    addBins(x + done, size, piece);
    notePart(piece, slice, outer);
  }
  channelAt(channel).count += count;
}

void Observer::addTensor(const float *x, int64_t outer, int64_t inner) {
  int64_t channels = layout.channels;
  if (inner == 1) {
    // Rows of one sample at a time.
    int64_t samples = std::max<int64_t>(record.partsUsed, 1);
    int64_t each = outer / samples;
    for (int64_t s = 0; s < samples; ++s)
      addRows(x + s * each * channels, each, s * each, outer);
    return;
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < channels; ++c)
      addSlice(x + (o * channels + c) * inner, inner, c, o, outer);
}

/// Extremes of the tensor and of the sample that a row belongs to.
void Observer::notePart(const Piece &piece, int64_t row, int64_t outer) {
  widen(record.extremes, piece.extremes);
  if (record.partsUsed > 0)
    widen(layout.partExtremes(words)[row * record.partsUsed / outer],
          piece.extremes);
}

//===----------------------------------------------------------------------===//
// Histograms
//===----------------------------------------------------------------------===//

void Observer::addBins(const float *x, int64_t count, const Piece &piece) {
  if (layout.bins == 0 || piece.extremes.min > piece.extremes.max)
    return;
  if (counted + count > maxCounted)
    settleBins();
  growHistogram(exponentOf(piece.extremes));
  counted += count;
  if (piece.isClean) {
    kernels.addBins(x, count, record.exponent, layout.bins, counts);
    return;
  }
  for (int64_t i = 0; i < count;) {
    float values[256];
    int64_t valid = 0;
    for (; i < count && valid < 256; ++i)
      if (std::fabs(x[i]) < ObserverRecord::limit)
        values[valid++] = x[i];
    kernels.addBins(values, valid, record.exponent, layout.bins, counts);
  }
}

/// Adds the counts that wait to the record.
void Observer::settleBins() {
  if (counted == 0)
    return;
  int64_t *bins = layout.histogram(words);
  int64_t stride = ObserverKernels::stride(layout.bins);
  for (int64_t i = 0; i < layout.bins; ++i)
    for (int64_t copy = 0; copy < ObserverKernels::copies; ++copy) {
      bins[i] += counts[copy * stride + i];
      counts[copy * stride + i] = 0;
    }
  isEmpty = false;
  counted = 0;
}

/// Doubles the range until values below 2^exponent are in it: bins are merged
/// in pairs, outward from zero.
void Observer::growHistogram(int64_t wanted) {
  if (wanted <= record.exponent)
    return;
  settleBins();
  int64_t half = layout.bins / 2;
  int64_t *up = layout.histogram(words) + half, *down = up - 1;
  // After so many levels everything is next to zero.
  int64_t levels =
      isEmpty ? 0 : std::min<int64_t>(wanted - record.exponent, 17);
  for (; levels > 0; --levels)
    for (int64_t k = 0; k < half; ++k) {
      bool isInner = k < half / 2;
      up[k] = isInner ? up[2 * k] + up[2 * k + 1] : 0;
      down[-k] = isInner ? down[-2 * k] + down[-2 * k - 1] : 0;
    }
  record.exponent = wanted;
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// Adds the sums that wait to the record.
void Observer::settleSums() {
  if (waiting == 0)
    return;
  for (int64_t c = 0; c < layout.channels; ++c) {
    addToSum(channelAt(c).sum, sums[c], exponent - ObserverKernels::bandBits);
    sums[c] = 0;
  }
  waiting = 0;
}

/// Zero without its sign.
static void dropSigns(ObserverExtremes &extremes) {
  extremes.min += 0.0f;
  extremes.max += 0.0f;
}

void Observer::end() {
  settleSums();
  settleBins();
  record.count = 0;
  for (int64_t c = 0; c < layout.channels; ++c) {
    ObserverChannel &channel = channelAt(c);
    widen(channel.extremes, {mins[c], maxs[c]});
    dropSigns(channel.extremes);
    carry(channel.sum);
    channel.count += seenRows;
    record.count += channel.count;
  }
  dropSigns(record.extremes);
  for (int64_t i = 0; i < layout.parts; ++i)
    dropSigns(layout.partExtremes(words)[i]);
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

int64_t onnxquant::countScratchWords(int64_t channels, int64_t bins) {
  return Observer::countWords(channels, bins);
}

const ObserverSymbol *onnxquant::getObserverSymbols() {
  static const ObserverSymbol symbols[] = {
      {"onnxq_observe", reinterpret_cast<void *>(&onnxq_observe)},
      {"onnxq_observe_begin", reinterpret_cast<void *>(&onnxq_observe_begin)},
      {"onnxq_observe_rows", reinterpret_cast<void *>(&onnxq_observe_rows)},
      {"onnxq_observe_slice", reinterpret_cast<void *>(&onnxq_observe_slice)},
      {"onnxq_observe_end", reinterpret_cast<void *>(&onnxq_observe_end)},
      {nullptr, nullptr}};
  return symbols;
}

const ObserverKernels *
onnxquant::exchangeKernels(const ObserverKernels *kernels) {
  return std::exchange(chosenKernels, kernels);
}

void onnxq_observe_begin(void *scratch, int64_t *state, int64_t offset,
                         int64_t first, int64_t channels, int64_t bins,
                         int64_t parts) {
  new (scratch) Observer(state, offset, first, {channels, bins, parts});
}

void onnxq_observe_rows(void *scratch, const float *x, int64_t rows,
                        int64_t row, int64_t outer) {
  static_cast<Observer *>(scratch)->addRows(x, rows, row, outer);
}

void onnxq_observe_slice(void *scratch, const float *x, int64_t count,
                         int64_t channel, int64_t slice, int64_t outer) {
  static_cast<Observer *>(scratch)->addSlice(x, count, channel, slice, outer);
}

void onnxq_observe_end(void *scratch) {
  static_cast<Observer *>(scratch)->end();
}

void onnxq_observe(const float *x, int64_t first, int64_t outer,
                   int64_t channels, int64_t inner, int64_t *state,
                   int64_t offset, int64_t bins, int64_t parts) {
  // Kept from call to call: new memory costs time.
  thread_local std::vector<std::aligned_storage_t<64, 64>> scratch;
  size_t lines = countScratchWords(channels, bins) / 8 + 1;
  if (scratch.size() < lines)
    scratch.resize(lines);
  onnxq_observe_begin(scratch.data(), state, offset, first, channels, bins,
                      parts);
  auto *observer = reinterpret_cast<Observer *>(scratch.data());
  observer->addTensor(x, outer, inner);
  observer->end();
}
