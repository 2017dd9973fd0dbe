// Prepares, calibrates, quantizes and measures.

#include "SensitivityRun.h"
#include "OnnxQuant/Pipelines/FirstSample.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Prepares a model and gives it ranges.
static LogicalResult calibrate(ModuleOp module, Executor &executor,
                               SensitivityJob &job) {
  PassManager pm(module.getContext());
  if (llvm::Error error = buildPreparation(pm, !job.skipPreprocess))
    return module.emitError() << llvm::toString(std::move(error));
  if (!job.load.table.empty())
    pm.addPass(createLoadCalibration(job.load, [&job](ModuleOp module) {
      return tensorsToCalibrate(module, job.quantize);
    }));
  if (failed(pm.run(module)))
    return failure();
  if (!job.load.table.empty() || job.quantize.dynamic)
    return success();
  if (failed(checkFirstSample(module, job.collect.data)))
    return failure();
  auto statistics = collectStatistics(module, executor, job.collect);
  if (failed(statistics))
    return failure();
  return annotate(module, *statistics, job.collect.method,
                  /*perChannel=*/true);
}

FailureOr<SensitivityResult>
onnxquant::cli::runSensitivity(ModuleOp real, SensitivityJob &job) {
  // The graphs are prepared where they should be, and look at every tensor.
  CompileOptions compile;
  compile.prepare = false;
  std::unique_ptr<Executor> executor = createJitExecutor(compile);
  if (failed(calibrate(real, *executor, job)))
    return failure();
  numberNodes(real);
  OwningOpRef<ModuleOp> quant(cast<ModuleOp>(real->clone()));
  PassManager pm(real.getContext());
  pm.addPass(createQuantize(job.quantize, nullptr));
  if (failed(pm.run(*quant)))
    return failure();
  // Layers that are switched off have the factors of their channels, too.
  applyScaledTensors(real, readScaledTensors(*quant));
  return measureSensitivity(real, *quant, *executor, job.options);
}
