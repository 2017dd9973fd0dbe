// Quantized ops of the ai.onnx domain: generated definitions, verifiers and
// shape rules.

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "QuantizationCommon.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantized;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Quantization.cpp.inc"

static Type getUI8(Operation *op) {
  return IntegerType::get(op->getContext(), 8, IntegerType::Unsigned);
}

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear
//===----------------------------------------------------------------------===//

/// The type of the result: the zero point's, else the attribute's, else `ui8`.
/// Null if the attribute's number stands for no type.
static Type getResultElementType(QuantizeLinearOp op) {
  if (Type type = getElementType(op.getYZeroPoint()))
    return type;
  if (op.getOutputDtype() != 0)
    return elementTypeFromOnnx(op.getOutputDtype(), op.getContext());
  return getUI8(op);
}

/// The same for a dequantizer: the attribute's type, else the scale's. The
/// power-of-two scale type isn't one that results have, so it decides nothing.
static Type getResultElementType(DequantizeLinearOp op) {
  if (op.getOutputDtype() != 0)
    return elementTypeFromOnnx(op.getOutputDtype(), op.getContext());
  Type type = getElementType(op.getXScale());
  return isa<Float8E8M0FNUType>(type) || type.isInteger()
             ? UnknownType::get(op.getContext())
             : type;
}

/// `output_dtype` is 0 or stands for a type.
static LogicalResult verifyOutputDtype(Operation *op, int64_t number,
                                       unsigned label) {
  if (number == 0 || elementTypeFromOnnx(number, op->getContext()))
    return success();
  return op->emitOpError("expects output_dtype to be the number of a type, "
                         "but got ")
         << number << " (C" << label << ")";
}

LogicalResult QuantizeLinearOp::verify() {
  if (failed(verifyLinear(*this, getX(), {getYScale(), "y_scale"},
                          {getYZeroPoint(), "y_zero_point"}, getAxis(),
                          getBlockSize(), 1)) ||
      failed(verifyOutputDtype(*this, getOutputDtype(), 5)))
    return failure();
  // A zero point and `output_dtype` must tell the same type.
  if (getOutputDtype() != 0) {
    Type type = elementTypeFromOnnx(getOutputDtype(), getContext());
    if (failed(verifyElementType(*this, {getYZeroPoint(), "y_zero_point"}, type,
                                 5)))
      return failure();
  }
  if (failed(verifyElementType(*this, {getY(), "y"},
                               getResultElementType(*this), 5)))
    return failure();
  if (getPrecision() != 0 && !isa_and_nonnull<FloatType>(elementTypeFromOnnx(
                                 getPrecision(), getContext())))
    return emitOpError("expects precision to be 0 or the number of a float "
                       "type, but got ")
           << getPrecision() << " (C6)";
  return success();
}

LogicalResult QuantizeLinearOp::inferShapes(ShapeContext &ctx) {
  return shape::sameDimsAs(ctx, *this, 0, getResultElementType(*this));
}

LogicalResult DequantizeLinearOp::verify() {
  if (failed(verifyLinear(*this, getX(), {getXScale(), "x_scale"},
                          {getXZeroPoint(), "x_zero_point"}, getAxis(),
                          getBlockSize(), 1)) ||
      failed(verifyOutputDtype(*this, getOutputDtype(), 5)))
    return failure();
  return verifyElementType(*this, {getY(), "y"}, getResultElementType(*this),
                           5);
}

LogicalResult DequantizeLinearOp::inferShapes(ShapeContext &ctx) {
  return shape::sameDimsAs(ctx, *this, 0, getResultElementType(*this));
}

LogicalResult DynamicQuantizeLinearOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  Type ui8 = getUI8(op);
  std::optional<Dims> scalar = Dims();
  if (failed(ctx.set(op->getResult(0), ui8, ctx.getDims(getX()))) ||
      failed(ctx.set(op->getResult(1), Float32Type::get(getContext()), scalar)))
    return failure();
  return ctx.set(op->getResult(2), ui8, scalar);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult MatMulIntegerOp::verify() {
  if (failed(verifyMatMul(*this, {getA(), "A"}, {getB(), "B"}, 1)) ||
      failed(
          verifyPerRow(*this, {{getAZeroPoint(), "a_zero_point"}}, getA(), 2)))
    return failure();
  return verifyPerColumn(*this, {{getBZeroPoint(), "b_zero_point"}}, getB(), 3);
}

LogicalResult MatMulIntegerOp::inferShapes(ShapeContext &ctx) {
  return inferMatMul(ctx, *this, getA(), getB(),
                     IntegerType::get(getContext(), 32));
}

LogicalResult QLinearMatMulOp::verify() {
  if (failed(verifyMatMul(*this, {getA(), "a"}, {getB(), "b"}, 1)) ||
      failed(verifyPerRow(
          *this, {{getAScale(), "a_scale"}, {getAZeroPoint(), "a_zero_point"}},
          getA(), 2)) ||
      failed(verifyPerColumn(
          *this, {{getBScale(), "b_scale"}, {getBZeroPoint(), "b_zero_point"}},
          getB(), 3)))
    return failure();
  return verifyPerRow(
      *this, {{getYScale(), "y_scale"}, {getYZeroPoint(), "y_zero_point"}},
      getA(), 4);
}

LogicalResult QLinearMatMulOp::inferShapes(ShapeContext &ctx) {
  return inferMatMul(ctx, *this, getA(), getB(),
                     getElementType(getYZeroPoint()));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static LogicalResult inferConv(ShapeContext &ctx, Operation *op, Value x,
                               Value w, Type elementType) {
  FailureOr<std::optional<Dims>> dims = window::inferConvDims(ctx, op, x, w);
  if (failed(dims))
    return failure();
  return ctx.set(op->getResult(0), elementType, *dims);
}

LogicalResult ConvIntegerOp::verify() {
  if (failed(window::verifyConv(*this, getX(), getW(), /*bias=*/{}, 1)) ||
      failed(verifyPerTensor(*this, {{getXZeroPoint(), "x_zero_point"}}, 8)))
    return failure();
  return verifyPerChannel(*this, {{getWZeroPoint(), "w_zero_point"}},
                          getDim(getW(), 0), 9);
}

LogicalResult ConvIntegerOp::inferShapes(ShapeContext &ctx) {
  return inferConv(ctx, *this, getX(), getW(),
                   IntegerType::get(getContext(), 32));
}

LogicalResult QLinearConvOp::verify() {
  if (failed(window::verifyConv(*this, getX(), getW(), getB(), 1)) ||
      failed(verifyPerTensor(*this,
                             {{getXScale(), "x_scale"},
                              {getXZeroPoint(), "x_zero_point"},
                              {getYScale(), "y_scale"},
                              {getYZeroPoint(), "y_zero_point"}},
                             8)))
    return failure();
  return verifyPerChannel(
      *this, {{getWScale(), "w_scale"}, {getWZeroPoint(), "w_zero_point"}},
      getDim(getW(), 0), 9);
}

LogicalResult QLinearConvOp::inferShapes(ShapeContext &ctx) {
  return inferConv(ctx, *this, getX(), getW(), getElementType(getYZeroPoint()));
}
