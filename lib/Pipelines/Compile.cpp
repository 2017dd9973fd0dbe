// The order of passes from a graph to the LLVM dialect, and compilation.

#include "OnnxQuant/Pipelines/Compile.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "OnnxQuant/Target/Header.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "OnnxQuant/Transforms/Layout/Passes.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "onnxquant-c/runtime.h"

using namespace mlir;
using namespace onnxquant;

/// What a runtime does to a model when it loads it. What was folded into code
/// needs no names or opsets of its own, so nothing is left out.
static void addPreparation(OpPassManager &pm) {
  PreprocessOptions options;
  options.executor = createFoldingExecutor;
  llvm::cantFail(buildPreprocessPipeline(pm, options));
  pm.addPass(createMoveBytes());
  pm.addPass(createTabulate());
  pm.addPass(createFoldConstants(createFoldingExecutor));
}

/// Tensors become buffers, updated in place where nothing reads the old value.
static void addBufferization(OpPassManager &pm) {
  pm.addPass(createGroupReaders());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCopyStridedCasts());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// What happens to the graph while it is one of the `onnx` dialect.
static void addGraphPasses(OpPassManager &pm, const CompileOptions &options) {
  SetTargetOptions target;
  target.triple = options.target.triple;
  target.cpu = options.target.cpu;
  target.features = options.target.features;
  pm.addPass(createSetTarget(target));
  if (options.prepare)
    addPreparation(pm);
  else
    pm.addPass(createShapeInference());
  pm.addPass(createResolveBranches());
  pm.addPass(createVerifyRunnable());
}

/// From the `onnx` dialect to calls of kernels on buffers that have places.
static void addKernelPasses(OpPassManager &pm, const CompileOptions &options) {
  ConvertQuantizedToKernelsOptions quantized;
  quantized.report = options.kernelReport == KernelReport::Nodes;
  pm.addPass(createConvertQuantizedToKernels(quantized));
  ConvertONNXToKernelsOptions kernels;
  kernels.report = quantized.report;
  pm.addPass(createConvertONNXToKernels(kernels));
  pm.addPass(createPropagateLayout());
  ConvertONNXToLinalgOptions lowering;
  lowering.maxIterations = options.maxIterations;
  pm.addPass(createConvertONNXToLinalg(lowering));
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createMergeEqual());
  pm.addPass(createFuseElementwise());
  pm.addPass(createFuseEpilogue());
  pm.addPass(createFoldRequantize());
  PackWeightsOptions packing;
  packing.winograd = options.winograd;
  pm.addPass(createPackWeights(packing));
  pm.addPass(createMergeEqual());
  addBufferization(pm);
  pm.addPass(createHoistChecks());
  pm.addPass(createFuseObservers());
  pm.addPass(createCarryInPlace());
  pm.addPass(createExpandAtLoad());
  pm.addPass(createOutlineKernels());
  PlanMemoryOptions plan;
  plan.report = options.reportMemory;
  plan.maxBytes = options.maxMemory;
  pm.addPass(createPlanMemory(plan));
  if (options.profile)
    pm.addPass(createProfileKernels());
}

/// The same for a microcontroller: no kernels, but loops that compute each
/// element from beginning to end.
static void addBarePasses(OpPassManager &pm, const CompileOptions &options) {
  ConvertONNXToLinalgOptions lowering;
  lowering.bare = true;
  lowering.maxIterations = options.maxIterations;
  pm.addPass(createConvertONNXToLinalg(lowering));
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createMergeEqual());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  FuseElementwiseOptions fusion;
  fusion.bare = true;
  pm.addPass(createFuseElementwise(fusion));
  pm.addPass(createMergeEqual());
  addBufferization(pm);
  pm.addPass(createHoistChecks());
  pm.addPass(createOutlineKernels());
  PlanMemoryOptions plan;
  plan.report = options.reportMemory;
  plan.maxBytes = options.maxMemory;
  pm.addPass(createPlanMemory(plan));
}

void onnxquant::buildONNXToKernelsPipeline(OpPassManager &pm,
                                           const CompileOptions &options) {
  addGraphPasses(pm, options);
  if (isBare(options.target))
    addBarePasses(pm, options);
  else
    addKernelPasses(pm, options);
}

/// From calls of kernels to loops over buffers.
static void addLoopPasses(OpPassManager &pm, const CompileOptions &options) {
  if (!isBare(options.target)) {
    LowerKernelsOptions kernels;
    kernels.threads = options.threads;
    kernels.checkBounds = options.checkBounds;
    pm.addPass(createLowerKernels(kernels));
    pm.addPass(createLowerTransposes());
  }
  pm.addPass(createLowerRequantize());
  if (options.threads > 1)
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  else
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createLowerCopies());
  ParallelizeOptions parallelize;
  // A check that fails leaves the run, which only the run's own thread can do.
  parallelize.threads = options.checkBounds ? 1 : options.threads;
  pm.addPass(createParallelize(parallelize));
  // What looks at one function at a time does so in several threads.
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  pm.addPass(createLowerTables());
  VectorizeReductionsOptions reductions;
  reductions.floats = isBare(options.target);
  pm.addPass(createVectorizeReductions(reductions));
  pm.addPass(createVerifyLowered());
}

void onnxquant::buildONNXToLoopsPipeline(OpPassManager &pm,
                                         const CompileOptions &options) {
  buildONNXToKernelsPipeline(pm, options);
  addLoopPasses(pm, options);
}

/// From loops over buffers to the LLVM dialect.
static void addLLVMPasses(OpPassManager &pm, const CompileOptions &options) {
  ExpandMathOptions math;
  math.fma = hasFusedMultiplyAdd(options.target);
  bool bare = isBare(options.target);
  unsigned indexBits = bare ? 32 : 64;
  if (bare) {
    CheckBareOptions check;
    check.fma = math.fma;
    check.target = options.target.name;
    pm.addPass(createCheckBare(check));
  }
  pm.addPass(createExpandMath(math));
  if (bare)
    pm.addPass(createNarrowFloats());
  if (options.checkBounds)
    pm.addPass(createCheckBounds());
  pm.addPass(createLowerChecks());
  pm.addPass(createLowerObservers());
  OpPassManager &loops = pm.nest<func::FuncOp>();
  loops.addPass(memref::createExpandStridedMetadataPass());
  loops.addPass(createLowerAffinePass());
  loops.addPass(arith::createArithExpandOpsPass());
  loops.addPass(createSCFToControlFlowPass());
  loops.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  if (!bare)
    functions.addPass(createConvertVectorToLLVMPass());
  ConvertFunctionsOptions conversion;
  conversion.indexBits = indexBits;
  functions.addPass(createConvertFunctions(conversion));
  FinalizeMemRefToLLVMConversionPassOptions buffers;
  buffers.indexBitwidth = indexBits;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(buffers));
  if (options.threads > 1)
    pm.addPass(createConvertOpenMPToLLVMPass());
  ConvertFuncToLLVMPassOptions calls;
  calls.indexBitwidth = indexBits;
  pm.addPass(createConvertFuncToLLVMPass(calls));
  pm.addNestedPass<LLVM::LLVMFuncOp>(createReconcileUnrealizedCastsPass());
  EmitEntryPointOptions entry;
  entry.name = options.name;
  entry.indexBits = indexBits;
  pm.addPass(createEmitEntryPoint(entry));
}

void onnxquant::buildONNXToLLVMPipeline(OpPassManager &pm,
                                        const CompileOptions &options) {
  buildONNXToLoopsPipeline(pm, options);
  addLLVMPasses(pm, options);
}

namespace {
/// The pipeline's options in pass syntax.
struct LLVMPipelineOptions : public PassPipelineOptions<LLVMPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::init("native"),
                             llvm::cl::desc("what the code is for")};
  Option<std::string> cpu{*this, "cpu", llvm::cl::init(""),
                          llvm::cl::desc("processor, as LLVM calls it")};
  ListOption<std::string> features{
      *this, "features",
      llvm::cl::desc("features of the processor with + or -")};
  Option<int64_t> threads{*this, "threads", llvm::cl::init(1),
                          llvm::cl::desc("threads that a run uses")};
  Option<std::string> name{*this, "name", llvm::cl::init("model"),
                           llvm::cl::desc("prefix of the emitted symbols")};
  Option<bool> checkBounds{*this, "check-bounds", llvm::cl::init(false),
                           llvm::cl::desc("check every access to a buffer")};
  Option<bool> prepare{*this, "prepare", llvm::cl::init(true),
                       llvm::cl::desc("fold and fuse the graph first")};
  Option<int64_t> maxIterations{
      *this, "max-iterations", llvm::cl::init(0),
      llvm::cl::desc("iterations after which a Loop fails; 0 lets it run on")};
};
} // namespace

/// The options as the compiler has them, checked.
static FailureOr<CompileOptions>
readOptions(const LLVMPipelineOptions &options,
            function_ref<LogicalResult(const Twine &)> fail) {
  CompileOptions compile;
  auto target = parseTarget(
      options.target, options.cpu,
      llvm::join(options.features.begin(), options.features.end(), ","));
  if (!target)
    return fail(llvm::toString(target.takeError()));
  if (options.threads < 1 || options.threads > mostThreads)
    return fail("expects threads of 1 to " + Twine(mostThreads) + ", but got " +
                Twine(options.threads));
  if (options.maxIterations < 0)
    return fail("expects max-iterations of 0 or more, but got " +
                Twine(options.maxIterations));
  if (!isIdentifier(options.name))
    return fail("expects a name that C can use, but got '" +
                Twine(options.name) + "'");
  compile.target = *target;
  compile.name = options.name;
  compile.checkBounds = options.checkBounds;
  compile.prepare = options.prepare;
  compile.maxIterations = options.maxIterations;
  compile.threads = options.threads;
  return compile;
}

void onnxquant::registerCompilePipelines() {
  // Not PassPipelineRegistration: options that make no sense must be refused.
  registerPassPipeline(
      "onnx-to-llvm", "lower a model to the LLVM dialect",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> fail) -> LogicalResult {
        LLVMPipelineOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        FailureOr<CompileOptions> compile = readOptions(options, fail);
        if (failed(compile))
          return failure();
        buildONNXToLLVMPipeline(pm, *compile);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(LLVMPipelineOptions());
      });
}

LogicalResult onnxquant::lowerToLLVM(ModuleOp module,
                                     const CompileOptions &options) {
  // The graph, which comes from outside, is verified after each pass. What it
  // becomes is verified by LLVM at the end: looking at all loops after each
  // pass would take as long as the passes.
  {
    Phase preparing("preparing the graph");
    PassManager graph(module.getContext());
    addGraphPasses(graph, options);
    if (failed(graph.run(module)))
      return failure();
  }
  Phase lowering("choosing kernels");
  PassManager code(module.getContext());
#ifdef NDEBUG
  code.enableVerifier(false);
#endif
  if (isBare(options.target))
    addBarePasses(code, options);
  else
    addKernelPasses(code, options);
  addLoopPasses(code, options);
  addLLVMPasses(code, options);
  return code.run(module);
}

FailureOr<std::unique_ptr<LoadedObject>>
onnxquant::compileAndLoad(ModuleOp module, const CompileOptions &given) {
  CompileOptions options = given;
  const RunLimits &limits = RunLimits::get();
  if (options.maxMemory == 0)
    options.maxMemory = limits.memory;
  if (options.maxIterations == 0)
    options.maxIterations = limits.iterations;
  Phase compiling("compiling");
  // What was found out from this processor is there.
  if (options.target.name != "native") {
    char missing[256];
    std::string needed = llvm::join(neededFeatures(options.target), " ");
    if (onnxq_missing_features(needed.c_str(), missing, sizeof(missing)) > 0)
      return emitError(UnknownLoc::get(module.getContext()))
             << "code for " << options.target.name
             << " can't run here: this processor doesn't have " << missing;
  }
  FailureOr<CompiledModel> compiled = compileToObjects(module, options);
  if (failed(compiled))
    return failure();
  auto loaded = LoadedObject::load(std::move(compiled->objects), options.name,
                                   compiled->usesOpenMP);
  if (!loaded)
    return module.emitError() << llvm::toString(loaded.takeError());
  return std::move(*loaded);
}
