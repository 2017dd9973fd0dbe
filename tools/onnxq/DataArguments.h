// The options of verbs that read samples.

#ifndef ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H

#include "Arguments.h"
#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"

namespace onnxquant {
struct CollectOptions;
} // namespace onnxquant

namespace onnxquant::cli {

/// What is given for `--data` and the options beside it.
struct DataArguments {
  CalibrateOptions given;
  /// Complete when `finish` is done; paths are there before.
  DataOptions options;

  /// Declares `--data`, what goes with it, and further groups of the options of
  /// `onnx-calibrate`.
  void declare(Arguments &arguments,
               llvm::ArrayRef<llvm::StringRef> groups = {});
  /// Completes and checks `options`, and loads a plug-in. What is done to data
  /// unasked is told on standard error unless `quiet`.
  llvm::Error finish(bool quiet = false);
  /// The same of all that a calibration takes.
  llvm::Error finish(CollectOptions &collect);
  /// Whether an option is one of those beside `--data`.
  static bool isOfData(const OptionInfo &option);

private:
  llvm::Error complete(bool quiet);
  /// Options of one way to choose ranges mean nothing with another.
  llvm::Error checkMethod(const CollectOptions &collect) const;

  const Arguments *declared = nullptr;
};

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H
