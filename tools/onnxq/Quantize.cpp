// onnxq quantize: a quantized model from a float one.

#include "OnnxQuant/Pipelines/Quantize.h"
#include "CommandText.h"
#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Budget/Faster.h"
#include "OnnxQuant/Budget/Search.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "QuantizeNotes.h"
#include "QuantizeSummary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <chrono>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;
using Clock = std::chrono::steady_clock;

namespace {

struct QuantizeSettings {
  std::string path, output;
  bool skipPreprocess = false, quiet = false, verbose = false, json = false;
  /// Samples that outputs are compared on.
  int64_t compared = 4;
  DataArguments data;
  ModelOptions model;
  LimitOptions limits;
  ExportOptions exporting;
  QuantizePipelineOptions pipeline;
  std::optional<budget::Bounds> bounds;

  bool hasData() const { return !data.options.paths.empty(); }
};

/// What there is to tell of one quantized model.
struct Told {
  int64_t samples = 0, skipped = 0;
  QuantizeSummary summary;
  std::optional<budget::Result> search;
};

/// What the stages leave for the summary.
struct Outcome : Told {
  SeenRuns seen;
  std::set<std::string> normalized;
};

/// The best model of a search so far: its files, not in place yet.
struct BestSoFar : Told {
  HeldFiles files;
};

} // namespace

static int complain(const Twine &message, int code) {
  llvm::errs() << "error: " << message << "\n";
  return code;
}

static void declare(Arguments &parser, QuantizeSettings &settings) {
  parser.positional("MODEL", settings.path)
      .option("o", settings.output)
      .flag("skip-preprocess", settings.skipPreprocess)
      .flag("external-data", settings.exporting.externalData)
      .flag("quiet", settings.quiet)
      .flag("verbose", settings.verbose)
      .flag("json", settings.json)
      .option("compare", settings.compared)
      .options(quantizeOptionTable(), settings.pipeline.quantize);
  settings.data.declare(parser, {"method"});
  parser.options(loadCalibrationOptionTable(), settings.pipeline.load);
  settings.model.declare(parser);
  settings.limits.declare(parser);
}

/// What goes with samples means nothing without them; a table's statistics give
/// other ranges by some of it. The number of threads changes no result.
static std::optional<int> checkData(const Arguments &parser,
                                    const QuantizeSettings &settings) {
  const QuantizeOptions &quantize = settings.pipeline.quantize;
  bool hasTable = !settings.pipeline.load.table.empty();
  if (settings.hasData() && hasTable)
    return parser.wrong("expects --data or --table, but got both");
  if (quantize.modeName == "qat" && (settings.hasData() || hasTable))
    return parser.wrong("--data and --table are not for mode=qat: the model "
                        "has its parameters");
  if (quantize.weightOnlyBits != 0) {
    if (hasTable)
      return parser.wrong("--table means nothing with --weight-only, which "
                          "leaves activations float");
    if (needsCovariances(quantize) && !settings.hasData())
      return parser.wrong("--algorithm " + quantize.algorithmName +
                          " expects samples: --data PATH");
    if (settings.hasData() && parser.isGiven("method"))
      return parser.wrong("option '--method' means nothing with "
                          "--weight-only, which leaves activations float");
  } else if ((settings.hasData() || hasTable) && !needsCalibration(quantize))
    return parser.wrong(std::string(hasTable ? "--table" : "--data") +
                        " means nothing with --dynamic, whose scales are found "
                        "at run time");
  auto wrong = [&](StringRef name, StringRef with) {
    return parser.wrong("option '--" + name.str() + "' is for " + with.str());
  };
  if (!hasTable && parser.isGiven("partial"))
    return wrong("partial", "--table");
  if (settings.hasData())
    return std::nullopt;
  if (parser.isGiven("compare"))
    return wrong("compare", "--data");
  for (const auto &option : calibrateOptionTable()) {
    bool isOfTable = findOption(loadCalibrationOptionTable(), option.name);
    bool isOfMethod = option.group->name == "method";
    if ((isOfMethod || DataArguments::isOfData(option)) &&
        !(isOfTable && hasTable) && parser.isGiven(option.name))
      return wrong(option.name, isOfTable ? "--data or --table" : "--data");
  }
  return std::nullopt;
}

/// Completes the options of calibration.
static std::optional<int> checkMethod(const Arguments &parser,
                                      QuantizeSettings &settings) {
  if (settings.compared < 0)
    return parser.wrong("option '--compare' expects 0 or more");
  settings.pipeline.collect.quiet = settings.quiet;
  if (llvm::Error error = settings.data.finish(settings.pipeline.collect))
    return parser.wrong(llvm::toString(std::move(error)));
  return std::nullopt;
}

static void takeReport(const QuantizeSettings &settings,
                       const QuantizeReport &report, Told &told) {
  told.summary.report = report;
  told.summary.saturation =
      saturationNote(report, settings.pipeline.quantize.runtime);
}

/// Where the model's ranges come from, and what the stages tell.
static void completePipeline(QuantizeSettings &settings, Outcome &outcome) {
  QuantizePipelineOptions &pipeline = settings.pipeline;
  pipeline.preprocess = !settings.skipPreprocess;
  if (settings.hasData())
    pipeline.ranges = RangeSource::Samples;
  else if (!pipeline.load.table.empty())
    pipeline.ranges = RangeSource::Table;
  pipeline.collect.seen = &outcome.seen;
  outcome.seen.wanted = settings.quiet ? 0 : settings.compared;
  pipeline.ran = [&](int64_t samples, int64_t skipped) {
    outcome.samples = samples;
    outcome.skipped = skipped;
  };
  pipeline.sink = [&](const QuantizeReport &report) {
    takeReport(settings, report, outcome);
  };
}

static int64_t fileBytes(StringRef path) {
  uint64_t bytes = 0;
  if (llvm::sys::fs::file_size(path, bytes))
    return 0;
  return static_cast<int64_t>(bytes);
}

/// Commands that a user may want next.
static std::vector<std::string> nextCommands(const Arguments &parser,
                                             const QuantizeSettings &settings,
                                             const QuantizeSummary &summary) {
  /// Below this, somebody must look for what went wrong.
  constexpr double poor = 10;
  std::vector<std::string> commands;
  std::string model = quoteForShell(settings.path),
              output = quoteForShell(settings.output);
  if (settings.hasData()) {
    std::vector<StringRef> names{"data"};
    for (const auto &option : calibrateOptionTable())
      if (option.group->name == "images")
        names.push_back(option.name);
    std::string data = parser.repeat(names);
    bool isPoor = summary.worst() && *summary.worst() < poor;
    commands.push_back(isPoor
                           ? "onnxq debug " + model + " " + output + " " + data
                           : "onnxq evaluate " + output + " --reference " +
                                 model + " " + data);
  }
  llvm::SmallString<128> library(settings.output);
  llvm::sys::path::replace_extension(library, ".so");
  commands.push_back("onnxq compile " + output + " -o " +
                     quoteForShell(library));
  return commands;
}

/// Tells what users should know of a model that has been written.
static void tell(const Arguments &parser, const QuantizeSettings &settings,
                 const Outcome &outcome, Told &told, Clock::time_point start) {
  QuantizeSummary &summary = told.summary;
  summary.path = settings.output;
  summary.bytes = fileBytes(settings.output);
  summary.bytesBefore = fileBytes(settings.path);
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  summary.next = nextCommands(parser, settings, summary);
  // The model itself may be on standard output.
  llvm::raw_ostream &os = settings.output == "-" ? llvm::errs() : llvm::outs();
  if (settings.json) {
    llvm::json::Object root =
        seenToJson(outcome.seen, told.samples, told.skipped);
    summary.addTo(root);
    if (told.search)
      root["budget"] = told.search->toJson();
    os << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root)));
    return;
  }
  if (settings.hasData())
    printSeen(os, outcome.seen, told.samples, told.skipped, outcome.normalized);
  if (told.search)
    told.search->print(os);
  summary.print(os, settings.verbose);
}

/// What users should know of the result.
static void summarize(const Arguments &parser, const QuantizeSettings &settings,
                      ModuleOp module, Outcome &outcome,
                      Clock::time_point start) {
  outcome.summary.count(module, outcome.seen);
  std::unique_ptr<Executor> executor = createCalibrationExecutor();
  outcome.summary.compare(module, outcome.seen, *executor);
  tell(parser, settings, outcome, outcome, start);
}

/// Reads bounds; an exit code says that they are wrong.
static std::optional<int> checkBudget(const Arguments &parser,
                                      QuantizeSettings &settings) {
  const QuantizeOptions &quantize = settings.pipeline.quantize;
  auto bounds = budget::readBounds(quantize);
  if (!bounds)
    return parser.wrong(llvm::toString(bounds.takeError()));
  if (llvm::Error error = budget::checkRequest(
          quantize, settings.hasData(), !settings.pipeline.load.table.empty()))
    return parser.wrong(llvm::toString(std::move(error)));
  settings.bounds = *bounds;
  if (quantize.checkpoint.empty())
    return std::nullopt;
  return checkOutput(quantize.checkpoint);
}

/// What tells one model and its samples from others, for a checkpoint.
static std::string identify(const QuantizeSettings &settings) {
  std::string text = settings.path;
  auto file = llvm::MemoryBuffer::getFile(settings.path);
  if (file)
    text = llvm::formatv("{0:x}", llvm::xxh3_64bits((*file)->getBuffer()));
  for (const std::string &path : settings.data.options.paths)
    text += " " + path;
  return text;
}

/// What there is of a search that is interrupted is kept in its checkpoint.
static std::string continued(const QuantizeSettings &settings) {
  const std::string &path = settings.pipeline.quantize.checkpoint;
  return path.empty() || !llvm::sys::fs::exists(path)
             ? ""
             : "; " + path + " can be continued";
}

/// Puts a model into place that is the best so far.
static void end(const Arguments &parser, const QuantizeSettings &settings,
                const Outcome &outcome, BestSoFar &best,
                Clock::time_point start) {
  Progress::leaveLine();
  if (llvm::Error error = best.files.commit()) {
    llvm::errs() << "error: interrupted; " << llvm::toString(std::move(error))
                 << "\n";
    return;
  }
  llvm::errs() << "interrupted: this is the best model so far" +
                      continued(settings) + "\n";
  if (settings.quiet && !settings.json)
    return;
  tell(parser, settings, outcome, best, start);
  llvm::outs().flush();
}

/// Quantizes as a search says, and writes its report.
static LogicalResult quantizeAs(const QuantizeSettings &settings,
                                const QuantizeOptions &options, ModuleOp module,
                                Told &told) {
  PassManager pm(module.getContext());
  pm.addPass(createQuantize(options, [&](const QuantizeReport &report) {
    takeReport(settings, report, told);
  }));
  if (failed(pm.run(module)))
    return failure();
  const std::string &report = settings.pipeline.quantize.report;
  if (report.empty())
    return success();
  llvm::Error error = budget::writeReport(report, settings.path,
                                          told.summary.report, *told.search);
  if (!error)
    return success();
  complain(llvm::toString(std::move(error)), BadInput);
  return failure();
}

/// Keeps a model that keeps the bounds as what an interrupt ends with. It has
/// the same bytes as if the search had ended with it.
static LogicalResult keepBest(const Arguments &parser,
                              const QuantizeSettings &settings, ModuleOp module,
                              const Outcome &outcome,
                              const budget::Result &soFar, LastWords &words,
                              Clock::time_point start) {
  auto best = std::make_shared<BestSoFar>();
  best->samples = soFar.run;
  best->skipped = soFar.skipped;
  best->search = soFar;
  QuantizeOptions options = soFar.options;
  options.remarks = false;
  // They come again with the model that the search ends with.
  ScopedDiagnosticHandler quiet(
      module.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
      });
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  LogicalResult done = success();
  best->files.hold([&] {
    done = success(
        succeeded(quantizeAs(settings, options, *copy, *best)) &&
        succeeded(writeModel(*copy, settings.output, settings.exporting)));
  });
  if (failed(done))
    return failure();
  best->summary.count(*copy, outcome.seen);
  words.change([&parser, &settings, &outcome, best, start] {
    end(parser, settings, outcome, *best, start);
  });
  return success();
}

/// Prepares a model; an exit code says that it failed.
static std::optional<int> prepare(const QuantizeSettings &settings,
                                  ModuleOp module) {
  PassManager pm(module.getContext());
  if (llvm::Error error = buildPreparation(pm, settings.pipeline.preprocess,
                                           settings.pipeline.quantize.maxOpset))
    return complain(llvm::toString(std::move(error)), BadInput);
  PassPhases phases(pm);
  if (failed(pm.run(module)))
    return BadInput;
  return std::nullopt;
}

/// Prepares a model, gives it ranges, and looks for the options that keep the
/// bounds; quantizes with them. An exit code says that there is no model.
static std::optional<int> quantizeWithin(const Arguments &parser,
                                         QuantizeSettings &settings,
                                         ModuleOp module, Outcome &outcome,
                                         LastWords &words,
                                         Clock::time_point start) {
  if (std::optional<int> code = prepare(settings, module))
    return code;
  budget::Request request;
  request.quantize = settings.pipeline.quantize;
  request.bounds = *settings.bounds;
  request.collect = settings.pipeline.collect;
  request.target = settings.pipeline.quantize.target;
  request.checkpoint = settings.pipeline.quantize.checkpoint;
  request.identity = identify(settings);
  request.found = [&](const budget::Result &soFar) {
    return keepBest(parser, settings, module, outcome, soFar, words, start);
  };
  auto found = budget::search(module, request);
  if (failed(found))
    return BadInput;
  outcome.samples = found->run;
  outcome.skipped = found->skipped;
  outcome.search = std::move(*found);
  const budget::Result &search = *outcome.search;
  if (!search.chosen) {
    if (!settings.quiet)
      search.print(llvm::errs());
    return complain(search.reason, BadInput);
  }
  if (failed(quantizeAs(settings, search.options, module, outcome)))
    return BadInput;
  return std::nullopt;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  Clock::time_point start = Clock::now();
  QuantizeSettings settings;
  Arguments parser(quantizeVerb);
  declare(parser, settings);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (std::optional<int> code = settings.limits.apply(parser))
    return *code;
  if (std::optional<int> code = checkModelOutput(parser, settings.output))
    return *code;
  if (llvm::Error error = checkQuantizeOptions(settings.pipeline.quantize))
    return parser.wrong(llvm::toString(std::move(error)));
  if (std::optional<int> code = checkBudget(parser, settings))
    return *code;
  if (std::optional<int> code = checkData(parser, settings))
    return *code;
  if (std::optional<int> code = checkMethod(parser, settings))
    return *code;
  const std::string &report = settings.pipeline.quantize.report;
  if (std::optional<int> code =
          report.empty() ? std::nullopt : checkOutput(report))
    return *code;
  Outcome outcome;
  completePipeline(settings, outcome);
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  settings.exporting.maxOpset = settings.pipeline.quantize.maxOpset;
  OwningOpRef<ModuleOp> module =
      settings.model.read(settings.path, context.get(), EspForm::Device,
                          {keepsFused(settings.pipeline.quantize)});
  if (!module)
    return BadInput;
  outcome.normalized = normalizedInputs(*module);
  std::optional<LastWords> words;
  if (settings.bounds) {
    words.emplace([&settings] {
      Progress::leaveLine();
      llvm::errs() << "error: interrupted before any model was found" +
                          continued(settings) + "\n";
    });
    if (std::optional<int> code =
            quantizeWithin(parser, settings, *module, outcome, *words, start))
      return *code;
  } else if (settings.pipeline.quantize.onlyWhereFaster) {
    if (std::optional<int> code = prepare(settings, *module))
      return *code;
    if (failed(budget::quantizeWhereFaster(*module, settings.pipeline)))
      return BadInput;
  } else {
    PassManager pm(&context.get());
    if (llvm::Error error = buildQuantizePipeline(pm, settings.pipeline))
      return complain(llvm::toString(std::move(error)), BadInput);
    PassPhases phases(pm);
    if (failed(pm.run(*module)))
      return BadInput;
  }
  if (failed(writeModel(*module, settings.output, settings.exporting)))
    return BadInput;
  words.reset();
  if (!settings.quiet || settings.json)
    summarize(parser, settings, *module, outcome, start);
  return Done;
}

const Verb onnxquant::cli::quantizeVerb = {
    "quantize", "a quantized model from a float one",
    R"(usage: onnxq quantize MODEL -o OUT [options]

Prepares a model, finds the ranges of its tensors and quantizes it. OUT (.onnx,
.mlir or .mlirbc) runs in ONNX Runtime and in onnxq.

  --data PATH         samples: images (--size, --mean, --scale), .npy, .npz
  --table FILE        ranges of an earlier calibration instead
  --dynamic           ranges of activations at run time: no samples
  --weight-only N     weights in 4 or 8 bits, nothing else
  --mode qdq|qlinear|integer|qat   the form of OUT (qdq)
  --method minmax|entropy|percentile|mse|...   how ranges are chosen (minmax)
  --min-sqnr DB, --max-drop P% --labels FILE, --max-latency MS
                      the fastest, or the most accurate, within a bound
  --nodes-to-exclude A,B, --int16-first N   what gets more than 8 bits
  --report FILE, --verbose   why nodes stay float
  --config FILE       options, or a whole job, from YAML
  --dim NAME=VALUE, --input-shape NAME=SHAPE, --limit N, --json, --quiet
  --for onnxruntime   what is best there. On x86 without VNNI it saturates with
                      the s8 weights of the default: this, --reduce-range, or
                      session.x64quantprecision=1
{more}
  --compare N         samples that outputs are compared on (4); 0: none, which
                      saves a compilation
  --only-where-faster leave layers float that 8 bits make slower: measured here,
                      or for --target by a model of its costs (static qdq)
  --skip-preprocess   the model as it is, not prepared
  --external-data     weights in a file beside the model
  --max-memory BYTES, --max-iterations N
                      what runs may take, as of 'onnxq run'
  --trust-bytecode    read .mlirbc that has no checksum of ours

example: onnxq quantize model.onnx --data images --scale 1/255 -o model.int8.onnx
)",
    run};
