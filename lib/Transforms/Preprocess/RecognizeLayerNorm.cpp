// Finds LayerNormalization in its parts.
// Enters: (x - mean) / sqrt(var + epsilon), mean and variance over the last
// axes, perhaps times a constant and plus another. Leaves: one node, where the
// opset may be 17. A factor and a bias join step by step, so that each stands
// alone as well. f64 stays: the operator computes in f32. Narrow floats that
// are widened for it and narrowed again are what the operator does by itself.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"
#include "llvm/Support/MathExtras.h"

namespace onnxquant {
#define GEN_PASS_DEF_RECOGNIZELAYERNORM
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// A scale of ones isn't made longer than this.
static constexpr int64_t maxScale = 1 << 20;

namespace {

/// The parts of a normalization.
struct Core {
  Value x;
  /// How many of the last axes are normalized over.
  int64_t numAxes = 0;
  double epsilon = 0;
  llvm::SmallPtrSet<Operation *, 8> parts;
};

} // namespace

/// The number of the last axes that a mean with kept dimensions goes over.
static std::optional<int64_t> getLastAxes(ReduceMeanOp mean) {
  std::optional<int64_t> rank = getRank(mean.getData());
  if (!rank || mean.getKeepdims() == 0 || isLeftOut(mean.getAxes()))
    return std::nullopt;
  auto axes = readSmallInts(mean.getAxes());
  if (!axes || axes->empty())
    return std::nullopt;
  for (int64_t &axis : *axes)
    axis = axis < 0 ? axis + *rank : axis;
  llvm::sort(*axes);
  for (auto [index, axis] : llvm::enumerate(*axes))
    if (axis != *rank - static_cast<int64_t>(axes->size() - index))
      return std::nullopt;
  return axes->size();
}

/// The Sub of a value and its mean over the last axes.
static SubOp getCentered(Value value, Core &core) {
  auto sub = value.getDefiningOp<SubOp>();
  auto mean = sub ? sub.getB().getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
  if (!mean || mean.getData() != sub.getA())
    return {};
  std::optional<int64_t> axes = getLastAxes(mean);
  if (!axes || (core.x && (core.x != sub.getA() || core.numAxes != *axes)))
    return {};
  core.x = sub.getA();
  core.numAxes = *axes;
  core.parts.insert(sub);
  core.parts.insert(mean);
  return sub;
}

/// Whether a value is sqrt(mean(d * d) + epsilon) for the centered d.
static bool matchDeviation(Value value, Core &core) {
  Value radicand;
  if (auto sqrt = value.getDefiningOp<SqrtOp>())
    radicand = sqrt.getX();
  else if (auto pow = value.getDefiningOp<PowOp>();
           pow && readScalar(pow.getY()) == 0.5)
    radicand = pow.getX();
  auto sum = radicand ? getSum(radicand) : std::nullopt;
  if (!sum)
    return false;
  core.epsilon = sum->second;
  core.parts.insert(value.getDefiningOp());
  core.parts.insert(radicand.getDefiningOp());
  auto mean = sum->first.getDefiningOp<ReduceMeanOp>();
  if (!mean || getLastAxes(mean) != core.numAxes)
    return false;
  core.parts.insert(mean);
  Operation *square = mean.getData().getDefiningOp();
  bool isSquare = isa_and_nonnull<MulOp>(square)
                      ? square->getOperand(0) == square->getOperand(1)
                      : isa_and_nonnull<PowOp>(square) &&
                            readScalar(square->getOperand(1)) == 2.0;
  if (!isSquare || !getCentered(square->getOperand(0), core))
    return false;
  core.parts.insert(square);
  return true;
}

/// The parts of the normalization that `root` ends, without factor and bias.
static std::optional<Core> matchCore(Operation *root) {
  Core core;
  if (isa<DivOp>(root)) {
    if (!getCentered(root->getOperand(0), core) ||
        !matchDeviation(root->getOperand(1), core))
      return std::nullopt;
    return core;
  }
  // d times the reciprocal of the deviation.
  for (unsigned i = 0; i < 2; ++i) {
    Operation *inverse = root->getOperand(1 - i).getDefiningOp();
    core = Core();
    if (!inverse || !getCentered(root->getOperand(i), core))
      continue;
    Value deviation;
    if (auto reciprocal = dyn_cast<ReciprocalOp>(inverse))
      deviation = reciprocal.getX();
    else if (isa<DivOp>(inverse) && readScalar(inverse->getOperand(0)) == 1.0)
      deviation = inverse->getOperand(1);
    if (!deviation || !matchDeviation(deviation, core))
      continue;
    core.parts.insert(inverse);
    return core;
  }
  return std::nullopt;
}

/// Whether only the normalization reads what its parts make.
static bool isClosed(const Core &core, Operation *root) {
  return llvm::all_of(core.parts, [&](Operation *part) {
    return llvm::all_of(part->getUsers(), [&](Operation *user) {
      return user == root || core.parts.contains(user);
    });
  });
}

namespace {

template <typename OpTy> struct RecognizeCore : public OpRewritePattern<OpTy> {
  RecognizeCore(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    std::optional<Core> core = matchCore(op);
    if (!core || !isClosed(*core, op))
      return rewriter.notifyMatchFailure(op, "it ends no normalization");
    auto type = dyn_cast<RankedTensorType>(core->x.getType());
    if (!type || !isFloat(core->x) || type.getElementType().isF64())
      return rewriter.notifyMatchFailure(op, "no such element type");
    SmallVector<int64_t> shape(type.getShape().take_back(core->numAxes));
    if (ShapedType::isDynamicShape(shape))
      return rewriter.notifyMatchFailure(op, "the axes' sizes aren't known");
    int64_t elements = 1;
    for (int64_t size : shape)
      if (llvm::MulOverflow(elements, size, elements) || elements > maxScale)
        return rewriter.notifyMatchFailure(op, "its scale would be large");
    Weights ones{RankedTensorType::get(shape, type.getElementType()),
                 std::vector<double>(elements, 1.0)};
    std::string name = nameForNew({}, op, "scale");
    Value scale =
        makeConstant(rewriter, op.getLoc(), makeElements(ones, name), name);
    auto si64 = rewriter.getIntegerType(64, /*isSigned=*/true);
    Operation *norm = createInPlaceOf(
        rewriter, LayerNormalizationOp::getOperationName(), op,
        {core->x, scale, makeNoValue(rewriter, op.getLoc())},
        {rewriter.getNamedAttr("axis", IntegerAttr::get(si64, -core->numAxes)),
         rewriter.getNamedAttr(
             "epsilon",
             rewriter.getF32FloatAttr(static_cast<float>(core->epsilon))),
         rewriter.getNamedAttr("stash_type", IntegerAttr::get(si64, 1))});
    rewriter.replaceOp(op, norm->getResult(0));
    ++count;
    return success();
  }

private:
  int64_t &count;
};

/// Whether a constant broadcasts over the normalized axes only.
static bool isOverAxes(Value constant, LayerNormalizationOp norm) {
  ElementsAttr elements = getConstant(constant);
  auto scale = dyn_cast<RankedTensorType>(norm.getScale().getType());
  if (!elements || !scale)
    return false;
  return elements.getShapedType().getShape() == scale.getShape();
}

/// Whether a normalization has no factor and no bias yet.
static bool isBare(LayerNormalizationOp norm) {
  std::optional<Weights> scale = readWeights(norm.getScale());
  return scale && isLeftOut(norm.getB()) &&
         llvm::all_of(scale->values, [](double value) { return value == 1; });
}

/// A constant factor after a normalization that has none yet.
struct FuseScale : public OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantAndOther> operands = splitOperands(op);
    auto norm = operands
                    ? getOnlyProducer<LayerNormalizationOp>(operands->other)
                    : LayerNormalizationOp();
    if (!norm || !isOverAxes(operands->constant, norm) || !isBare(norm))
      return rewriter.notifyMatchFailure(op, "no normalization to scale");
    return replace(op, norm, {norm.getX(), operands->constant, norm.getB()},
                   rewriter);
  }

  /// The normalization with other operands, in the place of `last`.
  static LogicalResult replace(Operation *last, LayerNormalizationOp norm,
                               ValueRange operands, PatternRewriter &rewriter) {
    SmallVector<NamedAttribute> attrs;
    for (StringRef name : {"axis", "epsilon", "stash_type"})
      attrs.push_back(rewriter.getNamedAttr(name, norm->getAttr(name)));
    Operation *fused =
        createInPlaceOf(rewriter, LayerNormalizationOp::getOperationName(),
                        last, operands, attrs);
    if (Attribute name = norm->getAttr(nodeNameAttr))
      fused->setAttr(nodeNameAttr, name);
    rewriter.replaceOp(last, fused->getResult(0));
    rewriter.eraseOp(norm);
    return success();
  }
};

/// A normalization in f32 between a Cast of a narrower type and one back.
struct NarrowNorm : public OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CastOp op,
                                PatternRewriter &rewriter) const override {
    auto norm = getOnlyProducer<LayerNormalizationOp>(op.getInput());
    auto widening = norm ? norm.getX().getDefiningOp<CastOp>() : CastOp();
    Type narrow = getElementType(op.getOutput());
    if (!widening || getElementType(widening.getInput()) != narrow ||
        !(narrow.isF16() || narrow.isBF16()) ||
        !getElementType(norm.getX()).isF32() || norm.getStashType() != 1 ||
        !isBare(norm))
      return rewriter.notifyMatchFailure(op, "it narrows no normalization");
    std::optional<Weights> ones = readWeights(norm.getScale());
    ones->type = ones->type.clone(narrow);
    std::string name = nameForNew(norm.getScale(), norm, "scale");
    Value scale =
        makeConstant(rewriter, op.getLoc(), makeElements(*ones, name), name);
    return FuseScale::replace(
        op, norm, {widening.getInput(), scale, norm.getB()}, rewriter);
  }
};

/// A constant bias after a normalization that has none yet.
struct FuseBias : public OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<ConstantAndOther> operands = splitOperands(op);
    auto norm = operands
                    ? getOnlyProducer<LayerNormalizationOp>(operands->other)
                    : LayerNormalizationOp();
    if (!norm || !isOverAxes(operands->constant, norm) ||
        !isLeftOut(norm.getB()))
      return rewriter.notifyMatchFailure(op, "no normalization to shift");
    return FuseScale::replace(
        op, norm, {norm.getX(), norm.getScale(), operands->constant}, rewriter);
  }
};

struct RecognizeLayerNorm
    : public onnxquant::impl::RecognizeLayerNormBase<RecognizeLayerNorm> {
  using RecognizeLayerNormBase::RecognizeLayerNormBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    if (isAllowed<LayerNormalizationOp>(maxOpset)) {
      set.add<RecognizeCore<DivOp>, RecognizeCore<MulOp>>(context, found);
      set.add<NarrowNorm, FuseScale, FuseBias>(context);
    }
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    found = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numFound += found;
    addToReport(getOperation(), getArgument(), "LayerNormalization found",
                found);
  }

private:
  FrozenRewritePatternSet patterns;
  int64_t found = 0;
};

} // namespace
