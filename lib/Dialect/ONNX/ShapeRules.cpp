// Shape rules that many ops share.

#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace onnxquant::onnx;

LogicalResult shape::sameAs(ShapeContext &ctx, Operation *op,
                            unsigned operand) {
  return sameDimsAs(ctx, op, operand, getElementType(op->getOperand(operand)));
}

LogicalResult shape::sameDimsAs(ShapeContext &ctx, Operation *op,
                                unsigned operand, Type elementType) {
  std::optional<Dims> dims = ctx.getDims(op->getOperand(operand));
  for (OpResult result : op->getResults())
    if (failed(ctx.set(result, elementType, dims)))
      return failure();
  return success();
}

/// Broadcasts one dimension; failure if both are numbers that don't go
/// together.
static FailureOr<Dim> broadcastDim(ShapeContext &ctx, const Dim &a,
                                   const Dim &b) {
  if (a == b || b.isConstant(1))
    return a;
  if (a.isConstant(1))
    return b;
  bool fixedA = a.isConstant(), fixedB = b.isConstant();
  if (fixedA && fixedB)
    return failure();
  // A number other than 1 decides: the other side is it, or 1.
  if (fixedA)
    return a;
  if (fixedB)
    return b;
  return ctx.unknown();
}

FailureOr<std::optional<Dims>>
shape::broadcastDims(ShapeContext &ctx, ArrayRef<std::optional<Dims>> shapes) {
  Dims result;
  for (const std::optional<Dims> &dims : shapes) {
    if (!dims)
      return std::optional<Dims>();
    if (dims->size() > result.size())
      result.insert(result.begin(), dims->size() - result.size(), Dim(1));
    for (size_t i = 0; i < dims->size(); ++i) {
      Dim &out = result[result.size() - 1 - i];
      FailureOr<Dim> joined =
          broadcastDim(ctx, out, (*dims)[dims->size() - 1 - i]);
      if (failed(joined))
        return failure();
      out = *joined;
    }
  }
  return std::optional<Dims>(result);
}

LogicalResult shape::broadcast(ShapeContext &ctx, Operation *op,
                               Type elementType) {
  SmallVector<std::optional<Dims>> shapes;
  for (Value operand : op->getOperands()) {
    if (isLeftOut(operand))
      continue;
    shapes.push_back(ctx.getDims(operand));
    if (!elementType)
      elementType = getElementType(operand);
  }
  FailureOr<std::optional<Dims>> dims = broadcastDims(ctx, shapes);
  if (failed(dims)) {
    InFlightDiagnostic error =
        op->emitOpError("expects operands that broadcast, but got ");
    llvm::interleaveComma(op->getOperandTypes(), error);
    return error;
  }
  return ctx.set(op->getOpResult(0), elementType, *dims);
}

Dim shape::product(ArrayRef<Dim> dims) {
  Dim result = 1;
  for (const Dim &dim : dims)
    result = result * dim;
  return result;
}

FailureOr<int64_t> shape::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return failure();
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> shape::getInts(std::optional<ArrayAttr> attribute,
                                    size_t size, int64_t value) {
  SmallVector<int64_t> ints;
  if (!attribute || !*attribute) {
    ints.assign(size, value);
    return ints;
  }
  for (Attribute element : *attribute)
    if (auto integer = dyn_cast<IntegerAttr>(element))
      ints.push_back(integer.getInt());
  return ints;
}
