// From a float model to a quantized one: the stages in order.

#ifndef ONNXQUANT_PIPELINES_QUANTIZE_H
#define ONNXQUANT_PIPELINES_QUANTIZE_H

#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

namespace onnxquant {

struct QuantizePipelineOptions {
  /// Prepare the model first.
  bool preprocess = true;
  /// Adds the stage that gives the model ranges; none if it has them, or needs
  /// none.
  std::function<void(mlir::OpPassManager &)> addCalibration;
  QuantizeOptions quantize;
  std::function<void(const QuantizeReport &)> sink;
  /// For algorithms that read samples.
  CovarianceSource covariances;
};

/// Prepares a float model, as all do that quantize or calibrate, so that their
/// tensors are the same; without `preprocess`, only shapes are inferred. No
/// node is made that the opset `maxOpset` doesn't have; 0 is any.
llvm::Error buildPreparation(mlir::OpPassManager &pm, bool preprocess,
                             int64_t maxOpset = 0);

/// Does that to a copy of a float model and says nothing; null if it fails.
mlir::OwningOpRef<mlir::ModuleOp> makePreparedCopy(mlir::ModuleOp module);

/// Preparation, ranges, quantization.
llvm::Error buildQuantizePipeline(mlir::OpPassManager &pm,
                                  const QuantizePipelineOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_QUANTIZE_H
