// The steps of preprocessing and their order. What one step makes, another may
// match, so the steps are repeated until nothing changes: a prepared model is
// not changed by preparing it again.

#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace onnxquant;

/// More rounds than any model has needed.
static constexpr int maxRounds = 20;

/// A step that looks at nodes of one operator only.
template <const char *const &kind>
static std::unique_ptr<Pass> createRemoveKind(const PreprocessOptions &) {
  RemoveNoOpsOptions options;
  options.kinds = {kind};
  return createRemoveNoOps(options);
}

static const char *const castKind = "Cast";
static const char *const dropoutKind = "Dropout";
static const char *const flattenKind = "Flatten";
static const char *const identityKind = "Identity";
static const char *const padKind = "Pad";
static const char *const reshapeKind = "Reshape";
static const char *const transposeKind = "Transpose";

template <std::unique_ptr<Pass> (*create)()>
static std::unique_ptr<Pass> plain(const PreprocessOptions &) {
  return create();
}

/// A step that makes nodes of newer operators.
template <typename Options, std::unique_ptr<Pass> (*create)(Options)>
static std::unique_ptr<Pass> recognize(const PreprocessOptions &options) {
  Options recognizing;
  recognizing.maxOpset = options.maxOpset;
  return create(recognizing);
}

ArrayRef<PreprocessStep> onnxquant::getPreprocessSteps() {
  using Phase = PreprocessStep::Phase;
  static const PreprocessStep steps[] = {
      {"remove-no-ops", {}, plain<createRemoveNoOps>, Phase::Repeated},
      {"fold-constants",
       {},
       [](const PreprocessOptions &options) {
         FoldConstantsOptions fold;
         fold.maxBytes = options.maxConstantBytes;
         return createFoldConstants(options.executor, fold);
       },
       Phase::Repeated},
      {"recognize-hard-swish",
       {},
       recognize<RecognizeHardSwishOptions, createRecognizeHardSwish>,
       Phase::Repeated},
      {"recognize-gelu",
       {},
       recognize<RecognizeGeluOptions, createRecognizeGelu>,
       Phase::Repeated},
      {"recognize-sigmoid",
       {},
       recognize<RecognizeSigmoidOptions, createRecognizeSigmoid>,
       Phase::Repeated},
      {"recognize-layer-norm",
       {},
       recognize<RecognizeLayerNormOptions, createRecognizeLayerNorm>,
       Phase::Repeated},
      {"fuse-pad",
       {"fuse-pad-into-pool"},
       plain<createFusePad>,
       Phase::Repeated},
      {"fuse-matmul-add",
       {"fuse-matmul-add-bias-into-gemm"},
       plain<createFuseMatMulAdd>,
       Phase::Repeated},
      {"fuse-transpose",
       {"fuse-transpose-into-gemm"},
       plain<createFuseTranspose>,
       Phase::Repeated},
      {"split-gemm", {}, plain<createSplitGemm>, Phase::Repeated},
      {"fold-batch-norm",
       {"fuse-bn-into-conv"},
       plain<createFoldBatchNorm>,
       Phase::Repeated},
      {"fuse-mul", {}, plain<createFuseMul>, Phase::Repeated},
      {"fuse-add",
       {"fuse-add-bias-into-conv"},
       plain<createFuseAdd>,
       Phase::Repeated},
      {"div-to-mul", {}, plain<createDivToMul>, Phase::Repeated},
      {"merge-constants",
       {"eliminate-duplicate-initializer"},
       plain<createMergeConstants>,
       Phase::Last},
      {"remove-unused",
       {"eliminate-deadend"},
       plain<createRemoveUnused>,
       Phase::Last},
      // Parts of the steps above, for those who ask for them.
      {"fuse-pad-into-conv",
       {},
       [](const PreprocessOptions &) {
         FusePadOptions options;
         options.convOnly = true;
         return createFusePad(options);
       },
       Phase::OnRequest},
      {"eliminate-unused-initializer",
       {},
       [](const PreprocessOptions &) {
         RemoveUnusedOptions options;
         options.constantsOnly = true;
         return createRemoveUnused(options);
       },
       Phase::OnRequest},
      {"eliminate-identity",
       {},
       createRemoveKind<identityKind>,
       Phase::OnRequest},
      {"eliminate-nop-cast", {}, createRemoveKind<castKind>, Phase::OnRequest},
      {"eliminate-nop-dropout",
       {},
       createRemoveKind<dropoutKind>,
       Phase::OnRequest},
      {"eliminate-nop-flatten",
       {},
       createRemoveKind<flattenKind>,
       Phase::OnRequest},
      {"eliminate-nop-pad", {}, createRemoveKind<padKind>, Phase::OnRequest},
      {"eliminate-nop-reshape",
       {},
       createRemoveKind<reshapeKind>,
       Phase::OnRequest},
      {"eliminate-nop-transpose",
       {"fuse-consecutive-transposes"},
       createRemoveKind<transposeKind>,
       Phase::OnRequest},
  };
  return steps;
}

const PreprocessStep *onnxquant::findPreprocessStep(StringRef name) {
  std::string wanted = name.str();
  std::replace(wanted.begin(), wanted.end(), '_', '-');
  StringRef stem = StringRef(wanted);
  stem.consume_front("onnx-");
  for (const PreprocessStep &step : getPreprocessSteps())
    if (step.name == stem || llvm::is_contained(step.aliases, stem))
      return &step;
  return nullptr;
}

static llvm::Expected<SmallVector<const PreprocessStep *>>
findSteps(ArrayRef<std::string> names) {
  SmallVector<const PreprocessStep *> steps;
  for (StringRef name : names) {
    const PreprocessStep *step = findPreprocessStep(name);
    if (!step) {
      std::string known;
      for (const PreprocessStep &candidate : getPreprocessSteps())
        known += (known.empty() ? "" : ", ") + candidate.name.str();
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "preprocessing has no step '" + name +
                                         "'; it has " + known);
    }
    steps.push_back(step);
  }
  return steps;
}

llvm::Error
onnxquant::buildPreprocessPipeline(OpPassManager &pm,
                                   const PreprocessOptions &options) {
  auto asked = findSteps(options.passes);
  if (!asked)
    return asked.takeError();
  auto skipped = findSteps(options.skip);
  if (!skipped)
    return skipped.takeError();
  bool shapes = options.staticShapes || options.symbolicShapes;
  bool specializes = !options.dims.empty() || !options.inputShapes.empty();
  if (options.intMax != 0) {
    OpenSlicesOptions slices;
    slices.bound = options.intMax;
    pm.addPass(createOpenSlices(slices));
  }
  if (!options.dynamicBatch.empty()) {
    DynamicBatchOptions batch;
    batch.name = options.dynamicBatch;
    pm.addPass(createDynamicBatch(batch));
  }
  ShapeInferenceOptions inference;
  inference.autoMerge = options.autoMerge;
  inference.guessRanks = options.guessOutputRank;
  if (specializes || shapes) {
    ShapeInferenceOptions first = inference;
    first.dims.assign(options.dims.begin(), options.dims.end());
    first.inputShapes.assign(options.inputShapes.begin(),
                             options.inputShapes.end());
    pm.addPass(createShapeInference(first));
  }
  if (options.optimize && !asked->empty()) {
    for (const PreprocessStep *step : *asked)
      if (!llvm::is_contained(*skipped, step))
        pm.addPass(step->create(options));
  } else if (options.optimize) {
    auto addSteps = [&](OpPassManager &steps, PreprocessStep::Phase phase) {
      for (const PreprocessStep &step : getPreprocessSteps())
        if (step.phase == phase && !llvm::is_contained(*skipped, &step))
          steps.addPass(step.create(options));
    };
    pm.addPass(createCompositeFixedPointPass(
        "preprocess",
        [&](OpPassManager &round) {
          addSteps(round, PreprocessStep::Phase::Repeated);
          if (shapes)
            round.addPass(createShapeInference(inference));
        },
        maxRounds));
    addSteps(pm, PreprocessStep::Phase::Last);
  }
  inference.symbolic = options.symbolicShapes;
  inference.forget = !shapes;
  pm.addPass(createShapeInference(inference));
  pm.addPass(createPlaceConstants());
  return llvm::Error::success();
}

void onnxquant::requestReport(ModuleOp module) {
  module->setAttr(reportAttr, DictionaryAttr::get(module.getContext()));
}

std::vector<PreprocessCount> onnxquant::takeReport(ModuleOp module) {
  std::vector<PreprocessCount> counts;
  auto report = module->getAttrOfType<DictionaryAttr>(reportAttr);
  if (!report)
    return counts;
  auto add = [&](StringRef pass, Attribute entry) {
    if (auto parts = dyn_cast_or_null<DictionaryAttr>(entry))
      for (NamedAttribute part : parts)
        if (auto count = dyn_cast<IntegerAttr>(part.getValue()))
          counts.push_back({pass.str(), part.getName().str(), count.getInt()});
  };
  for (StringRef pass : {"onnx-open-slices", "onnx-dynamic-batch"})
    add(pass, report.get(pass));
  for (const PreprocessStep &step : getPreprocessSteps()) {
    std::string pass = ("onnx-" + step.name).str();
    add(pass, report.get(pass));
  }
  module->removeAttr(reportAttr);
  return counts;
}

namespace {
/// The pipeline's options in pass syntax.
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  ListOption<std::string> skip{*this, "skip",
                               llvm::cl::desc("steps that are left out")};
  ListOption<std::string> passes{
      *this, "passes",
      llvm::cl::desc("these steps in this order instead of all")};
  ListOption<std::string> dims{
      *this, "dim", llvm::cl::desc("NAME=VALUE: the value of a dimension")};
  ListOption<std::string> inputShapes{
      *this, "input-shape",
      llvm::cl::desc("NAME=1x3x224x224: the shape of an input")};
  Option<int64_t> maxConstantBytes{
      *this, "max-constant-bytes", llvm::cl::init(1048576),
      llvm::cl::desc("the largest folded constant that may be larger than "
                     "what it is computed from")};
  Option<bool> staticShapes{*this, "static-shapes", llvm::cl::init(true),
                            llvm::cl::desc("write inferred static shapes")};
  Option<bool> symbolicShapes{
      *this, "symbolic-shapes", llvm::cl::init(true),
      llvm::cl::desc("write expressions over named dimensions")};
  Option<bool> autoMerge{
      *this, "auto-merge", llvm::cl::init(false),
      llvm::cl::desc("take dimensions that meet to be the same")};
  Option<bool> guessOutputRank{
      *this, "guess-output-rank", llvm::cl::init(false),
      llvm::cl::desc("guess the rank of unknown operators' results")};
  Option<int64_t> intMax{
      *this, "int-max", llvm::cl::init(0),
      llvm::cl::desc("ends of slices from here on mean no end; 0: 2147483647")};
  Option<int64_t> maxOpset{
      *this, "max-opset", llvm::cl::init(0),
      llvm::cl::desc("make no node that this opset doesn't have")};
  Option<std::string> dynamicBatch{
      *this, "dynamic-batch", llvm::cl::init(""),
      llvm::cl::desc("make the batch a dimension of this name")};
  Option<bool> optimize{*this, "optimize", llvm::cl::init(true),
                        llvm::cl::desc("run the steps, not only shapes")};
};
} // namespace

void onnxquant::registerPreprocessPipeline() {
  registerPassPipeline(
      "onnx-preprocess", "prepare a float model: shapes, folding, fusion",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)> fail) -> LogicalResult {
        PipelineOptions parsed;
        if (failed(parsed.parseFromString(text)))
          return failure();
        PreprocessOptions options;
        options.skip.assign(parsed.skip.begin(), parsed.skip.end());
        options.passes.assign(parsed.passes.begin(), parsed.passes.end());
        options.dims.assign(parsed.dims.begin(), parsed.dims.end());
        options.inputShapes.assign(parsed.inputShapes.begin(),
                                   parsed.inputShapes.end());
        options.maxConstantBytes = parsed.maxConstantBytes;
        options.optimize = parsed.optimize;
        options.staticShapes = parsed.staticShapes;
        options.symbolicShapes = parsed.symbolicShapes;
        options.autoMerge = parsed.autoMerge;
        options.guessOutputRank = parsed.guessOutputRank;
        options.intMax = parsed.intMax;
        options.maxOpset = parsed.maxOpset;
        options.dynamicBatch = parsed.dynamicBatch;
        options.executor = createFoldingExecutor;
        if (llvm::Error error = buildPreprocessPipeline(pm, options))
          return fail(llvm::toString(std::move(error)));
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(PipelineOptions());
      });
}
