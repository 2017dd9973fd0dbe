// From a float model to a quantized one: the stages in order.

#ifndef ONNXQUANT_PIPELINES_QUANTIZE_H
#define ONNXQUANT_PIPELINES_QUANTIZE_H

#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

namespace onnxquant {

/// Where a model's ranges come from.
enum class RangeSource {
  /// It has them, or needs none.
  None,
  /// Samples are run through it.
  Samples,
  /// The table of an earlier calibration.
  Table
};

struct QuantizePipelineOptions {
  /// Prepare the model first.
  bool preprocess = true;
  RangeSource ranges = RangeSource::None;
  /// The samples, and what is counted of them; algorithms that read samples
  /// themselves run them as well.
  CollectOptions collect;
  LoadCalibrationOptions load;
  QuantizeOptions quantize;
  std::function<void(const QuantizeReport &)> sink;
  /// Told how many samples were run, and how many skipped; may be null.
  std::function<void(int64_t samples, int64_t skipped)> ran;
};

/// Prepares a float model, as all do that quantize or calibrate, so that their
/// tensors are the same; without `preprocess`, only shapes are inferred. No
/// node is made that the opset `maxOpset` doesn't have; 0 is any.
llvm::Error buildPreparation(mlir::OpPassManager &pm, bool preprocess,
                             int64_t maxOpset = 0);

/// Does that to a copy of a float model and says nothing; null if it fails.
mlir::OwningOpRef<mlir::ModuleOp> makePreparedCopy(mlir::ModuleOp module);

/// Preparation, calibration, quantization: the stages of `onnxq quantize`.
llvm::Error buildQuantizePipeline(mlir::OpPassManager &pm,
                                  const QuantizePipelineOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_QUANTIZE_H
