// What the verbs that compile have in common.

#include "Models.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

ModelContext::ModelContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
}

void ModelOptions::declare(Arguments &arguments) {
  arguments.list("dim", dims).list("input-shape", inputShapes);
}

LogicalResult ModelOptions::apply(ModuleOp module) const {
  if (!specializes())
    return success();
  ShapeInferenceOptions shapes;
  shapes.dims.assign(dims.begin(), dims.end());
  shapes.inputShapes.assign(inputShapes.begin(), inputShapes.end());
  PassManager pm(module.getContext());
  pm.addPass(createShapeInference(shapes));
  return pm.run(module);
}

OwningOpRef<ModuleOp> ModelOptions::read(StringRef path,
                                         MLIRContext &context) const {
  OwningOpRef<ModuleOp> module = readModel(path, &context);
  if (!module || failed(apply(*module)))
    return {};
  return module;
}

void CodeOptions::declare(Arguments &arguments) {
  arguments.option("target", target)
      .option("cpu", cpu)
      .option("features", features)
      .option("threads", threads)
      .option("max-iterations", maxIterations)
      .option("cache", cache)
      .flag("check-bounds", checkBounds)
      .flag("no-winograd", noWinograd)
      .flag("verbose", verbose);
}

std::string onnxquant::cli::findCache(const std::string &option) {
  if (!option.empty())
    return option;
  const char *folder = std::getenv("ONNXQUANT_CODE_CACHE");
  return folder ? folder : "";
}

std::optional<int> onnxquant::cli::checkOutput(StringRef path) {
  llvm::Error error = checkWritable(path);
  if (!error)
    return std::nullopt;
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return BadInput;
}

std::optional<int> onnxquant::cli::checkModelOutput(const Arguments &arguments,
                                                    StringRef path) {
  if (path.empty())
    return arguments.wrong("expects -o OUT");
  if (!isModelOutput(path))
    return arguments.wrong("expects OUT to end with .onnx, .mlir or .mlirbc, "
                           "but got '" +
                           path.str() + "'");
  return checkOutput(path);
}

std::optional<int> onnxquant::cli::checkThreads(const Arguments &arguments,
                                                int64_t threads) {
  if (threads >= 1 && threads <= mostThreads)
    return std::nullopt;
  return arguments.wrong("option '--threads' expects 1 to " +
                         std::to_string(mostThreads) + ", but got " +
                         std::to_string(threads));
}

std::optional<int> CodeOptions::read(const Arguments &arguments,
                                     CompileOptions &options) const {
  auto parsed = parseTarget(target, cpu, features);
  if (!parsed)
    return arguments.wrong(llvm::toString(parsed.takeError()));
  if (maxIterations < 0)
    return arguments.wrong("option '--max-iterations' expects 0 or more, but "
                           "got " +
                           std::to_string(maxIterations));
  options.target = *parsed;
  options.checkBounds = checkBounds;
  options.winograd = !noWinograd;
  options.maxIterations = maxIterations;
  options.threads = threads;
  options.cacheFolder = findCache(cache);
  options.kernelReport = verbose ? KernelReport::Nodes : KernelReport::None;
  return checkThreads(arguments, threads);
}
