// Finds HardSigmoid and HardSwish in their parts.
// Enters: x + 3 limited to 0..6 and divided by 6, in any order of factors, with
// or without the factor x. Leaves: one node. Any slope and offset makes a
// HardSigmoid; HardSwish has fixed ones.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant {
#define GEN_PASS_DEF_RECOGNIZEHARDSWISH
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

namespace {

/// min(max(slope * x + offset, 0), limit)
struct Ramp {
  Value x;
  double slope = 1, offset = 0, limit = 0;
  /// Whether anything is added or multiplied.
  bool isPlain = true;
};

} // namespace

/// The value and the limit of a Clip to 0..limit, or of Min and Max.
static std::optional<std::pair<Value, double>> getLimited(Operation *op) {
  if (auto clip = dyn_cast<ClipOp>(op)) {
    std::optional<double> low = readScalar(clip.getMin());
    std::optional<double> high = readScalar(clip.getMax());
    if (low != 0.0 || !high || *high <= 0)
      return std::nullopt;
    return std::pair(clip.getInput(), *high);
  }
  // Min(Max(x, 0), limit) or Min(Relu(x), limit).
  auto min = dyn_cast<MinOp>(op);
  if (!min || min->getNumOperands() != 2)
    return std::nullopt;
  std::optional<ConstantAndOther> outer = splitOperands(op);
  std::optional<double> high =
      outer ? readScalar(outer->constant) : std::optional<double>();
  if (!high || *high <= 0)
    return std::nullopt;
  if (auto relu = getOnlyProducer<ReluOp>(outer->other))
    return std::pair(relu.getX(), *high);
  auto max = getOnlyProducer<MaxOp>(outer->other);
  if (!max || max->getNumOperands() != 2)
    return std::nullopt;
  std::optional<ConstantAndOther> inner = splitOperands(max);
  if (!inner || readScalar(inner->constant) != 0.0)
    return std::nullopt;
  return std::pair(inner->other, *high);
}

static std::optional<Ramp> getRamp(Operation *op) {
  if (auto hard = dyn_cast<HardSigmoidOp>(op)) {
    Ramp ramp;
    ramp.x = hard.getX();
    ramp.slope = hard.getAlpha().convertToFloat();
    ramp.offset = hard.getBeta().convertToFloat();
    ramp.limit = 1;
    ramp.isPlain = false;
    return ramp;
  }
  auto limited = getLimited(op);
  if (!limited)
    return std::nullopt;
  Ramp ramp;
  ramp.limit = limited->second;
  Value inner = limited->first;
  if (auto sum = getSum(inner)) {
    inner = sum->first;
    ramp.offset = sum->second;
    ramp.isPlain = false;
  }
  ramp.x = inner;
  if (inner.hasOneUse()) {
    Product product = getProduct(inner);
    if (product.factors.size() == 1 && product.factors.front() != inner) {
      ramp.x = product.factors.front();
      ramp.slope = product.scale;
      ramp.isPlain = false;
    }
  }
  return ramp;
}

/// Whether `root`, computed from `x`, has the same shape: nothing broadcasts.
static bool keepsShape(Operation *root, Value x) {
  std::optional<int64_t> rank = getRank(x);
  return rank && rank == getRank(root->getResult(0)) && isFloat(x);
}

namespace {

/// A ramp, scaled to end at 1.
template <typename OpTy>
struct RecognizeHardSigmoid : public OpRewritePattern<OpTy> {
  RecognizeHardSigmoid(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    double scale = 1;
    Operation *limited = op;
    if (isa<MulOp, DivOp>(op.getOperation())) {
      Product product = getProduct(op->getResult(0));
      if (product.factors.size() != 1)
        return rewriter.notifyMatchFailure(op, "it isn't a scaled value");
      Value factor = product.factors.front();
      scale = product.scale;
      limited = factor.getDefiningOp();
      if (!limited || !factor.hasOneUse())
        return rewriter.notifyMatchFailure(op, "others read its input");
    }
    std::optional<Ramp> ramp = getRamp(limited);
    if (!ramp || ramp->isPlain || isa<HardSigmoidOp>(limited))
      return rewriter.notifyMatchFailure(op, "no limited sum");
    Type element = getElementType(op->getResult(0));
    if (!keepsShape(op, ramp->x) || !isNear(scale * ramp->limit, 1, element))
      return rewriter.notifyMatchFailure(op, "it doesn't end at 1");
    auto number = [&](StringRef name, double value) {
      return rewriter.getNamedAttr(
          name, rewriter.getF32FloatAttr(static_cast<float>(value)));
    };
    Operation *hard = createInPlaceOf(
        rewriter, HardSigmoidOp::getOperationName(), op, ramp->x,
        {number("alpha", ramp->slope / ramp->limit),
         number("beta", ramp->offset / ramp->limit)});
    rewriter.replaceOp(op, hard->getResults());
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// x times the ramp of (x + 3) / 6.
template <typename OpTy> struct RecognizeSwish : public OpRewritePattern<OpTy> {
  RecognizeSwish(MLIRContext *context, int64_t maxOpset, int64_t &count)
      : OpRewritePattern<OpTy>(context, /*benefit=*/2), maxOpset(maxOpset),
        count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Product product = getProduct(op->getResult(0));
    if (product.factors.size() != 2)
      return rewriter.notifyMatchFailure(op, "it isn't a product of two");
    for (unsigned i = 0; i < 2; ++i) {
      Value x = product.factors[i], factor = product.factors[1 - i];
      Operation *limited = factor.getDefiningOp();
      if (!limited || !factor.hasOneUse())
        continue;
      std::optional<Ramp> ramp = getRamp(limited);
      Type element = getElementType(x);
      if (!ramp || ramp->x != x || !keepsShape(op, x) ||
          !isNear(ramp->slope * product.scale, 1.0 / 6, element) ||
          !isNear(ramp->offset * product.scale, 0.5, element) ||
          !isNear(ramp->limit * product.scale, 1, element))
        continue;
      if (isAllowed<HardSwishOp>(maxOpset)) {
        Operation *swish = createInPlaceOf(
            rewriter, HardSwishOp::getOperationName(), op, x, {});
        rewriter.replaceOp(op, swish->getResults());
      } else if (isa<HardSigmoidOp>(limited)) {
        return rewriter.notifyMatchFailure(op, "the opset has no HardSwish");
      } else {
        replaceByProduct(op, x, limited, rewriter);
      }
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no factor is a ramp of the other");
  }

private:
  /// For older opsets: x times its HardSigmoid.
  static void replaceByProduct(Operation *op, Value x, Operation *limited,
                               PatternRewriter &rewriter) {
    auto number = [&](StringRef name, float value) {
      return rewriter.getNamedAttr(name, rewriter.getF32FloatAttr(value));
    };
    Operation *hard =
        createInPlaceOf(rewriter, HardSigmoidOp::getOperationName(), limited, x,
                        {number("alpha", 1.0f / 6), number("beta", 0.5f)});
    Operation *product = createInPlaceOf(rewriter, MulOp::getOperationName(),
                                         op, {x, hard->getResult(0)}, {});
    rewriter.replaceOp(op, product->getResults());
  }

  int64_t maxOpset;
  int64_t &count;
};

struct RecognizeHardSwish
    : public onnxquant::impl::RecognizeHardSwishBase<RecognizeHardSwish> {
  using RecognizeHardSwishBase::RecognizeHardSwishBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context), first(context);
    first.add<RecognizeSwish<MulOp>, RecognizeSwish<DivOp>>(
        context, static_cast<int64_t>(maxOpset), swishes);
    // The parts of a HardSwish must not become a HardSigmoid before it is seen.
    set.add<RecognizeSwish<MulOp>, RecognizeSwish<DivOp>>(
        context, static_cast<int64_t>(maxOpset), swishes);
    set.add<RecognizeHardSigmoid<MulOp>, RecognizeHardSigmoid<DivOp>,
            RecognizeHardSigmoid<ClipOp>, RecognizeHardSigmoid<MinOp>>(
        context, sigmoids);
    firstPatterns = std::move(first);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    swishes = sigmoids = 0;
    if (failed(applyPatterns(getOperation(), firstPatterns)) ||
        failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numSwishes += swishes;
    numSigmoids += sigmoids;
    addToReport(getOperation(), getArgument(), "HardSwish found", swishes);
    addToReport(getOperation(), getArgument(), "HardSigmoid found", sigmoids);
  }

private:
  FrozenRewritePatternSet firstPatterns, patterns;
  int64_t swishes = 0, sigmoids = 0;
};

} // namespace
