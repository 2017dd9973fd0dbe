// How much a quantized model may lose, and how long it may take.

#ifndef ONNXQUANT_BUDGET_BOUNDS_H
#define ONNXQUANT_BUDGET_BOUNDS_H

#include "OnnxQuant/Budget/Choice.h"
#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"

namespace onnxquant::budget {

struct Bounds {
  /// Decibels; shares; milliseconds.
  std::optional<double> minSqnr, minAgreement, maxDrop, maxLatency;
  /// What may drop: `top1`, `top5` or `coco`.
  std::string metric;
  std::string labels;
  std::optional<BoxFormat> boxes;

  bool boundsLoss() const { return minSqnr || minAgreement || maxDrop; }
  /// What has to be computed to tell.
  Metrics metrics() const;
};

/// The bounds among the options of quantization; none if there are none. Errors
/// name the option.
llvm::Expected<std::optional<Bounds>>
readBounds(const QuantizeOptions &options);

/// A model beside the float one, on samples held back.
struct Score {
  int64_t samples = 0;
  /// What the agreement is a share of.
  int64_t rows = 0;
  double sqnr = 0;
  std::optional<double> agreement;
  /// Of the metric of `maxDrop`: the float model's share, this one's, and, of
  /// classes, what the difference may be.
  std::optional<double> reference, own;
  std::optional<Interval> interval;
  /// What the decibels and the agreement are in 95 of 100 such sets of samples.
  std::optional<Interval> sqnrInterval, agreementInterval;

  std::optional<double> drop() const {
    return own ? std::optional(*reference - *own) : std::nullopt;
  }
};
Score readScore(const EvaluationResult &result, const Bounds &bounds);

/// Whether nothing is lost beyond the bounds; time isn't looked at.
bool holds(const Score &score, const Bounds &bounds);
/// What is asked for, and what a score has of that.
std::string describe(const Bounds &bounds);
std::string describe(const Score &score, const Bounds &bounds);
/// Why so many samples are too few to tell, and so many rows; empty if they
/// aren't.
std::string tooFew(const Bounds &bounds, int64_t samples);
std::string tooFewRows(const Bounds &bounds, int64_t rows);
/// What the samples of a score can't exclude beyond the bounds; empty if
/// nothing.
std::vector<std::string> doubts(const Score &score, const Bounds &bounds);

} // namespace onnxquant::budget

#endif // ONNXQUANT_BUDGET_BOUNDS_H
