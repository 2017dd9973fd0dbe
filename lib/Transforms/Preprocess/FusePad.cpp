// Makes a Pad part of the window op that reads it.
// Enters: Pad of the spatial dimensions by a constant, read by one Conv,
// AveragePool or MaxPool. Leaves: the latter with larger `pads`. Which constant
// goes: zero for convolutions and averages (which then count the padding); for
// maxima one that can't win: the lowest, or zero among numbers that aren't
// negative.

#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "OnnxQuant/Transforms/Utils/Rewriting.h"

namespace onnxquant {
#define GEN_PASS_DEF_FUSEPAD
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::rewriting;

/// What a Pad adds around the spatial dimensions: beginnings, then ends. None
/// if it isn't constant, cuts, or pads batch or channels.
static std::optional<SmallVector<int64_t>> getSpatialPads(PadOp pad,
                                                          int64_t rank) {
  if (pad.getMode() != "constant")
    return std::nullopt;
  std::optional<SmallVector<int64_t>> pads = readSmallInts(pad.getPads());
  SmallVector<int64_t> axes;
  if (isLeftOut(pad.getAxes())) {
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  } else if (auto given = readSmallInts(pad.getAxes())) {
    axes = *given;
  } else {
    return std::nullopt;
  }
  if (!pads || pads->size() != 2 * axes.size())
    return std::nullopt;
  int64_t spatial = rank - 2;
  SmallVector<int64_t> result(2 * spatial, 0);
  for (auto [index, given] : llvm::enumerate(axes)) {
    FailureOr<int64_t> axis = shape::normalizeAxis(given, rank);
    int64_t begin = (*pads)[index], end = (*pads)[index + axes.size()];
    if (failed(axis) || begin < 0 || end < 0 ||
        (*axis < 2 && (begin > 0 || end > 0)))
      return std::nullopt;
    if (*axis < 2)
      continue;
    result[*axis - 2] += begin;
    result[*axis - 2 + spatial] += end;
  }
  return result;
}

/// The number that a Pad fills with.
static std::optional<double> getFill(PadOp pad) {
  if (isLeftOut(pad.getConstantValue()))
    return 0.0;
  return readScalar(pad.getConstantValue());
}

/// Whether no element of a tensor is negative.
static bool isNonNegative(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<ReluOp, SigmoidOp, HardSigmoidOp, SoftmaxOp, AbsOp,
                         ExpOp>(op);
}

namespace {

/// What the three patterns have in common: the sum of both paddings.
template <typename OpTy> struct FuseInto : public OpRewritePattern<OpTy> {
  FuseInto(MLIRContext *context, int64_t &count)
      : OpRewritePattern<OpTy>(context), count(count) {}

  /// Whether the op can take these pads of this value, and how it changes.
  LogicalResult check(OpTy op, PadOp pad, double fill, ArrayRef<int64_t> pads,
                      ArrayRef<int64_t> own, PatternRewriter &rewriter) const;
  static void change(OpTy op) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto pad = getOnlyProducer<PadOp>(op.getX());
    if (!pad)
      return rewriter.notifyMatchFailure(op, "it reads no Pad of its own");
    std::optional<int64_t> rank = getRank(op.getX());
    if (!rank || *rank < 3 || !isFloat(op.getX()))
      return rewriter.notifyMatchFailure(op, "it has no spatial dimensions");
    auto mode = window::parseAutoPad(op.getAutoPad());
    if (mode != window::AutoPad::NotSet && mode != window::AutoPad::Valid)
      return rewriter.notifyMatchFailure(op, "its padding depends on its size");
    auto pads = getSpatialPads(pad, *rank);
    std::optional<double> fill = getFill(pad);
    if (!pads || !fill)
      return rewriter.notifyMatchFailure(op, "the padding isn't plain");
    SmallVector<int64_t> own(pads->size(), 0);
    if (mode == window::AutoPad::NotSet)
      own = shape::getInts(op.getPads(), pads->size(), 0);
    if (own.size() != pads->size() ||
        failed(check(op, pad, *fill, *pads, own, rewriter)))
      return failure();
    for (auto [sum, more] : llvm::zip(*pads, own))
      sum += more;
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, pad.getData());
      op->setAttr("auto_pad", rewriter.getStringAttr("NOTSET"));
      op->setAttr("pads", rewriter.getI64ArrayAttr(*pads));
      change(op);
    });
    ++count;
    return success();
  }

private:
  int64_t &count;
};

template <>
LogicalResult FuseInto<ConvOp>::check(ConvOp op, PadOp pad, double fill,
                                      ArrayRef<int64_t>, ArrayRef<int64_t>,
                                      PatternRewriter &rewriter) const {
  if (fill != 0)
    return rewriter.notifyMatchFailure(op, "it doesn't pad with zeros");
  return success();
}

/// With ceil_mode no window begins in the padding at the end, but one may begin
/// in what a Pad appended.
template <typename OpTy>
static LogicalResult checkCeil(OpTy op, ArrayRef<int64_t> pads,
                               PatternRewriter &rewriter) {
  if (op.getCeilMode() != 0 &&
      llvm::any_of(pads.drop_front(pads.size() / 2),
                   [](int64_t end) { return end > 0; }))
    return rewriter.notifyMatchFailure(op, "a window may begin in the padding");
  return success();
}

template <>
LogicalResult
FuseInto<AveragePoolOp>::check(AveragePoolOp op, PadOp pad, double fill,
                               ArrayRef<int64_t> pads, ArrayRef<int64_t> own,
                               PatternRewriter &rewriter) const {
  if (fill != 0)
    return rewriter.notifyMatchFailure(op, "it doesn't pad with zeros");
  bool hasOwn = llvm::any_of(own, [](int64_t size) { return size > 0; });
  if (hasOwn && op.getCountIncludePad() == 0)
    return rewriter.notifyMatchFailure(op, "it counts one padding only");
  SmallVector<int64_t> kernel = shape::getInts(op.getKernelShape());
  for (auto [index, size] : llvm::enumerate(pads))
    if (size + own[index] >= kernel[index % kernel.size()])
      return rewriter.notifyMatchFailure(op, "the padding holds a window");
  return checkCeil(op, pads, rewriter);
}

template <> void FuseInto<AveragePoolOp>::change(AveragePoolOp op) {
  auto type = IntegerType::get(op.getContext(), 64, IntegerType::Signed);
  op->setAttr("count_include_pad", IntegerAttr::get(type, 1));
}

template <>
LogicalResult FuseInto<MaxPoolOp>::check(MaxPoolOp op, PadOp pad, double fill,
                                         ArrayRef<int64_t> pads,
                                         ArrayRef<int64_t> own,
                                         PatternRewriter &rewriter) const {
  auto element = cast<FloatType>(getElementType(op.getX()));
  APFloat lowest =
      APFloat::getLargest(element.getFloatSemantics(), /*Negative=*/true);
  bool losesInfo;
  lowest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  bool neverWins = fill <= lowest.convertToDouble() ||
                   (fill <= 0 && isNonNegative(pad.getData()));
  if (!neverWins)
    return rewriter.notifyMatchFailure(op, "the padding may be the largest");
  if (!isLeftOut(op.getIndices()) && !op.getIndices().use_empty())
    return rewriter.notifyMatchFailure(op, "its places are used");
  // Every window must hold an element that is no padding.
  SmallVector<int64_t> kernel = shape::getInts(op.getKernelShape());
  for (auto [index, size] : llvm::enumerate(pads))
    if (size + own[index] >= kernel[index % kernel.size()])
      return rewriter.notifyMatchFailure(op, "the padding holds a window");
  return checkCeil(op, pads, rewriter);
}

struct FusePad : public onnxquant::impl::FusePadBase<FusePad> {
  using FusePadBase::FusePadBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<FuseInto<ConvOp>>(context, convs);
    if (!convOnly)
      set.add<FuseInto<AveragePoolOp>, FuseInto<MaxPoolOp>>(context, pools);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    convs = pools = 0;
    if (failed(applyPatterns(getOperation(), patterns)))
      return signalPassFailure();
    numConvs += convs;
    numPools += pools;
    addToReport(getOperation(), getArgument(), "paddings of convolutions",
                convs);
    addToReport(getOperation(), getArgument(), "paddings of poolings", pools);
  }

private:
  FrozenRewritePatternSet patterns;
  int64_t convs = 0, pools = 0;
};

} // namespace
