// Registration of everything that OnnxQuant brings.

#include "OnnxQuant/Pipelines/InitAll.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNX/LayoutOpInterface.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/ESP/Passes.h"
#include "OnnxQuant/Pipelines/Compile.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "OnnxQuant/Transforms/Layout/Passes.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

void onnxquant::registerAllDialects(DialectRegistry &registry) {
  registry.insert<onnx::ONNXDialect, onnxq::ONNXQDialect, affine::AffineDialect,
                  arith::ArithDialect, bufferization::BufferizationDialect,
                  cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, omp::OpenMPDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  onnx::registerLayoutModels(registry);
  onnx::registerQuantizableModels(registry);
  onnxq::registerBufferizationModels(registry);
  onnxq::registerLayoutModels(registry);
}

void onnxquant::registerAllPasses() {
  // The first registration of a pass counts: this one can compute.
  registerPass([] { return createFoldConstants(createFoldingExecutor); });
  registerOnnxQuantPreprocessPasses();
  registerOnnxQuantQuantizePasses();
  registerOnnxQuantLayoutPasses();
  registerOnnxQuantConversionPasses();
  registerOnnxQuantKernelsPasses();
  registerOnnxQuantCodegenPasses();
  registerOnnxQuantEspPasses();
  registerCompilePipelines();
  registerPreprocessPipeline();
  registerInstrument();
  registerFuseObservers();
  registerLowerObservers();
  registerLoadCalibration();
  registerPass([]() {
    return createCalibrate({}, []() { return createCalibrationExecutor(); });
  });
}
