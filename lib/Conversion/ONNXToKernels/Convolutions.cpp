// Convolutions with constant weights become contractions, channels last.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
namespace window = onnxquant::onnx::window;

std::optional<KernelWindow> kernels::getKernelWindow(Operation *op,
                                                     RankedTensorType input,
                                                     ArrayRef<int64_t> kernel) {
  SmallVector<onnx::Dim> dims(kernel.begin(), kernel.end());
  window::Window attributes = window::getWindow(op, kernel.size(), dims);
  KernelWindow result;
  result.kernel.assign(kernel.begin(), kernel.end());
  result.strides = attributes.strides;
  result.dilations = attributes.dilations;
  SmallVector<int64_t> ends;
  for (size_t i = 0; i < kernel.size(); ++i) {
    int64_t begin = 0, end = 0, size = input.getDimSize(i + 2);
    int64_t stride = attributes.strides[i];
    int64_t extent = (kernel[i] - 1) * attributes.dilations[i] + 1;
    switch (attributes.autoPad) {
    case window::AutoPad::NotSet:
      begin = attributes.padsBegin[i];
      end = attributes.padsEnd[i];
      break;
    case window::AutoPad::Valid:
      break;
    case window::AutoPad::SameUpper:
    case window::AutoPad::SameLower: {
      if (ShapedType::isDynamic(size) && stride != 1)
        return std::nullopt;
      // With stride 1 the pads are the same for every size.
      int64_t count = ShapedType::isDynamic(size) ? 1 : size;
      int64_t output = (count + stride - 1) / stride;
      int64_t total =
          std::max<int64_t>(0, (output - 1) * stride + extent - count);
      bool isUpper = attributes.autoPad == window::AutoPad::SameUpper;
      begin = isUpper ? total / 2 : total - total / 2;
      end = total - begin;
      break;
    }
    }
    result.pads.push_back(begin);
    ends.push_back(end);
  }
  result.pads.append(ends);
  return result;
}

namespace {

struct ConvToContract : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto input = dyn_cast<RankedTensorType>(op.getX().getType());
    if (!input || input.getRank() < 3 || input.isDynamicDim(1) ||
        !isa<RankedTensorType>(op.getY().getType()))
      return rewriter.notifyMatchFailure(op, "ranks or channels are unknown");
    if (!isKernelFloat(input.getElementType()))
      return rewriter.notifyMatchFailure(op, "no kernel for its elements");
    std::optional<RawElements> raw = readElements(op.getW());
    if (!raw)
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    ArrayRef<int64_t> shape = raw->type.getShape();
    int64_t group = op.getGroup();
    if (shape.size() != static_cast<size_t>(input.getRank()) ||
        shape[1] * group != input.getDimSize(1) || shape[0] % group != 0 ||
        raw->bytes.empty())
      return rewriter.notifyMatchFailure(op, "its sizes don't go together");
    if (group > 1 && shape[1] < 4)
      return rewriter.notifyMatchFailure(op, "its groups are too small");
    auto window = getKernelWindow(op, input, shape.drop_front(2));
    if (!window)
      return rewriter.notifyMatchFailure(op, "its pads are open");
    if (!hasOutput(input, *window))
      return rewriter.notifyMatchFailure(op, "its window doesn't fit");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value weights = makeWeights(b, op, *raw, group);
    Type f32 = b.getF32Type();
    Value x = toChannelsLast(b, op, makeCast(b, op, op.getX(), f32));
    SmallVector<OpFoldResult> sizes = {getSize(b, x, 0)};
    sizes.append(getOutputSizes(b, op, x, *window));
    sizes.push_back(b.getIndexAttr(shape[0]));
    if (window->isPointwise())
      *window = KernelWindow();
    SmallVector<EpilogueOperand> epilogueOperands;
    EpilogueFn epilogue;
    if (!isa<NoneType>(op.getB().getType())) {
      epilogueOperands.push_back(
          perChannel(makeCast(b, op, op.getB(), f32), input.getRank()));
      epilogue = addFirstOperand;
    }
    Value y = makeContract(b, x, weights, makeEmpty(b, sizes, f32), *window,
                           epilogueOperands, epilogue);
    y = castLike(b, op, toChannelsFirst(b, op, y), op.getY());
    rewriter.replaceOp(op, y);
    return success();
  }

  /// [M, C / group, k..] as [group, k.. * C / group, M / group].
  static Value makeWeights(ImplicitLocOpBuilder &b, onnx::ConvOp op,
                           const RawElements &raw, int64_t group) {
    ArrayRef<int64_t> shape = raw.type.getShape();
    int64_t n = shape[0] / group, channels = shape[1];
    int64_t k = raw.type.getNumElements() / shape[0];
    std::vector<char> bytes =
        permuteElements(raw, {group, n, channels, k / channels}, {0, 3, 2, 1});
    return makeConstant(b, RankedTensorType::get({group, k, n}, b.getF32Type()),
                        bytes, "weights");
  }
};

} // namespace

void kernels::addConvolutionPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvToContract>(patterns.getContext());
}
