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
  bool oneFile = true;
  bool verbose = false, quiet = false, json = false;
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
  OwningOpRef<ModuleOp> module = readModel(settings.input, &context);
  if (!module)
    return BadInput;
  Summary summary;
  summary.before = getModelInfo(*module);
  requestReport(*module);
  if (failed(pm.run(*module)))
    return BadInput;
  summary.counts = takeReport(*module);
  summary.after = getModelInfo(*module);
  if (failed(writeModel(*module, settings.output, settings.exporting)))
    return BadInput;
  if (settings.json)
    printJson(settings, summary);
  else if (!settings.quiet)
    printText(settings, summary);
  return Done;
}

/// Other tools write options with `_`, and flags with a value: `--auto_merge
/// False`. Both forms become the one that is declared.
static std::vector<std::string> normalize(llvm::ArrayRef<const char *> given,
                                          ArrayRef<StringRef> flags) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < given.size(); ++i) {
    StringRef argument = given[i];
    if (!argument.starts_with("--")) {
      arguments.push_back(argument.str());
      continue;
    }
    auto [name, value] = argument.split('=');
    std::string option = name.str();
    std::replace(option.begin(), option.end(), '_', '-');
    bool hasValue = argument.contains('=');
    if (llvm::is_contained(flags, StringRef(option).drop_front(2))) {
      auto isTruth = [](StringRef text) {
        return text.equals_insensitive("true") ||
               text.equals_insensitive("false") || text == "0" || text == "1";
      };
      if (!hasValue && i + 1 < given.size() && isTruth(given[i + 1])) {
        value = given[++i];
        hasValue = true;
      }
      if (!hasValue || isTruth(value)) {
        bool off =
            hasValue && (value.equals_insensitive("false") || value == "0");
        arguments.push_back(off ? "--no-" + option.substr(2) : option);
        continue;
      }
    }
    arguments.push_back(hasValue ? option + "=" + value.str() : option);
  }
  return arguments;
}

static int run(llvm::ArrayRef<const char *> given) {
  Settings settings;
  std::vector<std::string> skip, passes;
  struct Flag {
    StringRef name;
    bool &target;
    bool off = false;
  };
  Flag flags[] = {{"skip-optimization", settings.skipOptimization},
                  {"skip-onnx-shape", settings.skipStatic},
                  {"skip-symbolic-shape", settings.skipSymbolic},
                  {"auto-merge", settings.pipeline.autoMerge},
                  {"guess-output-rank", settings.pipeline.guessOutputRank},
                  {"save-as-external-data", settings.exporting.externalData},
                  {"all-tensors-to-one-file", settings.oneFile},
                  {"verbose", settings.verbose},
                  {"quiet", settings.quiet},
                  {"json", settings.json}};
  SmallVector<StringRef> names;
  for (const Flag &flag : flags)
    names.push_back(flag.name);
  Arguments arguments(preprocessVerb);
  for (Flag &flag : flags)
    arguments.flag(flag.name, flag.target)
        .flag(("no-" + flag.name).str(), flag.off);
  arguments.option("o", settings.output)
      .option("input", settings.input)
      .option("output", settings.output)
      .option("external-data-location", settings.exporting.externalDataLocation)
      .option("external-data-size-threshold",
              settings.exporting.externalDataThreshold)
      .option("max-constant-bytes", settings.pipeline.maxConstantBytes)
      .option("int-max", settings.pipeline.intMax)
      .option("max-opset", settings.pipeline.maxOpset)
      .option("batch", settings.pipeline.dynamicBatch)
      .list("skip", skip)
      .list("passes", passes)
      .list("dim", settings.pipeline.dims)
      .list("input-shape", settings.pipeline.inputShapes);
  if (llvm::none_of(given, [](StringRef argument) {
        return argument.starts_with("--input=") || argument == "--input";
      }))
    arguments.positional("MODEL", settings.input);
  std::vector<std::string> texts = normalize(given, names);
  SmallVector<const char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(text.c_str());
  if (std::optional<int> code = arguments.parse(pointers))
    return *code;
  for (Flag &flag : flags)
    if (flag.off)
      flag.target = false;
  if (std::optional<int> code = checkModelOutput(arguments, settings.output))
    return *code;
  settings.exporting.filePerTensor = !settings.oneFile;
  settings.pipeline.optimize = !settings.skipOptimization;
  settings.pipeline.staticShapes = !settings.skipStatic;
  settings.pipeline.symbolicShapes = !settings.skipSymbolic;
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
  --skip-onnx-shape, --skip-symbolic-shape
                            leave shapes to symbolic inference; write no
                            expressions; with both, write no inner shapes
  --auto-merge              dimensions that meet in a node are the same
  --guess-output-rank       unknown operators keep the first input's rank
  --int-max N               ends of slices from N on mean no end
  --batch NAME              make the batch a dimension of this name
  --dim NAME=VALUE, --input-shape NAME=1x3x224x224
  --max-opset N             make no node that opset N doesn't have
  --max-constant-bytes N    largest constant that may make the model grow
  --save-as-external-data   weights beside the model, from
    --external-data-size-threshold BYTES (1024) on, in
    --external-data-location NAME (OUT.onnx.data), or each in a file of its
    own with --all-tensors-to-one-file=false
  --json, --verbose, --quiet

Flags take true or false, and _ is as good as -.
example: onnxq preprocess model.onnx -o prepared.onnx --dim batch=1
)",
    run};
