// onnxq calibrate: ranges of a model's tensors from data.

#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Signals.h"
#include "llvm/TargetParser/Triple.h"
#include <csignal>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

/// Set by an interrupt; looked at between runs.
static volatile std::sig_atomic_t wasInterrupted = 0;

static void onInterrupt(int) { wasInterrupted = 1; }

namespace {

struct CalibrateOptions {
  std::string path, output, method = "minmax", opTypes, nodes;
  std::string target = "native";
  bool ranges = false, histogram = false;
  int64_t bins = 2048;
  DataArguments data;
  ModelOptions model;
  CollectOptions collect;
};

} // namespace

static int complain(llvm::Error error, int code) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

static std::vector<std::string> splitList(llvm::StringRef text) {
  std::vector<std::string> list;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    list.push_back(part.trim().str());
  return list;
}

/// Options that depend on each other.
static llvm::Error finish(CalibrateOptions &options) {
  CollectOptions &collect = options.collect;
  auto method = parseMethod(options.method);
  if (!method)
    return method.takeError();
  collect.method.method = *method;
  if (llvm::Error error = checkOptions(collect.method))
    return error;
  if (collect.threads < 0 || collect.threads > 1024)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "threads expects 1 to 1024, or 0 for all processors, but got " +
            llvm::Twine(collect.threads));
  if (!(collect.constant > 0 && collect.constant <= 1))
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "constant expects a number above 0 and up to 1, but got " +
            shortestDecimal(collect.constant));
  if (llvm::Error error = options.data.finish())
    return error;
  collect.data = options.data.options;
  bool wanted = options.histogram || needsHistogram(*method);
  collect.spec.bins = wanted ? options.bins : 0;
  collect.spec.batch = collect.data.batch;
  collect.spec.opTypes = splitList(options.opTypes);
  collect.spec.nodes = splitList(options.nodes);
  return llvm::Error::success();
}

static void printSummary(const StatisticsTable &table,
                         const CalibrateOptions &options) {
  int64_t ranges = 0;
  for (const auto &[name, statistics] : table.tensors)
    ranges += statistics.count > 0;
  llvm::outs() << table.samples << " samples";
  if (table.skipped > 0)
    llvm::outs() << " (" << table.skipped << " skipped)";
  llvm::outs() << ", " << ranges << " of " << table.tensors.size()
               << " tensors have a range: " << options.output << "\n";
  if (!options.collect.verbose)
    return;
  llvm::Expected<RangeTable> computed =
      computeRanges(table, options.collect.method);
  if (!computed) {
    llvm::errs() << llvm::toString(computed.takeError()) << "\n";
    return;
  }
  for (const auto &[name, range] : *computed)
    llvm::outs() << llvm::format("%14.7g %14.7g  ", range.min, range.max)
                 << name << "\n";
}

static int run(llvm::ArrayRef<const char *> arguments) {
  CalibrateOptions options;
  CollectOptions &collect = options.collect;
  Arguments declared(calibrateVerb);
  declared.positional("MODEL", options.path)
      .option("method", options.method)
      .option("bins", options.bins)
      .option("quantized-bins", collect.method.quantizedBins)
      .option("percentile", collect.method.percentile)
      .option("constant", collect.constant)
      .flag("symmetric", collect.method.symmetric)
      .flag("histogram", options.histogram)
      .flag("all", collect.spec.all)
      .option("op-types", options.opTypes)
      .option("nodes", options.nodes)
      .flag("ranges", options.ranges)
      .option("checkpoint", collect.checkpoint)
      .option("threads", collect.threads)
      .option("target", options.target)
      .flag("quiet", collect.quiet)
      .flag("verbose", collect.verbose)
      .option("o", options.output);
  options.data.declare(declared);
  options.model.declare(declared);
  if (std::optional<int> code = declared.parse(arguments))
    return *code;
  if (llvm::Error error = finish(options))
    return complain(std::move(error), BadUsage);
  auto target = parseTarget(options.target);
  if (!target)
    return complain(target.takeError(), BadUsage);
  auto native = parseTarget("native");
  if (!native)
    return complain(native.takeError(), BadInput);
  if (llvm::Triple(target->triple).getArch() !=
      llvm::Triple(native->triple).getArch())
    return declared.wrong("option '--target' expects a processor of this "
                          "machine's kind, but got '" +
                          options.target + "'");
  if (options.output.empty()) {
    llvm::errs() << "error: onnxq calibrate expects -o TABLE\n";
    return BadUsage;
  }
  auto format = tableFormat(options.output);
  if (!format)
    return complain(format.takeError(), BadUsage);
  for (StringRef path : {options.output, collect.checkpoint})
    if (std::optional<int> code =
            path.empty() ? std::nullopt : checkOutput(path))
      return *code;
  if (options.ranges && *format == TableFormat::Statistics)
    format = TableFormat::Ranges;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> module =
      options.model.read(options.path, context.get());
  if (!module)
    return BadInput;
  std::signal(SIGINT, onInterrupt);
  std::signal(SIGTERM, onInterrupt);
  collect.interrupted = []() { return wasInterrupted != 0; };
  std::unique_ptr<Executor> executor =
      createCalibrationExecutor(std::move(*target));
  auto table = collectStatistics(*module, *executor, collect);
  if (failed(table))
    return BadInput;
  if (!collect.quiet)
    reportOddities(*module, *table);
  if (llvm::Error error =
          writeTable(*table, options.output, *format, collect.method))
    return complain(std::move(error), BadInput);
  if (!collect.quiet)
    printSummary(*table, options);
  return Done;
}

const Verb onnxquant::cli::calibrateVerb = {
    "calibrate", "find the ranges of a model's tensors by running data",
    R"(usage: onnxq calibrate MODEL --data PATH -o TABLE [options]

Runs samples through a model and writes what its tensors hold: statistics
(.json), or ranges (.cache, .flatbuffers, and .json with --ranges).

)" ONNXQ_DATA_HELP
    R"(  --method M          minmax (default), average, moving-average, entropy,
                      percentile or mse; --symmetric
  --bins N, --quantized-bins N, --percentile P, --constant C
  --histogram         keep histograms for any method, for other methods later
  --all, --op-types A,B, --nodes A,B   what is observed (default: what
                      quantization asks for)
  --dim NAME=VALUE, --input-shape NAME=SHAPE
  --threads N         samples that run at once (all processors, up to 8); the
                      table is the same
  --target NAME       the processor to run for, as of 'onnxq compile' (native);
                      the table is the same
  --checkpoint FILE   continue from it, and write it while running
  --quiet, --verbose

example: onnxq calibrate model.onnx --data images --scale 0.0039 -o ranges.json
)",
    run};
