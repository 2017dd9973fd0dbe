// From a float model to a quantized one: the stages in order.

#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"

using namespace mlir;
using namespace onnxquant;

llvm::Error onnxquant::buildPreparation(OpPassManager &pm, bool preprocess,
                                        int64_t maxOpset) {
  if (preprocess) {
    PreprocessOptions options;
    options.executor = createFoldingExecutor;
    options.maxOpset = maxOpset;
    return buildPreprocessPipeline(pm, options);
  }
  pm.addPass(createShapeInference());
  return llvm::Error::success();
}

OwningOpRef<ModuleOp> onnxquant::makePreparedCopy(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  PassManager pm(module.getContext());
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  if (llvm::Error error = buildPreparation(pm, /*preprocess=*/true)) {
    llvm::consumeError(std::move(error));
    return {};
  }
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}

llvm::Error
onnxquant::buildQuantizePipeline(OpPassManager &pm,
                                 const QuantizePipelineOptions &options) {
  if (llvm::Error error =
          buildPreparation(pm, options.preprocess, options.quantize.maxOpset))
    return error;
  if (options.addCalibration)
    options.addCalibration(pm);
  pm.addPass(
      createQuantize(options.quantize, options.sink, options.covariances));
  return llvm::Error::success();
}
