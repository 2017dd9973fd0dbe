// Calibration methods: from statistics to ranges.

#ifndef ONNXQUANT_STATISTICS_METHODS_H
#define ONNXQUANT_STATISTICS_METHODS_H

#include "OnnxQuant/Statistics/Statistics.h"

namespace onnxquant {

enum class CalibrationMethod {
  MinMax,
  Average,
  MovingAverage,
  Entropy,
  Percentile,
  Mse,
  Distribution
};

struct MethodOptions {
  CalibrationMethod method = CalibrationMethod::MinMax;
  /// Levels that the entropy method compares with.
  int64_t quantizedBins = 128;
  /// Percentage of values within the range.
  double percentile = 99.999;
  /// Levels of the grid that the mse method rounds to.
  int64_t levels = 256;
  bool symmetric = false;
};

struct Range {
  double min = 0, max = 0;
};

/// The method of a name: minmax, average (naive), moving-average, entropy,
/// percentile, mse.
llvm::Expected<CalibrationMethod> parseMethod(llvm::StringRef name);
llvm::StringRef methodName(CalibrationMethod method);
/// Whether a method asks for histograms.
bool needsHistogram(CalibrationMethod method);
/// Refuses options out of their bounds.
llvm::Error checkOptions(const MethodOptions &options);

/// The range of a tensor that has values. Fails if the statistics lack what the
/// method needs.
llvm::Expected<Range> computeRange(const TensorStatistics &statistics,
                                   const MethodOptions &options);

/// The half-width, in bins, of the slice around zero whose quantized form is
/// closest to the histogram by Kullback-Leibler divergence. `limit` is the
/// largest half-width that is tried.
int64_t entropyThreshold(llvm::ArrayRef<int64_t> counts, int64_t quantizedBins,
                         int64_t limit);

} // namespace onnxquant

#endif // ONNXQUANT_STATISTICS_METHODS_H
