// downstream MODEL.onnx [PIPELINE]: how another compiler uses OnnxQuant.
// Imports a model, runs passes of OnnxQuant, of MLIR and of its own, prints the
// result.

#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "ReportNodes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    llvm::errs() << "usage: downstream MODEL.onnx [PIPELINE]\n";
    return 2;
  }
  onnxquant::registerAllPasses();
  registerTransformsPasses();
  registerPass(createReportNodes);
  DialectRegistry registry;
  onnxquant::registerAllDialects(registry);

  MLIRContext context(registry);
  // Errors as `error: FILE: node 'NAME': ...`; without it they are MLIR's.
  onnxquant::ModelDiagnosticHandler handler(&context);
  PassManager pipeline(&context);
  StringRef passes =
      argc == 3 ? argv[2] : "onnx-shape-inference,canonicalize,report-nodes";
  if (failed(parsePassPipeline(passes, pipeline)))
    return 2;
  OwningOpRef<ModuleOp> module = onnxquant::importModel(argv[1], &context);
  if (!module || failed(pipeline.run(*module)))
    return 1;
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(16);
  module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
