// What the verbs that compile have in common.

#include "Models.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

ModelContext::ModelContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
}

void ModelOptions::declare(Arguments &arguments) {
  arguments.list("dim", dims)
      .list("input-shape", inputShapes)
      .flag("trust-bytecode", trustBytecode);
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

OwningOpRef<ModuleOp> ModelOptions::read(StringRef path, MLIRContext &context,
                                         EspForm form,
                                         const ImportOptions &importing) const {
  Phase reading("reading " + path.str());
  OwningOpRef<ModuleOp> module = readModel(
      path, &context, trustBytecode ? Bytecode::Trusted : Bytecode::Checked,
      form, importing);
  if (!module || failed(apply(*module)))
    return {};
  return module;
}

namespace {
/// One phase for all passes of a kind.
class PhaseShower : public PassInstrumentation {
public:
  explicit PhaseShower(std::shared_ptr<std::unique_ptr<Phase>> current)
      : current(std::move(current)) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isa<ModuleOp>(op))
      return;
    StringRef name = pass->getArgument();
    StringRef wanted = name == "onnx-quantize" ? "quantizing"
                       : name.empty() || name == "onnx-calibrate"
                           ? ""
                           : "preparing the model";
    if (wanted == label)
      return;
    label = wanted;
    current->reset();
    if (!label.empty())
      *current = std::make_unique<Phase>(label.str());
  }

private:
  StringRef label;
  std::shared_ptr<std::unique_ptr<Phase>> current;
};
} // namespace

PassPhases::PassPhases(PassManager &pm)
    : current(std::make_shared<std::unique_ptr<Phase>>()) {
  pm.addInstrumentation(std::make_unique<PhaseShower>(current));
}

PassPhases::~PassPhases() { current->reset(); }

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

void LimitOptions::declare(Arguments &arguments) {
  arguments.option("max-memory", memory).option("max-iterations", iterations);
}

/// A number of bytes such as 512M or 8G; nothing if it is none.
static std::optional<int64_t> parseBytes(StringRef text) {
  static constexpr llvm::StringLiteral units = "KMGT";
  unsigned shift = 0;
  if (size_t unit = text.empty() ? StringRef::npos
                                 : units.find(llvm::toUpper(text.back()));
      unit != StringRef::npos) {
    shift = 10 * (unit + 1);
    text = text.drop_back();
  }
  int64_t number;
  if (text.getAsInteger(10, number) || number < 0 ||
      number > (INT64_MAX >> shift))
    return std::nullopt;
  return number << shift;
}

std::optional<int> LimitOptions::apply(const Arguments &arguments) const {
  RunLimits &limits = RunLimits::get();
  if (!memory.empty()) {
    std::optional<int64_t> bytes = parseBytes(memory);
    if (!bytes)
      return arguments.wrong("option '--max-memory' expects bytes, such as "
                             "512M or 8G, but got '" +
                             memory + "'");
    limits.memory = *bytes;
  }
  if (!iterations.empty() &&
      (StringRef(iterations).getAsInteger(10, limits.iterations) ||
       limits.iterations < 0))
    return arguments.wrong(
        "option '--max-iterations' expects 0 or more, but got " + iterations);
  return std::nullopt;
}

std::string onnxquant::cli::findCache(const std::string &option) {
  if (!option.empty())
    return option;
  const char *folder = std::getenv("ONNXQUANT_CODE_CACHE");
  return folder ? folder : "";
}

std::string onnxquant::cli::sizeText(uint64_t bytes) {
  const char *units[] = {"bytes", "kB", "MB", "GB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit < 3; ++unit)
    value /= 1000;
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(unit == 0 || value >= 99.95 ? "%.0f" : "%.1f", value)
      << " " << units[unit];
  return text;
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

std::optional<int>
onnxquant::cli::refuseForLibrary(const Arguments &arguments,
                                 llvm::ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (arguments.isGiven(name))
      return arguments.wrong("option '--" + name.str() +
                             "' is for models: a library is compiled already");
  return std::nullopt;
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
  std::vector<TargetOptions> targets;
  llvm::SmallVector<StringRef> names;
  StringRef(target).split(names, ',', -1, /*KeepEmpty=*/false);
  if (names.size() > 1 && (!cpu.empty() || !features.empty()))
    return arguments.wrong("options '--cpu' and '--features' are for one "
                           "target, but --target has several");
  if (names.empty())
    names.push_back(target);
  for (StringRef name : names) {
    auto parsed = parseTarget(name.trim(), cpu, features);
    if (!parsed)
      return arguments.wrong(llvm::toString(parsed.takeError()));
    targets.push_back(*parsed);
  }
  if (llvm::Error error = orderVariants(targets))
    return arguments.wrong(llvm::toString(std::move(error)));
  if (maxIterations < 0)
    return arguments.wrong("option '--max-iterations' expects 0 or more, but "
                           "got " +
                           std::to_string(maxIterations));
  options.target = targets.front();
  options.otherTargets.assign(targets.begin() + 1, targets.end());
  options.checkBounds = checkBounds;
  options.winograd = !noWinograd;
  options.maxIterations = maxIterations;
  options.threads = threads;
  options.cacheFolder = findCache(cache);
  options.kernelReport = verbose ? KernelReport::Nodes : KernelReport::None;
  return checkThreads(arguments, threads);
}
