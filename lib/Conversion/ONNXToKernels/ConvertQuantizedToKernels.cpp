// Turns quantized convolutions and products into kernels of integers. Enters:
// graphs with inferred shapes. Leaves: kernels with channels last, and ops of
// the `onnx` dialect that make numbers of their sums; ops that no kernel takes
// stay. Which do, and why, is told on request: plain loops are slower.

#include "IntegerProduct.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "Reasons.h"
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

/// Whether an op computes with numbers that quantized operands stand for.
static bool isIsland(Operation *op) {
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
    kernels::addQuantizedIslandPatterns(set);
    kernels::addCodedProductPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    // Folding would look at large constants.
    GreedyRewriteConfig config;
    kernels::Reasons reasons;
    config.enableFolding(false).enableConstantCSE(false).setListener(&reasons);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      return signalPassFailure();
    tellLeft(reasons);
    getOperation().walk([&](onnxq::ContractOp op) {
      if (op.getInput().getType().getElementType().isInteger())
        ++numKernels;
    });
  }

private:
  /// Counts the ops that stay, and names them: quantized ones run as plain
  /// loops, those between dequantizers in float.
  void tellLeft(const kernels::Reasons &reasons) {
    getOperation().walk([&](Operation *op) {
      bool isFloat = isa<onnx::ConvOp, onnx::ConvTransposeOp, onnx::MatMulOp,
                         onnx::GemmOp>(op);
      if (!patterns.getOpSpecificNativePatterns().contains(op->getName()) ||
          (isFloat && !isIsland(op)))
        return;
      ++numLeft;
      if (report)
        op->emitRemark(isFloat ? "has no kernel of integers: "
                               : "has no kernel: ")
            << reasons.of(op);
    });
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
