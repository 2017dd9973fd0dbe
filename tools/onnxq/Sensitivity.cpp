// onnxq sensitivity: what each layer's quantization costs at the outputs.

#include "OnnxQuant/Debugging/Sensitivity.h"
#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "QuantizeArguments.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include <csignal>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Set by an interrupt; looked at between runs.
static volatile std::sig_atomic_t wasInterrupted = 0;

static void onInterrupt(int) { wasInterrupted = 1; }

namespace {

struct SensitivitySettings {
  std::string path, method = "minmax";
  bool skipPreprocess = false, json = false;
  int64_t top = 0, bins = 2048;
  QuantizeArguments arguments;
  QuantizeOptions quantize;
  LoadCalibrationOptions load;
  CollectOptions collect;
  DataArguments data;
  ModelOptions model;
  SensitivityOptions options;
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
  if (std::optional<int> code =
          settings.arguments.read(sensitivityVerb, settings.quantize))
    return code;
  if (settings.quantize.mode != "qdq" ||
      !settings.quantize.quantizationMode.empty())
    return parser.wrong("layers are switched in the form qdq: options '--mode' "
                        "and '--quantization-mode' can't be given");
  // A clamp that a quantizer stands for would be missing without it.
  settings.quantize.keepActivations = true;
  auto method = parseMethod(settings.method);
  if (!method)
    return parser.wrong(llvm::toString(method.takeError()));
  CollectOptions &collect = settings.collect;
  collect.method.method = *method;
  collect.spec.bins = needsHistogram(*method) ? settings.bins : 0;
  if (llvm::Error error = settings.data.finish())
    return complain(std::move(error), BadUsage);
  collect.data = settings.options.data = settings.data.options;
  collect.spec.batch = collect.data.batch;
  collect.quiet = settings.options.quiet;
  return std::nullopt;
}

/// Prepares a model and gives it ranges.
static LogicalResult calibrate(ModuleOp module, Executor &executor,
                               SensitivitySettings &settings) {
  PassManager pm(module.getContext());
  if (settings.skipPreprocess) {
    pm.addPass(createShapeInference());
  } else {
    PreprocessOptions options;
    options.executor = createFoldingExecutor;
    if (llvm::Error error = buildPreprocessPipeline(pm, options))
      return module.emitError() << llvm::toString(std::move(error));
  }
  if (!settings.load.table.empty())
    pm.addPass(createLoadCalibration(settings.load));
  if (failed(pm.run(module)))
    return failure();
  if (!settings.load.table.empty() || settings.quantize.dynamic)
    return success();
  auto statistics = collectStatistics(module, executor, settings.collect);
  if (failed(statistics))
    return failure();
  return annotate(module, *statistics, settings.collect.method,
                  /*perChannel=*/true);
}

static int run(llvm::ArrayRef<const char *> arguments) {
  SensitivitySettings settings;
  std::vector<const char *> others;
  Arguments parser(sensitivityVerb);
  if (auto wrong = settings.arguments.split(arguments, others))
    return parser.wrong(*wrong);
  parser.positional("MODEL", settings.path)
      .elsewhere(quantizeOptionNames())
      .option("table", settings.load.table)
      .option("config", settings.arguments.config)
      .option("method", settings.method)
      .option("bins", settings.bins)
      .option("top", settings.top)
      .flag("skip-preprocess", settings.skipPreprocess)
      .flag("json", settings.json)
      .flag("quiet", settings.options.quiet);
  settings.data.declare(parser);
  settings.model.declare(parser);
  if (std::optional<int> code = parser.parse(others))
    return *code;
  if (std::optional<int> code = check(parser, settings))
    return *code;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> real =
      settings.model.read(settings.path, context.get());
  if (!real)
    return BadInput;
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  settings.options.interrupted =
      settings.collect.interrupted = [] { return wasInterrupted != 0; };
  // The graphs are prepared where they should be, and look at every tensor.
  CompileOptions compile;
  compile.prepare = false;
  std::unique_ptr<Executor> executor = createJitExecutor(compile);
  if (failed(calibrate(*real, *executor, settings)))
    return BadInput;
  numberNodes(*real);
  OwningOpRef<ModuleOp> quant(cast<ModuleOp>((*real)->clone()));
  PassManager pm(&context.get());
  pm.addPass(createQuantize(settings.quantize, nullptr));
  if (failed(pm.run(*quant)))
    return BadInput;
  // Layers that are switched off have the factors of their channels, too.
  applyScaledTensors(*real, readScaledTensors(*quant));
  auto result = measureSensitivity(*real, *quant, *executor, settings.options);
  if (failed(result))
    return BadInput;
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

  --data PATH         samples; see 'onnxq calibrate --help' for what goes with it
  --table FILE        ranges of an earlier calibration
  --method M, --bins N           of calibration, as of 'onnxq calibrate'
  --activation-type T, --weight-type T, --per-channel=false, ...
                      every option of the pass onnx-quantize but its mode
  --config FILE       options from YAML
  --skip-preprocess, --dim NAME=VALUE, --input-shape NAME=SHAPE
  --top N             lines of the table: all
  --json, --quiet

example: onnxq sensitivity model.onnx --data images --limit 8
)",
    run};
