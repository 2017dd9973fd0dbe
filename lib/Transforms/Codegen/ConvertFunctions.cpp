// What a function does becomes the LLVM dialect, in one step.
//
// Enters: functions of `memref`, `cf` and `arith`, and of the LLVM dialect that
// `math` and `vector` became. Leaves: functions of the LLVM dialect, but for
// what refers to the module: allocations, which call functions, and constants.
// Those are left to passes over the module, as this one runs for several
// functions at the same time.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxquant {
#define GEN_PASS_DEF_CONVERTFUNCTIONS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {
struct ConvertFunctions
    : public onnxquant::impl::ConvertFunctionsBase<ConvertFunctions> {
  using ConvertFunctionsBase::ConvertFunctionsBase;
  LogicalResult initialize(MLIRContext *context) override {
    target = std::make_shared<LLVMConversionTarget>(*context);
    target
        ->addLegalOp<memref::AllocOp, memref::DeallocOp, memref::GetGlobalOp>();
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(indexBits);
    types = std::make_shared<LLVMTypeConverter>(context, options);
    RewritePatternSet all(context);
    populateFinalizeMemRefToLLVMConversionPatterns(*types, all);
    cf::populateControlFlowToLLVMConversionPatterns(*types, all);
    arith::populateArithToLLVMConversionPatterns(*types, all);
    // Upstream's pass for vectors takes all indices for numbers of 64 bits.
    if (indexBits != 64)
      populateVectorToLLVMConversionPatterns(*types, all);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    if (indexBits != 64) {
      RewritePatternSet simpler(&getContext());
      vector::populateVectorBroadcastLoweringPatterns(simpler);
      vector::populateVectorInsertExtractStridedSliceTransforms(simpler);
      (void)applyPatternsGreedily(getOperation(), std::move(simpler));
    }
    if (failed(applyPartialConversion(getOperation(), *target, patterns)))
      signalPassFailure();
  }

private:
  /// What the pass's copies share.
  std::shared_ptr<LLVMConversionTarget> target;
  std::shared_ptr<LLVMTypeConverter> types;
  FrozenRewritePatternSet patterns;
};
} // namespace
