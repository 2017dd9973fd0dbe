// What a quantization ends with: what was seen, what it is worth, what is next.

#ifndef ONNXQUANT_TOOLS_ONNXQ_QUANTIZESUMMARY_H
#define ONNXQUANT_TOOLS_ONNXQ_QUANTIZESUMMARY_H

#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Quantize/Report.h"
#include "llvm/Support/JSON.h"

namespace onnxquant::cli {

/// Names of inputs whose values the graph itself scales or shifts first: raw
/// pixels are what such a model expects.
std::set<std::string> normalizedInputs(mlir::ModuleOp module);

/// Lines on samples and on the ranges of inputs, and what is odd about them.
void printSeen(llvm::raw_ostream &os, const SeenRuns &seen, int64_t samples,
               int64_t skipped, const std::set<std::string> &normalized);

/// The same as JSON.
llvm::json::Object seenToJson(const SeenRuns &seen, int64_t samples,
                              int64_t skipped);

/// How far an output is from the float model's.
struct OutputLikeness {
  std::string name;
  double decibels = 0;
};

struct QuantizeSummary {
  QuantizeReport report;
  IntegerShare share;
  /// Empty if nothing was compared, or the reason why it couldn't be.
  std::vector<OutputLikeness> outputs;
  int64_t comparedSamples = 0;
  std::string notCompared;
  /// Where ONNX Runtime would saturate; empty if it doesn't.
  std::string saturation;
  std::string path;
  int64_t bytes = 0, bytesBefore = 0;
  double seconds = 0;
  /// Commands to go on with.
  std::vector<std::string> next;

  /// Runs a quantized model on samples of the calibration, and compares its
  /// outputs with those of the float one. The module stays as it is.
  void compare(mlir::ModuleOp quantized, const SeenRuns &seen,
               Executor &executor);
  /// Counts products, for the shapes of the samples if there are some.
  void count(mlir::ModuleOp quantized, const SeenRuns &seen);
  /// The least of the outputs' likenesses, if there is one.
  std::optional<double> worst() const;
  void print(llvm::raw_ostream &os, bool verbose) const;
  /// Adds it to JSON of what was seen.
  void addTo(llvm::json::Object &root) const;
};

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_QUANTIZESUMMARY_H
