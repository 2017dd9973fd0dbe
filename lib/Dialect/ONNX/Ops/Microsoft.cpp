// Quantized ops of the com.microsoft domain but for products: generated
// definitions, verifiers and shape rules.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "OnnxQuant/Dialect/ONNX/WindowShape.h"
#include "QuantizationCommon.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantized;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Microsoft.cpp.inc"

/// Infers the only result of `op` by broadcasting some of its operands.
static LogicalResult inferBroadcast(ShapeContext &ctx, Operation *op,
                                    ArrayRef<Value> operands,
                                    Type elementType) {
  SmallVector<std::optional<Dims>> shapes;
  for (Value operand : operands)
    shapes.push_back(ctx.getDims(operand));
  FailureOr<std::optional<Dims>> dims = shape::broadcastDims(ctx, shapes);
  if (failed(dims))
    return op->emitOpError("expects operands that broadcast, but got ")
           << ValueRange(operands).getTypes();
  return ctx.set(op->getResult(0), elementType, *dims);
}

/// `axis` counts a dimension of a tensor of rank `rank`.
static LogicalResult verifyAxis(Operation *op, StringRef name, int64_t axis,
                                int64_t rank, unsigned label) {
  if (succeeded(shape::normalizeAxis(axis, rank)))
    return success();
  return op->emitOpError("expects ")
         << name << " in [" << -rank << ", " << rank << "), but got " << axis
         << " (C" << label << ")";
}

/// `x` has room for batch, channels and a place.
static LogicalResult verifySpatial(Operation *op, Value x, unsigned label) {
  std::optional<ArrayRef<int64_t>> shape = getShape(x);
  if (!shape || shape->size() >= 3)
    return success();
  return op->emitOpError("expects X of rank 3 or more, but got rank ")
         << shape->size() << " (C" << label << ")";
}

//===----------------------------------------------------------------------===//
// QuantizeLinear, DequantizeLinear
//===----------------------------------------------------------------------===//

LogicalResult microsoft::QuantizeLinearOp::verify() {
  if (failed(verifyLinear(*this, getX(), {getYScale(), "y_scale"},
                          {getYZeroPoint(), "y_zero_point"}, getAxis(),
                          getBlockSize(), 1)))
    return failure();
  if (!isLeftOut(getYZeroPoint()))
    return success();
  return verifyElementType(
      *this, {getY(), "y"},
      IntegerType::get(getContext(), 8, IntegerType::Unsigned), 5);
}

LogicalResult microsoft::QuantizeLinearOp::inferShapes(ShapeContext &ctx) {
  Type type = getElementType(getYZeroPoint());
  if (!type)
    type = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  return shape::sameDimsAs(ctx, *this, 0, type);
}

LogicalResult microsoft::DequantizeLinearOp::verify() {
  return verifyLinear(*this, getX(), {getXScale(), "x_scale"},
                      {getXZeroPoint(), "x_zero_point"}, getAxis(),
                      getBlockSize(), 1);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult verifyBinary(Op op) {
  return verifyPerTensor(op,
                         {{op.getAScale(), "A_scale"},
                          {op.getAZeroPoint(), "A_zero_point"},
                          {op.getBScale(), "B_scale"},
                          {op.getBZeroPoint(), "B_zero_point"},
                          {op.getCScale(), "C_scale"},
                          {op.getCZeroPoint(), "C_zero_point"}},
                         1);
}

template <typename Op> static LogicalResult verifyUnary(Op op) {
  return verifyPerTensor(op,
                         {{op.getXScale(), "X_scale"},
                          {op.getXZeroPoint(), "X_zero_point"},
                          {op.getYScale(), "Y_scale"},
                          {op.getYZeroPoint(), "Y_zero_point"}},
                         1);
}

LogicalResult microsoft::QLinearAddOp::verify() { return verifyBinary(*this); }

LogicalResult microsoft::QLinearAddOp::inferShapes(ShapeContext &ctx) {
  return inferBroadcast(ctx, *this, {getA(), getB()}, getElementType(getA()));
}

LogicalResult microsoft::QLinearMulOp::verify() { return verifyBinary(*this); }

LogicalResult microsoft::QLinearMulOp::inferShapes(ShapeContext &ctx) {
  return inferBroadcast(ctx, *this, {getA(), getB()}, getElementType(getA()));
}

LogicalResult microsoft::QLinearLeakyReluOp::verify() {
  return verifyUnary(*this);
}

LogicalResult microsoft::QLinearSigmoidOp::verify() {
  return verifyUnary(*this);
}

LogicalResult microsoft::QLinearSoftmaxOp::verify() {
  if (failed(verifyPerTensor(*this,
                             {{getXScale(), "X_scale"},
                              {getXZeroPoint(), "x_zero_point"},
                              {getYScale(), "y_scale"},
                              {getYZeroPoint(), "y_zero_point"}},
                             1)))
    return failure();
  if (auto shape = getShape(getX()))
    return verifyAxis(*this, "axis", getAxis(), shape->size(), 2);
  return success();
}

LogicalResult microsoft::QLinearWhereOp::verify() {
  return verifyPerTensor(*this,
                         {{getXScale(), "x_scale"},
                          {getXZeroPoint(), "x_zero_point"},
                          {getYScale(), "y_scale"},
                          {getYZeroPoint(), "y_zero_point"},
                          {getZScale(), "z_scale"},
                          {getZZeroPoint(), "z_zero_point"}},
                         1);
}

LogicalResult microsoft::QLinearWhereOp::inferShapes(ShapeContext &ctx) {
  return inferBroadcast(ctx, *this, {getCondition(), getX(), getY()},
                        getElementType(getZZeroPoint()));
}

//===----------------------------------------------------------------------===//
// QLinearConcat
//===----------------------------------------------------------------------===//

/// Checks the triples' types and the shapes of scales and zero points.
static LogicalResult verifyTriples(microsoft::QLinearConcatOp op) {
  OperandRange inputs = op.getInputs();
  Type f32 = Float32Type::get(op.getContext());
  for (size_t i = 0; i < inputs.size(); i += 3) {
    Value data = inputs[i], scale = inputs[i + 1], zeroPoint = inputs[i + 2];
    Type type = getElementType(data);
    if (type == f32)
      return op.emitOpError("expects data of 8-bit integers at input ")
             << i << ", but got " << type << " (C2)";
    if (failed(verifyElementType(op, {scale, "scale"}, f32, 2)) ||
        failed(verifyElementType(op, {zeroPoint, "zero point"}, type, 2)) ||
        failed(verifyPerTensor(
            op, {{scale, "scale"}, {zeroPoint, "zero point"}}, 3)))
      return failure();
  }
  return success();
}

LogicalResult microsoft::QLinearConcatOp::verify() {
  OperandRange inputs = getInputs();
  if (inputs.empty() || inputs.size() % 3 != 0)
    return emitOpError("expects triples of tensor, scale and zero point, but "
                       "got ")
           << inputs.size() << " inputs (C1)";
  if (failed(verifyTriples(*this)) ||
      failed(verifyPerTensor(
          *this, {{getYScale(), "Y_scale"}, {getYZeroPoint(), "Y_zero_point"}},
          3)))
    return failure();

  std::optional<int64_t> rank;
  for (size_t i = 0; i < inputs.size(); i += 3) {
    std::optional<ArrayRef<int64_t>> shape = getShape(inputs[i]);
    if (!shape)
      continue;
    int64_t size = shape->size();
    if (rank && *rank != size)
      return emitOpError("expects tensors of rank ")
             << *rank << ", but got rank " << size << " (C4)";
    rank = size;
  }
  return rank ? verifyAxis(*this, "axis", getAxis(), *rank, 4) : success();
}

LogicalResult microsoft::QLinearConcatOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  Type type = getElementType(getYZeroPoint());
  std::optional<Dims> result;
  int64_t axis = 0;
  for (size_t i = 0, e = getInputs().size(); i < e; i += 3) {
    std::optional<Dims> dims = ctx.getDims(getInputs()[i]);
    // With a rank unknown, the sum along the axis is unknown too.
    if (!dims)
      return ctx.set(op->getResult(0), type, std::optional<Dims>());
    if (!result) {
      FailureOr<int64_t> at = shape::normalizeAxis(getAxis(), dims->size());
      if (failed(at))
        return emitOpError("expects axis within rank ")
               << dims->size() << ", but got " << getAxis();
      axis = *at;
      result = dims;
      continue;
    }
    if (dims->size() != result->size())
      return emitOpError("expects tensors of rank ")
             << result->size() << ", but got rank " << dims->size();
    for (auto [index, dim] : llvm::enumerate(*dims)) {
      Dim &merged = (*result)[index];
      if (static_cast<int64_t>(index) == axis)
        merged = merged + dim;
      else if (merged.isConstant() && dim.isConstant() && merged != dim)
        return emitOpError("expects dimension ")
               << index << " to be " << merged.str() << ", but got "
               << dim.str();
      else if (dim.isConstant() || merged.isAnonymous())
        merged = dim;
    }
  }
  return ctx.set(op->getResult(0), type, result);
}

//===----------------------------------------------------------------------===//
// Reduction and pooling
//===----------------------------------------------------------------------===//

LogicalResult microsoft::QLinearReduceMeanOp::verify() {
  if (failed(verifyPerTensor(*this,
                             {{getDataScale(), "data_scale"},
                              {getDataZeroPoint(), "data_zero_point"},
                              {getReducedScale(), "reduced_scale"},
                              {getReducedZeroPoint(), "reduced_zero_point"}},
                             1)))
    return failure();
  std::optional<ArrayRef<int64_t>> shape = getShape(getData());
  if (!shape)
    return success();
  for (int64_t axis : shape::getInts(getAxes()))
    if (failed(verifyAxis(*this, "axes", axis, shape->size(), 2)))
      return failure();
  return success();
}

LogicalResult microsoft::QLinearReduceMeanOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  Type type = getElementType(getData());
  std::optional<Dims> dims = ctx.getDims(getData());
  if (!dims)
    return ctx.set(op->getResult(0), type, dims);
  SmallVector<int64_t> axes = shape::getInts(getAxes());
  SmallVector<bool> isReduced(dims->size(), axes.empty());
  for (int64_t axis : axes) {
    FailureOr<int64_t> at = shape::normalizeAxis(axis, dims->size());
    if (failed(at))
      return emitOpError("expects axes within rank ")
             << dims->size() << ", but got " << axis;
    isReduced[*at] = true;
  }
  std::optional<Dims> result = Dims();
  for (auto [dim, reduced] : llvm::zip(*dims, isReduced))
    if (!reduced)
      result->push_back(dim);
    else if (getKeepdims() != 0)
      result->push_back(Dim(1));
  return ctx.set(op->getResult(0), type, result);
}

template <typename Op>
static LogicalResult verifyPoolParameters(Op op, unsigned label) {
  return verifyPerTensor(op,
                         {{op.getXScale(), "x_scale"},
                          {op.getXZeroPoint(), "x_zero_point"},
                          {op.getYScale(), "y_scale"},
                          {op.getYZeroPoint(), "y_zero_point"}},
                         label);
}

LogicalResult microsoft::QLinearAveragePoolOp::verify() {
  if (failed(verifySpatial(*this, getX(), 6)))
    return failure();
  std::optional<int64_t> spatialRank;
  if (auto shape = getShape(getX()))
    spatialRank = shape->size() - 2;
  if (failed(window::verifyWindow(*this, spatialRank, 1)))
    return failure();
  return verifyPoolParameters(*this, 5);
}

LogicalResult microsoft::QLinearAveragePoolOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  Type type = getElementType(getX());
  std::optional<Dims> dims = ctx.getDims(getX());
  if (!dims || dims->size() < 3)
    return ctx.set(op->getResult(0), type, std::optional<Dims>());
  size_t first = getChannelsLast() != 0 ? 1 : 2, count = dims->size() - 2;
  FailureOr<Dims> spatial =
      window::inferSpatialDims(op, window::getWindow(op, count),
                               ArrayRef<Dim>(*dims).slice(first, count));
  if (failed(spatial))
    return failure();
  llvm::copy(*spatial, dims->begin() + first);
  return ctx.set(op->getResult(0), type, dims);
}

LogicalResult microsoft::QLinearGlobalAveragePoolOp::verify() {
  if (failed(verifyPoolParameters(*this, 1)))
    return failure();
  return verifySpatial(*this, getX(), 2);
}

LogicalResult
microsoft::QLinearGlobalAveragePoolOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  std::optional<Dims> dims = ctx.getDims(getX());
  if (dims && dims->size() >= 3) {
    size_t first = getChannelsLast() != 0 ? 1 : 2;
    std::fill_n(dims->begin() + first, dims->size() - 2, Dim(1));
  }
  return ctx.set(op->getResult(0), getElementType(getX()), dims);
}

//===----------------------------------------------------------------------===//
// QLinearConv
//===----------------------------------------------------------------------===//

/// Checks a convolution whose channels come last, with the labels C1 to C7 that
/// `window::verifyConv` has for the other layout.
static LogicalResult verifyChannelsLast(microsoft::QLinearConvOp op) {
  std::optional<ArrayRef<int64_t>> x = getShape(op.getX());
  std::optional<ArrayRef<int64_t>> w = getShape(op.getW());
  for (auto shape : {x, w})
    if (shape && shape->size() < 3)
      return op.emitOpError("expects x and w of rank 3 or more, but got rank ")
             << shape->size() << " (C5)";
  if (x && w && x->size() != w->size())
    return op.emitOpError("expects x and w of the same rank, but got ranks ")
           << x->size() << " and " << w->size() << " (C5)";
  std::optional<int64_t> spatialRank;
  if (x || w)
    spatialRank = (x ? x : w)->size() - 2;
  if (failed(window::verifyWindow(op, spatialRank, 1)))
    return failure();
  if (op.getKernelShape() && w) {
    SmallVector<int64_t> kernel = shape::getInts(op.getKernelShape());
    for (auto [size, dim] : llvm::zip(kernel, w->drop_front(2)))
      if (!mayEqual(size, dim))
        return op.emitOpError("expects kernel_shape to be w's, but got ")
               << size << " for a dimension of " << dim << " (C2)";
  }

  int64_t group = op.getGroup();
  if (group < 1)
    return op.emitOpError("expects a positive group, but got ")
           << group << " (C6)";
  int64_t channels = getDim(op.getX(), -1), perGroup = getDim(op.getW(), 1);
  int64_t outChannels = getDim(op.getW(), 0);
  if (!ShapedType::isDynamic(outChannels) && outChannels % group != 0)
    return op.emitOpError("expects output channels that are a multiple of "
                          "group, but got ")
           << outChannels << " for group " << group << " (C6)";
  int64_t expected;
  if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(perGroup) &&
      (llvm::MulOverflow(perGroup, group, expected) || expected != channels))
    return op.emitOpError("expects x to have w's second dimension times group "
                          "channels, but got ")
           << channels << " for " << perGroup << " times " << group << " (C6)";
  return verifyVector(op, {{op.getB(), "B"}}, outChannels, 7);
}

LogicalResult microsoft::QLinearConvOp::verify() {
  if (failed(getChannelsLast() != 0
                 ? verifyChannelsLast(*this)
                 : window::verifyConv(*this, getX(), getW(), getB(), 1)) ||
      failed(verifyPoolParameters(*this, 8)))
    return failure();
  return verifyPerChannel(
      *this, {{getWScale(), "w_scale"}, {getWZeroPoint(), "w_zero_point"}},
      getDim(getW(), 0), 9);
}

LogicalResult microsoft::QLinearConvOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  Type type = getElementType(getYZeroPoint());
  if (getChannelsLast() == 0) {
    FailureOr<std::optional<Dims>> dims =
        window::inferConvDims(ctx, op, getX(), getW());
    if (failed(dims))
      return failure();
    return ctx.set(op->getResult(0), type, *dims);
  }

  std::optional<Dims> x = ctx.getDims(getX()), w = ctx.getDims(getW());
  if (!x && !w)
    return ctx.set(op->getResult(0), type, x);
  size_t rank = x ? x->size() : w->size();
  if (rank < 3 || (w && w->size() != rank))
    return emitOpError("expects x and w of the same rank, 3 or more, but got "
                       "ranks ")
           << rank << " and " << (w ? w->size() : rank);
  if (!x)
    x = ctx.unknowns(rank);
  if (!w)
    w = ctx.unknowns(rank);
  window::Window window =
      window::getWindow(op, rank - 2, ArrayRef<Dim>(*w).drop_front(2));
  FailureOr<Dims> spatial = window::inferSpatialDims(
      op, window, ArrayRef<Dim>(*x).slice(1, rank - 2));
  if (failed(spatial))
    return failure();
  std::optional<Dims> result = Dims{x->front()};
  result->append(spatial->begin(), spatial->end());
  result->push_back(w->front());
  return ctx.set(op->getResult(0), type, result);
}
