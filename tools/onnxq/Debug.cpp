// onnxq debug: where a quantized model loses accuracy.

#include "DataArguments.h"
#include "Models.h"
#include "OnnxQuant/Debugging/Debugging.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

static int complain(llvm::Error error, int code) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return code;
}

/// The float model as `onnxq quantize` prepares it; null if that fails, which
/// leaves the model as it is to compare with.
static OwningOpRef<ModuleOp> prepare(ModuleOp module) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  PreprocessOptions options;
  options.executor = createFoldingExecutor;
  PassManager pm(module.getContext());
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  if (llvm::Error error = buildPreprocessPipeline(pm, options)) {
    llvm::consumeError(std::move(error));
    return {};
  }
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}

static int writeReport(const DebugResult &result, StringRef path) {
  auto file = AtomicFile::create(path);
  if (!file)
    return complain(file.takeError(), BadInput);
  (*file)->os() << result.toHtml();
  if (llvm::Error error = (*file)->commit())
    return complain(std::move(error), BadInput);
  return Done;
}

static int run(llvm::ArrayRef<const char *> arguments) {
  std::string realPath, quantPath, report;
  bool json = false, asIs = false;
  int64_t top = 20;
  DataArguments data;
  ModelOptions model;
  DebugOptions options;
  Arguments parser(debugVerb);
  parser.positional("FLOAT", realPath)
      .positional("QUANT", quantPath)
      .option("report", report)
      .option("top", top)
      .flag("as-is", asIs)
      .flag("json", json)
      .flag("quiet", options.quiet);
  data.declare(parser);
  model.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  if (data.options.paths.empty())
    return parser.wrong("expects --data PATH");
  if (top < 0)
    return parser.wrong("option '--top' expects 0 or more");
  if (llvm::Error error = data.finish())
    return complain(std::move(error), BadUsage);
  if (std::optional<int> code =
          report.empty() ? std::nullopt : checkOutput(report))
    return *code;
  options.data = data.options;
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> real = model.read(realPath, context.get());
  if (!real)
    return BadInput;
  OwningOpRef<ModuleOp> quant = model.read(quantPath, context.get());
  if (!quant)
    return BadInput;
  OwningOpRef<ModuleOp> prepared;
  if (!asIs)
    prepared = prepare(*real);
  // What the quantizer has multiplied is multiplied for comparison, too.
  std::vector<ScaledTensor> scaled = readScaledTensors(*quant);
  applyScaledTensors(*real, scaled);
  if (prepared)
    applyScaledTensors(*prepared, scaled);
  // The graphs are prepared where they should be, and look at every tensor.
  CompileOptions compile;
  compile.prepare = false;
  std::unique_ptr<Executor> executor = createJitExecutor(compile);
  auto result = debugModels(*real, prepared ? *prepared : ModuleOp(), *quant,
                            *executor, options);
  if (failed(result))
    return BadInput;
  result->realModel = realPath;
  result->quantModel = quantPath;
  if (!report.empty())
    if (int failed = writeReport(*result, report))
      return failed;
  if (json)
    llvm::outs() << llvm::formatv("{0:2}", result->toJson()) << "\n";
  else if (!options.quiet)
    result->print(llvm::outs(), top);
  return Done;
}

const Verb onnxquant::cli::debugVerb = {
    "debug", "compare a quantized model with the float one, layer by layer",
    R"(usage: onnxq debug FLOAT QUANT --data PATH [options]

Runs samples through both models and compares tensors and weights: qdq (signal
to noise of a tensor's own quantization), xmodel (against the float model),
added (what the tensor and its node add), cosine, largest error, share beyond
the range, channels that became constant, the worst channel; and what to try.

  --data PATH         samples; see 'onnxq calibrate --help' for what goes with it
  --report OUT.html   a page with drawings that needs nothing else
  --json              all figures as JSON
  --top N             lines of the tables: 20; 0 for all
  --as-is             compare with the float model as it is, not as prepared
  --dim NAME=VALUE, --input-shape NAME=SHAPE
  --quiet             no table and no progress

example: onnxq debug model.onnx model.int8.onnx --data images --limit 16
             --report report.html
)",
    run};
