// onnxq preprocess: shapes, folding and fusion, before quantization.

#include "OnnxQuant/Pipelines/Preprocess.h"
#include "Models.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {
/// What the command line says.
struct Settings {
  std::string input, output;
  PreprocessOptions pipeline;
  ExportOptions exporting;
  bool skipOptimization = false, skipStatic = false, skipSymbolic = false;
  bool oneFile = true, trustBytecode = false;
  bool verbose = false, quiet = false, json = false;
  std::vector<std::string> metadata;
  int64_t minOpset = 0;
};

/// What changed, for the summary.
struct Summary {
  ModelInfo before, after;
  std::vector<PreprocessCount> counts;
};
} // namespace

/// Splits lists such as `a,b c`, as names come in both forms.
static std::vector<std::string> splitNames(ArrayRef<std::string> texts) {
  std::vector<std::string> names;
  for (StringRef text : texts) {
    SmallVector<StringRef> parts;
    text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      names.push_back(part.trim().str());
  }
  return names;
}

static void printJson(const Settings &settings, const Summary &summary) {
  llvm::json::Array passes;
  for (const PreprocessCount &entry : summary.counts)
    passes.push_back(llvm::json::Object{
        {"pass", entry.pass}, {"what", entry.what}, {"count", entry.count}});
  auto describe = [](const ModelInfo &info) {
    llvm::json::Object ops;
    for (const auto &[name, count] : info.opCounts)
      ops[name] = count;
    return llvm::json::Object{{"nodes", info.numNodes},
                              {"parameters", info.parameters},
                              {"parameter_bytes", info.parameterBytes},
                              {"ops", std::move(ops)}};
  };
  llvm::json::Object root{{"input", settings.input},
                          {"output", settings.output},
                          {"before", describe(summary.before)},
                          {"after", describe(summary.after)},
                          {"passes", std::move(passes)}};
  llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
               << "\n";
}

static void printText(const Settings &settings, const Summary &summary) {
  llvm::raw_ostream &os = llvm::outs();
  os << settings.output << ": " << summary.before.numNodes << " nodes before, "
     << summary.after.numNodes << " after\n";
  for (const PreprocessCount &entry : summary.counts)
    os << llvm::format("  %6lld  ", static_cast<long long>(entry.count))
       << llvm::left_justify(entry.pass, 28) << entry.what << "\n";
  if (!settings.verbose)
    return;
  os << "operators:\n";
  std::map<std::string, std::pair<int64_t, int64_t>> ops;
  for (const auto &[name, count] : summary.before.opCounts)
    ops[name].first = count;
  for (const auto &[name, count] : summary.after.opCounts)
    ops[name].second = count;
  for (const auto &[name, counts] : ops)
    os << llvm::format("  %6lld -> %-6lld  ",
                       static_cast<long long>(counts.first),
                       static_cast<long long>(counts.second))
       << name << "\n";
}

static int preprocess(Settings &settings) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  ModelDiagnosticHandler handler(&context);
  PassManager pm(&context);
  settings.pipeline.executor = createFoldingExecutor;
  if (llvm::Error error = buildPreprocessPipeline(pm, settings.pipeline)) {
    llvm::errs() << "error: onnxq preprocess: "
                 << llvm::toString(std::move(error)) << "\n";
    return BadUsage;
  }
  OwningOpRef<ModuleOp> module =
      readModel(settings.input, &context,
                settings.trustBytecode ? Bytecode::Trusted : Bytecode::Checked);
  if (!module)
    return BadInput;
  Summary summary;
  summary.before = getModelInfo(*module);
  requestReport(*module);
  if (failed(pm.run(*module)))
    return BadInput;
  summary.counts = takeReport(*module);
  llvm::Error error = raiseOpset(*module, settings.minOpset);
  for (const std::string &entry : settings.metadata)
    error = llvm::joinErrors(std::move(error), addMetadata(*module, entry));
  if (error) {
    llvm::errs() << "error: onnxq preprocess: "
                 << llvm::toString(std::move(error)) << "\n";
    return BadUsage;
  }
  summary.after = getModelInfo(*module);
  if (failed(writeModel(*module, settings.output, settings.exporting)))
    return BadInput;
  if (settings.json)
    printJson(settings, summary);
  else if (!settings.quiet)
    printText(settings, summary);
  return Done;
}

static int run(llvm::ArrayRef<const char *> given) {
  Settings settings;
  std::vector<std::string> skip, passes;
  Arguments arguments(preprocessVerb);
  arguments.flag("skip-optimization", settings.skipOptimization)
      .flag("skip-onnx-shape", settings.skipStatic)
      .flag("skip-symbolic-shape", settings.skipSymbolic)
      .flag("auto-merge", settings.pipeline.autoMerge)
      .flag("guess-output-rank", settings.pipeline.guessOutputRank)
      .flag("save-as-external-data", settings.exporting.externalData)
      .flag("all-tensors-to-one-file", settings.oneFile)
      .flag("trust-bytecode", settings.trustBytecode)
      .flag("verbose", settings.verbose)
      .flag("quiet", settings.quiet)
      .flag("json", settings.json);
  arguments.option("o", settings.output)
      .option("input", settings.input)
      .option("output", settings.output)
      .option("external-data-location", settings.exporting.externalDataLocation)
      .option("external-data-size-threshold",
              settings.exporting.externalDataThreshold)
      .option("max-constant-bytes", settings.pipeline.maxConstantBytes)
      .option("int-max", settings.pipeline.intMax)
      .option("max-opset", settings.pipeline.maxOpset)
      .option("min-opset", settings.minOpset)
      .option("batch", settings.pipeline.dynamicBatch)
      .list("skip", skip)
      .list("passes", passes)
      .list("dim", settings.pipeline.dims)
      .list("metadata", settings.metadata)
      .list("input-shape", settings.pipeline.inputShapes);
  LimitOptions limits;
  limits.declare(arguments);
  if (llvm::none_of(given, [](StringRef argument) {
        return argument.starts_with("--input=") || argument == "--input";
      }))
    arguments.positional("MODEL", settings.input);
  if (std::optional<int> code = arguments.parse(given))
    return *code;
  if (std::optional<int> code = checkModelOutput(arguments, settings.output))
    return *code;
  if (std::optional<int> code = limits.apply(arguments))
    return *code;
  for (StringRef name :
       {"external-data-location", "external-data-size-threshold",
        "all-tensors-to-one-file"})
    if (!settings.exporting.externalData && arguments.isGiven(name))
      return arguments.wrong("option '--" + name.str() +
                             "' is for --save-as-external-data");
  if (settings.skipOptimization && arguments.isGiven("max-constant-bytes"))
    return arguments.wrong("option '--max-constant-bytes' means nothing with "
                           "--skip-optimization");
  settings.exporting.filePerTensor = !settings.oneFile;
  settings.pipeline.optimize = !settings.skipOptimization;
  settings.pipeline.staticShapes = !settings.skipStatic;
  settings.pipeline.symbolicShapes = !settings.skipSymbolic;
  settings.exporting.maxOpset = settings.pipeline.maxOpset;
  if (arguments.isGiven("max-opset") &&
      settings.minOpset > settings.pipeline.maxOpset)
    return arguments.wrong("--min-opset is above --max-opset");
  settings.pipeline.skip = splitNames(skip);
  settings.pipeline.passes = splitNames(passes);
  return preprocess(settings);
}

const Verb onnxquant::cli::preprocessVerb = {
    "preprocess", "shapes, folding and fusion before quantization",
    R"(usage: onnxq preprocess MODEL -o OUT.onnx [options]

Prepares a float model: infers shapes, computes constants, folds and fuses
nodes. The result computes the same within float rounding.

  --skip STEP,...           leave out steps
  --passes STEP,...         only these steps, in this order; see docs
  --skip-optimization       only infer shapes
  --dim NAME=VALUE, --input-shape NAME=1x3x224x224
  --batch NAME              make the batch a dimension of this name
  --auto-merge              dimensions that meet in a node are the same
  --max-opset N             the highest opset of OUT: without it, operators of
                            newer opsets are spelt out
  --save-as-external-data   weights in files beside the model
  --json, --verbose, --quiet
{more}
  --external-data-size-threshold BYTES
                            weights from this size on (1024)
  --external-data-location NAME
                            the file of weights (OUT.onnx.data)
  --all-tensors-to-one-file=false
                            each in a file of its own
  --skip-onnx-shape, --skip-symbolic-shape
                            leave shapes to symbolic inference; write no
                            expressions; with both, write no inner shapes
  --guess-output-rank       unknown operators keep the first input's rank
  --int-max N               ends of slices from N on mean no end
  --max-constant-bytes N    largest constant that may make the model grow
  --min-opset N             raise OUT to an opset
  --metadata KEY=VALUE      add to what the model says of itself
  --max-memory BYTES, --max-iterations N
                            what runs may take, as of 'onnxq run'
  --trust-bytecode          read .mlirbc that has no checksum of ours

example: onnxq preprocess model.onnx -o prepared.onnx --dim batch=1
)",
    run};
