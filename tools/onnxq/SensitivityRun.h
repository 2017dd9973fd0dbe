// Measuring the sensitivity of a model's layers, for the verbs that do.

#ifndef ONNXQUANT_TOOLS_ONNXQ_SENSITIVITYRUN_H
#define ONNXQUANT_TOOLS_ONNXQ_SENSITIVITYRUN_H

#include "OnnxQuant/Debugging/Sensitivity.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"

namespace onnxquant::cli {

struct SensitivityJob {
  bool skipPreprocess = false;
  QuantizeOptions quantize;
  LoadCalibrationOptions load;
  CollectOptions collect;
  SensitivityOptions options;
};

/// Prepares a float model (which is consumed), gives it ranges, quantizes a
/// copy and measures. Errors are diagnostics.
llvm::FailureOr<SensitivityResult> runSensitivity(mlir::ModuleOp real,
                                                  SensitivityJob &job);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_SENSITIVITYRUN_H
