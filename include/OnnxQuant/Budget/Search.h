// Finds the fastest model within bounds: which tensors have 16 bits, which
// weights a scale for each channel, and which layers stay float.
//
// The error of each tensor and weight alone, measured by one compiled model
// with switches, and the time of each layer in each form give an order of
// changes; real models along it are judged on samples held back.

#ifndef ONNXQUANT_BUDGET_SEARCH_H
#define ONNXQUANT_BUDGET_SEARCH_H

#include "OnnxQuant/Budget/Bounds.h"
#include "OnnxQuant/Budget/Costs.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxquant::budget {

struct Result;

struct Request {
  /// The options to begin with; those of the budget are left out.
  QuantizeOptions quantize;
  Bounds bounds;
  /// How ranges are found, with all samples: the search takes its parts of
  /// them.
  CollectOptions collect;
  /// The processor that time counts on; empty: this one.
  std::string target;
  /// A file to continue from and to write to, empty for none, and what says
  /// that it is of the same model and data.
  std::string checkpoint, identity;
  /// Gets what there is with each model that keeps the bounds better than those
  /// before: what to end with if the search is cut off there. Failures end the
  /// search; their errors are diagnostics.
  std::function<llvm::LogicalResult(const Result &)> found;
};

/// A model on the way.
struct Point {
  /// How many moves were made, and what they come to.
  int64_t place = 0, wide = 0, finer = 0, floats = 0;
  /// Beside all 8 bits, by the times of its layers.
  double relativeTime = 1;
  /// A run, where that was measured.
  std::optional<double> milliseconds;
  std::optional<Score> score;
};

struct Result {
  Bounds bounds;
  int64_t calibration = 0, heldBack = 0;
  /// Of those for calibration: how many were run, and how many couldn't be
  /// read.
  int64_t run = 0, skipped = 0;
  /// Whether times are of this processor, and how the other is called.
  bool isMeasured = true;
  std::string target;
  int64_t sensitivityRuns = 0, judged = 0, tensors = 0, layers = 0;
  /// Models that were judged, in their order; the float model's time.
  std::vector<Point> points;
  std::optional<double> floatMilliseconds;
  double floatTime = 1;
  /// What is expected along the way: time beside all 8 bits, decibels.
  std::vector<std::pair<double, double>> curve;
  /// The one that was chosen, by its index; none if there is no such.
  std::optional<size_t> chosen;
  /// The options of the chosen model, without a report.
  QuantizeOptions options;
  std::vector<std::string> wideTensors, finerWeights, floatNodes;
  /// Why no model keeps the bounds; empty if one does.
  std::string reason;
  std::vector<std::string> notes;
  bool wasInterrupted = false;

  llvm::json::Value toJson() const;
  void print(llvm::raw_ostream &os) const;
  /// A page with the frontier as a drawing.
  std::string toHtml(llvm::StringRef model) const;
};

/// Writes what a search found: a page, where the file is called so, or JSON
/// with what became of each node.
llvm::Error writeReport(llvm::StringRef path, llvm::StringRef model,
                        const QuantizeReport &report, const Result &result);

/// Whether options can be searched with, whatever the model; errors name what
/// is wrong.
llvm::Error checkRequest(const QuantizeOptions &options, bool hasData,
                         bool hasTable);

/// Searches. The module is a prepared float model, and gets the ranges of its
/// tensors. Errors are diagnostics; bounds that can't be met, and interrupts
/// behind calibration, are none.
llvm::FailureOr<Result> search(mlir::ModuleOp module, const Request &request);

} // namespace onnxquant::budget

#endif // ONNXQUANT_BUDGET_SEARCH_H
