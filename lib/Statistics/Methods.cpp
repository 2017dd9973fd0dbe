// Ranges by extremes, averages and percentiles; the way to the other methods.

#include "OnnxQuant/Statistics/Methods.h"
#include "MethodSupport.h"
#include "OnnxQuant/Support/Quantization.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static constexpr std::pair<StringLiteral, CalibrationMethod> names[] = {
    {"minmax", CalibrationMethod::MinMax},
    {"average", CalibrationMethod::Average},
    {"moving-average", CalibrationMethod::MovingAverage},
    {"entropy", CalibrationMethod::Entropy},
    {"percentile", CalibrationMethod::Percentile},
    {"mse", CalibrationMethod::Mse},
    {"distribution", CalibrationMethod::Distribution},
    // The name that an early tool gave to averages of samples' extremes.
    {"naive", CalibrationMethod::Average},
};

Expected<CalibrationMethod> onnxquant::parseMethod(StringRef name) {
  for (auto [known, method] : names)
    if (known == name)
      return method;
  return fail("method expects minmax, average, moving-average, entropy, "
              "percentile, mse or distribution, but got '" +
              name + "'");
}

StringRef onnxquant::methodName(CalibrationMethod method) {
  for (auto [name, known] : names)
    if (known == method)
      return name;
  return "";
}

bool onnxquant::needsHistogram(CalibrationMethod method) {
  return method == CalibrationMethod::Entropy ||
         method == CalibrationMethod::Percentile ||
         method == CalibrationMethod::Mse ||
         method == CalibrationMethod::Distribution;
}

Error onnxquant::checkOptions(const MethodOptions &options) {
  if (options.quantizedBins < 2 || options.quantizedBins > 65536)
    return fail("quantized-bins expects a number from 2 to 65536, but got " +
                Twine(options.quantizedBins));
  if (!(options.percentile > 0 && options.percentile <= 100))
    return fail(formatv("percentile expects a number above 0 and up to 100, "
                        "but got {0}",
                        options.percentile)
                    .str());
  if (options.levels < 2 || options.levels > 65536)
    return fail("levels expects a number from 2 to 65536, but got " +
                Twine(options.levels));
  return Error::success();
}

/// Cuts the same share of values off each side.
static Range percentileRange(const Histogram &histogram, double percentile) {
  auto total = static_cast<double>(histogram.total());
  double cut = (100.0 - percentile) / 200.0;
  Range range;
  int64_t seen = 0, bin = 0;
  // The first bin that the lower share reaches, and the first at which all but
  // the upper share is seen.
  for (; bin < histogram.bins(); ++bin) {
    seen += histogram.counts[bin];
    if (seen > 0 && static_cast<double>(seen) >= cut * total)
      break;
  }
  range.min = histogram.edge(bin);
  for (; bin < histogram.bins(); ++bin) {
    if (static_cast<double>(seen) >= (1 - cut) * total)
      break;
    if (bin + 1 < histogram.bins())
      seen += histogram.counts[bin + 1];
  }
  range.max = histogram.edge(std::min(bin, histogram.bins() - 1) + 1);
  return range;
}

static Range entropyRange(const TensorStatistics &statistics,
                          int64_t quantizedBins) {
  const Histogram &histogram = statistics.histogram;
  double top = std::max(std::fabs(static_cast<double>(statistics.min)),
                        std::fabs(static_cast<double>(statistics.max)));
  auto limit = static_cast<int64_t>(std::floor(top / histogram.width())) + 1;
  limit = std::min(limit, histogram.bins() / 2);
  int64_t half = entropyThreshold(histogram.counts, quantizedBins, limit);
  double edge = static_cast<double>(half) * histogram.width();
  return {-edge, edge};
}

/// The range that float8 numbers have when they deviate as much.
static Range distributionRange(const Histogram &histogram) {
  double count = 0, sum = 0, squares = 0;
  for (int64_t bin = 0; bin < histogram.bins(); ++bin) {
    auto seen = static_cast<double>(histogram.counts[bin]);
    double middle = (histogram.edge(bin) + histogram.edge(bin + 1)) / 2;
    count += seen;
    sum += seen * middle;
    squares += seen * middle * middle;
  }
  double mean = sum / count;
  double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  double top = deviation * float8Greatest / float8Deviation;
  return {-top, top};
}

static Expected<Range> rangeOf(const TensorStatistics &statistics,
                               const MethodOptions &options) {
  Range extremes = {statistics.min, statistics.max};
  if (needsHistogram(options.method) && statistics.histogram.empty())
    return fail("has no histogram, which method " + methodName(options.method) +
                " needs");
  switch (options.method) {
  case CalibrationMethod::MinMax:
    return extremes;
  case CalibrationMethod::Average: {
    auto samples =
        static_cast<double>(std::max<int64_t>(statistics.samples, 1));
    return Range{statistics.minSum.toDouble() / samples,
                 statistics.maxSum.toDouble() / samples};
  }
  case CalibrationMethod::MovingAverage:
    if (!statistics.moving)
      return fail("has no moving average: it follows the order of samples and "
                  "must be asked for when they are run");
    return Range{statistics.moving->min, statistics.moving->max};
  case CalibrationMethod::Entropy:
    return entropyRange(statistics, options.quantizedBins);
  case CalibrationMethod::Percentile:
    return percentileRange(statistics.histogram, options.percentile);
  case CalibrationMethod::Mse:
    return mseRange(statistics, options);
  case CalibrationMethod::Distribution:
    return distributionRange(statistics.histogram);
  }
  return extremes;
}

Expected<Range> onnxquant::computeRange(const TensorStatistics &statistics,
                                        const MethodOptions &options) {
  if (statistics.count == 0)
    return fail("has no values");
  Expected<Range> range = rangeOf(statistics, options);
  if (!range)
    return range.takeError();
  if (options.method == CalibrationMethod::Distribution)
    return range;
  // Never beyond what was seen.
  range->min = std::max<double>(range->min, statistics.min);
  range->max = std::min<double>(range->max, statistics.max);
  if (range->min > range->max)
    *range = {statistics.min, statistics.max};
  if (options.symmetric) {
    double top = std::max(std::fabs(range->min), std::fabs(range->max));
    *range = {-top, top};
  }
  return range;
}
