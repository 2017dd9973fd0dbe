// Ops of the Math family: generated definitions, verifiers, folders, and the
// shape rules that their definitions don't state.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Math.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult ModOp::verify() {
  if (getFmod() != 0 && getFmod() != 1)
    return emitOpError("expects fmod 0 or 1, but got ") << getFmod() << " (C1)";
  Type type = follow::commonElementType(getOperands());
  if (isa<FloatType>(type) && getFmod() == 0)
    return emitOpError("expects fmod 1 for elements of type ")
           << type << ", but got 0 (C2)";
  return success();
}

LogicalResult BitShiftOp::verify() {
  if (getDirection() != "LEFT" && getDirection() != "RIGHT")
    return emitOpError("expects direction \"LEFT\" or \"RIGHT\", but got \"")
           << getDirection() << "\" (C1)";
  return success();
}

LogicalResult GeluOp::verify() {
  if (getApproximate() != "none" && getApproximate() != "tanh")
    return emitOpError("expects approximate \"none\" or \"tanh\", but got \"")
           << getApproximate() << "\" (C1)";
  return success();
}

static LogicalResult verifyNotEmpty(Operation *op) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("expects at least one operand, but got none (C1)");
  return success();
}

LogicalResult MaxOp::verify() { return verifyNotEmpty(*this); }
LogicalResult MinOp::verify() { return verifyNotEmpty(*this); }
LogicalResult SumOp::verify() { return verifyNotEmpty(*this); }
LogicalResult MeanOp::verify() { return verifyNotEmpty(*this); }

LogicalResult CastOp::verify() {
  if (!onnxFromElementType(getTo()))
    return emitOpError("expects an element type of ONNX to cast to, but got ")
           << getTo() << " (C1)";
  Type type = getElementType(getOutput());
  if (type != getTo() && !isa<UnknownType>(type))
    return emitOpError("expects an output with elements of type ")
           << getTo() << ", but got " << type << " (C2)";
  return success();
}

LogicalResult ClipOp::verify() {
  if (!isLeftOut(getMin()) && !mayBeScalar(getMin()))
    return emitOpError("expects a scalar as min, but got ")
           << getMin().getType() << " (C1)";
  if (!isLeftOut(getMax()) && !mayBeScalar(getMax()))
    return emitOpError("expects a scalar as max, but got ")
           << getMax().getType() << " (C2)";
  return success();
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// The first operand, if the op only hands it on and its type stays.
static OpFoldResult foldToOperand(Operation *op) {
  Value operand = op->getOperand(0);
  return operand.getType() == op->getResult(0).getType() ? operand
                                                         : OpFoldResult();
}

static OpFoldResult foldOnlyOperand(Operation *op) {
  return op->getNumOperands() == 1 ? foldToOperand(op) : OpFoldResult();
}

OpFoldResult MaxOp::fold(FoldAdaptor) { return foldOnlyOperand(*this); }
OpFoldResult MinOp::fold(FoldAdaptor) { return foldOnlyOperand(*this); }
OpFoldResult SumOp::fold(FoldAdaptor) { return foldOnlyOperand(*this); }
OpFoldResult MeanOp::fold(FoldAdaptor) { return foldOnlyOperand(*this); }

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getElementType(getInput()) != getTo())
    return {};
  return foldToOperand(*this);
}

OpFoldResult CastLikeOp::fold(FoldAdaptor) {
  Type type = getElementType(getInput());
  if (isa<UnknownType>(type) || type != getElementType(getTargetType()))
    return {};
  return foldToOperand(*this);
}

OpFoldResult ClipOp::fold(FoldAdaptor) {
  if (!isLeftOut(getMin()) || !isLeftOut(getMax()))
    return {};
  return foldToOperand(*this);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// States a cast's dimensions, and its contents where the value of an element
/// doesn't change.
static LogicalResult inferCast(ShapeContext &ctx, Operation *op, Type to) {
  Value input = op->getOperand(0);
  OpResult output = op->getResult(0);
  if (failed(shape::sameDimsAs(ctx, op, 0, to)))
    return failure();
  std::optional<Dims> contents =
      isa<FloatType>(getElementType(input)) && isa<IntegerType>(to)
          ? follow::roundedContents(ctx, input, follow::Rounding::TowardZero)
          : ctx.getContents(input);
  if (!contents)
    return success();
  SmallVector<std::optional<Dim>> elements;
  for (const Dim &element : *contents) {
    elements.push_back(element);
    if (std::optional<int64_t> value = element.getConstant();
        value && to.isInteger(1))
      elements.back() = Dim(*value != 0);
  }
  follow::setExact(ctx, output, elements);
  return success();
}

LogicalResult CastOp::inferShapes(ShapeContext &ctx) {
  return inferCast(ctx, *this, getTo());
}

LogicalResult CastLikeOp::inferShapes(ShapeContext &ctx) {
  return inferCast(ctx, *this, getElementType(getTargetType()));
}

LogicalResult ClipOp::inferShapes(ShapeContext &ctx) {
  Type type = follow::commonElementType(getOperands());
  if (failed(shape::sameDimsAs(ctx, *this, 0, type)))
    return failure();
  std::optional<Dims> contents = ctx.getContents(getInput());
  if (!contents)
    return success();
  SmallVector<std::optional<Dim>> elements;
  for (Dim element : *contents) {
    if (!isLeftOut(getMin()))
      element = Dim::max(element, getScalar(ctx, getMin()));
    if (!isLeftOut(getMax()))
      element = Dim::min(element, getScalar(ctx, getMax()));
    elements.push_back(element);
  }
  follow::setExact(ctx, getOperation()->getResult(0), elements);
  return success();
}

LogicalResult PReluOp::inferShapes(ShapeContext &ctx) {
  std::optional<Dims> x = ctx.getDims(getX()), slope = ctx.getDims(getSlope());
  if (x && slope) {
    bool fits = slope->size() <= x->size();
    // A dimension of the slope is 1 or, as far as known, that of `X`.
    for (size_t i = 0; fits && i < slope->size(); ++i) {
      std::optional<int64_t> from =
                                 (*slope)[slope->size() - 1 - i].getConstant(),
                             to = (*x)[x->size() - 1 - i].getConstant();
      fits = !from || *from == 1 || !to || *from == *to;
    }
    if (!fits)
      return emitOpError("expects a slope that broadcasts to ")
             << getX().getType() << ", but got " << getSlope().getType();
  }
  return shape::sameDimsAs(ctx, *this, 0,
                           follow::commonElementType(getOperands()));
}
