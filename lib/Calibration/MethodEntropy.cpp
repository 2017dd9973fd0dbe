// The entropy method: the slice of a histogram around zero that loses least
// when it is quantized.
//
// For a slice of 2i bins, p is the slice with what lies outside added to its
// end bins, and q the slice alone, merged into `quantizedBins` groups of equal
// length (the last takes the rest) and spread evenly over the bins of a group
// where p is not zero. Both are smoothed: 0.0001 is given to bins of zero and
// taken from the others in equal parts. The first i with the smallest
// divergence sum(p * log(p / q)) of the two, made distributions, wins.
//
// A slice must hold half of the values at least: one that holds next to none
// has all of p in its end bins, where nothing is lost by the measure and
// everything in fact.
//
// Bins where p is zero, most of them in long tails, all contribute the same;
// they are counted, not visited.

#include "OnnxQuant/Calibration/Methods.h"
#include <cmath>
#include <limits>
#include <vector>

using namespace onnxquant;

static constexpr double smoothing = 1e-4;
/// Smaller differences are rounding, which must not decide.
static constexpr double equalWithin = 1e-12;

namespace {

class EntropySearch {
public:
  EntropySearch(llvm::ArrayRef<int64_t> counts, int64_t quantizedBins)
      : counts(counts), quantizedBins(quantizedBins) {
    before.assign(counts.size() + 1, 0);
    for (size_t i = 0; i < counts.size(); ++i)
      before[i + 1] = before[i] + static_cast<double>(counts[i]);
  }

  double divergence(int64_t half);

private:
  double sumOf(int64_t from, int64_t to) const {
    return before[to] - before[from];
  }

  llvm::ArrayRef<int64_t> counts;
  int64_t quantizedBins;
  /// The sum of counts before a bin.
  std::vector<double> before;
};

} // namespace

double EntropySearch::divergence(int64_t half) {
  auto bins = static_cast<int64_t>(counts.size());
  int64_t begin = bins / 2 - half, end = bins / 2 + half, size = end - begin;
  double left = sumOf(0, begin), right = sumOf(end, bins);
  double inside = sumOf(begin, end), total = before[bins];
  auto p = [&](int64_t bin) {
    double value = static_cast<double>(counts[bin]);
    if (bin == begin)
      value += left;
    if (bin == end - 1)
      value += right;
    return value;
  };
  int64_t merged = size / quantizedBins;
  // Groups first: where p is not zero, q is the group's mean.
  int64_t nonzeroP = 0, nonzeroQ = 0;
  auto eachGroup = [&](auto visit) {
    for (int64_t g = 0; g < quantizedBins; ++g) {
      int64_t from = begin + g * merged;
      int64_t to = g + 1 == quantizedBins ? end : from + merged;
      visit(from, to);
    }
  };
  auto nonzeros = [&](int64_t from, int64_t to) {
    int64_t number = 0;
    for (int64_t bin = from; bin < to; ++bin)
      number += counts[bin] != 0;
    if (from == begin && counts[begin] == 0 && left > 0)
      ++number;
    if (to == end && counts[end - 1] == 0 && right > 0 &&
        !(size == 1 && left > 0))
      ++number;
    return number;
  };
  eachGroup([&](int64_t from, int64_t to) {
    int64_t number = nonzeros(from, to);
    nonzeroP += number;
    if (sumOf(from, to) > 0)
      nonzeroQ += number;
  });
  if (nonzeroP == 0 || nonzeroQ == 0 || 2 * inside < total)
    return std::numeric_limits<double>::infinity();
  auto lessOf = [&](int64_t nonzero) {
    return smoothing * static_cast<double>(size - nonzero) /
           static_cast<double>(nonzero);
  };
  double lessP = lessOf(nonzeroP), lessQ = lessOf(nonzeroQ);
  if (lessP >= 1 || lessQ >= 1)
    return std::numeric_limits<double>::infinity();
  // Smoothing keeps the sums.
  double sumP = total, sumQ = inside, scale = sumQ / sumP, result = 0;
  eachGroup([&](int64_t from, int64_t to) {
    double sum = sumOf(from, to);
    int64_t number = nonzeros(from, to);
    if (number == 0)
      return;
    double q = sum > 0 ? sum / static_cast<double>(number) - lessQ : smoothing;
    double factor = scale / q;
    for (int64_t bin = from; bin < to; ++bin)
      if (double value = p(bin); value != 0) {
        double smooth = value - lessP;
        result += smooth * std::log(smooth * factor);
      }
  });
  // Where p is zero, q is too.
  result += static_cast<double>(size - nonzeroP) * smoothing * std::log(scale);
  return result / sumP;
}

int64_t onnxquant::entropyThreshold(llvm::ArrayRef<int64_t> counts,
                                    int64_t quantizedBins, int64_t limit) {
  EntropySearch search(counts, quantizedBins);
  int64_t first = std::min<int64_t>(std::max<int64_t>(quantizedBins / 2, 1),
                                    static_cast<int64_t>(counts.size()) / 2);
  int64_t best = std::max(first, limit);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t half = first; half <= limit; ++half) {
    double divergence = search.divergence(half);
    if (divergence < least - equalWithin) {
      least = divergence;
      best = half;
    }
  }
  return best;
}
