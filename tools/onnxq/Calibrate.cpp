// onnxq calibrate: ranges of a model's tensors from data.

#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "QuantizeSummary.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct CalibrateSettings {
  std::string path, output, method = "minmax", opTypes, nodes;
  std::string target = "native";
  bool ranges = false, histogram = false, skipPreprocess = false, json = false;
  int64_t bins = 2048;
  DataArguments data;
  ModelOptions model;
  LimitOptions limits;
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
static llvm::Error finish(CalibrateSettings &options) {
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
  if (llvm::Error error = options.data.finish(collect.quiet))
    return error;
  collect.data = options.data.options;
  bool wanted = options.histogram || needsHistogram(*method);
  collect.spec.bins = wanted ? options.bins : 0;
  collect.spec.batch = collect.data.batch;
  collect.spec.opTypes = splitList(options.opTypes);
  collect.spec.nodes = splitList(options.nodes);
  return llvm::Error::success();
}

static void printSummary(const StatisticsTable &table, const SeenRuns &seen,
                         const std::set<std::string> &normalized,
                         const std::string &files,
                         const CalibrateSettings &options) {
  int64_t ranges = 0;
  for (const auto &[name, statistics] : table.tensors)
    ranges += statistics.count > 0;
  if (options.json) {
    llvm::json::Object root = seenToJson(seen, table.samples, table.skipped);
    root["output"] = files;
    root["tensors"] = static_cast<int64_t>(table.tensors.size());
    root["ranges"] = ranges;
    root["method"] = table.method;
    llvm::outs() << llvm::formatv("{0:2}\n",
                                  llvm::json::Value(std::move(root)));
    return;
  }
  printSeen(llvm::outs(), seen, table.samples, table.skipped, normalized);
  llvm::outs() << "ranges       " << ranges << " of " << table.tensors.size()
               << " tensors\n"
               << "wrote        " << files << "\n";
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
  CalibrateSettings options;
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
      .flag("skip-preprocess", options.skipPreprocess)
      .flag("all", collect.spec.all)
      .option("op-types", options.opTypes)
      .option("nodes", options.nodes)
      .flag("ranges", options.ranges)
      .option("checkpoint", collect.checkpoint)
      .option("threads", collect.threads)
      .option("target", options.target)
      .flag("json", options.json)
      .flag("quiet", collect.quiet)
      .flag("verbose", collect.verbose)
      .option("o", options.output);
  options.data.declare(declared);
  options.model.declare(declared);
  options.limits.declare(declared);
  if (std::optional<int> code = declared.parse(arguments))
    return *code;
  if (std::optional<int> code = options.limits.apply(declared))
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
  auto files = tableFiles(options.output, options.ranges);
  if (!files)
    return complain(files.takeError(), BadUsage);
  for (const auto &[path, format] : *files)
    if (std::optional<int> code = checkOutput(path))
      return *code;
  if (!collect.checkpoint.empty())
    if (std::optional<int> code = checkOutput(collect.checkpoint))
      return *code;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> module =
      options.model.read(options.path, context.get());
  if (!module)
    return BadInput;
  std::set<std::string> normalized = normalizedInputs(*module);
  // As for quantization, so that the table fits what is quantized.
  PassManager pm(&context.get());
  if (llvm::Error error = buildPreparation(pm, !options.skipPreprocess))
    return complain(std::move(error), BadInput);
  {
    PassPhases phases(pm);
    if (failed(pm.run(*module)))
      return BadInput;
  }
  SeenRuns seen;
  collect.seen = &seen;
  collect.interrupted = pollInterrupts();
  std::unique_ptr<Executor> executor =
      createCalibrationExecutor(std::move(*target));
  auto table = collectStatistics(*module, *executor, collect);
  if (failed(table))
    return BadInput;
  if (!collect.quiet)
    reportOddities(*module, *table);
  std::string written;
  for (const auto &[path, format] : *files) {
    if (llvm::Error error = writeTable(*table, path, format, collect.method))
      return complain(std::move(error), BadInput);
    written += (written.empty() ? "" : ", ") + path;
  }
  if (!collect.quiet || options.json)
    printSummary(*table, seen, normalized, written, options);
  return Done;
}

const Verb onnxquant::cli::calibrateVerb = {
    "calibrate", "find the ranges of a model's tensors by running data",
    R"(usage: onnxq calibrate MODEL --data PATH -o TABLE [options]

Prepares a model as 'onnxq quantize' does, runs samples through it and writes
what its tensors hold: statistics (.json), or ranges (.cache, .flatbuffers, and
.json with --ranges). TABLE without an extension: one of each.

)" ONNXQ_DATA_HELP
    R"(  --method M          minmax (default), average, moving-average, entropy,
                      percentile or mse; --symmetric
  --bins N, --quantized-bins N, --percentile P, --constant C
  --histogram         keep histograms for any method, for other methods later
  --all, --op-types A,B, --nodes A,B   what is observed (default: what
                      quantization asks for)
  --skip-preprocess   the model as it is, not prepared
  --dim NAME=VALUE, --input-shape NAME=SHAPE
  --max-memory BYTES, --max-iterations N
                            what runs may take, as of 'onnxq run'
  --trust-bytecode          read .mlirbc that has no checksum of ours
  --threads N         samples that run at once (all processors, up to 8); the
                      table is the same
  --target NAME       the processor to run for, as of 'onnxq compile' (native);
                      the table is the same
  --checkpoint FILE   continue from it, and write it while running
  --json, --quiet, --verbose

example: onnxq calibrate model.onnx --data images --scale 1/255 -o ranges.json
)",
    run};
