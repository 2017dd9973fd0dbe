// Ops of the Generator family: generated definitions, verifiers and shapes.

#include "MathSupport.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Generator.cpp.inc"

/// No model has tensors of more dimensions.
static constexpr size_t maxRank = 64;

/// Whether a value may have `rank` dimensions.
static bool mayHaveRank(Value value, int64_t rank) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getRank() == rank;
}

/// ONNX's number of a random op's type. Text of onnx-mlir has numbers of its
/// own: 0 is f16 and 2 is f64, which are no float types in ONNX.
static int64_t randomDataType(int64_t dtype) {
  constexpr int64_t half = 10, wide = 11;
  return dtype == 0 ? half : dtype == 2 ? wide : dtype;
}

/// The element type of an op with an optional `dtype`.
static Type getDataType(Operation *op, std::optional<int64_t> dtype) {
  return dtype ? elementTypeFromOnnx(*dtype, op->getContext())
               : getElementType(op->getOperand(0));
}

static bool isAny(Type) { return true; }

//===----------------------------------------------------------------------===//
// ConstantOfShape
//===----------------------------------------------------------------------===//

static Type getValueType(ConstantOfShapeOp op) {
  if (std::optional<ElementsAttr> value = op.getValue())
    return value->getElementType();
  return Float32Type::get(op.getContext());
}

LogicalResult ConstantOfShapeOp::verify() {
  if (!mayHaveRank(getInput(), 1))
    return emitOpError("expects an input of rank 1, but got ")
           << getInput().getType() << " (C1)";
  std::optional<ElementsAttr> value = getValue();
  if (value && !llvm::all_of(value->getShapedType().getShape(),
                             [](int64_t size) { return size == 1; }))
    return emitOpError("expects a value of one element, but got ")
           << value->getShapedType() << " (C2)";
  Type output = getElementType(getOutput());
  if (output != getValueType(*this) && !isa<UnknownType>(output))
    return emitOpError("expects an output with elements of type ")
           << getValueType(*this) << ", but got " << output << " (C3)";
  return success();
}

LogicalResult ConstantOfShapeOp::inferShapes(ShapeContext &ctx) {
  OpResult output = getOperation()->getResult(0);
  std::optional<Dims> dims = ctx.getContents(getInput());
  if (dims && dims->size() > maxRank)
    return emitOpError("expects at most ")
           << maxRank << " dimensions, but got " << dims->size();
  if (failed(ctx.set(output, getValueType(*this), dims)))
    return failure();
  if (!dims || dims->size() > 1 || !getValue())
    return success();
  int64_t count = dims->empty() ? 1 : dims->front().getConstant().value_or(-1);
  std::optional<SmallVector<int64_t>> value = readInts(*getValue(), 1);
  if (value && count >= 0 && count <= ShapeContext::maxContents)
    ctx.setContents(output, Dims(count, Dim(value->front())));
  return success();
}

//===----------------------------------------------------------------------===//
// EyeLike
//===----------------------------------------------------------------------===//

LogicalResult EyeLikeOp::verify() {
  if (!mayHaveRank(getInput(), 2))
    return emitOpError("expects an input of rank 2, but got ")
           << getInput().getType() << " (C1)";
  if (std::optional<int64_t> dtype = getDtype())
    return verifyDataType(*this, *dtype,
                          {"dtype", "an element type", isAny, "C2", "C3"});
  return success();
}

LogicalResult EyeLikeOp::inferShapes(ShapeContext &ctx) {
  std::optional<Dims> dims = ctx.getDims(getInput());
  return ctx.set(getOperation()->getResult(0), getDataType(*this, getDtype()),
                 dims ? *dims : ctx.unknowns(2));
}

//===----------------------------------------------------------------------===//
// Range
//===----------------------------------------------------------------------===//

LogicalResult RangeOp::verify() {
  for (Value operand : getOperands())
    if (!mayBeScalar(operand))
      return emitOpError("expects scalars, but got ")
             << operand.getType() << " (C1)";
  return success();
}

/// The number of integers of a range, as an expression.
static Dim countIntegers(ShapeContext &ctx, const Dim &start, const Dim &limit,
                         const Dim &delta) {
  std::optional<int64_t> step = delta.getConstant();
  if (!step || *step == 0 || *step == INT64_MIN)
    return ctx.unknown();
  Dim count = *step > 0 ? (limit - start).ceilDiv(delta)
                        : (start - limit).ceilDiv(Dim(-*step));
  return isNeverNegative(count) ? count : Dim::max(Dim(0), count);
}

/// The number of floats of a range between constants.
static Dim countFloats(ShapeContext &ctx, RangeOp op) {
  auto start = getFloats(op.getStart()), limit = getFloats(op.getLimit()),
       delta = getFloats(op.getDelta());
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
      delta->size() != 1)
    return ctx.unknown();
  double count = std::ceil((limit->front() - start->front()) / delta->front());
  constexpr double most = double(int64_t(1) << 53);
  if (std::isnan(count) || count > most)
    return ctx.unknown();
  return Dim(static_cast<int64_t>(std::max(count, 0.0)));
}

LogicalResult RangeOp::inferShapes(ShapeContext &ctx) {
  OpResult output = getOperation()->getResult(0);
  Type type = follow::commonElementType(getOperands());
  if (!isa<IntegerType>(type))
    return ctx.set(output, type, Dims{countFloats(ctx, *this)});

  if (ctx.getConstant(getDelta()) == 0)
    return emitOpError("expects a delta other than 0, but got 0");
  Dim start = getScalar(ctx, getStart()), limit = getScalar(ctx, getLimit()),
      delta = getScalar(ctx, getDelta());
  Dim count = countIntegers(ctx, start, limit, delta);
  if (failed(ctx.set(output, type, Dims{count})))
    return failure();
  std::optional<int64_t> number = count.getConstant();
  if (!number || *number > ShapeContext::maxContents)
    return success();
  SmallVector<std::optional<Dim>> contents;
  for (int64_t i = 0; i < *number; ++i)
    contents.push_back(start + Dim(i) * delta);
  follow::setExact(ctx, output, contents);
  return success();
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

LogicalResult BernoulliOp::verify() {
  if (std::optional<int64_t> dtype = getDtype())
    return verifyDataType(*this, *dtype,
                          {"dtype", "an element type", isAny, "C1", "C2"});
  return success();
}

LogicalResult BernoulliOp::inferShapes(ShapeContext &ctx) {
  return shape::sameDimsAs(ctx, *this, 0, getDataType(*this, getDtype()));
}

static bool isIndex(Type type) {
  return type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

LogicalResult MultinomialOp::verify() {
  if (!mayHaveRank(getInput(), 2))
    return emitOpError("expects an input of rank 2, but got ")
           << getInput().getType() << " (C1)";
  if (failed(verifyDataType(*this, getDtype(),
                            {"dtype", "i32 or i64", isIndex, "C2", "C3"})))
    return failure();
  if (getSampleSize() <= 0)
    return emitOpError("expects a positive sample_size, but got ")
           << getSampleSize() << " (C4)";
  return success();
}

LogicalResult MultinomialOp::inferShapes(ShapeContext &ctx) {
  std::optional<Dims> dims = ctx.getDims(getInput());
  return ctx.set(
      getOperation()->getResult(0), getDataType(*this, getDtype()),
      Dims{dims ? dims->front() : ctx.unknown(), Dim(getSampleSize())});
}

/// An output without a rank has not been inferred, and its element type is the
/// one that the text's author expected.
static bool isInferred(Operation *op) {
  return isa<RankedTensorType>(op->getResult(0).getType());
}

static LogicalResult verifyRandomType(Operation *op, int64_t dtype) {
  Type type = elementTypeFromOnnx(randomDataType(dtype), op->getContext());
  if (type && isFloat(type) && !isInferred(op))
    return success();
  return verifyDataType(op, randomDataType(dtype),
                        {"dtype", "a float type", isFloat, "C1", "C2"});
}

static LogicalResult verifyRandom(Operation *op, int64_t dtype,
                                  ArrayAttr shape) {
  if (failed(verifyRandomType(op, dtype)))
    return failure();
  if (shape.size() > maxRank)
    return op->emitOpError("expects at most ")
           << maxRank << " dimensions, but got " << shape.size() << " (C3)";
  for (int64_t size : shape::getInts(shape))
    if (size < 0)
      return op->emitOpError("expects dimensions that are not negative, but "
                             "got ")
             << size << " (C3)";
  return success();
}

static LogicalResult inferRandom(ShapeContext &ctx, Operation *op,
                                 int64_t dtype, ArrayAttr shape) {
  SmallVector<int64_t> sizes = shape::getInts(shape);
  return ctx.set(op->getResult(0), getDataType(op, randomDataType(dtype)),
                 Dims(sizes.begin(), sizes.end()));
}

LogicalResult RandomNormalOp::verify() {
  return verifyRandom(*this, getDtype(), getShape());
}
LogicalResult RandomNormalOp::inferShapes(ShapeContext &ctx) {
  return inferRandom(ctx, *this, getDtype(), getShape());
}
LogicalResult RandomUniformOp::verify() {
  return verifyRandom(*this, getDtype(), getShape());
}
LogicalResult RandomUniformOp::inferShapes(ShapeContext &ctx) {
  return inferRandom(ctx, *this, getDtype(), getShape());
}

static LogicalResult verifyRandomLike(Operation *op,
                                      std::optional<int64_t> dtype) {
  if (dtype)
    return verifyRandomType(op, *dtype);
  Type input = getElementType(op->getOperand(0)),
       output = getElementType(op->getResult(0));
  if (isa<UnknownType>(input))
    return success();
  if (!isFloat(input))
    return op->emitOpError("expects a float input without dtype, but got ")
           << op->getOperand(0).getType() << " (C1)";
  if (input != output && !isa<UnknownType>(output) && isInferred(op))
    return op->emitOpError("expects an output with elements of type ")
           << input << ", but got " << output << " (C2)";
  return success();
}

static LogicalResult inferRandomLike(ShapeContext &ctx, Operation *op,
                                     std::optional<int64_t> dtype) {
  if (dtype)
    dtype = randomDataType(*dtype);
  return shape::sameDimsAs(ctx, op, 0, getDataType(op, dtype));
}

LogicalResult RandomNormalLikeOp::verify() {
  return verifyRandomLike(*this, getDtype());
}
LogicalResult RandomNormalLikeOp::inferShapes(ShapeContext &ctx) {
  return inferRandomLike(ctx, *this, getDtype());
}
LogicalResult RandomUniformLikeOp::verify() {
  return verifyRandomLike(*this, getDtype());
}
LogicalResult RandomUniformLikeOp::inferShapes(ShapeContext &ctx) {
  return inferRandomLike(ctx, *this, getDtype());
}
