// Turns ops that a kernel computes into that kernel. Enters: graphs with
// inferred shapes. Leaves: kernels with channels last and transposes around
// them; ops whose weights or windows are only known at run time stay. Which do,
// and why, is told on request: plain loops are slower.

#include "OnnxQuant/Conversion/Passes.h"
#include "Reasons.h"
#include "Windows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace onnxquant {
#define GEN_PASS_DEF_CONVERTONNXTOKERNELS
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {
struct ConvertONNXToKernels
    : public onnxquant::impl::ConvertONNXToKernelsBase<ConvertONNXToKernels> {
  using ConvertONNXToKernelsBase::ConvertONNXToKernelsBase;
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    kernels::addConvolutionPatterns(set);
    kernels::addTransposedConvolutionPatterns(set);
    kernels::addProductPatterns(set);
    kernels::addWindowPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    // One kernel per op: no folding, which would look at large constants.
    kernels::Reasons reasons;
    walkAndApplyPatterns(getOperation(), patterns, &reasons);
    getOperation().walk([&](Operation *op) {
      if (!patterns.getOpSpecificNativePatterns().contains(op->getName()))
        return;
      ++numLeft;
      if (report)
        op->emitRemark("has no kernel: ") << reasons.of(op);
    });
    getOperation().walk([&](onnxq::KernelOpInterface) { ++numKernels; });
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
