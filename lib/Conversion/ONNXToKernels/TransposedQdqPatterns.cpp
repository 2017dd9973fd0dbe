// QDQ patterns of transposed convolutions: one contraction of integers per
// phase of the strides. Taps that a phase lacks have weights of zero, so every
// stride and pad has its phases. Where the last dimension's windows lie side by
// side, its phases are columns of one contraction: neighbouring
// outputs, computed from the same element of the input.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "QdqPatterns.h"
#include "TransposedWindow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
/// A transposed convolution of integers on its way to contractions.
struct TransposedSums {
  ImplicitLocOpBuilder &b;
  Operation *node;
  Value input, inputZero;
  /// [C, M / group, k..], its sizes, and all columns' bias or null.
  const IntegerWeights &weights;
  ArrayRef<int64_t> shape;
  Value bias;
  ArrayRef<TransposedDim> dims;
  /// What all phases are requantized to; none if they aren't.
  std::optional<Requantization> requantization;

  Value make() {
    Type element = getSumType(input, weights);
    if (requantization)
      element = cast<RankedTensorType>(requantization->zeroPoint.getType())
                    .getElementType();
    Value sums = makeEmpty(
        b, getTransposedSizes(b, node, input, dims, weights.groups * weights.n),
        element);
    forEachPhase(dims, [&](ArrayRef<int64_t> r) { sums = addPhase(sums, r); });
    return sums;
  }

private:
  /// Computes one phase into the sums and returns them.
  Value addPhase(Value sums, ArrayRef<int64_t> r) {
    SmallVector<PhaseDim> phase;
    for (auto [dim, index] : llvm::zip(dims, r))
      phase.push_back(*getPhase(dim, index, /*zeroTaps=*/true));
    PhaseRegion region = getPhaseRegion(b, input, sums, dims, phase, r);
    if (region.isEmpty())
      return sums;
    IntegerWeights taken = {weights.groups, 0, weights.n, {}};
    taken.values =
        takePhase(weights.values.data(), shape, weights.groups, phase);
    taken.k =
        static_cast<int64_t>(taken.values.size()) / (taken.groups * taken.n);
    Value slice = tensor::ExtractSliceOp::create(b, sums, region.offsets,
                                                 region.sizes, region.strides);
    RequantizationFn to;
    if (requantization)
      to = [&](ImplicitLocOpBuilder &) { return *requantization; };
    Value part = makeSums(b, node,
                          {input, inputZero, std::move(taken), region.window,
                           bias, to, slice, getSumType(input, weights)});
    return tensor::InsertSliceOp::create(b, part, sums, region.offsets,
                                         region.sizes, region.strides);
  }
};

/// A factor of the columns of a group for those of all groups.
static Factor repeatForGroups(Factor factor, int64_t groups) {
  if (groups == 1 || !factor.values || factor.values->size() == 1)
    return factor;
  Factor repeated;
  repeated.values.emplace();
  for (int64_t g = 0; g < groups; ++g)
    repeated.values->append(*factor.values);
  return repeated;
}

/// Fewer columns than these leave most of a vector empty.
static constexpr int64_t fewColumns = 8;

/// How many phases of the last dimension become columns; 1 if none do. What
/// reads the real values can't go into the epilogue then, so that it must be
/// worth it.
static int64_t countMerged(onnx::ConvTransposeOp op, const Dequantized &x,
                           const Factor &factor, Value bias,
                           ArrayRef<TransposedDim> dims, bool isQuantized) {
  const TransposedDim &last = dims.back();
  auto type = cast<RankedTensorType>(op.getY().getType());
  bool isSideBySide = last.kernel == last.stride && last.dilation == 1 &&
                      last.pad == 0 && last.extra == 0;
  if (!isSideBySide || last.stride == 1 || op.getGroup() != 1 ||
      !type.hasStaticShape() || !hasIntegers(x.stored, 8) ||
      (!factor.values && !isSingle(factor.value)) ||
      (!isAbsent(op.getB()) && (!bias || !onnx::getConstant(bias))))
    return 1;
  bool isWorthIt = isQuantized || type.getDimSize(1) < fewColumns;
  return isWorthIt ? last.stride : 1;
}

/// [C, M, .., k] as [C, k * M, .., 1].
static void mergeColumns(IntegerWeights &weights, SmallVector<int64_t> &shape) {
  int64_t channels = shape[0], columns = shape[1], last = shape.back();
  int64_t others =
      static_cast<int64_t>(weights.values.size()) / (channels * columns * last);
  std::vector<int16_t> merged;
  merged.reserve(weights.values.size());
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < last; ++t)
      for (int64_t m = 0; m < columns; ++m)
        for (int64_t i = 0; i < others; ++i)
          merged.push_back(
              weights.values[((c * columns + m) * others + i) * last + t]);
  weights.values = std::move(merged);
  weights.n *= last;
  weights.k /= last;
  shape[1] *= last;
  shape.back() = 1;
}

/// A constant bias, so many times.
static Value repeatBias(ImplicitLocOpBuilder &b, Value bias, int64_t count) {
  if (!bias)
    return bias;
  auto values = onnx::readInts(onnx::getConstant(bias),
                               std::numeric_limits<int64_t>::max());
  SmallVector<int32_t> repeated;
  for (int64_t i = 0; i < count; ++i)
    repeated.append(values->begin(), values->end());
  return makeNumbers<int32_t>(
      b, static_cast<int64_t>(repeated.size()),
      cast<RankedTensorType>(bias.getType()).getElementType(), repeated,
      "bias");
}

struct ConvTransposeQdq : OpRewritePattern<onnx::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto x = getDequantized(op.getX()), w = getDequantizedWeights(op.getW());
    if (!x || !w || !x->hasOneScale() ||
        (!isAbsent(x->zero) && !isSingle(x->zero)) ||
        (!w->hasOneScale() && (w->axis != 1 || !w->scale.values)))
      return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    int64_t group = op.getGroup();
    auto weights = readTransposedFilters(w->stored, w->zero, group);
    if (!weights)
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(w->stored.getType()).getShape());
    if (!input || static_cast<int64_t>(shape.size()) != input.getRank() ||
        shape[0] != input.getDimSize(1) ||
        !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "its sizes don't go together");
    int64_t columns = weights->groups * weights->n;
    bool hasBias = !isAbsent(op.getB());
    if (hasBias && !isVectorBias(op.getB(), columns))
      return rewriter.notifyMatchFailure(op, "its bias has a dynamic size");
    auto dims = getTransposedDims(op, input, ArrayRef(shape).drop_front(2));
    if (!dims)
      return rewriter.notifyMatchFailure(op, "its output's sizes are open");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value bias;
    if (hasBias && x->scale.values && w->scale.values)
      bias = getIntegerBias(
          op.getB(),
          repeatForGroups(multiply(b, op, x->scale, w->scale), group), columns);
    QdqOutput output(op, bias || !hasBias ? Value() : op.getB());
    output.moveTo(rewriter);
    b.setInsertionPoint(rewriter.getInsertionBlock(),
                        rewriter.getInsertionPoint());
    Factor factor = repeatForGroups(multiply(b, op, x->scale, w->scale), group);
    int64_t merged =
        countMerged(op, *x, factor, bias, *dims, output.isQuantized());
    if (merged > 1) {
      mergeColumns(*weights, shape);
      factor = repeatForGroups(factor, merged);
      bias = repeatBias(b, bias, merged);
      dims->back() = {1, 1, 1, 0, 0};
    }
    auto getFactor = [&](ImplicitLocOpBuilder &) { return factor; };
    TransposedSums sums = {b,       op,       toChannelsLast(b, op, x->stored),
                           x->zero, *weights, shape,
                           bias,    *dims,    {}};
    if (RequantizationFn to = output.getRequantization(getFactor))
      sums.requantization = to(b);
    output.replace(rewriter, sums.make(), getFactor, /*isConvolution=*/true,
                   merged);
    return success();
  }
};
} // namespace

void kernels::addTransposedQdqPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposeQdq>(patterns.getContext());
}
