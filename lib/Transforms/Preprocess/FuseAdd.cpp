// Makes the addition of a constant per channel part of the bias.
// Enters: Add or Sub of a constant after a Conv, ConvTranspose or Gemm with
// constant weights. Leaves: the latter with another bias. Constant minus
// product negates the weights too.

#include "Contraction.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/PatternPass.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEADD
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;
using namespace onnxquant::rewriting;

namespace {

template <typename OpTy> struct FuseSum : public OpRewritePattern<OpTy> {
  FuseSum(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto makeAffine = [](std::vector<double> values, bool second) {
      ChannelAffine affine;
      affine.shift = std::move(values);
      if (!std::is_same_v<OpTy, SubOp>)
        return std::optional(affine);
      if (second)
        for (double &value : affine.shift)
          value = -value;
      else
        affine.scale = {-1.0};
      return std::optional(affine);
    };
    if (failed(fuseIntoProducer(rewriter, op, makeAffine)))
      return failure();
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct FuseAdd
    : public PatternPass<FuseAdd, onnxquant::impl::FuseAddBase<FuseAdd>> {
  static constexpr llvm::StringLiteral done = "sums made biases";
  static void populate(RewritePatternSet &set, int64_t &count) {
    set.add<FuseSum<AddOp>, FuseSum<SubOp>>(set.getContext(), count);
  }
};

} // namespace
