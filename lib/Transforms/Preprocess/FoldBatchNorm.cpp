// Folds batch normalizations into the convolution or product beside them.
// Enters: a BatchNormalization with constant statistics after a Conv,
// ConvTranspose or Gemm with constant weights, or before one. Leaves: the
// latter with other weights. Before a padded convolution only a normalization
// without a shift can go, because padding is zero after it, not before.

#include "Contraction.h"
#include "OnnxQuant/Transforms/Passes.h"

namespace onnxquant {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "OnnxQuant/Transforms/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

namespace {

/// A normalization of what a contraction makes.
struct FoldIntoProducer : public OpRewritePattern<BatchNormalizationOp> {
  FoldIntoProducer(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(BatchNormalizationOp norm,
                                PatternRewriter &rewriter) const override {
    Operation *producer = norm.getX().getDefiningOp();
    if (!producer || !norm.getX().hasOneUse())
      return rewriter.notifyMatchFailure(norm, "others read its input");
    FailureOr<Contraction> contraction = Contraction::match(rewriter, producer);
    if (failed(contraction))
      return failure();
    FailureOr<ChannelAffine> affine = matchBatchNorm(rewriter, norm);
    if (failed(affine))
      return failure();
    if (static_cast<int64_t>(affine->scale.size()) !=
        contraction->getChannels())
      return rewriter.notifyMatchFailure(norm, "it has other channels");
    contraction->scaleOutput(*affine);
    FailureOr<Operation *> fused =
        contraction->rebuild(rewriter, norm, producer->getOperand(0));
    if (failed(fused))
      return failure();
    rewriter.replaceAllUsesWith(norm.getY(), (*fused)->getResult(0));
    rewriter.eraseOp(norm);
    rewriter.eraseOp(producer);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// A normalization of what a contraction reads.
struct FoldIntoConsumer : public OpRewritePattern<BatchNormalizationOp> {
  FoldIntoConsumer(MLIRContext *context, int64_t &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(BatchNormalizationOp norm,
                                PatternRewriter &rewriter) const override {
    if (!norm.getY().hasOneUse())
      return rewriter.notifyMatchFailure(norm, "several ops read its output");
    OpOperand &use = *norm.getY().use_begin();
    Operation *consumer = use.getOwner();
    if (use.getOperandNumber() != 0 || consumer->getBlock() != norm->getBlock())
      return rewriter.notifyMatchFailure(norm, "it isn't a consumer's input");
    if (auto gemm = dyn_cast<GemmOp>(consumer); gemm && gemm.getTransA() != 0)
      return rewriter.notifyMatchFailure(norm, "the channels are rows");
    FailureOr<Contraction> contraction = Contraction::match(rewriter, consumer);
    if (failed(contraction))
      return failure();
    FailureOr<ChannelAffine> affine = matchBatchNorm(rewriter, norm);
    if (failed(affine))
      return failure();
    if (static_cast<int64_t>(affine->scale.size()) !=
        contraction->getInputChannels())
      return rewriter.notifyMatchFailure(norm, "it has other channels");
    if (failed(contraction->scaleInput(*affine)))
      return rewriter.notifyMatchFailure(norm, "the consumer pads with zeros");
    FailureOr<Operation *> fused =
        contraction->rebuild(rewriter, consumer, norm.getX());
    if (failed(fused))
      return failure();
    rewriter.replaceOp(consumer, (*fused)->getResults());
    rewriter.eraseOp(norm);
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct FoldBatchNorm
    : public onnxquant::impl::FoldBatchNormBase<FoldBatchNorm> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<FoldIntoProducer>(context, after);
    set.add<FoldIntoConsumer>(context, before);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    after = before = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numAfter += after;
    numBefore += before;
    addToReport(getOperation(), getArgument(), "folded into producers", after);
    addToReport(getOperation(), getArgument(), "folded into consumers", before);
  }

private:
  FrozenRewritePatternSet patterns;
  int64_t after = 0, before = 0;
};

} // namespace
