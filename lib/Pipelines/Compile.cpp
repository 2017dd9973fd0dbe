// The order of passes from a graph to the LLVM dialect, and compilation.

#include "OnnxQuant/Pipelines/Compile.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace onnxquant;

/// Tensors become buffers, updated in place where nothing reads the old value.
static void addBufferization(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void onnxquant::buildONNXToLoopsPipeline(OpPassManager &pm,
                                         const CompileOptions &options) {
  pm.addPass(createShapeInference());
  pm.addPass(createConvertONNXToLinalg());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLinalgElementwiseOpFusionPass());
  pm.addPass(createCSEPass());
  addBufferization(pm);
  pm.addPass(createPlanMemory());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createLowerCopies());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void onnxquant::buildONNXToLLVMPipeline(OpPassManager &pm,
                                        const CompileOptions &options) {
  buildONNXToLoopsPipeline(pm, options);
  if (options.checkBounds)
    pm.addPass(createCheckBounds());
  pm.addPass(createLowerChecks());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  EmitEntryPointOptions entry;
  entry.name = options.name;
  entry.library = options.library;
  pm.addPass(createEmitEntryPoint(entry));
}

namespace {
/// The pipeline's options in pass syntax.
struct LLVMPipelineOptions : public PassPipelineOptions<LLVMPipelineOptions> {
  Option<std::string> name{*this, "name", llvm::cl::init("model"),
                           llvm::cl::desc("prefix of the emitted symbols")};
  Option<bool> library{*this, "library", llvm::cl::init(false),
                       llvm::cl::desc("emit onnxq_get_model too")};
  Option<bool> checkBounds{*this, "check-bounds", llvm::cl::init(false),
                           llvm::cl::desc("check every access to a buffer")};
};
} // namespace

void onnxquant::registerCompilePipelines() {
  PassPipelineRegistration<LLVMPipelineOptions>(
      "onnx-to-llvm", "lower a model to the LLVM dialect",
      [](OpPassManager &pm, const LLVMPipelineOptions &options) {
        CompileOptions compile;
        compile.name = options.name;
        compile.library = options.library;
        compile.checkBounds = options.checkBounds;
        buildONNXToLLVMPipeline(pm, compile);
      });
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
onnxquant::compileModule(ModuleOp module, OutputKind kind,
                         const CompileOptions &options) {
  PassManager pm(module.getContext());
  buildONNXToLLVMPipeline(pm, options);
  if (failed(pm.run(module)))
    return failure();
  llvm::LLVMContext context;
  auto translated = translateModule(module, context, options.target);
  if (!translated)
    return module.emitError() << llvm::toString(translated.takeError());
  auto emitted = emitModule(**translated, kind, options.target);
  if (!emitted)
    return module.emitError() << llvm::toString(emitted.takeError());
  return std::move(*emitted);
}

FailureOr<std::unique_ptr<LoadedObject>>
onnxquant::compileAndLoad(ModuleOp module, const CompileOptions &options) {
  auto object = compileModule(module, OutputKind::Object, options);
  if (failed(object))
    return failure();
  auto loaded = LoadedObject::load(std::move(*object), options.name);
  if (!loaded)
    return module.emitError() << llvm::toString(loaded.takeError());
  return std::move(*loaded);
}
