// onnxq evaluate: how good a model is, on samples or beside a reference.

#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Evaluation/Evaluation.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct EvaluateSettings {
  std::string path, reference, metric, boxes, anchors, fit, detections,
      saveDetections;
  bool json = false;
  DataArguments data;
  ModelOptions model;
  LimitOptions limits;
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
  llvm::Expected<std::unique_ptr<Program>> compile(const Tensors &sample,
                                                   bool open);

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
  source.isCompiled = true;
  source.make = [shared](const Tensors &, bool) {
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
  module = settings.model.read(path, context.get(), EspForm::Real);
  if (!module)
    return false;
  auto inputs = graphInputs(*module);
  if (failed(inputs))
    return false;
  source.inputs = *inputs;
  source.make = [this](const Tensors &sample, bool open) {
    return compile(sample, open);
  };
  return true;
}

llvm::Expected<std::unique_ptr<Program>>
Candidate::compile(const Tensors &sample, bool open) {
  // The diagnostics have said why.
  auto failed = [] { return llvm::createStringError(""); };
  // Samples of other sizes may follow, for which it is compiled again.
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>((*module)->clone()));
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (llvm::failed(graph))
    return failed();
  if (!open)
    specializeInputs(*graph, sample,
                     /*keepFirst=*/settings.options.data.batch > 1);
  std::unique_ptr<Executor> executor = createJitExecutor();
  auto program = executor->compile(*copy);
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
    metrics.sqnr = metrics.cosine = metrics.agreement =
        metrics.agreementIfClasses = true;
  if (metrics.coco)
    metrics.agreement = metrics.agreementIfClasses = false;
}

/// Pairs of widths and heights.
static llvm::Error readAnchors(StringRef text, DecodeOptions &boxes) {
  if (text.empty())
    return llvm::Error::success();
  auto numbers = parseNumbers("anchors", text);
  if (!numbers)
    return numbers.takeError();
  bool usesHeads =
      boxes.format == BoxFormat::YoloV3 || boxes.format == BoxFormat::YoloV5;
  if (!usesHeads)
    return llvm::createStringError(
        "option '--anchors' is for --boxes yolov3 or yolov5");
  if (numbers->size() % 2 != 0)
    return llvm::createStringError("option '--anchors' expects widths and "
                                   "heights in turns, but got " +
                                   llvm::Twine(numbers->size()) + " numbers");
  for (size_t i = 0; i < numbers->size(); i += 2) {
    if ((*numbers)[i] <= 0 || (*numbers)[i + 1] <= 0)
      return llvm::createStringError(
          "option '--anchors' expects numbers above 0");
    boxes.anchors.emplace_back((*numbers)[i], (*numbers)[i + 1]);
  }
  return llvm::Error::success();
}

/// How pictures lie in the network's input.
static llvm::Error readFit(EvaluateSettings &settings) {
  using Fit = EvaluationOptions::Fit;
  std::optional<Fit> &fit = settings.options.fit;
  if (settings.fit.empty())
    return llvm::Error::success();
  if (settings.fit == "stretch")
    fit = Fit::Stretched;
  else if (settings.fit == "letterbox")
    fit = Fit::Letterboxed;
  else if (settings.fit == "top-left")
    fit = Fit::TopLeft;
  else
    return llvm::createStringError("option '--fit' expects stretch, letterbox "
                                   "or top-left, but got '" +
                                   settings.fit + "'");
  return llvm::Error::success();
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
    for (const DeclaredOption &option : parser.declared().options)
      if (!llvm::is_contained({"detections", "labels", "json", "quiet"},
                              option.name) &&
          parser.isGiven(option.name))
        return parser.wrong("option '--" + option.name +
                            "' means nothing with --detections");
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
  if (parser.isGiven("labels") && !options.metrics.needsLabels() &&
      !options.metrics.coco)
    return parser.wrong("option '--labels' is for metrics top1, top5 and coco");
  auto isLibrary = [](StringRef path) {
    return path.empty() || llvm::sys::path::extension(path) == ".so";
  };
  if (isLibrary(settings.path) && isLibrary(settings.reference))
    if (std::optional<int> code =
            refuseForLibrary(parser, {"dim", "input-shape", "trust-bytecode",
                                      "max-memory", "max-iterations"}))
      return code;
  if (options.metrics.coco) {
    if (options.metrics.needsLabels())
      return parser.wrong("metrics of classes and of boxes don't go together");
    if (settings.boxes.empty())
      return parser.wrong("metric coco expects --boxes with one of " +
                          boxFormatNames().str());
    if (!settings.data.options.preprocess.crop.empty())
      return parser.wrong("metric coco expects whole images, without --crop");
    auto format = parseBoxFormat(settings.boxes);
    if (!format)
      return parser.wrong(llvm::toString(format.takeError()));
    options.boxes.format = *format;
    if (llvm::Error error = readAnchors(settings.anchors, options.boxes))
      return parser.wrong(llvm::toString(std::move(error)));
    if (llvm::Error error = readFit(settings))
      return parser.wrong(llvm::toString(std::move(error)));
  } else {
    for (const char *name :
         {"boxes", "save-detections", "anchors", "score", "overlap", "fit"})
      if (parser.isGiven(name))
        return parser.wrong(std::string("option '--") + name +
                            "' is for metric coco");
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
      .option("anchors", settings.anchors)
      .option("fit", settings.fit)
      .option("score", options.boxes.scoreThreshold)
      .option("overlap", options.boxes.overlapThreshold)
      .option("detections", settings.detections)
      .option("save-detections", settings.saveDetections)
      .flag("json", settings.json)
      .flag("quiet", options.quiet);
  settings.data.declare(parser);
  settings.model.declare(parser);
  settings.limits.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = settings.limits.apply(parser))
    return *code;
  if (std::optional<int> code = check(parser, settings))
    return *code;
  if (!settings.detections.empty()) {
    auto result = evaluateFile(settings.detections, options.labels);
    return result ? show(*result, settings)
                  : complain(result.takeError(), BadInput);
  }
  if (llvm::Error error = settings.data.finish(options.quiet))
    return complain(std::move(error), BadUsage);
  options.data = settings.data.options;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  Candidate model(context, settings), reference(context, settings);
  if (!model.open(settings.path) ||
      (!settings.reference.empty() && !reference.open(settings.reference)))
    return BadInput;
  options.interrupted = pollInterrupts();
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
  --boxes yolov3|yolov5|yolov8|yolov10|yolov11|yolox   how outputs mean boxes
  --anchors W,H,...   of the heads of yolov3 and yolov5, the finest head first
  --fit stretch|letterbox|top-left   how pictures lie in tensors of --data
  --score S (0.001), --overlap O (0.65)   of boxes that are kept
  --save-detections FILE         boxes that were found, as COCO's results
  --data PATH         samples; '--help-all' lists what goes with it
  --dim NAME=VALUE, --input-shape NAME=SHAPE, --json, --quiet
  --max-memory BYTES, --max-iterations N
                            what runs may take, as of 'onnxq run'
  --trust-bytecode          read .mlirbc that has no checksum of ours

example: onnxq evaluate model.int8.onnx --reference model.onnx --data photos
)",
    run};
