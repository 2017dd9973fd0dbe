// Verifiers and shape rules of the quantized products, attention and LSTM of
// the com.microsoft domain.

#include "MicrosoftCommon.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantized;
using namespace onnxquant::onnx::microsoft;

//===----------------------------------------------------------------------===//
// QGemm
//===----------------------------------------------------------------------===//

static Gemm getGemm(microsoft::QGemmOp op) {
  return {op.getA(), op.getB(), op.getTransA() != 0, op.getTransB() != 0};
}

static Type getResultElementType(microsoft::QGemmOp op) {
  Type type = getElementType(op.getYZeroPoint());
  return type ? type : Float32Type::get(op.getContext());
}

LogicalResult microsoft::QGemmOp::verify() {
  Gemm gemm = getGemm(*this);
  if (failed(verifyGemm(*this, gemm, 1)) ||
      failed(verifyPerTensor(
          *this, {{getAScale(), "a_scale"}, {getAZeroPoint(), "a_zero_point"}},
          2)) ||
      failed(verifyPerChannel(
          *this, {{getBScale(), "b_scale"}, {getBZeroPoint(), "b_zero_point"}},
          getGemmColumns(gemm), 3)) ||
      failed(verifyGemmBias(*this, gemm, {getC(), "C"}, 4)) ||
      failed(verifyPerTensor(
          *this, {{getYScale(), "y_scale"}, {getYZeroPoint(), "y_zero_point"}},
          5)))
    return failure();
  if (isLeftOut(getYScale()) != isLeftOut(getYZeroPoint()))
    return emitOpError("expects both of y_scale and y_zero_point or none, but "
                       "got one (C5)");
  return verifyElementType(*this, {getY(), "Y"}, getResultElementType(*this),
                           6);
}

LogicalResult microsoft::QGemmOp::inferShapes(ShapeContext &ctx) {
  return inferGemm(ctx, *this, getGemm(*this), getResultElementType(*this));
}

//===----------------------------------------------------------------------===//
// DynamicQuantizeMatMul, MatMulIntegerToFloat
//===----------------------------------------------------------------------===//

/// How many columns `B` has as the right side of a product.
static int64_t getColumns(Value b) {
  std::optional<ArrayRef<int64_t>> shape = getShape(b);
  return shape && shape->size() == 1 ? 1 : getDim(b, -1);
}

LogicalResult microsoft::DynamicQuantizeMatMulOp::verify() {
  if (failed(verifyMatMul(*this, {getA(), "A"}, {getB(), "B"}, 1)) ||
      failed(verifyPerColumn(
          *this, {{getBScale(), "b_scale"}, {getBZeroPoint(), "b_zero_point"}},
          getB(), 2)))
    return failure();
  return verifyVector(*this, {{getBias(), "bias"}}, getColumns(getB()), 3);
}

LogicalResult
microsoft::DynamicQuantizeMatMulOp::inferShapes(ShapeContext &ctx) {
  return inferMatMul(ctx, *this, getA(), getB(), getElementType(getA()));
}

LogicalResult microsoft::MatMulIntegerToFloatOp::verify() {
  if (failed(verifyMatMul(*this, {getA(), "A"}, {getB(), "B"}, 1)) ||
      failed(verifyPerTensor(
          *this, {{getAScale(), "a_scale"}, {getAZeroPoint(), "a_zero_point"}},
          2)) ||
      failed(verifyPerColumn(
          *this, {{getBScale(), "b_scale"}, {getBZeroPoint(), "b_zero_point"}},
          getB(), 3)))
    return failure();
  return verifyVector(*this, {{getBias(), "bias"}}, getColumns(getB()), 4);
}

LogicalResult
microsoft::MatMulIntegerToFloatOp::inferShapes(ShapeContext &ctx) {
  return inferMatMul(ctx, *this, getA(), getB(), getElementType(getAScale()));
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// How many elements a tensor has; none if it isn't known.
static std::optional<int64_t> countElements(Value value) {
  std::optional<ArrayRef<int64_t>> shape = getShape(value);
  if (!shape || ShapedType::isDynamicShape(*shape))
    return std::nullopt;
  int64_t count = 1;
  for (int64_t dim : *shape)
    if (llvm::MulOverflow(count, dim, count))
      return -1;
  return count;
}

static LogicalResult verifyCount(Operation *op, Named value, int64_t expected,
                                 unsigned label) {
  std::optional<int64_t> count = countElements(value.value);
  if (!count || *count == expected)
    return success();
  return op->emitOpError("expects ")
         << value.name << " of " << expected << " elements, but got shape "
         << toString(*getShape(value.value)) << " (C" << label << ")";
}

/// Checks the attributes; the limits keep later products within 64 bits.
static LogicalResult verifySizes(microsoft::MatMulNBitsOp op) {
  constexpr int64_t maxDim = std::numeric_limits<int32_t>::max();
  for (auto [name, size] :
       {std::pair("K", op.getK()), std::pair("N", op.getN())})
    if (size < 1 || size > maxDim)
      return op.emitOpError("expects ") << name << " in [1, " << maxDim
                                        << "], but got " << size << " (C1)";
  if (op.getBits() < 2 || op.getBits() > 8)
    return op.emitOpError("expects bits in [2, 8], but got ")
           << op.getBits() << " (C1)";
  int64_t blockSize = op.getBlockSize();
  if (blockSize < 16 || blockSize > (int64_t(1) << 30) ||
      !llvm::isPowerOf2_64(blockSize))
    return op.emitOpError("expects block_size to be a power of two in "
                          "[16, 2^30], but got ")
           << blockSize << " (C1)";
  return success();
}

LogicalResult microsoft::MatMulNBitsOp::verify() {
  if (failed(verifySizes(*this)))
    return failure();
  std::optional<ArrayRef<int64_t>> a = getShape(getA());
  if (a && (a->empty() || !mayEqual(a->back(), getK())))
    return emitOpError("expects A with a last dimension of ")
           << getK() << ", but got shape " << toString(*a) << " (C2)";

  int64_t blocks = llvm::divideCeil(getK(), getBlockSize());
  int64_t expected[] = {getN(), blocks, getBlockSize() * getBits() / 8};
  std::optional<ArrayRef<int64_t>> b = getShape(getB());
  if (b && getWeightPrepacked() == 0 &&
      (b->size() != 3 || !llvm::all_of(llvm::zip(*b, expected), [](auto pair) {
         return mayEqual(std::get<0>(pair), std::get<1>(pair));
       })))
    return emitOpError("expects B of shape ")
           << toString(expected) << ", but got shape " << toString(*b)
           << " (C3)";
  if (failed(verifyCount(*this, {getScales(), "scales"}, getN() * blocks, 4)))
    return failure();

  Type zeroType = getElementType(getZeroPoints());
  if (zeroType && (isa<FloatType>(zeroType) || zeroType.isInteger(8))) {
    int64_t perRow = isa<FloatType>(zeroType)
                         ? blocks
                         : llvm::divideCeil(blocks * getBits(), 8);
    if (failed(verifyCount(*this, {getZeroPoints(), "zero_points"},
                           getN() * perRow, 5)))
      return failure();
  }
  return verifyVector(*this, {{getBias(), "bias"}}, getN(), 6);
}

LogicalResult microsoft::MatMulNBitsOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  std::optional<Dims> dims = ctx.getDims(getA());
  if (dims && !dims->empty())
    dims->back() = Dim(getN());
  return ctx.set(op->getResult(0), getElementType(getA()), dims);
}

//===----------------------------------------------------------------------===//
// QAttention
//===----------------------------------------------------------------------===//

static Attention getAttention(microsoft::QAttentionOp op) {
  return {{op.getInput(), "input"},
          {op.getWeight(), "weight"},
          {op.getBias(), "bias"},
          op.getPast(),
          static_cast<int64_t>(op.getNumHeads()),
          {},
          op.getPastPresentShareBuffer().value_or(0) != 0};
}

LogicalResult microsoft::QAttentionOp::verify() {
  int64_t heads = getNumHeads(), columns = getDim(getWeight(), 1);
  if (heads < 1)
    return emitOpError("expects num_heads to be positive, but got ")
           << heads << " (C1)";
  if (failed(verifyProjection(*this, getAttention(*this), 2)))
    return failure();
  if (!ShapedType::isDynamic(columns)) {
    if (columns % 3 != 0)
      return emitOpError("expects weight with a multiple of 3 columns, but "
                         "got ")
             << columns << " (C2)";
    if (columns / 3 % heads != 0)
      return emitOpError("expects num_heads to divide ")
             << columns / 3 << ", but got " << heads << " (C1)";
  }
  if (failed(verifyVector(*this, {{getBias(), "bias"}}, columns, 3)) ||
      failed(verifyPerTensor(*this,
                             {{getInputScale(), "input_scale"},
                              {getInputZeroPoint(), "input_zero_point"}},
                             4)) ||
      failed(verifyPerChannel(*this,
                              {{getWeightScale(), "weight_scale"},
                               {getWeightZeroPoint(), "weight_zero_point"}},
                              columns, 5)))
    return failure();
  return verifyPast(*this, getPast(), 6);
}

LogicalResult microsoft::QAttentionOp::inferShapes(ShapeContext &ctx) {
  return inferAttention(ctx, *this, getAttention(*this),
                        getElementType(getInputScale()));
}

//===----------------------------------------------------------------------===//
// DynamicQuantizeLSTM
//===----------------------------------------------------------------------===//

static int64_t getDirections(microsoft::DynamicQuantizeLSTMOp op) {
  return op.getDirection() == "bidirectional" ? 2 : 1;
}

/// Whether `big` can be 4 times `small`.
static bool mayBeFourTimes(int64_t big, int64_t small) {
  return ShapedType::isDynamic(big) || ShapedType::isDynamic(small) ||
         (big % 4 == 0 && big / 4 == small);
}

/// Checks ranks, directions and hidden sizes (C2).
static LogicalResult verifyWeights(microsoft::DynamicQuantizeLSTMOp op) {
  int64_t directions = getDirections(op);
  for (Named operand :
       {Named{op.getX(), "X"}, Named{op.getW(), "W"}, Named{op.getR(), "R"}})
    if (auto shape = getShape(operand.value))
      if (shape->size() != 3)
        return op.emitOpError("expects ")
               << operand.name << " of rank 3, but got rank " << shape->size()
               << " (C2)";
  for (Named weight : {Named{op.getW(), "W"}, Named{op.getR(), "R"}})
    if (!mayEqual(getDim(weight.value, 0), directions))
      return op.emitOpError("expects ")
             << weight.name << " with a first dimension of " << directions
             << ", but got " << getDim(weight.value, 0) << " (C2)";
  int64_t hidden = getDim(op.getR(), 1);
  if (std::optional<int64_t> size = op.getHiddenSize()) {
    if (*size < 1 || !mayEqual(*size, hidden))
      return op.emitOpError("expects hidden_size to be R's second dimension, "
                            "but got ")
             << *size << " (C2)";
    hidden = *size;
  }
  for (Named weight : {Named{op.getW(), "W"}, Named{op.getR(), "R"}})
    if (!mayBeFourTimes(getDim(weight.value, 2), hidden))
      return op.emitOpError("expects ")
             << weight.name << " with 4 times " << hidden
             << " columns, but got " << getDim(weight.value, 2) << " (C2)";
  return success();
}

LogicalResult microsoft::DynamicQuantizeLSTMOp::verify() {
  StringRef direction = getDirection();
  if (!llvm::is_contained({"forward", "reverse", "bidirectional"}, direction))
    return emitOpError("expects direction to be forward, reverse or "
                       "bidirectional, but got \"")
           << direction << "\" (C1)";
  if (failed(verifyWeights(*this)))
    return failure();

  int64_t columns = getDim(getW(), 2);
  SmallVector<int64_t> perChannel{getDirections(*this), columns};
  for (Named parameter :
       {Named{getWScale(), "W_scale"}, Named{getWZeroPoint(), "W_zero_point"},
        Named{getRScale(), "R_scale"},
        Named{getRZeroPoint(), "R_zero_point"}}) {
    std::optional<ArrayRef<int64_t>> shape = getShape(parameter.value);
    if (!shape)
      continue;
    bool fits = (shape->size() == 1 || shape->size() == 2) &&
                mayEqual(shape->front(), perChannel[0]) &&
                (shape->size() == 1 || mayEqual(shape->back(), columns));
    if (!fits)
      return emitOpError("expects ")
             << parameter.name << " of shape " << toString(perChannel[0])
             << " or " << toString(perChannel) << ", but got shape "
             << toString(*shape) << " (C3)";
  }
  if (!mayEqual(getDim(getX(), 2), getDim(getW(), 1)))
    return emitOpError("expects X with a last dimension of ")
           << getDim(getW(), 1) << ", but got " << getDim(getX(), 2) << " (C4)";
  return success();
}

LogicalResult microsoft::DynamicQuantizeLSTMOp::inferShapes(ShapeContext &ctx) {
  Operation *op = *this;
  std::optional<Dims> x = ctx.getDims(getX());
  if (!x || x->size() != 3)
    x = ctx.unknowns(3);
  Dim hidden = ctx.unknown();
  if (std::optional<int64_t> size = getHiddenSize())
    hidden = Dim(*size);
  else if (std::optional<Dims> r = ctx.getDims(getR()); r && r->size() == 3)
    hidden = (*r)[1];
  Type type = getElementType(getX());
  std::optional<Dims> last = Dims{Dim(getDirections(*this)), (*x)[1], hidden};
  std::optional<Dims> all = last;
  all->insert(all->begin(), (*x)[0]);
  if (failed(ctx.set(op->getResult(0), type, all)) ||
      failed(ctx.set(op->getResult(1), type, last)))
    return failure();
  return ctx.set(op->getResult(2), type, last);
}
