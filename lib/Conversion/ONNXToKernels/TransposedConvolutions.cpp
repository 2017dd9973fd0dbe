// Transposed convolutions with constant weights: one plain convolution per
// phase of the strides, which writes every stride-th element of the output.

#include "TransposedWindow.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {

struct ConvTransposeToContract : OpRewritePattern<onnx::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    if (!input || input.getRank() < 3 || input.isDynamicDim(1) ||
        !isa<RankedTensorType>(op.getY().getType()) ||
        !isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its operands");
    std::optional<RawElements> raw = readElements(op.getW());
    if (!raw || raw->bytes.empty())
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    ArrayRef<int64_t> shape = raw->type.getShape();
    int64_t group = op.getGroup();
    if (shape.size() != static_cast<size_t>(input.getRank()) ||
        shape[0] != input.getDimSize(1) || shape[0] % group != 0 ||
        (group > 1 && shape[0] / group < 4))
      return rewriter.notifyMatchFailure(op, "its groups have no kernel");
    auto dims = getTransposedDims(op, input, shape.drop_front(2));
    if (!dims)
      return rewriter.notifyMatchFailure(op, "its output's sizes are open");
    // Phases of all dimensions.
    SmallVector<SmallVector<PhaseDim>> phases(dims->size());
    for (auto [dim, list] : llvm::zip(*dims, phases))
      for (int64_t r = 0; r < dim.stride; ++r) {
        std::optional<PhaseDim> phase = getPhase(dim, r, /*zeroTaps=*/false);
        if (!phase)
          return rewriter.notifyMatchFailure(
              op, "a phase has no taps, or a pad exceeds the kernel");
        list.push_back(*phase);
      }

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    Value x = toChannelsLast(b, op, makeCast(b, op, op.getX(), f32));
    SmallVector<EpilogueOperand> epilogueOperands;
    if (!isa<NoneType>(op.getB().getType()))
      epilogueOperands.push_back(
          perChannel(makeCast(b, op, op.getB(), f32), input.getRank()));
    Value y = makeEmpty(
        b, getTransposedSizes(b, op, x, *dims, shape[1] * group), f32);
    forEachPhase(*dims, [&](ArrayRef<int64_t> r) {
      SmallVector<PhaseDim> phase;
      for (auto [i, list] : llvm::enumerate(phases))
        phase.push_back(list[r[i]]);
      y = addPhase(b, *raw, group, x, y, *dims, phase, r, epilogueOperands);
    });
    y = castLike(b, op, toChannelsFirst(b, op, y), op.getY());
    rewriter.replaceOp(op, y);
    return success();
  }

private:
  /// Computes one phase into the output and returns that.
  static Value addPhase(ImplicitLocOpBuilder &b, const RawElements &raw,
                        int64_t group, Value x, Value y,
                        ArrayRef<TransposedDim> dims, ArrayRef<PhaseDim> phase,
                        ArrayRef<int64_t> r,
                        ArrayRef<EpilogueOperand> epilogueOperands) {
    PhaseRegion region = getPhaseRegion(b, x, y, dims, phase, r);
    if (region.isEmpty())
      return y;
    Value weights = makeWeights(b, raw, group, phase);
    Value slice = tensor::ExtractSliceOp::create(b, y, region.offsets,
                                                 region.sizes, region.strides);
    Value part =
        makeContract(b, x, weights, slice, region.window, epilogueOperands,
                     epilogueOperands.empty() ? EpilogueFn() : addFirstOperand);
    return tensor::InsertSliceOp::create(b, part, y, region.offsets,
                                         region.sizes, region.strides);
  }

  static Value makeWeights(ImplicitLocOpBuilder &b, const RawElements &raw,
                           int64_t group, ArrayRef<PhaseDim> phase) {
    ArrayRef<int64_t> shape = raw.type.getShape();
    std::vector<float> values = takePhase(
        reinterpret_cast<const float *>(raw.bytes.data()), shape, group, phase);
    int64_t depth = static_cast<int64_t>(values.size()) / (group * shape[1]);
    return makeConstant(
        b, RankedTensorType::get({group, depth, shape[1]}, b.getF32Type()),
        ArrayRef(reinterpret_cast<const char *>(values.data()),
                 values.size() * sizeof(float)),
        "weights");
  }
};

} // namespace

void kernels::addTransposedConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposeToContract>(patterns.getContext());
}
