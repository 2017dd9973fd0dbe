// Turns the division by a constant into a multiplication.
// Enters: Div of floats by a constant. Leaves: Mul by its reciprocal: the same
// for powers of two, within one rounding otherwise. Divisors whose reciprocal
// isn't a normal number stay.

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include <cmath>

namespace onnxquant {
#define GEN_PASS_DEF_DIVTOMUL
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// Whether a number is a power of two, so that dividing by it is exact.
static bool isPowerOfTwo(double value) {
  int exponent;
  return std::abs(std::frexp(value, &exponent)) == 0.5;
}

/// Whether a reciprocal is a normal number of the element type.
static bool isNormal(double value, FloatType element) {
  APFloat smallest =
      APFloat::getSmallestNormalized(element.getFloatSemantics());
  bool losesInfo;
  smallest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
  return std::isfinite(value) && std::abs(value) >= smallest.convertToDouble();
}

namespace {

struct DivideByConstant : public OpRewritePattern<DivOp> {
  DivideByConstant(MLIRContext *context, const bool &exactOnly, int64_t &count)
      : OpRewritePattern(context), exactOnly(exactOnly), count(count) {}

  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Weights> weights = readWeights(op.getB());
    if (!weights)
      return rewriter.notifyMatchFailure(op, "the divisor isn't constant");
    auto element = cast<FloatType>(weights->type.getElementType());
    for (double &value : weights->values) {
      if (exactOnly && !isPowerOfTwo(value))
        return rewriter.notifyMatchFailure(op, "it would not be exact");
      value = 1.0 / value;
      if (!isNormal(value, element))
        return rewriter.notifyMatchFailure(op, "a reciprocal isn't normal");
    }
    std::string name = nameForNew(op.getB(), op, "reciprocal");
    ElementsAttr elements = makeElements(*weights, name);
    if (!elements)
      return rewriter.notifyMatchFailure(op, "a reciprocal is infinite");
    Value factor = makeConstant(rewriter, op.getLoc(), elements, name);
    Operation *product = createInPlaceOf(rewriter, MulOp::getOperationName(),
                                         op, {op.getA(), factor}, {});
    rewriter.replaceOp(op, product->getResults());
    ++count;
    return success();
  }

private:
  const bool &exactOnly;
  int64_t &count;
};

struct DivToMul : public onnxquant::impl::DivToMulBase<DivToMul> {
  using DivToMulBase::DivToMulBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    exact = exactOnly;
    set.add<DivideByConstant>(context, exact, changed);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    changed = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numChanged += changed;
    addToReport(getOperation(), getArgument(), "divisions made products",
                changed);
  }

private:
  FrozenRewritePatternSet patterns;
  bool exact = false;
  int64_t changed = 0;
};

} // namespace
