// From a float model to a quantized one: the stages in order.

#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Pipelines/FirstSample.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Transforms/Calibrate/Covariance.h"

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

static std::unique_ptr<Executor> makeExecutor() {
  return createCalibrationExecutor();
}

namespace {
/// Refuses samples whose sizes don't go together in the model, before it is
/// compiled for them.
struct CheckFirstSample
    : PassWrapper<CheckFirstSample, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckFirstSample)
  explicit CheckFirstSample(const DataOptions &data) : data(data) {}
  void runOnOperation() override {
    if (failed(checkFirstSample(getOperation(), data)))
      signalPassFailure();
  }
  DataOptions data;
};
} // namespace

/// Samples are run through an instrumented copy of the model. Weights only
/// need no ranges: then a few samples are run to compare outputs later.
static void addSamples(OpPassManager &pm,
                       const QuantizePipelineOptions &options) {
  CalibrationRun run;
  run.collect = options.collect;
  if (options.ran)
    run.done = [ran = options.ran](const StatisticsTable &table) {
      ran(table.samples, table.skipped);
    };
  if (options.quantize.weightOnlyBits != 0) {
    SeenRuns *seen = run.collect.seen;
    if (!seen || seen->wanted == 0)
      return;
    run.annotate = false;
    run.collect.spec.opTypes = {"MatMul", "Gemm"};
    int64_t &limit = run.collect.data.limit;
    limit = limit > 0 ? std::min(limit, seen->wanted) : seen->wanted;
  } else {
    run.choice = [quantize = options.quantize](ModuleOp module) {
      return tensorsToCalibrate(module, quantize);
    };
  }
  pm.addPass(std::make_unique<CheckFirstSample>(options.collect.data));
  pm.addPass(createCalibrate(std::move(run), makeExecutor));
}

/// The stage that gives the model ranges.
static void addCalibration(OpPassManager &pm,
                           const QuantizePipelineOptions &options) {
  switch (options.ranges) {
  case RangeSource::None:
    return;
  case RangeSource::Samples:
    return addSamples(pm, options);
  case RangeSource::Table:
    pm.addPass(createLoadCalibration(
        options.load, [quantize = options.quantize](ModuleOp module) {
          return tensorsToCalibrate(module, quantize);
        }));
  }
}

/// How the inputs of products go together, for algorithms that ask for it.
static CovarianceSource
makeCovarianceSource(const QuantizePipelineOptions &options) {
  if (!needsCovariances(options.quantize))
    return {};
  return [collect = options.collect, ran = options.ran](
             ModuleOp module,
             const std::set<std::string> &names) -> FailureOr<Covariances> {
    int64_t samples = 0;
    auto covariances =
        collectCovariances(module, names, *makeExecutor(), collect, &samples);
    if (succeeded(covariances) && ran)
      ran(samples, 0);
    return covariances;
  };
}

llvm::Error
onnxquant::buildQuantizePipeline(OpPassManager &pm,
                                 const QuantizePipelineOptions &options) {
  if (llvm::Error error =
          buildPreparation(pm, options.preprocess, options.quantize.maxOpset))
    return error;
  addCalibration(pm, options);
  pm.addPass(createQuantize(options.quantize, options.sink,
                            makeCovarianceSource(options)));
  return llvm::Error::success();
}
