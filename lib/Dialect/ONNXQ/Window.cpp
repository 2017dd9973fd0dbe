// The verifier of windows.

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

void WindowOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  detail::getBlockEffects(*this, getInitMutable(), effects);
}

/// C1 and C3: the dimensions of input and output.
static LogicalResult verifyShapes(WindowOp op) {
  ShapedType input = op.getInput().getType(), output = op.getInit().getType();
  int64_t rank = static_cast<int64_t>(op.getKernel().size());
  if (rank == 0 || input.getRank() != rank + 2 || input.isDynamicDim(rank + 1))
    return op.emitOpError("expects an input of ")
           << std::max<int64_t>(rank, 1) + 2
           << " dimensions with known channels, but got " << input << " [C1]";
  bool fits = output.getRank() == input.getRank();
  for (int64_t i = 0; fits && i < input.getRank(); ++i) {
    int64_t size = input.getDimSize(i), made = output.getDimSize(i);
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(made))
      continue;
    if (i > 0 && i <= rank)
      size = countWindows(size, op.getKernel()[i - 1], op.getStrides()[i - 1],
                          op.getDilations()[i - 1],
                          op.getPads()[i - 1] + op.getPads()[rank + i - 1]);
    fits = size == made;
  }
  if (!fits)
    return op.emitOpError("expects an output for ")
           << input << ", but got " << output << " [C3]";
  if (op->getNumResults() > 0 &&
      (op.isOnBuffers() || op->getResult(0).getType() != output))
    return op.emitOpError("expects a result of the destination's type [C3]");
  return success();
}

static LogicalResult verifyWeights(WindowOp op) {
  bool needs = op.getKind() == WindowKind::MulAdd;
  int64_t taps = 1, channels = op.getInput().getType().getShape().back();
  for (int64_t size : op.getKernel())
    taps *= size;
  bool fits = needs == static_cast<bool>(op.getWeights());
  if (fits && needs) {
    ShapedType weights = op.getWeights().getType();
    if (op.getPacked())
      fits = channels >= WindowOp::packedChannels &&
             op.getKernel().size() == 2 &&
             weights.getElementType().isInteger() &&
             weights.getShape() == ArrayRef<int64_t>{op.getPackedSize()};
    else
      fits = weights.getShape() == ArrayRef<int64_t>{taps, channels};
  }
  fits &= needs || !op.getPacked();
  if (!fits)
    return op.emitOpError("expects ")
           << (needs ? "weights of " : "no weights, not ") << taps << "x"
           << channels << " [C2]";
  return success();
}

static LogicalResult verifyElements(WindowOp op) {
  Type element = op.getInput().getType().getElementType();
  Type accumulator = op.getAccumulatorType();
  Type weight =
      op.getWeights() ? op.getWeights().getType().getElementType() : Type();
  bool isMax = op.getKind() == WindowKind::Max;
  bool isFloat = element.isF32();
  bool fits = isFloat ? accumulator.isF32() && (!weight || weight.isF32())
                      : element.isInteger(8) &&
                            accumulator.isSignlessInteger(isMax ? 8 : 32) &&
                            (!weight || weight.isSignlessInteger(16));
  if (!fits)
    return op.emitOpError("expects f32 or integers of 8 bits, but got ")
           << element << " in " << accumulator << " [C4]";
  if (isFloat && op.getInputUnsigned())
    return op.emitOpError("expects floats not to be unsigned [C5]");
  if (op.getPad() &&
      (isFloat || isMax || op.getPad().getType() != getRegionType(element)))
    return op.emitOpError("expects no pad of type ")
           << op.getPad().getType() << " [C6]";
  return success();
}

LogicalResult WindowOp::verify() {
  size_t rank = getKernel().size();
  if (getStrides().size() != rank || getDilations().size() != rank ||
      getPads().size() != 2 * rank)
    return emitOpError("expects a stride, a dilation and two pads per entry of "
                       "kernel [K6]");
  if (failed(verifyShapes(*this)) || failed(verifyWeights(*this)))
    return failure();
  return verifyElements(*this);
}
