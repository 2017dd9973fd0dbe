// Checks and shapes that quantized ops share.

#include "QuantizationCommon.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantized;

std::optional<ArrayRef<int64_t>> quantized::getShape(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type.getShape();
  return std::nullopt;
}

int64_t quantized::getDim(Value value, int64_t index) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  if (!shape)
    return ShapedType::kDynamic;
  int64_t rank = shape->size();
  int64_t at = index < 0 ? index + rank : index;
  return at < 0 || at >= rank ? ShapedType::kDynamic : (*shape)[at];
}

bool quantized::mayEqual(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

bool quantized::mayBeOneElement(ArrayRef<int64_t> shape) {
  return shape.empty() || (shape.size() == 1 && mayEqual(shape[0], 1));
}

std::string quantized::toString(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os, [&](int64_t dim) {
    if (ShapedType::isDynamic(dim))
      os << '?';
    else
      os << dim;
  });
  os << ']';
  return text;
}

//===----------------------------------------------------------------------===//
// Shapes of scales, zero points and biases
//===----------------------------------------------------------------------===//

/// Whether `shape` goes with `other`, dimension by dimension.
static bool mayEqual(ArrayRef<int64_t> shape, ArrayRef<int64_t> other) {
  return shape.size() == other.size() &&
         llvm::all_of(llvm::zip(shape, other), [](auto pair) {
           return quantized::mayEqual(std::get<0>(pair), std::get<1>(pair));
         });
}

/// Reports that `parameter` has another shape than `expected`.
static LogicalResult reportShape(Operation *op, Named parameter,
                                 const Twine &expected, ArrayRef<int64_t> shape,
                                 unsigned label) {
  return op->emitOpError("expects ")
         << parameter.name << " of " << expected << ", but got shape "
         << toString(shape) << " (C" << label << ")";
}

LogicalResult quantized::verifyPerTensor(Operation *op,
                                         ArrayRef<Named> parameters,
                                         unsigned label) {
  for (Named parameter : parameters)
    if (auto shape = getShape(parameter.value))
      if (!mayBeOneElement(*shape))
        return reportShape(op, parameter, "one element", *shape, label);
  return success();
}

/// "one element or shape [4]", or without the shape where it isn't known.
static std::string oneElementOr(ArrayRef<int64_t> shape) {
  return "one element or shape " + toString(shape);
}

LogicalResult quantized::verifyPerChannel(Operation *op,
                                          ArrayRef<Named> parameters,
                                          int64_t count, unsigned label) {
  for (Named parameter : parameters)
    if (auto shape = getShape(parameter.value))
      if (!mayBeOneElement(*shape) && !::mayEqual(*shape, {count}))
        return reportShape(op, parameter, oneElementOr({count}), *shape, label);
  return success();
}

LogicalResult quantized::verifyVector(Operation *op, ArrayRef<Named> parameters,
                                      int64_t count, unsigned label) {
  for (Named parameter : parameters)
    if (auto shape = getShape(parameter.value))
      if (!::mayEqual(*shape, {count}))
        return reportShape(op, parameter, "shape " + toString({count}), *shape,
                           label);
  return success();
}

/// Checks parameters that vary along dimension `kept` of the last two of
/// `matrix` (counted from the end), while `dropped` is 1.
static LogicalResult verifyPerLine(Operation *op, ArrayRef<Named> parameters,
                                   Value matrix, int64_t kept, int64_t dropped,
                                   unsigned label) {
  std::optional<ArrayRef<int64_t>> matrixShape = getShape(matrix);
  int64_t count = getDim(matrix, kept);
  for (Named parameter : parameters) {
    std::optional<ArrayRef<int64_t>> shape = getShape(parameter.value);
    if (!shape || mayBeOneElement(*shape) || ::mayEqual(*shape, {count}))
      continue;
    // A tensor of matrices may have parameters for each of them.
    if (!matrixShape)
      continue;
    if (matrixShape->size() >= 2) {
      SmallVector<int64_t> full(*matrixShape);
      full[full.size() + dropped] = 1;
      if (::mayEqual(*shape, full))
        continue;
    }
    return reportShape(op, parameter, oneElementOr({count}), *shape, label);
  }
  return success();
}

LogicalResult quantized::verifyPerRow(Operation *op, ArrayRef<Named> parameters,
                                      Value matrix, unsigned label) {
  return verifyPerLine(op, parameters, matrix, -2, -1, label);
}

LogicalResult quantized::verifyPerColumn(Operation *op,
                                         ArrayRef<Named> parameters,
                                         Value matrix, unsigned label) {
  return verifyPerLine(op, parameters, matrix, -1, -2, label);
}

/// The shape that a scale per block has: `x` with ceil(dim / blockSize) at the
/// axis.
static SmallVector<int64_t> getBlockedShape(ArrayRef<int64_t> x, int64_t axis,
                                            int64_t blockSize) {
  SmallVector<int64_t> shape(x);
  if (!ShapedType::isDynamic(shape[axis]))
    shape[axis] = shape[axis] / blockSize + (shape[axis] % blockSize != 0);
  return shape;
}

LogicalResult quantized::verifyLinear(Operation *op, Value x, Named scale,
                                      Named zeroPoint, int64_t axis,
                                      int64_t blockSize, unsigned firstLabel) {
  if (blockSize < 0)
    return op->emitOpError("expects block_size to be 0 or positive, but got ")
           << blockSize << " (C" << firstLabel + 1 << ")";

  std::optional<ArrayRef<int64_t>> shape = getShape(scale.value);
  if (!shape)
    return success();
  std::optional<ArrayRef<int64_t>> xShape = getShape(x);
  if (!mayBeOneElement(*shape)) {
    unsigned label = firstLabel + 2;
    if (blockSize == 0 && shape->size() > 1)
      return reportShape(op, scale, "rank 0 or 1", *shape, label);
    if (xShape) {
      FailureOr<int64_t> at = shape::normalizeAxis(axis, xShape->size());
      if (failed(at))
        return op->emitOpError("expects axis in [")
               << -static_cast<int64_t>(xShape->size()) << ", "
               << xShape->size() << "), but got " << axis << " (C" << firstLabel
               << ")";
      SmallVector<int64_t> expected{(*xShape)[*at]};
      if (blockSize > 0)
        expected = getBlockedShape(*xShape, *at, blockSize);
      if (!::mayEqual(*shape, expected))
        return reportShape(op, scale, oneElementOr(expected), *shape, label);
    }
  }

  std::optional<ArrayRef<int64_t>> zeroShape = getShape(zeroPoint.value);
  if (zeroShape && !::mayEqual(*zeroShape, *shape) &&
      !(mayBeOneElement(*zeroShape) && mayBeOneElement(*shape)))
    return reportShape(op, zeroPoint, "shape " + toString(*shape), *zeroShape,
                       firstLabel + 3);
  return success();
}

LogicalResult quantized::verifyElementType(Operation *op, Named value,
                                           Type expected, unsigned label) {
  Type type = getElementType(value.value);
  if (!type || !expected || isa<UnknownType>(type) ||
      isa<UnknownType>(expected) || type == expected)
    return success();
  return op->emitOpError("expects ")
         << value.name << " of element type " << expected << ", but got "
         << type << " (C" << label << ")";
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult quantized::verifyMatMul(Operation *op, Named a, Named b,
                                      unsigned label) {
  for (Named matrix : {a, b})
    if (auto shape = getShape(matrix.value))
      if (shape->empty())
        return op->emitOpError("expects ")
               << matrix.name << " of rank 1 or more, but got rank 0 (C"
               << label << ")";
  std::optional<ArrayRef<int64_t>> bShape = getShape(b.value);
  if (!bShape)
    return success();
  int64_t inner = bShape->size() == 1 ? bShape->front() : getDim(b.value, -2);
  if (mayEqual(getDim(a.value, -1), inner))
    return success();
  return op->emitOpError("expects ")
         << b.name << " with " << getDim(a.value, -1) << " rows, but got "
         << inner << " (C" << label << ")";
}

FailureOr<std::optional<Dims>>
quantized::inferMatMulDims(ShapeContext &ctx, Operation *op,
                           std::optional<Dims> a, std::optional<Dims> b) {
  if (!a || !b)
    return std::optional<Dims>();
  if (a->empty() || b->empty())
    return op->emitOpError("expects matrices, but got a scalar");
  bool isRow = a->size() == 1, isColumn = b->size() == 1;
  if (isRow)
    a->insert(a->begin(), Dim(1));
  if (isColumn)
    b->push_back(Dim(1));

  Dim innerA = a->back(), innerB = (*b)[b->size() - 2];
  if (innerA.isConstant() && innerB.isConstant() && innerA != innerB)
    return op->emitOpError("expects equal inner dimensions, but got ")
           << innerA.str() << " and " << innerB.str();

  std::optional<Dims> batchA = Dims(a->begin(), a->end() - 2);
  std::optional<Dims> batchB = Dims(b->begin(), b->end() - 2);
  FailureOr<std::optional<Dims>> dims =
      shape::broadcastDims(ctx, {batchA, batchB});
  if (failed(dims))
    return op->emitOpError("expects batch dimensions that broadcast, but got ")
           << op->getOperandTypes();
  if (!isRow)
    (*dims)->push_back((*a)[a->size() - 2]);
  if (!isColumn)
    (*dims)->push_back(b->back());
  return dims;
}

LogicalResult quantized::inferMatMul(ShapeContext &ctx, Operation *op, Value a,
                                     Value b, Type elementType) {
  FailureOr<std::optional<Dims>> dims =
      inferMatMulDims(ctx, op, ctx.getDims(a), ctx.getDims(b));
  if (failed(dims))
    return failure();
  return ctx.set(op->getResult(0), elementType, *dims);
}
