// Turns quantized convolutions and products into kernels of integers. Enters:
// graphs with inferred shapes. Leaves: kernels with channels last that
// requantize their accumulators, or ops of the `onnx` dialect that make real
// numbers of them; ops that no kernel takes stay, and are counted.

#include "IntegerProduct.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "WithoutKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace onnxquant {
#define GEN_PASS_DEF_CONVERTQUANTIZEDTOKERNELS
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Whether an op computes with the real values of quantized operands.
static bool isBetweenDequantizers(Operation *op) {
  return isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::MatMulOp, onnx::GemmOp>(
             op) &&
         llvm::all_of(op->getOperands().take_front(2), [](Value operand) {
           return operand.getDefiningOp<onnx::DequantizeLinearOp>() != nullptr;
         });
}

namespace {
struct ConvertQuantizedToKernels
    : public onnxquant::impl::ConvertQuantizedToKernelsBase<
          ConvertQuantizedToKernels> {
  using ConvertQuantizedToKernelsBase::ConvertQuantizedToKernelsBase;
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    kernels::addQuantizedOpPatterns(set);
    kernels::addQdqPatterns(set);
    kernels::addCodeProductPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    // Folding would look at large constants.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    kernels::MatchReasons reasons;
    config.setListener(&reasons);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      return signalPassFailure();
    countLeft(reasons);
    getOperation().walk([&](onnxq::ContractOp op) {
      if (op.getInput().getType().getElementType().isInteger())
        ++numKernels;
    });
  }

private:
  /// Quantized ops have plain loops then; others run in float.
  void countLeft(const kernels::MatchReasons &reasons) {
    kernels::NodesWithoutKernel left(getOperation(), report);
    getOperation().walk([&](Operation *op) {
      bool isFloat = isBetweenDequantizers(op);
      bool isQuantized =
          patterns.getOpSpecificNativePatterns().contains(op->getName()) &&
          !isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::MatMulOp,
               onnx::GemmOp>(op);
      if (!isFloat && !isQuantized)
        return;
      ++numLeft;
      left.add(op,
               isFloat ? kernels::Fallback::Float : kernels::Fallback::Loops,
               reasons.get(op));
    });
    left.write();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
