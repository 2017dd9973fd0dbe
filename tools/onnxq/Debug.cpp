// onnxq debug: where a quantized model loses accuracy.

#include "CommandText.h"
#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Debugging/Debugging.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/Json.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Support/Version.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "ProfileRun.h"
#include "Proposal.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include <ctime>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct DebugSettings {
  std::string realPath, quantPath, report, compare;
  std::vector<std::string> calibration;
  bool json = false, asIs = false, noProfile = false;
  int64_t top = 20;
  double seconds = 60;
  DataArguments data;
  ModelOptions model;
  LimitOptions limits;
  DebugOptions options;
};

} // namespace

static int complain(llvm::Error error, int code) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

static int writeReport(const DebugResult &result, StringRef path) {
  auto file = AtomicFile::create(path);
  if (!file)
    return complain(file.takeError(), BadInput);
  (*file)->os() << result.toHtml();
  if (llvm::Error error = (*file)->commit())
    return complain(std::move(error), BadInput);
  return Done;
}

/// Compares a quantized model with the float one.
static FailureOr<DebugResult> compare(ModuleOp real, ModuleOp quant,
                                      const DebugSettings &settings) {
  OwningOpRef<ModuleOp> plain(cast<ModuleOp>(real->clone())), prepared;
  // As 'onnxq quantize' does it; otherwise the model is compared as it is.
  if (!settings.asIs)
    prepared = makePreparedCopy(real);
  // What the quantizer has multiplied is multiplied for comparison, too.
  std::vector<ScaledTensor> scaled = readScaledTensors(quant);
  applyScaledTensors(*plain, scaled);
  if (prepared)
    applyScaledTensors(*prepared, scaled);
  // The graphs are prepared where they should be, and look at every tensor.
  CompileOptions compile;
  compile.prepare = false;
  std::unique_ptr<Executor> executor = createJitExecutor(compile);
  return debugModels(*plain, prepared ? *prepared : ModuleOp(), quant,
                     *executor, settings.options);
}

/// The result of another run: a file of it, or another quantized model.
static llvm::Expected<llvm::json::Value>
readOther(const DebugSettings &settings, ModuleOp real) {
  StringRef path = settings.compare;
  if (llvm::sys::path::extension(path) != ".json") {
    OwningOpRef<ModuleOp> quant =
        settings.model.read(path, *real.getContext(), EspForm::Quantizers);
    FailureOr<DebugResult> result = failure();
    if (quant)
      result = compare(real, *quant, settings);
    // The diagnostics have said why.
    if (failed(result))
      return llvm::createStringError("");
    result->realModel = settings.realPath;
    result->quantModel = path.str();
    return result->toJson();
  }
  auto value = readForeignJson(path);
  if (!value)
    return value.takeError();
  const llvm::json::Object *root = value->getAsObject();
  if (!root || !root->getArray("tensors") || !root->getString("quantized"))
    return llvm::createStringError(path +
                                   ": expects what 'onnxq debug --json' gave");
  return std::move(*value);
}

/// A word if the models seem to be in each other's place.
static std::optional<int> checkModels(ModuleOp real, ModuleOp quant,
                                      const DebugSettings &settings) {
  bool realIs = isQuantizedModel(real), quantIs = isQuantizedModel(quant);
  if (realIs && !quantIs) {
    llvm::errs() << "error: " << settings.realPath << ": is quantized, and "
                 << settings.quantPath
                 << " is not: the float model comes first, as in 'onnxq debug "
                 << quoteForShell(settings.quantPath) << " "
                 << quoteForShell(settings.realPath) << " ...'\n";
    return BadInput;
  }
  return std::nullopt;
}

/// The time of nodes, beside their errors.
static void addProfile(DebugResult &result, ModuleOp quant,
                       const DebugSettings &settings) {
  auto inputs = graphInputs(quant);
  auto set = succeeded(inputs) ? DataSet::open(settings.options.data, *inputs)
                               : llvm::createStringError("has no inputs");
  auto sample = set ? set->load(0) : set.takeError();
  constexpr double seconds = 1;
  ScopedDiagnosticHandler quiet(quant.getContext(),
                                [](Diagnostic &) { return success(); });
  auto profile =
      sample ? profileModule(quant, *sample, seconds) : sample.takeError();
  if (!profile) {
    result.notes.push_back("the time of layers is not known: " +
                           llvm::toString(profile.takeError()));
    return;
  }
  result.totalMilliseconds = profile->milliseconds;
  for (const ProfileLine &line : profile->lines) {
    auto found = result.standsFor.find(line.node);
    result.milliseconds[found == result.standsFor.end() ? line.node
                                                        : found->second] +=
        line.milliseconds;
  }
}

/// Now, or when the environment says that it is, so that files can be the same
/// again.
static std::string dateOfRun() {
  std::time_t now = std::time(nullptr);
  if (const char *given = std::getenv("SOURCE_DATE_EPOCH")) {
    long long seconds;
    if (!StringRef(given).getAsInteger(10, seconds))
      now = static_cast<std::time_t>(seconds);
  }
  char text[32] = "";
  std::tm parts{};
  if (gmtime_r(&now, &parts))
    std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

static void describeRun(DebugResult &result, const DebugSettings &settings,
                        llvm::ArrayRef<const char *> arguments) {
  result.realModel = settings.realPath;
  result.quantModel = settings.quantPath;
  std::vector<std::string> words{"onnxq", "debug"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  result.run.command = asLine(words);
  result.run.version =
      "onnxq " + shortVersion() + ", LLVM " LLVM_VERSION_STRING;
  result.run.date = dateOfRun();
  result.run.machine = llvm::sys::getHostCPUName().str();
  result.run.data = settings.data.options.paths;
}

/// Options that depend on each other; an exit code says that they are wrong.
static std::optional<int> check(const Arguments &parser,
                                DebugSettings &settings) {
  if (settings.data.options.paths.empty())
    return parser.wrong("expects --data PATH");
  if (settings.top < 0)
    return parser.wrong("option '--top' expects 0 or more");
  if (!(settings.seconds >= 0))
    return parser.wrong("option '--seconds' expects 0 or more");
  if (settings.noProfile && settings.report.empty())
    return parser.wrong("option '--no-profile' is for --report");
  if (settings.seconds == 0 && !settings.calibration.empty())
    return parser.wrong("option '--calibration' is for a search, which "
                        "--seconds 0 leaves out");
  if (llvm::Error error = settings.data.finish(settings.options.quiet))
    return complain(std::move(error), BadUsage);
  settings.options.data = settings.data.options;
  return settings.report.empty() ? std::nullopt : checkOutput(settings.report);
}

static void propose(DebugResult &result, const NamedOptions &quantize,
                    const DebugSettings &settings,
                    llvm::ArrayRef<const char *> arguments) {
  Verdict verdict = result.verdict();
  bool isBad = verdict == Verdict::Layers || verdict == Verdict::Spread;
  if (!isBad || settings.seconds == 0)
    return;
  ProposalRequest request;
  request.realPath = settings.realPath;
  request.quantPath = settings.quantPath;
  request.quantize = quantize;
  request.samples = request.calibration = settings.options.data;
  request.sameSamples = settings.calibration.empty();
  if (!request.sameSamples) {
    // Which samples of the data are judged says nothing of these.
    DataOptions &calibration = request.calibration;
    calibration.paths = settings.calibration;
    calibration.limit = calibration.start = 0;
    calibration.stride = 1;
    for (const std::string &path : settings.calibration)
      request.data.emplace_back("data", path);
  }
  auto isLeft = [&](StringRef name) {
    return !request.sameSamples &&
           llvm::is_contained({"data", "limit", "start", "stride"}, name);
  };
  bool isDynamic = llvm::is_contained(
      quantize, std::pair<std::string, std::string>("dynamic", "true"));
  for (auto &option : optionsBut(
           arguments, {"report", "compare", "json", "as-is", "quiet", "profile",
                       "top", "seconds", "shard", "calibration"}))
    if (!isLeft(option.first))
      request.data.push_back(std::move(option));
  if (isDynamic)
    llvm::erase_if(request.data, [](const auto &option) {
      return option.first != "dim" && option.first != "input-shape";
    });
  request.model = settings.model;
  request.seconds = settings.seconds;
  request.quiet = settings.options.quiet;
  request.interrupted = settings.options.interrupted;
  proposeBetter(result, request);
}

static int run(llvm::ArrayRef<const char *> arguments) {
  DebugSettings settings;
  Arguments parser(debugVerb);
  parser.positional("FLOAT", settings.realPath)
      .positional("QUANT", settings.quantPath)
      .option("report", settings.report)
      .option("compare", settings.compare)
      .list("calibration", settings.calibration)
      .option("top", settings.top)
      .option("seconds", settings.seconds)
      .flag("no-profile", settings.noProfile)
      .flag("as-is", settings.asIs)
      .flag("json", settings.json)
      .flag("quiet", settings.options.quiet);
  settings.data.declare(parser);
  settings.model.declare(parser);
  settings.limits.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = settings.limits.apply(parser))
    return *code;
  if (std::optional<int> code = check(parser, settings))
    return *code;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> real =
      settings.model.read(settings.realPath, context.get());
  OwningOpRef<ModuleOp> quant =
      real ? settings.model.read(settings.quantPath, context.get(),
                                 EspForm::Quantizers)
           : OwningOpRef<ModuleOp>();
  if (!quant)
    return BadInput;
  if (std::optional<int> code = checkModels(*real, *quant, settings))
    return *code;
  settings.options.interrupted = pollInterrupts();
  auto result = compare(*real, *quant, settings);
  if (failed(result))
    return BadInput;
  describeRun(*result, settings, arguments);
  if (!isQuantizedModel(*quant))
    result->notes.push_back(settings.quantPath +
                            " has nothing that is quantized");
  if (!settings.compare.empty()) {
    auto other = readOther(settings, *real);
    if (!other) {
      std::string message = llvm::toString(other.takeError());
      if (!message.empty())
        llvm::errs() << "error: " << message << "\n";
      return BadInput;
    }
    result->other = std::move(*other);
  }
  propose(*result, guessQuantizeOptions(*quant), settings, arguments);
  if (!settings.report.empty()) {
    // Behind data of another kind nobody asks for the time.
    if (!settings.noProfile && result->verdict() != Verdict::InputMismatch)
      addProfile(*result, *quant, settings);
    if (int failed = writeReport(*result, settings.report))
      return failed;
  }
  if (settings.json)
    llvm::outs() << llvm::formatv("{0:2}", result->toJson()) << "\n";
  else if (!settings.options.quiet)
    result->print(llvm::outs(), settings.top);
  return Done;
}

const Verb onnxquant::cli::debugVerb = {
    "debug", "compare a quantized model with the float one, layer by layer",
    R"(usage: onnxq debug FLOAT QUANT --data PATH [options]

Runs samples through both models and compares tensors and weights. Noise is a
share of the signal: added (what the tensor and its node add), own (of its own
quantization), total (against the float model). If the outputs are bad, looks
for a better way to quantize, tries it, and prints the command.

  --data PATH         samples; '--help-all' lists what goes with it
  --report OUT.html   a page with the graph and drawings; needs nothing else
  --compare OTHER     beside another run (its --json) or another quantized model
  --seconds S         how long to look at layers for a better way: 60; 0: don't
  --calibration PATH  samples to calibrate with for that (those of --data)
  --no-profile        no time of layers in the report
  --json              all figures as JSON
  --top N             lines of the tables: 20; 0 for all
  --as-is             compare with the float model as it is, not as prepared
  --dim NAME=VALUE, --input-shape NAME=SHAPE
  --max-memory BYTES, --max-iterations N, --trust-bytecode (see 'onnxq run')
  --quiet             no table and no progress

example: onnxq debug model.onnx model.int8.onnx --data images --limit 16
             --report report.html
)",
    run};
