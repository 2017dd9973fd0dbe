// Ops of neural networks: the definitions that TableGen generates, activations
// over an axis, dropout and losses.

#include "NNVerify.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::nn;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/NN.cpp.inc"

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getInput(), getAxis(), 1);
}

LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, getInput(), getAxis(), 1);
}

LogicalResult HardmaxOp::verify() {
  return verifyAxis(*this, getInput(), getAxis(), 1);
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Whether it is known that nothing is dropped.
static bool isInference(DropoutOp op) {
  if (isLeftOut(op.getTrainingMode()))
    return true;
  ElementsAttr mode = getConstant(op.getTrainingMode());
  std::optional<SmallVector<int64_t>> values;
  if (mode)
    values = readInts(mode, 1);
  return values && values->size() == 1 && values->front() == 0;
}

/// Random numbers change a state, so that two ops are never one.
void DropoutOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!isInference(*this))
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult DropoutOp::verify() {
  for (auto [value, name] : {std::pair(getRatio(), "ratio"),
                             std::pair(getTrainingMode(), "training_mode")}) {
    std::optional<ArrayRef<int64_t>> shape = getShape(value);
    if (!shape)
      continue;
    for (int64_t size : *shape)
      if (!agree(size, 1))
        return emitOpError("expects ")
               << name << " to have one element, but got " << value.getType()
               << " (C1)";
  }
  return success();
}

LogicalResult DropoutOp::inferShapes(ShapeContext &ctx) {
  std::optional<Dims> dims = ctx.getDims(getData());
  Type bit = IntegerType::get(getContext(), 1);
  if (failed(ctx.set(cast<OpResult>(getOutput()), getElementType(getData()),
                     dims)))
    return failure();
  return ctx.set(cast<OpResult>(getMask()), bit, dims);
}

LogicalResult DropoutOp::fold(FoldAdaptor,
                              SmallVectorImpl<OpFoldResult> &results) {
  if (!isInference(*this) || getData().getType() != getOutput().getType())
    return failure();
  Attribute mask;
  if (isLeftOut(getMask()))
    mask = UnitAttr::get(getContext());
  else if (auto type = dyn_cast<RankedTensorType>(getMask().getType());
           type && type.hasStaticShape() && type.getElementType().isInteger(1))
    mask = DenseElementsAttr::get(type, true);
  else
    return failure();
  results.assign({getData(), mask});
  return success();
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

static LogicalResult verifyLoss(Operation *op, StringRef reduction,
                                Value scores, StringRef scoresName,
                                Value labels, StringRef labelsName,
                                Value weights, StringRef weightsName) {
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return op->emitOpError("expects reduction to be none, mean or sum, but "
                           "got '")
           << reduction << "' (C1)";
  if (failed(verifyMinRank(op, scores, scoresName, 2, 2)))
    return failure();
  std::optional<ArrayRef<int64_t>> shape = getShape(scores);
  if (shape) {
    if (failed(verifyRank(op, labels, labelsName, shape->size() - 1, 2)))
      return failure();
    for (size_t i = 0, e = shape->size() - 1; i < e; ++i)
      if (failed(verifyDim(op, labels, labelsName, i,
                           (*shape)[i == 0 ? 0 : i + 1], 2)))
        return failure();
  }
  return verifyPerChannel(op, weights, weightsName, getDim(scores, 1), 3);
}

/// The dimensions of a loss: those of the labels, or a scalar if reduced.
static std::optional<Dims> inferLoss(ShapeContext &ctx, StringRef reduction,
                                     Value scores, Value labels) {
  if (reduction != "none")
    return Dims();
  if (std::optional<Dims> dims = ctx.getDims(labels))
    return dims;
  std::optional<Dims> dims = ctx.getDims(scores);
  if (dims && dims->size() >= 2)
    dims->erase(dims->begin() + 1);
  return dims;
}

LogicalResult NegativeLogLikelihoodLossOp::verify() {
  return verifyLoss(*this, getReduction(), getInput(), "input", getTarget(),
                    "target", getWeight(), "weight");
}

LogicalResult NegativeLogLikelihoodLossOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  return ctx.set(cast<OpResult>(getLoss()), getElementType(getInput()),
                 inferLoss(ctx, getReduction(), getInput(), getTarget()));
}

LogicalResult SoftmaxCrossEntropyLossOp::verify() {
  return verifyLoss(*this, getReduction(), getScores(), "scores", getLabels(),
                    "labels", getWeights(), "weights");
}

LogicalResult SoftmaxCrossEntropyLossOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  Type type = getElementType(getScores());
  std::optional<Dims> loss =
      inferLoss(ctx, getReduction(), getScores(), getLabels());
  if (failed(ctx.set(cast<OpResult>(getOutput()), type, loss)))
    return failure();
  return ctx.set(cast<OpResult>(getLogProb()), type, ctx.getDims(getScores()));
}
