// From a float model to a quantized one: the stages in order.

#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"

using namespace mlir;
using namespace onnxquant;

llvm::Error
onnxquant::buildQuantizePipeline(OpPassManager &pm,
                                 const QuantizePipelineOptions &options) {
  if (options.preprocess) {
    PreprocessOptions preprocess;
    preprocess.executor = createFoldingExecutor;
    if (llvm::Error error = buildPreprocessPipeline(pm, preprocess))
      return error;
  } else {
    pm.addPass(createShapeInference());
  }
  if (options.addCalibration)
    options.addCalibration(pm);
  pm.addPass(createQuantize(options.quantize, options.sink));
  return llvm::Error::success();
}
