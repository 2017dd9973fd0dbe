// onnxq quantize: a quantized model from a float one.

#include "OnnxQuant/Pipelines/Quantize.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "QuantizeArguments.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct QuantizeSettings {
  std::string path, output;
  QuantizeArguments options;
  bool skipPreprocess = false, quiet = false, skipBad = false;
  std::vector<std::string> data;
  /// Empty: extremes of data, or what a table was made with.
  std::string method;
  CalibrateOptions calibrate;
  LoadCalibrationOptions load;
  ModelOptions model;
  ExportOptions exporting;
  QuantizePipelineOptions pipeline;
};

} // namespace

static int complain(const Twine &message, int code) {
  llvm::errs() << "error: " << message << "\n";
  return code;
}

/// The options of calibration, by the names of its pass.
static void declareData(Arguments &parser, QuantizeSettings &settings) {
  CalibrateOptions &options = settings.calibrate;
  parser.list("data", settings.data)
      .option("method", settings.method)
      .option("bins", options.bins)
      .option("quantized-bins", options.quantizedBins)
      .option("percentile", options.percentile)
      .option("limit", options.limit)
      .option("start", options.start)
      .option("stride", options.stride)
      .option("batch", options.batch)
      .option("threads", options.threads)
      .flag("skip-bad", settings.skipBad)
      .option("preprocess", options.preprocess)
      .option("preprocess-plugin", options.preprocessPlugin)
      .option("size", options.size)
      .option("crop", options.crop)
      .option("filter", options.filter)
      .option("layout", options.layout)
      .option("channels", options.channels)
      .option("mean", options.mean)
      .option("scale", options.scale);
}

/// What goes with samples means nothing without them; a table's statistics give
/// other ranges by some of it. The number of threads changes no result.
static std::optional<int> checkData(const Arguments &parser,
                                    const QuantizeSettings &settings) {
  if (!settings.data.empty())
    return std::nullopt;
  for (const char *name : {"method", "quantized-bins", "percentile"})
    if (settings.load.table.empty() && parser.isGiven(name))
      return parser.wrong(std::string("option '--") + name +
                          "' is for --data or --table");
  for (const char *name :
       {"bins", "limit", "start", "stride", "batch", "skip-bad", "preprocess",
        "preprocess-plugin", "size", "crop", "filter", "layout", "channels",
        "mean", "scale"})
    if (parser.isGiven(name))
      return parser.wrong(std::string("option '--") + name + "' is for --data");
  return std::nullopt;
}

namespace {
/// Whether the model can be quantized as asked, before a table is held against
/// it. Data is run after the same check.
struct CheckModel : PassWrapper<CheckModel, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckModel)
  explicit CheckModel(const QuantizeOptions &options) : options(options) {}
  void runOnOperation() override {
    if (failed(tensorsToCalibrate(getOperation(), options)))
      signalPassFailure();
  }
  const QuantizeOptions &options;
};
} // namespace

/// The stage that gives the model ranges: data is run, or a table is read.
static void addCalibration(QuantizeSettings &settings) {
  if (!settings.data.empty()) {
    if (!settings.method.empty())
      settings.calibrate.method = settings.method;
    settings.calibrate.data.assign(settings.data.begin(), settings.data.end());
    settings.calibrate.skipBad = settings.skipBad;
    settings.pipeline.addCalibration = [&](OpPassManager &pm) {
      pm.addPass(createCalibrate(
          settings.calibrate, [] { return createCalibrationExecutor(); },
          [&](ModuleOp module) {
            return tensorsToCalibrate(module, settings.pipeline.quantize);
          }));
    };
  } else if (!settings.load.table.empty()) {
    settings.load.method = settings.method;
    settings.load.quantizedBins = settings.calibrate.quantizedBins;
    settings.load.percentile = settings.calibrate.percentile;
    settings.pipeline.addCalibration = [&](OpPassManager &pm) {
      pm.addPass(std::make_unique<CheckModel>(settings.pipeline.quantize));
      pm.addPass(createLoadCalibration(settings.load));
    };
  }
}

static int run(llvm::ArrayRef<const char *> arguments) {
  QuantizeSettings settings;
  std::vector<const char *> others;
  if (auto wrong = settings.options.split(arguments, others))
    return complain("onnxq quantize: " + *wrong, BadUsage);
  Arguments parser(quantizeVerb);
  parser.positional("MODEL", settings.path)
      .elsewhere(quantizeOptionNames())
      .option("o", settings.output)
      .option("config", settings.options.config)
      .flag("skip-preprocess", settings.skipPreprocess)
      .flag("external-data", settings.exporting.externalData)
      .flag("quiet", settings.quiet)
      .option("table", settings.load.table);
  declareData(parser, settings);
  settings.model.declare(parser);
  if (std::optional<int> code = parser.parse(others))
    return *code;
  if (std::optional<int> code = checkModelOutput(parser, settings.output))
    return *code;
  if (!settings.data.empty() && !settings.load.table.empty())
    return parser.wrong("expects --data or --table, but got both");
  if (std::optional<int> code = checkData(parser, settings))
    return *code;
  if (std::optional<int> code =
          settings.options.read(quantizeVerb, settings.pipeline.quantize))
    return *code;
  if (settings.pipeline.quantize.mode == "qat" &&
      (!settings.data.empty() || !settings.load.table.empty()))
    return parser.wrong("--data and --table are not for mode=qat: the model "
                        "has its parameters");
  const std::string &report = settings.pipeline.quantize.report;
  if (std::optional<int> code =
          report.empty() ? std::nullopt : checkOutput(report))
    return *code;
  addCalibration(settings);
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  settings.pipeline.preprocess = !settings.skipPreprocess;
  std::string summary;
  settings.pipeline.sink = [&](const QuantizeReport &report) {
    llvm::raw_string_ostream os(summary);
    report.print(os);
  };
  OwningOpRef<ModuleOp> module =
      settings.model.read(settings.path, context.get());
  if (!module)
    return BadInput;
  PassManager pm(&context.get());
  if (llvm::Error error = buildQuantizePipeline(pm, settings.pipeline))
    return complain(llvm::toString(std::move(error)), BadInput);
  if (failed(pm.run(*module)) ||
      failed(writeModel(*module, settings.output, settings.exporting)))
    return BadInput;
  if (!settings.quiet)
    llvm::outs() << summary;
  return Done;
}

const Verb onnxquant::cli::quantizeVerb = {
    "quantize", "a quantized model from a float one",
    R"(usage: onnxq quantize MODEL -o OUT [options]

Prepares a model, finds the ranges of its tensors and quantizes it. OUT (.onnx,
.mlir or .mlirbc) runs in ONNX Runtime and in onnxq.

  --data PATH                       samples to find ranges with; see 'onnxq
                                    calibrate --help' for what goes with it
  --table FILE                      ranges of an earlier calibration
  --mode qdq|qlinear|integer|qat    the form of the result (qdq)
  --dynamic                         scales of activations at run time
  --placement fused|every-op        which activations (fused)
  --activation-type T, --weight-type T, --per-channel=false, --block-size N
  --nodes-to-exclude A,B  --nodes-to-quantize A,B  --op-types-to-quantize A,B
  --input-quantization-params J, --output-quantization-params J,
  --tensor-overrides J              parameters of tensors, JSON or a file
  --int16-first N, --int16-tensors A,B   activations in 16 bits
  --bias-correction local|none, --weight-rounding auto|nearest|sums,
  --channel-scaling auto|depthwise|none, --keep-cheap-in-float=false
  ... and every other option of the pass onnx-quantize, by the same name
  --config FILE                     options from YAML
  --report FILE                     what was done and why not, as JSON
  --skip-preprocess, --dim NAME=VALUE, --input-shape NAME=SHAPE
  --external-data, --quiet

example: onnxq quantize model.onnx --data images --limit 8 -o model.int8.onnx
)",
    run};
