// onnxq calibrate: ranges of a model's tensors from data.

#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Pipelines/FirstSample.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Quantize.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "QuantizeSummary.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

struct CalibrateSettings {
  std::string path, output, target = "native";
  bool ranges = false, skipPreprocess = false, json = false;
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
      .flag("skip-preprocess", options.skipPreprocess)
      .flag("ranges", options.ranges)
      .option("target", options.target)
      .flag("json", options.json)
      .flag("quiet", collect.quiet)
      .flag("verbose", collect.verbose)
      .option("o", options.output);
  options.data.declare(declared, {"method", "observed"});
  options.model.declare(declared);
  options.limits.declare(declared);
  if (std::optional<int> code = declared.parse(arguments))
    return *code;
  if (std::optional<int> code = options.limits.apply(declared))
    return *code;
  if (llvm::Error error = options.data.finish(collect))
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
  if (failed(checkFirstSample(*module, collect.data)))
    return BadInput;
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
  if (llvm::Error error = writeTables(*table, *files, collect.method))
    return complain(std::move(error), BadInput);
  std::string written = llvm::join(llvm::make_first_range(*files), ", ");
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

  --data PATH         a folder or pattern of images, .npy, .npz (arrays by the
                      inputs' names), .pb, a list of files (.txt)
  --size HxW, --mean A:B:C, --scale A:B:C, --letterbox, --multiple-of N
                      how images become tensors: (pixel - mean) * scale
  --limit N           use at most so many samples
  --method minmax|entropy|percentile|mse|...   how ranges are chosen (minmax)
  --shard I/N, --checkpoint FILE   in parts ('onnxq merge'), or continued
  --dim NAME=VALUE, --input-shape NAME=SHAPE
  --config FILE       options from YAML
  --json, --quiet, --verbose
{more}
  --ranges            ranges in .json, too
  --skip-preprocess   the model as it is, not prepared
  --max-memory BYTES, --max-iterations N
                      what runs may take, as of 'onnxq run'
  --trust-bytecode    read .mlirbc that has no checksum of ours
  --target NAME       the processor to run for, as of 'onnxq compile' (native);
                      the table is the same

example: onnxq calibrate model.onnx --data images --scale 1/255 -o ranges.json
)",
    run};
