// Makes the scaling by a constant per channel part of the weights.
// Enters: Mul or Div by a constant after a Conv, ConvTranspose or Gemm with
// constant weights. Leaves: the latter with other weights.

#include "Contraction.h"
#include "OnnxQuant/Transforms/Passes.h"
#include "PatternPass.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEMUL
#include "OnnxQuant/Transforms/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

namespace {

template <typename OpTy> struct FuseScale : public OpRewritePattern<OpTy> {
  FuseScale(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto makeAffine = [](std::vector<double> values,
                         bool second) -> std::optional<ChannelAffine> {
      ChannelAffine affine;
      affine.scale = std::move(values);
      if (std::is_same_v<OpTy, DivOp>) {
        if (!second)
          return std::nullopt;
        for (double &value : affine.scale)
          value = 1.0 / value;
      }
      return affine;
    };
    if (failed(fuseIntoProducer(rewriter, op, makeAffine)))
      return failure();
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct FuseMul
    : public PatternPass<FuseMul, onnxquant::impl::FuseMulBase<FuseMul>> {
  static constexpr llvm::StringLiteral done = "scales made weights";
  static void populate(RewritePatternSet &set, int64_t &count) {
    set.add<FuseScale<MulOp>, FuseScale<DivOp>>(set.getContext(), count);
  }
};

} // namespace
