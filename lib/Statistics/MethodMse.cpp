// The range with the smallest squared error: clipped values are off by their
// distance to the range, all others by the rounding of an even grid, step^2/12.

#include "MethodSupport.h"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace onnxquant;

namespace {

/// Sums over the bins below an index, so that a range's error is a difference.
class BinMoments {
public:
  explicit BinMoments(const Histogram &histogram) : histogram(histogram) {
    int64_t bins = histogram.bins();
    count.assign(bins + 1, 0);
    first.assign(bins + 1, 0);
    second.assign(bins + 1, 0);
    for (int64_t i = 0; i < bins; ++i) {
      double x = histogram.edge(i) + histogram.width() / 2;
      auto c = static_cast<double>(histogram.counts[i]);
      count[i + 1] = count[i] + c;
      first[i + 1] = first[i] + c * x;
      second[i + 1] = second[i] + c * x * x;
    }
  }

  /// The squared error of clipping to the edges of bins [low, high) and
  /// rounding to `levels` levels that include zero.
  double error(int64_t low, int64_t high, int64_t levels) const {
    double a = std::min(histogram.edge(low), 0.0);
    double b = std::max(histogram.edge(high), 0.0);
    double step = (b - a) / static_cast<double>(levels - 1);
    int64_t bins = histogram.bins();
    return clipped(0, low, a) + clipped(high, bins, b) +
           (count[high] - count[low]) * step * step / 12;
  }

private:
  /// The sum of (x - at)^2 over bins [from, to).
  double clipped(int64_t from, int64_t to, double at) const {
    double n = count[to] - count[from];
    double s = first[to] - first[from];
    double q = second[to] - second[from];
    return std::max(0.0, q - 2 * at * s + n * at * at);
  }

  const Histogram &histogram;
  std::vector<double> count, first, second;
};

} // namespace

/// Evenly spread bin indices from `from` to `to`, both among them.
static std::vector<int64_t> spread(int64_t from, int64_t to, int64_t number) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i <= number; ++i) {
    int64_t at = from + (to - from) * i / number;
    if (list.empty() || list.back() != at)
      list.push_back(at);
  }
  return list;
}

Range onnxquant::mseRange(const TensorStatistics &statistics,
                          const MethodOptions &options) {
  const Histogram &histogram = statistics.histogram;
  BinMoments moments(histogram);
  int64_t bins = histogram.bins(), zero = bins / 2;
  int64_t lowest = 0, highest = bins;
  while (lowest < zero && histogram.counts[lowest] == 0)
    ++lowest;
  while (highest > zero && histogram.counts[highest - 1] == 0)
    --highest;
  int64_t bestLow = lowest, bestHigh = highest;
  double best = moments.error(lowest, highest, options.levels);
  auto attempt = [&](int64_t low, int64_t high) {
    if (low >= high)
      return;
    double error = moments.error(low, high, options.levels);
    if (error < best) {
      best = error;
      bestLow = low;
      bestHigh = high;
    }
  };
  auto attemptAll = [&](const std::vector<int64_t> &lows,
                        const std::vector<int64_t> &highs) {
    for (int64_t low : lows)
      for (int64_t high : highs)
        attempt(low, high);
  };
  // A coarse grid first, then every bin around the best of it.
  attemptAll(spread(lowest, zero, 64), spread(zero, highest, 64));
  int64_t around = bins / 128 + 1;
  std::vector<int64_t> lows, highs;
  for (int64_t d = -around; d <= around; ++d) {
    lows.push_back(std::clamp(bestLow + d, lowest, zero));
    highs.push_back(std::clamp(bestHigh + d, zero, highest));
  }
  attemptAll(lows, highs);
  return {histogram.edge(bestLow), histogram.edge(bestHigh)};
}
