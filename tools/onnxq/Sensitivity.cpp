// onnxq sensitivity: what each layer's quantization costs at the outputs.

#include "CommandText.h"
#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "SensitivityRun.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct SensitivitySettings {
  std::string path;
  bool json = false;
  int64_t top = 0;
  DataArguments data;
  ModelOptions model;
  LimitOptions limits;
  SensitivityJob job;
};

} // namespace

static int complain(llvm::Error error, int code) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

/// Options that depend on each other; an exit code says that they are wrong.
static std::optional<int> check(const Arguments &parser,
                                SensitivitySettings &settings) {
  if (settings.data.options.paths.empty())
    return parser.wrong("expects --data PATH");
  if (settings.top < 0)
    return parser.wrong("option '--top' expects 0 or more");
  if (llvm::Error error = checkQuantizeOptions(settings.job.quantize))
    return parser.wrong(llvm::toString(std::move(error)));
  if (auto name = findBudgetOption(settings.job.quantize))
    return parser.wrong("option '--" + name->str() +
                        "' is for 'onnxq quantize'");
  if (settings.job.options.seconds < 0)
    return parser.wrong("option '--seconds' expects 0 or more");
  if ((settings.job.quantize.modeName != "qdq" &&
       !settings.job.quantize.modeName.empty()) ||
      !settings.job.quantize.quantizationMode.empty())
    return parser.wrong("layers are switched in the form qdq: options '--mode' "
                        "and '--quantization-mode' can't be given");
  // A clamp that a quantizer stands for would be missing without it.
  settings.job.quantize.keepActivations = true;
  CollectOptions &collect = settings.job.collect;
  collect.quiet = settings.job.options.quiet;
  if (llvm::Error error = settings.data.finish(collect))
    return complain(std::move(error), BadUsage);
  settings.job.options.data = collect.data;
  return std::nullopt;
}

/// A command that quantizes the model with some layers left in float.
static std::string commandFor(const SensitivitySettings &settings,
                              llvm::ArrayRef<const char *> arguments,
                              const FloatLayers &layers) {
  NamedOptions options =
      optionsBut(arguments, {"top", "json", "quiet", "seconds", "shard"});
  setOption(options, "nodes-to-exclude", llvm::join(layers.nodes, ","));
  return asLine(
      quantizeCommand(settings.path, options, besides(settings.path, ".int8")));
}

static int run(llvm::ArrayRef<const char *> arguments) {
  SensitivitySettings settings;
  Arguments parser(sensitivityVerb);
  parser.positional("MODEL", settings.path)
      .option("top", settings.top)
      .option("seconds", settings.job.options.seconds)
      .flag("skip-preprocess", settings.job.skipPreprocess)
      .flag("json", settings.json)
      .flag("quiet", settings.job.options.quiet)
      .options(quantizeOptionTable(), settings.job.quantize);
  settings.data.declare(parser, {"method"});
  parser.options(loadCalibrationOptionTable(), settings.job.load);
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
      settings.model.read(settings.path, context.get());
  if (!real)
    return BadInput;
  settings.job.options.interrupted = settings.job.collect.interrupted =
      pollInterrupts();
  auto result = runSensitivity(*real, settings.job);
  if (failed(result))
    return BadInput;
  if (result->suggestion)
    result->command = commandFor(settings, arguments, *result->suggestion);
  if (settings.json)
    llvm::outs() << llvm::formatv("{0:2}", result->toJson()) << "\n";
  else
    result->print(llvm::outs(), settings.top);
  return Done;
}

const Verb onnxquant::cli::sensitivityVerb = {
    "sensitivity", "what each layer's quantization costs at the outputs",
    R"(usage: onnxq sensitivity MODEL --data PATH [options]

Calibrates a float model once, compiles it once with quantizers that can be
switched at run time, and runs samples with only one layer quantized and with
all but one: signal to noise at the outputs, in decibels.

  --data PATH         samples
  --table FILE        ranges of an earlier calibration
  --method M, --activation-type T, --per-channel=false, ...
                      every option of 'onnxq quantize' but its mode; '--help-all'
                      lists them
  --config FILE       options from YAML
  --skip-preprocess, --dim NAME=VALUE, --input-shape NAME=SHAPE
  --max-memory BYTES, --max-iterations N
                            what runs may take, as of 'onnxq run'
  --trust-bytecode          read .mlirbc that has no checksum of ours
  --top N             lines of the table: all
  --seconds S         how long to run samples: until all have been
  --json, --quiet

Ends with a command that leaves the worst layers in float, and what it gives.

example: onnxq sensitivity model.onnx --data images --limit 8
)",
    run};
