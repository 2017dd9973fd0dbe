// Finds a model's graph.

#include "OnnxQuant/Dialect/ONNX/EntryPoint.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"

using namespace mlir;
using namespace onnxquant;

FailureOr<func::FuncOp> onnxquant::findGraph(ModuleOp module) {
  for (auto entry : module.getOps<onnx::EntryPointOp>())
    if (auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            entry, entry.getFuncAttr()))
      return function;
  auto functions = module.getOps<func::FuncOp>();
  if (functions.empty() || !llvm::hasSingleElement(functions))
    return module.emitError("expects one entry point, or one function");
  return *functions.begin();
}
