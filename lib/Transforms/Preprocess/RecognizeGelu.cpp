// Finds Gelu in its parts.
// Enters: x * (1 + erf(x / sqrt(2))) / 2, or the form with tanh, with factors
// in any order. Leaves: one node, where the opset may be 20.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include <cmath>

namespace onnxquant {
#define GEN_PASS_DEF_RECOGNIZEGELU
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// Whether a value is x / sqrt(2).
static bool isScaled(Value value, Value x, Type element) {
  Product product = getProduct(value);
  return product.isOf({x}) && isNear(product.scale, M_SQRT1_2, element);
}

/// Whether a value is sqrt(2 / pi) * (x + 0.044715 * x^3).
static bool isCubic(Value value, Value x, Type element) {
  Product product = getProduct(value);
  if (!isNear(product.scale, std::sqrt(2 / M_PI), element))
    return false;
  auto isPower = [&](Value part, ArrayRef<Value> factors) {
    if (!part.hasOneUse())
      return false;
    Product power = getProduct(part);
    return power.isOf(factors) && isNear(power.scale, 0.044715, element);
  };
  // x * (1 + 0.044715 * x * x), or the sum as it stands.
  if (product.factors.size() == 2)
    for (unsigned i = 0; i < 2; ++i)
      if (product.factors[i] == x)
        if (auto sum = getSum(product.factors[1 - i]))
          return sum->second == 1 && isPower(sum->first, {x, x});
  if (product.factors.size() != 1)
    return false;
  auto sum = getOnlyProducer<AddOp>(product.factors.front());
  if (!sum)
    return false;
  for (unsigned i = 0; i < 2; ++i)
    if (sum->getOperand(i) == x && isPower(sum->getOperand(1 - i), {x, x, x}))
      return true;
  return false;
}

/// The form of Gelu that `root` is, as the attribute `approximate` has it; none
/// if it is something else.
static std::optional<StringRef> matchGelu(Value root, Value &x) {
  Product product = getProduct(root);
  Type element = getElementType(root);
  if (product.factors.size() != 2 || !isNear(product.scale, 0.5, element))
    return std::nullopt;
  for (unsigned i = 0; i < 2; ++i) {
    x = product.factors[i];
    auto sum = getSum(product.factors[1 - i]);
    if (!sum || sum->second != 1)
      continue;
    if (auto erf = getOnlyProducer<ErfOp>(sum->first);
        erf && isScaled(erf.getInput(), x, element))
      return StringRef("none");
    if (auto tanh = getOnlyProducer<TanhOp>(sum->first);
        tanh && isCubic(tanh.getInput(), x, element))
      return StringRef("tanh");
  }
  return std::nullopt;
}

namespace {

template <typename OpTy> struct Recognize : public OpRewritePattern<OpTy> {
  Recognize(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value x;
    std::optional<StringRef> form = matchGelu(op->getResult(0), x);
    if (!form)
      return rewriter.notifyMatchFailure(op, "it isn't a Gelu");
    std::optional<int64_t> rank = getRank(x);
    if (!rank || rank != getRank(op->getResult(0)) || !isFloat(x))
      return rewriter.notifyMatchFailure(op, "its shape isn't its input's");
    Operation *gelu = createInPlaceOf(
        rewriter, GeluOp::getOperationName(), op, x,
        rewriter.getNamedAttr("approximate", rewriter.getStringAttr(*form)));
    rewriter.replaceOp(op, gelu->getResults());
    ++count;
    return success();
  }

private:
  int64_t &count;
};

struct RecognizeGelu
    : public onnxquant::impl::RecognizeGeluBase<RecognizeGelu> {
  using RecognizeGeluBase::RecognizeGeluBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    if (isAllowed<GeluOp>(maxOpset))
      set.add<Recognize<MulOp>, Recognize<DivOp>>(context, found);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    found = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numFound += found;
    addToReport(getOperation(), getArgument(), "Gelu found", found);
  }

private:
  FrozenRewritePatternSet patterns;
  int64_t found = 0;
};

} // namespace
