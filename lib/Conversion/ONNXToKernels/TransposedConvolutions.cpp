// Transposed convolutions with constant weights: one plain convolution per
// phase of the strides, which writes every stride-th place of the output.
//
// Input place i and tap t add to place i * stride + t * dilation - pad of the
// output. Places of phase r, r + stride * j, therefore take the taps with
// t * dilation = r + pad (mod stride), at input places j + offset(t): a window
// with stride 1, its taps in reverse.

#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
namespace window = onnxquant::onnx::window;

namespace {

/// One dimension of a transposed window whose output has `stride * in + extra`
/// places.
struct TransposedDim {
  int64_t kernel, stride, dilation, pad, extra;
};

/// One dimension of a phase: its taps in the order in which their input places
/// lie, how far these are apart, the pads, and how many more places it has than
/// the input.
struct PhaseDim {
  SmallVector<int64_t> taps;
  int64_t dilation = 1, begin = 0, end = 0, more = 0;
};

} // namespace

static int64_t floorDiv(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/// Phase `r` of a dimension; none if its window has no taps or starts within
/// the input.
static std::optional<PhaseDim> getPhase(const TransposedDim &dim, int64_t r) {
  PhaseDim phase;
  SmallVector<int64_t> offsets;
  for (int64_t tap = dim.kernel - 1; tap >= 0; --tap) {
    int64_t distance = r + dim.pad - tap * dim.dilation;
    if (distance % dim.stride != 0)
      continue;
    phase.taps.push_back(tap);
    offsets.push_back(floorDiv(distance, dim.stride));
  }
  // Places r, r + stride, .. of stride * in + extra.
  phase.more = floorDiv(dim.extra - r + dim.stride - 1, dim.stride);
  if (offsets.empty() || offsets.front() > 0)
    return std::nullopt;
  if (offsets.size() > 1)
    phase.dilation = offsets[1] - offsets[0];
  phase.begin = -offsets.front();
  phase.end = std::max<int64_t>(0, phase.more + offsets.back());
  return phase;
}

/// The dimensions of a transposed window; none if they depend on sizes that
/// aren't known.
static std::optional<SmallVector<TransposedDim>>
getDims(onnx::ConvTransposeOp op, RankedTensorType input,
        ArrayRef<int64_t> kernel) {
  SmallVector<onnx::Dim> dims(kernel.begin(), kernel.end());
  size_t rank = kernel.size();
  window::Window attributes = window::getWindow(op, rank, dims);
  SmallVector<int64_t> extra = window::getIntsOf(op, "output_padding", rank, 0);
  if (attributes.autoPad != window::AutoPad::NotSet &&
      attributes.autoPad != window::AutoPad::Valid)
    return std::nullopt;
  if (op.getOutputShape() && !op.getOutputShape()->empty())
    return std::nullopt;
  bool isValid = attributes.autoPad == window::AutoPad::Valid;
  SmallVector<TransposedDim> result;
  for (size_t i = 0; i < rank; ++i) {
    TransposedDim dim = {kernel[i], attributes.strides[i],
                         attributes.dilations[i],
                         isValid ? 0 : attributes.padsBegin[i], 0};
    int64_t end = isValid ? 0 : attributes.padsEnd[i];
    dim.extra = extra[i] + (dim.kernel - 1) * dim.dilation + 1 - dim.stride -
                dim.pad - end;
    int64_t size = input.getDimSize(i + 2);
    // An input of one place must leave something of the output, too.
    if ((ShapedType::isDynamic(size) ? 1 : size) * dim.stride + dim.extra <
        dim.stride)
      return std::nullopt;
    result.push_back(dim);
  }
  return result;
}

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
    auto dims = getDims(op, input, shape.drop_front(2));
    if (!dims)
      return rewriter.notifyMatchFailure(op, "its output's sizes are open");
    // Phases of all dimensions.
    SmallVector<SmallVector<PhaseDim>> phases(dims->size());
    for (auto [dim, list] : llvm::zip(*dims, phases))
      for (int64_t r = 0; r < dim.stride; ++r) {
        std::optional<PhaseDim> phase = getPhase(dim, r);
        if (!phase)
          return rewriter.notifyMatchFailure(
              op, "a phase has no taps, or a pad exceeds the kernel");
        list.push_back(*phase);
      }

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type f32 = b.getF32Type();
    Value x = toChannelsLast(b, op, makeCast(b, op, op.getX(), f32));
    SmallVector<Extra> extras;
    if (!isa<NoneType>(op.getB().getType()))
      extras.push_back(
          perChannel(makeCast(b, op, op.getB(), f32), input.getRank()));
    SmallVector<OpFoldResult> sizes = {getSize(b, x, 0)};
    for (auto [i, dim] : llvm::enumerate(*dims))
      sizes.push_back(scale(b, getSize(b, x, i + 1), dim.stride, dim.extra));
    sizes.push_back(b.getIndexAttr(shape[1] * group));
    Value y = makeEmpty(b, sizes, f32);
    forEachPhase(*dims, [&](ArrayRef<int64_t> r) {
      SmallVector<PhaseDim> phase;
      for (auto [i, list] : llvm::enumerate(phases))
        phase.push_back(list[r[i]]);
      y = addPhase(b, *raw, group, x, y, *dims, phase, r, extras);
    });
    y = castLike(b, op, toChannelsFirst(b, op, y), op.getY());
    rewriter.replaceOp(op, y);
    return success();
  }

private:
  /// size * factor + addend.
  static OpFoldResult scale(ImplicitLocOpBuilder &b, OpFoldResult size,
                            int64_t factor, int64_t addend) {
    if (auto known = getConstantIntValue(size))
      return b.getIndexAttr(*known * factor + addend);
    Value product = arith::MulIOp::create(
        b, cast<Value>(size), arith::ConstantIndexOp::create(b, factor));
    return arith::AddIOp::create(b, product,
                                 arith::ConstantIndexOp::create(b, addend))
        .getResult();
  }

  static void forEachPhase(ArrayRef<TransposedDim> dims,
                           function_ref<void(ArrayRef<int64_t>)> body) {
    SmallVector<int64_t> r(dims.size(), 0);
    for (;;) {
      body(r);
      size_t i = dims.size();
      while (i > 0 && ++r[i - 1] == dims[i - 1].stride)
        r[--i] = 0;
      if (i == 0)
        return;
    }
  }

  /// Computes one phase into the output and returns that.
  static Value addPhase(ImplicitLocOpBuilder &b, const RawElements &raw,
                        int64_t group, Value x, Value y,
                        ArrayRef<TransposedDim> dims, ArrayRef<PhaseDim> phase,
                        ArrayRef<int64_t> r, ArrayRef<Extra> extras) {
    KernelWindow window;
    SmallVector<int64_t> ends;
    auto type = cast<RankedTensorType>(y.getType());
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets = {zero}, strides = {one};
    SmallVector<OpFoldResult> sizes = {getSize(b, x, 0)};
    for (auto [i, dim] : llvm::enumerate(phase)) {
      window.kernel.push_back(dim.taps.size());
      window.strides.push_back(1);
      window.dilations.push_back(dim.dilation);
      window.pads.push_back(dim.begin);
      ends.push_back(dim.end);
      offsets.push_back(b.getIndexAttr(r[i]));
      strides.push_back(b.getIndexAttr(dims[i].stride));
      sizes.push_back(scale(b, getSize(b, x, i + 1), 1, dim.more));
    }
    window.pads.append(ends);
    offsets.push_back(zero);
    strides.push_back(one);
    sizes.push_back(b.getIndexAttr(type.getDimSize(type.getRank() - 1)));
    Value weights = makeWeights(b, raw, group, phase);
    if (window.isPointwise() &&
        llvm::all_of(phase, [](const PhaseDim &dim) { return dim.more == 0; }))
      window = KernelWindow();
    Value slice = tensor::ExtractSliceOp::create(b, y, offsets, sizes, strides);
    Value part = makeContract(b, x, weights, slice, window, extras,
                              extras.empty() ? EpilogueFn() : addFirstExtra);
    return tensor::InsertSliceOp::create(b, part, y, offsets, sizes, strides);
  }

  /// A phase's taps of [C, M / group, k..] as [group, taps * C / group,
  /// M / group].
  static Value makeWeights(ImplicitLocOpBuilder &b, const RawElements &raw,
                           int64_t group, ArrayRef<PhaseDim> phase) {
    ArrayRef<int64_t> shape = raw.type.getShape();
    int64_t channels = shape[0] / group, columns = shape[1];
    // The places of the phase's taps among all taps, in order.
    SmallVector<int64_t> places = {0};
    int64_t taps = 1, all = 1;
    for (auto [i, dim] : llvm::enumerate(phase)) {
      SmallVector<int64_t> next;
      for (int64_t place : places)
        for (int64_t tap : dim.taps)
          next.push_back(place * shape[i + 2] + tap);
      places = next;
      taps *= dim.taps.size();
      all *= shape[i + 2];
    }
    std::vector<float> values(group * taps * channels * columns, 0.0f);
    const float *from = reinterpret_cast<const float *>(raw.bytes.data());
    size_t to = 0;
    for (int64_t g = 0; g < group; ++g)
      for (int64_t place : places)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t m = 0; m < columns; ++m)
            values[to++] =
                from[((g * channels + c) * columns + m) * all + place];
    return makeConstant(b,
                        RankedTensorType::get({group, taps * channels, columns},
                                              b.getF32Type()),
                        ArrayRef(reinterpret_cast<const char *>(values.data()),
                                 values.size() * sizeof(float)),
                        "weights");
  }
};

} // namespace

void kernels::addTransposedConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvTransposeToContract>(patterns.getContext());
}
