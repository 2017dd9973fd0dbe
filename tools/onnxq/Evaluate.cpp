// onnxq evaluate: how good a model is, on samples or beside a reference.

#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <csignal>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Set by an interrupt; looked at between runs.
static volatile std::sig_atomic_t wasInterrupted = 0;

static void onInterrupt(int) { wasInterrupted = 1; }

namespace {

struct EvaluateSettings {
  std::string path, reference, metric, boxes, detections, saveDetections;
  bool json = false;
  DataArguments data;
  ModelOptions model;
  EvaluationOptions options;
};

/// A model or a library, as the evaluation takes it.
class Candidate {
public:
  Candidate(ModelContext &context, const EvaluateSettings &settings)
      : context(context), settings(settings) {}

  /// Reads the file; false if it has been reported to be bad.
  bool open(StringRef path);
  ModelSource source;

private:
  bool openLibrary(StringRef path);
  llvm::Expected<std::unique_ptr<Program>> compile(const Tensors &sample);

  ModelContext &context;
  const EvaluateSettings &settings;
  OwningOpRef<ModuleOp> module;
};

} // namespace

/// Says what is wrong; an empty message is of what has been said already.
static int complain(llvm::Error error, int code) {
  std::string message = llvm::toString(std::move(error));
  if (!message.empty())
    llvm::errs() << "error: " << message << "\n";
  return code;
}

bool Candidate::openLibrary(StringRef path) {
  auto library = LoadedLibrary::open(path);
  if (!library) {
    complain(library.takeError(), BadInput);
    return false;
  }
  for (const InputSpec &spec : describeInputs((*library)->model()))
    source.inputs.push_back(
        {spec.name, spec.type, spec.dims.value_or(std::vector<int64_t>())});
  auto shared =
      std::make_shared<std::unique_ptr<LoadedLibrary>>(std::move(*library));
  source.make = [shared](const Tensors &) {
    return makeProgram(std::move(*shared));
  };
  return true;
}

bool Candidate::open(StringRef path) {
  source.name = path.str();
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(path, bytes))
    source.bytes = static_cast<int64_t>(bytes);
  if (llvm::sys::path::extension(path) == ".so")
    return openLibrary(path);
  module = settings.model.read(path, context.get());
  if (!module)
    return false;
  auto inputs = graphInputs(*module);
  if (failed(inputs))
    return false;
  source.inputs = *inputs;
  source.make = [this](const Tensors &sample) { return compile(sample); };
  return true;
}

llvm::Expected<std::unique_ptr<Program>>
Candidate::compile(const Tensors &sample) {
  // The diagnostics have said why.
  auto failed = [] { return llvm::createStringError(""); };
  FailureOr<func::FuncOp> graph = findGraph(*module);
  if (llvm::failed(graph))
    return failed();
  specializeInputs(*graph, sample,
                   /*keepFirst=*/settings.options.data.batch > 1);
  std::unique_ptr<Executor> executor = createJitExecutor();
  auto program = executor->compile(*module);
  if (llvm::failed(program))
    return failed();
  return std::move(*program);
}

/// What is computed if nothing is asked for.
static void chooseMetrics(EvaluateSettings &settings) {
  Metrics &metrics = settings.options.metrics;
  StringRef labels = settings.options.labels;
  if (llvm::sys::path::extension(labels) == ".json" || !settings.boxes.empty())
    metrics.coco = true;
  else if (!labels.empty() || settings.reference.empty())
    metrics.top1 = metrics.top5 = true;
  if (!settings.reference.empty())
    metrics.sqnr = metrics.cosine = metrics.agreement = true;
  if (metrics.coco)
    metrics.agreement = false;
}

/// Options that depend on each other; an exit code says that they are wrong.
static std::optional<int> check(const Arguments &parser,
                                EvaluateSettings &settings) {
  EvaluationOptions &options = settings.options;
  auto metrics = parseMetrics(settings.metric);
  if (!metrics)
    return parser.wrong(llvm::toString(metrics.takeError()));
  options.metrics = *metrics;
  if (!settings.detections.empty()) {
    if (!settings.path.empty() || !settings.reference.empty() ||
        !settings.data.options.paths.empty())
      return parser.wrong("--detections are boxes that were found already: "
                          "they go without a model and data");
    if (options.labels.empty())
      return parser.wrong("--detections expects --labels ANNOTATIONS.json");
    return std::nullopt;
  }
  if (settings.path.empty())
    return parser.wrong("expects MODEL");
  if (settings.data.options.paths.empty())
    return parser.wrong("expects --data PATH");
  if (!options.metrics.any())
    chooseMetrics(settings);
  if (options.metrics.needsReference() && settings.reference.empty())
    return parser.wrong("metrics sqnr, cosine and agreement expect --reference "
                        "MODEL");
  if (options.metrics.coco) {
    if (options.metrics.needsLabels())
      return parser.wrong("metrics of classes and of boxes don't go together");
    if (settings.boxes.empty())
      return parser.wrong(
          "metric coco expects --boxes yolov5, yolov8 or yolox");
    if (!settings.data.options.preprocess.crop.empty())
      return parser.wrong("metric coco expects whole images, without --crop");
    auto format = parseBoxFormat(settings.boxes);
    if (!format)
      return parser.wrong(llvm::toString(format.takeError()));
    options.boxes.format = *format;
  } else if (!settings.boxes.empty() || !settings.saveDetections.empty()) {
    return parser.wrong("--boxes and --save-detections are for metric coco");
  }
  return std::nullopt;
}

static int show(const EvaluationResult &result,
                const EvaluateSettings &settings) {
  if (!settings.saveDetections.empty()) {
    auto file = AtomicFile::create(settings.saveDetections);
    if (!file)
      return complain(file.takeError(), BadInput);
    (*file)->os() << writeCocoDetections(result.model.detections);
    if (llvm::Error error = (*file)->commit())
      return complain(std::move(error), BadInput);
  }
  if (settings.json)
    llvm::outs() << llvm::formatv("{0:2}", result.toJson()) << "\n";
  else
    result.print(llvm::outs());
  return Done;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  EvaluateSettings settings;
  EvaluationOptions &options = settings.options;
  std::vector<std::string> paths;
  Arguments parser(evaluateVerb);
  parser.optional("MODEL", settings.path)
      .option("labels", options.labels)
      .option("metric", settings.metric)
      .option("reference", settings.reference)
      .option("output", options.output)
      .option("boxes", settings.boxes)
      .option("score", options.boxes.scoreThreshold)
      .option("overlap", options.boxes.overlapThreshold)
      .option("detections", settings.detections)
      .option("save-detections", settings.saveDetections)
      .flag("json", settings.json)
      .flag("quiet", options.quiet);
  settings.data.declare(parser);
  settings.model.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = check(parser, settings))
    return *code;
  if (!settings.detections.empty()) {
    auto result = evaluateFile(settings.detections, options.labels);
    return result ? show(*result, settings)
                  : complain(result.takeError(), BadInput);
  }
  if (llvm::Error error = settings.data.finish())
    return complain(std::move(error), BadUsage);
  options.data = settings.data.options;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  Candidate model(context, settings), reference(context, settings);
  if (!model.open(settings.path) ||
      (!settings.reference.empty() && !reference.open(settings.reference)))
    return BadInput;
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  options.interrupted = [] { return wasInterrupted != 0; };
  auto result = evaluateModel(
      model.source, settings.reference.empty() ? nullptr : &reference.source,
      options);
  if (!result)
    return complain(result.takeError(), BadInput);
  return show(*result, settings);
}

const Verb onnxquant::cli::evaluateVerb = {
    "evaluate", "score a model on labelled data, or beside a reference",
    R"(usage: onnxq evaluate MODEL --data PATH [--labels FILE] [options]
       onnxq evaluate --detections BOXES.json --labels ANNOTATIONS.json

MODEL is a model or a compiled library. Beside scores: latency of a run, size.

  --labels FILE       a label in each line, or FILE LABEL; idx, .npy; COCO
                      annotations; without it, folders are classes
  --metric A,B        top1, top5, coco; with --reference: sqnr, cosine, agreement
  --reference MODEL   a model to compare with, run on the same samples
  --output NAME       the output that scores or boxes are in (the first)
  --boxes yolov5|yolov8|yolox    how an output means boxes
  --score S (0.001), --overlap O (0.65)   of boxes that are kept
  --save-detections FILE         boxes that were found, as COCO's results
  --data PATH         samples; see 'onnxq calibrate --help' for what goes with it
  --dim NAME=VALUE, --input-shape NAME=SHAPE, --json, --quiet

example: onnxq evaluate model.int8.onnx --reference model.onnx --data photos
)",
    run};
