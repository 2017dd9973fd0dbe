// A plug-in for mlir-opt and other drivers: all dialects, passes and pipelines
// of OnnxQuant in a shared library.
//
//   mlir-opt --load-dialect-plugin=OnnxQuantPlugin.so
//            --load-pass-plugin=OnnxQuantPlugin.so
//            --pass-pipeline='builtin.module(onnx-preprocess)' model.mlir
//
// MLIR and LLVM are the driver's own shared libraries, so there is one of each
// in the process; nothing of them is linked in.

#include "OnnxQuant/Pipelines/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/Compiler.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "OnnxQuant", ONNXQUANT_VERSION,
          [](mlir::DialectRegistry *registry) {
            onnxquant::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "OnnxQuant", ONNXQUANT_VERSION,
          []() { onnxquant::registerAllPasses(); }};
}
