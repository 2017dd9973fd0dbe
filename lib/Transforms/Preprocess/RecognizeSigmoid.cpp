// Finds Sigmoid, Softplus and Mish in their parts.
// Enters: 1 / (1 + exp(-x)), x / (1 + exp(-x)), log(1 + exp(x)),
// x * tanh(softplus(x)). Leaves: Sigmoid, x * Sigmoid, Softplus, Mish. ONNX has
// no Swish before opset 24: the product is its form.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant {
#define GEN_PASS_DEF_RECOGNIZESIGMOID
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// The x of 1 + exp(x), if nothing else reads it.
static Value getOnePlusExp(Value value) {
  auto sum = getSum(value);
  if (!sum || sum->second != 1 || !isFloat(value))
    return {};
  auto exp = getOnlyProducer<ExpOp>(sum->first);
  return exp ? exp.getInput() : Value();
}

/// The x of -x.
static Value getNegated(Value value) {
  if (!value || !value.hasOneUse())
    return {};
  if (auto neg = value.getDefiningOp<NegOp>())
    return neg.getX();
  Product product = getProduct(value);
  return product.scale == -1 && product.factors.size() == 1
             ? product.factors.front()
             : Value();
}

/// Whether the result has the shape of `x`: nothing broadcasts.
static bool keepsShape(Operation *op, Value x) {
  std::optional<int64_t> rank = getRank(x);
  return rank && rank == getRank(op->getResult(0));
}

namespace {

struct Counts {
  int64_t sigmoids = 0, others = 0;
};

/// 1 or x, divided by 1 + exp(-x).
struct RecognizeQuotient : public OpRewritePattern<DivOp> {
  RecognizeQuotient(MLIRContext *context, Counts &counts)
      : OpRewritePattern(context), counts(counts) {}

  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    Value x = getNegated(getOnePlusExp(op.getB()));
    if (!x || !keepsShape(op, x))
      return rewriter.notifyMatchFailure(op, "no logistic divisor");
    bool isSwish = op.getA() == x;
    if (!isSwish && readScalar(op.getA()) != 1.0)
      return rewriter.notifyMatchFailure(op, "the dividend is another");
    ++counts.sigmoids;
    if (!isSwish) {
      Operation *sigmoid =
          createInPlaceOf(rewriter, SigmoidOp::getOperationName(), op, x, {});
      rewriter.replaceOp(op, sigmoid->getResults());
      return success();
    }
    auto sigmoid = SigmoidOp::create(rewriter, op.getLoc(), x.getType(), x);
    if (StringRef name = getNodeName(op); !name.empty())
      sigmoid->setAttr(nodeNameAttr, rewriter.getStringAttr(name + "_sigmoid"));
    if (StringRef name = getTensorName(op.getC()); !name.empty())
      setTensorName(sigmoid->getResult(0), (name + "_sigmoid").str());
    Operation *product = createInPlaceOf(rewriter, MulOp::getOperationName(),
                                         op, {x, sigmoid.getY()}, {});
    rewriter.replaceOp(op, product->getResults());
    return success();
  }

private:
  Counts &counts;
};

/// Reciprocal of 1 + exp(-x).
struct RecognizeReciprocal : public OpRewritePattern<ReciprocalOp> {
  RecognizeReciprocal(MLIRContext *context, Counts &counts)
      : OpRewritePattern(context), counts(counts) {}

  LogicalResult matchAndRewrite(ReciprocalOp op,
                                PatternRewriter &rewriter) const override {
    Value x = getNegated(getOnePlusExp(op.getX()));
    if (!x || !keepsShape(op, x))
      return rewriter.notifyMatchFailure(op, "no logistic sum");
    Operation *sigmoid =
        createInPlaceOf(rewriter, SigmoidOp::getOperationName(), op, x, {});
    rewriter.replaceOp(op, sigmoid->getResults());
    ++counts.sigmoids;
    return success();
  }

private:
  Counts &counts;
};

/// log(1 + exp(x)).
struct RecognizeSoftplus : public OpRewritePattern<LogOp> {
  RecognizeSoftplus(MLIRContext *context, Counts &counts)
      : OpRewritePattern(context), counts(counts) {}

  LogicalResult matchAndRewrite(LogOp op,
                                PatternRewriter &rewriter) const override {
    Value x = getOnePlusExp(op.getInput());
    if (!x || !keepsShape(op, x))
      return rewriter.notifyMatchFailure(op, "no sum of 1 and exp");
    Operation *softplus =
        createInPlaceOf(rewriter, SoftplusOp::getOperationName(), op, x, {});
    rewriter.replaceOp(op, softplus->getResults());
    ++counts.others;
    return success();
  }

private:
  Counts &counts;
};

/// x * tanh(softplus(x)).
struct RecognizeMish : public OpRewritePattern<MulOp> {
  RecognizeMish(MLIRContext *context, Counts &counts)
      : OpRewritePattern(context), counts(counts) {}

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < 2; ++i) {
      Value x = op->getOperand(i);
      auto tanh = getOnlyProducer<TanhOp>(op->getOperand(1 - i));
      auto softplus =
          tanh ? getOnlyProducer<SoftplusOp>(tanh.getInput()) : SoftplusOp();
      if (!softplus || softplus.getX() != x || !keepsShape(op, x))
        continue;
      Operation *mish =
          createInPlaceOf(rewriter, MishOp::getOperationName(), op, x, {});
      rewriter.replaceOp(op, mish->getResults());
      ++counts.others;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "it isn't a Mish");
  }

private:
  Counts &counts;
};

struct RecognizeSigmoid
    : public onnxquant::impl::RecognizeSigmoidBase<RecognizeSigmoid> {
  using RecognizeSigmoidBase::RecognizeSigmoidBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<RecognizeQuotient, RecognizeReciprocal, RecognizeSoftplus>(context,
                                                                       counts);
    if (isAllowed<MishOp>(maxOpset))
      set.add<RecognizeMish>(context, counts);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    counts = Counts();
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numSigmoids += counts.sigmoids;
    numOthers += counts.others;
    addToReport(getOperation(), getArgument(), "Sigmoid found",
                counts.sigmoids);
    addToReport(getOperation(), getArgument(), "Softplus or Mish found",
                counts.others);
  }

private:
  FrozenRewritePatternSet patterns;
  Counts counts;
};

} // namespace
