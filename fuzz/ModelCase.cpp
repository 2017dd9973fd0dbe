// One model through import, shape inference and export: see ModelCase.h.

#include "ModelCase.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Export/Export.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Support/Nesting.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::fuzz;

namespace {
/// Keeps the first error and prints nothing.
class SilentHandler : public ScopedDiagnosticHandler {
public:
  explicit SilentHandler(MLIRContext *context)
      : ScopedDiagnosticHandler(context) {
    setHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
          error.empty())
        error = diagnostic.str();
      return success();
    });
  }

  std::string take() { return std::exchange(error, {}); }

private:
  std::string error;
};
} // namespace

static LogicalResult infer(ModuleOp module, bool dynamicBatch) {
  PassManager passes(module.getContext());
  ShapeInferenceOptions options;
  if (dynamicBatch)
    options.dynamicBatch = "fuzzed_batch";
  passes.addPass(createShapeInference(options));
  return passes.run(module);
}

/// What was exported is a model: it imports again.
static std::string checkExport(StringRef path, MLIRContext *context,
                               SilentHandler &handler) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return "the export is missing";
  OwningOpRef<ModuleOp> again = importModel(
      ArrayRef<char>((*file)->getBufferStart(), (*file)->getBufferSize()),
      "exported", /*folder=*/"", context);
  if (!again)
    return "the export doesn't import again: " + handler.take();
  return "";
}

/// The module's text is one: it parses to a module again.
static std::string checkText(ModuleOp module, MLIRContext *context,
                             SilentHandler &handler) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  if (parseSourceString<ModuleOp>(text, context))
    return "";
  return "the text doesn't parse again: " + handler.take();
}

CaseResult onnxquant::fuzz::runText(StringRef text) {
  CaseResult result;
  if (mlirNestsDeeper(text, mostMlirDepth)) {
    result.error = "is nested too deep";
    return result;
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<onnx::ONNXDialect, func::FuncDialect>();
  SilentHandler handler(&context);
  // The parser reads the zero behind a text, which files have in memory.
  std::string terminated = text.str();
  auto module = parseSourceString<ModuleOp>(terminated, &context);
  result.error = handler.take();
  if (!module) {
    if (result.error.empty())
      result.problem = "parsing fails without an error";
    return result;
  }
  result.outcome = Outcome::Imported;
  result.problem = checkText(*module, &context, handler);
  if (!result.problem.empty())
    return result;
  if (succeeded(infer(*module, /*dynamicBatch=*/false)))
    result.outcome = Outcome::Inferred;
  else if (handler.take().empty())
    result.problem = "shape inference fails without an error";
  return result;
}

CaseResult onnxquant::fuzz::runModel(ArrayRef<char> bytes, StringRef scratch) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  SilentHandler handler(&context);
  CaseResult result;
  auto end = [&](bool succeeded, StringRef stage) {
    result.error = handler.take();
    if (!succeeded && result.error.empty())
      result.problem = (stage + " fails without an error").str();
    if (succeeded && !result.error.empty())
      result.problem =
          (stage + " succeeds with an error: " + result.error).str();
    return !succeeded || !result.problem.empty();
  };

  OwningOpRef<ModuleOp> module = importModel(bytes, "mutant", "", &context);
  if (end(static_cast<bool>(module), "import"))
    return result;
  result.outcome = Outcome::Imported;
  result.problem = checkText(*module, &context, handler);
  if (!result.problem.empty())
    return result;

  // A batch of any size contradicts some models, so its result is only kept
  // from crashing.
  OwningOpRef<ModuleOp> batched = module->clone();
  (void)infer(*batched, /*dynamicBatch=*/true);
  handler.take();
  if (end(succeeded(infer(*module, /*dynamicBatch=*/false)), "shape inference"))
    return result;
  result.outcome = Outcome::Inferred;

  bool exported = succeeded(exportModel(*module, scratch));
  if (!end(exported, "export")) {
    result.outcome = Outcome::Exported;
    result.problem = checkExport(scratch, &context, handler);
  }
  llvm::sys::fs::remove(scratch);
  return result;
}
