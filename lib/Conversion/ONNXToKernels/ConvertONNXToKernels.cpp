// Turns ops that a kernel computes into that kernel. Enters: graphs with
// inferred shapes. Leaves: kernels with channels last and transposes around
// them; ops whose weights or windows are only known at run time stay. They are
// counted, and told with the reason on request: plain loops are slower.

#include "Attention.h"
#include "Einsum.h"
#include "OnnxQuant/Conversion/Passes.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "RecurrentProducts.h"
#include "Windows.h"
#include "WithoutKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"

namespace onnxquant {
#define GEN_PASS_DEF_CONVERTONNXTOKERNELS
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Ops that sum products, or search through windows, and have no pattern: the
/// last part of their names. Layers of which kernels computed all sums don't.
static bool isLeftOut(Operation *op) {
  static const llvm::StringSet<> names = {
      "Attention",  "DeformConv", "Det",         "DynamicQuantizeLSTM",
      "Einsum",     "FusedConv",  "FusedGemm",   "FusedMatMul",
      "GRU",        "LSTM",       "MatMulNBits", "MultiHeadAttention",
      "QAttention", "RNN"};
  return !op->hasAttr(hiddenProjectedAttr) &&
         op->getName().getDialectNamespace().starts_with("onnx") &&
         names.contains(op->getName().getStringRef().rsplit('.').second);
}

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
    auto hasPattern = [&](Operation *op) {
      return patterns.getOpSpecificNativePatterns().contains(op->getName());
    };
    kernels::expandWeights(getOperation(), [&](Operation *op) {
      return hasPattern(op) || kernels::isRecurrent(op);
    });
    kernels::expandEinsums(getOperation());
    numKernels += kernels::fuseAttention(getOperation());
    kernels::projectRecurrent(getOperation());
    // One kernel per op: no folding, which would look at large constants.
    kernels::MatchReasons reasons;
    walkAndApplyPatterns(getOperation(), patterns, &reasons);
    kernels::NodesWithoutKernel left(getOperation(), report);
    getOperation().walk([&](Operation *op) {
      if (!hasPattern(op) && !isLeftOut(op))
        return;
      ++numLeft;
      left.add(op, kernels::Fallback::Loops, reasons.get(op));
    });
    left.write();
    getOperation().walk([&](onnxq::KernelOpInterface) { ++numKernels; });
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace
