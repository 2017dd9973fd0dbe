// Convolutions of integers: contractions, or windows where channels stay apart.

#include "IntegerProduct.h"
#include "Poolings.h"
#include "Windows.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// The input's type with channels in dimension 1.
static RankedTensorType getInputType(const IntegerConvolution &convolution) {
  auto type = dyn_cast<RankedTensorType>(convolution.input.getType());
  if (!type || type.getRank() < 3 || !convolution.isLast)
    return type;
  ArrayRef<int64_t> sizes = type.getShape();
  SmallVector<int64_t> shape = {sizes.front(), sizes.back()};
  shape.append(sizes.begin() + 1, sizes.end() - 1);
  return RankedTensorType::get(shape, type.getElementType());
}

FailureOr<Value>
kernels::makeConvolutionSums(PatternRewriter &rewriter, Operation *op,
                             const IntegerConvolution &convolution) {
  RankedTensorType input = getInputType(convolution);
  if (!input || input.getRank() < 3)
    return rewriter.notifyMatchFailure(op, "its rank is unknown");
  Value zero = convolution.inputZero, bias = convolution.bias;
  if (!isAbsent(zero) && !isSingle(zero))
    return rewriter.notifyMatchFailure(op, "its zero point varies");
  int64_t group = convolution.group;
  auto weights =
      readFilters(convolution.filters, convolution.filterZero, group);
  if (!weights)
    return rewriter.notifyMatchFailure(op, "its weights aren't constant");
  auto shape = cast<RankedTensorType>(convolution.filters.getType()).getShape();
  if (static_cast<int64_t>(shape.size()) != input.getRank() ||
      shape[1] * group != input.getDimSize(1))
    return rewriter.notifyMatchFailure(op, "its sizes don't go together");
  if (!isAbsent(bias) &&
      cast<ShapedType>(bias.getType()).getShape() != shape.take_front())
    return rewriter.notifyMatchFailure(op, "its bias has a dynamic size");

  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  auto toLast = [&] {
    return convolution.isLast ? convolution.input
                              : toChannelsLast(b, op, convolution.input);
  };
  bool isDepthwise = group > 1 && shape[1] == 1 && shape[0] == group &&
                     input.getElementType().isInteger(8);
  if (isDepthwise) {
    auto window = getPoolWindow(op, input, shape.drop_front(2));
    if (!window)
      return rewriter.notifyMatchFailure(op, "its window is open");
    return makeDepthwiseSums(b, op, toLast(), zero, weights->values,
                             window->window, bias, convolution.requantization);
  }
  auto window = getKernelWindow(op, input, shape.drop_front(2));
  if (!window || !hasOutput(input, *window))
    return rewriter.notifyMatchFailure(op, "its pads are open");
  return makeSums(b, op,
                  {toLast(), zero, std::move(*weights), *window, bias,
                   convolution.requantization});
}
