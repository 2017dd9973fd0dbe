// Turns quantized convolutions and products into kernels of integers. Enters:
// graphs with inferred shapes. Leaves: kernels with channels last, and ops of
// the `onnx` dialect that make numbers of their sums; what isn't constant
// stays.

#include "IntegerProduct.h"
#include "OnnxQuant/Conversion/Passes.h"
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

namespace {
struct ConvertQuantizedToKernels
    : public onnxquant::impl::ConvertQuantizedToKernelsBase<
          ConvertQuantizedToKernels> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    kernels::addQuantizedOpPatterns(set);
    kernels::addQuantizedIslandPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    // Folding would look at large constants.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      return signalPassFailure();
    getOperation().walk([&](onnxq::ContractOp op) {
      if (op.getInput().getType().getElementType().isInteger())
        ++numKernels;
    });
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
