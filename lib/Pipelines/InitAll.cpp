// Registration of everything that OnnxQuant brings.

#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

void onnxquant::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<onnx::ONNXDialect, mlir::func::FuncDialect>();
}

void onnxquant::registerAllPasses() { registerOnnxQuantPasses(); }
