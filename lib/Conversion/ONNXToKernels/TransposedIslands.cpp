// Transposed convolutions between dequantizers: one contraction of integers per
// phase of the strides. Taps that a phase lacks have weights of zero, so every
// stride and pad has its phases.

#include "QuantizedIslands.h"
#include "TransposedWindow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

  Value make() {
    Value sums = makeEmpty(b,
                           getTransposedSizes(b, node, input, dims,
                                              weights.groups * weights.columns),
                           getSumType(input, weights));
    forEachPhase(dims, [&](ArrayRef<int64_t> r) { sums = addPhase(sums, r); });
    return sums;
  }

private:
  /// Computes one phase into the sums and returns them.
  Value addPhase(Value sums, ArrayRef<int64_t> r) {
    SmallVector<PhaseDim> phase;
    for (auto [dim, number] : llvm::zip(dims, r))
      phase.push_back(*getPhase(dim, number, /*zeroTaps=*/true));
    PhasePlace place = getPhasePlace(b, input, sums, dims, phase, r);
    if (place.isEmpty())
      return sums;
    IntegerWeights taken = {weights.groups, 0, weights.columns, {}};
    taken.values =
        takePhase(weights.values.data(), shape, weights.groups, phase);
    taken.depth = static_cast<int64_t>(taken.values.size()) /
                  (taken.groups * taken.columns);
    Value slice = tensor::ExtractSliceOp::create(b, sums, place.offsets,
                                                 place.sizes, place.strides);
    Value part = makeSums(
        b, node,
        {input, inputZero, std::move(taken), place.window, bias, slice});
    return tensor::InsertSliceOp::create(b, part, sums, place.offsets,
                                         place.sizes, place.strides);
  }
};

/// A factor of the columns of a group for those of all groups.
static Factor repeatForGroups(Factor factor, int64_t groups) {
  if (groups == 1 || !factor.numbers || factor.numbers->size() == 1)
    return factor;
  Factor repeated;
  repeated.numbers.emplace();
  for (int64_t g = 0; g < groups; ++g)
    repeated.numbers->append(*factor.numbers);
  return repeated;
}

struct ConvTransposeIsland : OpRewritePattern<onnx::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto x = getDequantized(op.getX()), w = getDequantizedWeights(op.getW());
    if (!x || !w || !x->hasOneScale() ||
        (!isAbsent(x->zero) && !isSingle(x->zero)) ||
        (!w->hasOneScale() && (w->axis != 1 || !w->scale.numbers)))
      return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    int64_t group = op.getGroup();
    auto weights = readTransposedFilters(w->bytes, w->zero, group);
    if (!weights)
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(w->bytes.getType()).getShape();
    if (!input || static_cast<int64_t>(shape.size()) != input.getRank() ||
        shape[0] != input.getDimSize(1) ||
        !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "its sizes don't go together");
    int64_t columns = weights->groups * weights->columns;
    bool hasBias = !isAbsent(op.getB());
    if (hasBias && !isVectorBias(op.getB(), columns))
      return rewriter.notifyMatchFailure(op, "its bias has an open size");
    auto dims = getTransposedDims(op, input, shape.drop_front(2));
    if (!dims)
      return rewriter.notifyMatchFailure(op, "its output's sizes are open");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Factor factor = repeatForGroups(multiply(b, op, x->scale, w->scale), group);
    Value bias = hasBias ? getIntegerBias(op.getB(), factor, columns) : Value();
    TransposedSums sums = {b,       op,       toChannelsLast(b, op, x->bytes),
                           x->zero, *weights, shape,
                           bias,    *dims};
    finishIsland(rewriter, op, sums.make(), factor,
                 bias || !hasBias ? Value() : op.getB(),
                 /*isConvolution=*/true);
    return success();
  }
};
} // namespace

void kernels::addTransposedIslandPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposeIsland>(patterns.getContext());
}
