// Ops of the Signal family: generated definitions, verifiers and shapes.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Signal.cpp.inc"

/// The number of frequencies up to half of a transform's length.
static Dim countBins(const Dim &length) {
  return length.floorDiv(Dim(2)) + Dim(1);
}

/// Whether the last dimension may hold a real or a complex number.
static bool mayHoldNumber(RankedTensorType type) {
  int64_t last = type.getShape().back();
  return ShapedType::isDynamic(last) || last == 1 || last == 2;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

static LogicalResult verifyWindow(Operation *op, int64_t dataType) {
  if (!mayBeScalar(op->getOperand(0)))
    return op->emitOpError("expects a scalar as size, but got ")
           << op->getOperand(0).getType() << " (C1)";
  return verifyDataType(
      op, dataType, {"output_datatype", "a number type", isNumber, "C2", "C3"});
}

static LogicalResult inferWindow(ShapeContext &ctx, Operation *op,
                                 int64_t dataType) {
  return ctx.set(op->getResult(0),
                 elementTypeFromOnnx(dataType, op->getContext()),
                 Dims{getScalar(ctx, op->getOperand(0))});
}

LogicalResult BlackmanWindowOp::verify() {
  return verifyWindow(*this, getOutputDatatype());
}
LogicalResult BlackmanWindowOp::inferShapes(ShapeContext &ctx) {
  return inferWindow(ctx, *this, getOutputDatatype());
}
LogicalResult HammingWindowOp::verify() {
  return verifyWindow(*this, getOutputDatatype());
}
LogicalResult HammingWindowOp::inferShapes(ShapeContext &ctx) {
  return inferWindow(ctx, *this, getOutputDatatype());
}
LogicalResult HannWindowOp::verify() {
  return verifyWindow(*this, getOutputDatatype());
}
LogicalResult HannWindowOp::inferShapes(ShapeContext &ctx) {
  return inferWindow(ctx, *this, getOutputDatatype());
}

//===----------------------------------------------------------------------===//
// DFT
//===----------------------------------------------------------------------===//

LogicalResult DFTOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getInput().getType());
  if (type && (type.getRank() < 2 || !mayHoldNumber(type)))
    return emitOpError("expects an input of rank 2 at least with a last "
                       "dimension of 1 or 2, but got ")
           << type << " (C1)";
  if (!isLeftOut(getDftLength()) && !mayBeScalar(getDftLength()))
    return emitOpError("expects a scalar as dft_length, but got ")
           << getDftLength().getType() << " (C2)";
  if (!isLeftOut(getAxis()) && !mayBeScalar(getAxis()))
    return emitOpError("expects a scalar as axis, but got ")
           << getAxis().getType() << " (C3)";
  if (getInverse() && getOnesided())
    return emitOpError("expects one of inverse and onesided, but got both "
                       "(C4)");
  if (getOnesided() && type && type.getShape().back() == 2)
    return emitOpError("expects a real input with onesided, but got ")
           << type << " (C5)";
  return success();
}

LogicalResult DFTOp::inferShapes(ShapeContext &ctx) {
  OpResult output = getOperation()->getResult(0);
  Type type = getElementType(getInput());
  std::optional<Dims> dims = ctx.getDims(getInput());
  if (!dims)
    return ctx.set(output, type);
  int64_t rank = dims->size();
  std::optional<int64_t> axis =
      isLeftOut(getAxis()) ? -2 : ctx.getConstant(getAxis());
  dims->back() = Dim(2);
  bool hasLength = !isLeftOut(getDftLength());
  if (!axis) {
    // Any axis but the last may be the one that changes.
    if (hasLength || getOnesided())
      for (Dim &dim : MutableArrayRef<Dim>(*dims).drop_back())
        dim = ctx.unknown();
    return ctx.set(output, type, dims);
  }
  FailureOr<int64_t> position = shape::normalizeAxis(*axis, rank);
  if (failed(position) || *position == rank - 1)
    return emitOpError("expects an axis before the last one of ")
           << rank << ", but got " << *axis;
  Dim &size = (*dims)[*position];
  if (hasLength)
    size = getScalar(ctx, getDftLength());
  if (size.getConstant().value_or(1) <= 0)
    return emitOpError("expects a positive length, but got ") << size.str();
  if (getOnesided())
    size = countBins(size);
  return ctx.set(output, type, dims);
}

//===----------------------------------------------------------------------===//
// STFT
//===----------------------------------------------------------------------===//

LogicalResult STFTOp::verify() {
  auto signal = dyn_cast<RankedTensorType>(getSignal().getType());
  if (signal && signal.getRank() != 2 &&
      !(signal.getRank() == 3 && mayHoldNumber(signal)))
    return emitOpError("expects a signal of batch and samples, or with a third "
                       "dimension of 1 or 2, but got ")
           << signal << " (C1)";
  if (!mayBeScalar(getFrameStep()))
    return emitOpError("expects a scalar as frame_step, but got ")
           << getFrameStep().getType() << " (C2)";
  auto window = dyn_cast<RankedTensorType>(getWindow().getType());
  if (window && window.getRank() != 1)
    return emitOpError("expects a window of rank 1, but got ")
           << window << " (C3)";
  if (!isLeftOut(getFrameLength()) && !mayBeScalar(getFrameLength()))
    return emitOpError("expects a scalar as frame_length, but got ")
           << getFrameLength().getType() << " (C4)";
  return success();
}

LogicalResult STFTOp::inferShapes(ShapeContext &ctx) {
  OpResult output = getOperation()->getResult(0);
  Type type = getElementType(getSignal());
  Dims signal = ctx.getDims(getSignal()).value_or(ctx.unknowns(2));
  std::optional<Dims> window;
  if (!isLeftOut(getWindow()))
    window = ctx.getDims(getWindow()).value_or(ctx.unknowns(1));

  Dim length = signal[1];
  if (!isLeftOut(getFrameLength()))
    length = getScalar(ctx, getFrameLength());
  else if (window)
    length = window->front();
  if (length.getConstant().value_or(1) <= 0)
    return emitOpError("expects a positive frame length, but got ")
           << length.str();
  if (window && window->front().isConstant() && length.isConstant() &&
      window->front() != length)
    return emitOpError("expects a window of the frame's length ")
           << length.str() << ", but got " << window->front().str();
  Dim step = getScalar(ctx, getFrameStep());
  if (step.getConstant().value_or(1) <= 0)
    return emitOpError("expects a positive frame_step, but got ") << step.str();
  Dim rest = signal[1] - length;
  if (rest.getConstant().value_or(0) < 0)
    return emitOpError("expects a signal of one frame at least, but got ")
           << signal[1].str() << " samples for frames of " << length.str();

  Dim bins = getOnesided() ? countBins(length) : length;
  return ctx.set(output, type,
                 Dims{signal[0], rest.floorDiv(step) + Dim(1), bins, Dim(2)});
}

//===----------------------------------------------------------------------===//
// MelWeightMatrix
//===----------------------------------------------------------------------===//

LogicalResult MelWeightMatrixOp::verify() {
  for (Value operand : getOperands())
    if (!mayBeScalar(operand))
      return emitOpError("expects scalars, but got ")
             << operand.getType() << " (C1)";
  return verifyDataType(
      *this, getOutputDatatype(),
      {"output_datatype", "a number type", isNumber, "C2", "C3"});
}

LogicalResult MelWeightMatrixOp::inferShapes(ShapeContext &ctx) {
  return ctx.set(getOperation()->getResult(0),
                 elementTypeFromOnnx(getOutputDatatype(), getContext()),
                 Dims{countBins(getScalar(ctx, getDftLength())),
                      getScalar(ctx, getNumMelBins())});
}
