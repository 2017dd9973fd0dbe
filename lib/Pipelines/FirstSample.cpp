// The shapes of a model with its first sample.
//
// A model is compiled for dynamic sizes where samples differ in theirs, which
// takes long, and only a run finds that a size doesn't go. Shape inference
// finds most of that in no time.

#include "OnnxQuant/Pipelines/FirstSample.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace onnxquant;

LogicalResult onnxquant::checkFirstSample(ModuleOp module, DataOptions data) {
  // Whoever runs the samples tells of them, and of those that can't be read.
  data.note = nullptr;
  auto inputs = graphInputs(module);
  if (data.source || failed(inputs))
    return success();
  auto set = DataSet::open(data, *inputs);
  if (!set || set->isUniform() || set->isStream() || !set->has(0)) {
    llvm::consumeError(set.takeError());
    return success();
  }
  auto sample = set->load(0);
  if (!sample) {
    llvm::consumeError(sample.takeError());
    return success();
  }
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  auto graph = findGraph(*copy);
  if (failed(graph))
    return failure();
  CompileContext context(*set, {0}, *sample, module.getContext());
  specializeInputs(*graph, *sample, /*keepFirst=*/data.batch > 1);
  PassManager pm(module.getContext());
  pm.addPass(createShapeInference());
  return pm.run(*copy);
}
