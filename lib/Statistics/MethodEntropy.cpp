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
// they are counted, not visited. The others are not visited either, for every
// slice anew: with x taken from each count v, (v - x) * log(v - x) is a series
// in x whose coefficients are summed up once,
//   v log v - x (log v + 1) + x^2 / 2v + x^3 / 6v^2 + ... ,
// so that a group takes one logarithm, that of its q.

#include "OnnxQuant/Statistics/Methods.h"
#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace onnxquant;

static constexpr double smoothing = 1e-4;
/// Smaller differences are rounding, which must not decide.
static constexpr double equalWithin = 1e-12;
/// The series ends with x^7: next to 1, what is left out is below 1e-14 for an
/// x of up to this. Larger ones take a logarithm for each bin.
static constexpr double largestTaken = 1.0 / 64;
static constexpr int seriesTerms = 8;

namespace {

class EntropySearch {
public:
  EntropySearch(llvm::ArrayRef<int64_t> counts, int64_t quantizedBins)
      : counts(counts), quantizedBins(quantizedBins) {
    before.assign(counts.size() + 1, 0);
    nonzeroBefore.assign(counts.size() + 1, 0);
    seriesBefore.assign(counts.size() + 1, {});
    for (size_t i = 0; i < counts.size(); ++i) {
      before[i + 1] = before[i] + static_cast<double>(counts[i]);
      nonzeroBefore[i + 1] = nonzeroBefore[i] + (counts[i] != 0);
      seriesBefore[i + 1] = seriesBefore[i];
      if (counts[i] != 0)
        addTerms(static_cast<double>(counts[i]), seriesBefore[i + 1]);
    }
  }

  double divergence(int64_t half);

private:
  using Series = std::array<double, seriesTerms>;

  /// Adds the coefficients of (v - x) * log(v - x).
  static void addTerms(double v, Series &series) {
    series[0] += v * std::log(v);
    series[1] -= std::log(v) + 1;
    double power = 1;
    for (int k = 2; k < seriesTerms; ++k) {
      power /= v;
      series[k] += power / (k * (k - 1));
    }
  }
  /// The sum of (v - taken) * log(v - taken) over the counts that aren't zero.
  double sumOfLogs(int64_t from, int64_t to, double taken) const;

  double sumOf(int64_t from, int64_t to) const {
    return before[to] - before[from];
  }

  llvm::ArrayRef<int64_t> counts;
  int64_t quantizedBins;
  /// The sum of counts before a bin.
  std::vector<double> before;
  std::vector<int64_t> nonzeroBefore;
  std::vector<Series> seriesBefore;
};

} // namespace

static double timesLog(double value) { return value * std::log(value); }

double EntropySearch::sumOfLogs(int64_t from, int64_t to, double taken) const {
  double result = 0;
  if (taken > largestTaken) {
    for (int64_t bin = from; bin < to; ++bin)
      if (counts[bin] != 0)
        result += timesLog(static_cast<double>(counts[bin]) - taken);
    return result;
  }
  for (int k = seriesTerms - 1; k >= 0; --k)
    result = result * taken + seriesBefore[to][k] - seriesBefore[from][k];
  return result;
}

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
    int64_t number = nonzeroBefore[to] - nonzeroBefore[from];
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
    // The ends, to which p adds what lies outside, stand for themselves.
    int64_t first = from + (from == begin), last = to - (to == end);
    double logs = sumOfLogs(first, std::max(first, last), lessP);
    double rest = sumOf(from, to);
    for (int64_t bin : {begin, end - 1}) {
      if (bin < from || bin >= to)
        continue;
      rest += p(bin) - static_cast<double>(counts[bin]);
      if (p(bin) != 0)
        logs += timesLog(p(bin) - lessP);
    }
    rest -= static_cast<double>(number) * lessP;
    result += logs + rest * std::log(scale / q);
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
