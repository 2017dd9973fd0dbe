// Float convolutions and products between dequantizers: the same sums as of
// their quantized forms, exact, then scaled. A quantizer behind them, with a
// Relu or Clip between at most, makes them F11 of
// docs/QuantizationSemantics.md; any other op gets the real numbers.

#include "QuantizedIslands.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Support/Quantization.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

static std::optional<Dequantized> read(onnx::DequantizeLinearOp op) {
  if (op.getBlockSize() != 0 ||
      !cast<ShapedType>(op.getY().getType()).getElementType().isF32())
    return std::nullopt;
  Dequantized result = {op.getX(), op.getXZeroPoint(),
                        readFactor(op.getXScale()), op.getAxis()};
  if (!result.scale)
    return std::nullopt;
  if (result.axis < 0)
    result.axis += cast<ShapedType>(op.getX().getType()).getRank();
  return result;
}

std::optional<Dequantized> kernels::getDequantized(Value real) {
  auto op = real.getDefiningOp<onnx::DequantizeLinearOp>();
  if (!op || (!isByte(op.getX()) && !isByte(op.getX(), 16)))
    return std::nullopt;
  return read(op);
}

std::optional<Dequantized> kernels::getDequantizedWeights(Value real) {
  auto op = real.getDefiningOp<onnx::DequantizeLinearOp>();
  if (!op || !isByte(op.getX(), 4) || !onnx::getConstant(op.getX()))
    return getDequantized(real);
  return read(op);
}

/// Whether a zero point is left out or zero.
static bool isZero(Value zero) {
  if (isAbsent(zero))
    return true;
  ElementsAttr elements = onnx::getConstant(zero);
  if (!elements)
    return false;
  auto known = onnx::readInts(elements, elements.getNumElements());
  return known && llvm::all_of(*known, [](int64_t z) { return z == 0; });
}

Value kernels::getIntegerBias(Value bias, const Factor &factor,
                              int64_t columns) {
  auto op = bias.getDefiningOp<onnx::DequantizeLinearOp>();
  if (!op || !factor.numbers || op.getBlockSize() != 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  if (!type || !type.getElementType().isInteger(32) ||
      type.getShape() != ArrayRef<int64_t>(columns) ||
      !isZero(op.getXZeroPoint()))
    return {};
  Factor scale = readFactor(op.getXScale());
  if (!scale.numbers)
    return {};
  size_t count = std::max(scale.numbers->size(), factor.numbers->size());
  for (size_t i = 0; i < count; ++i)
    if ((*scale.numbers)[scale.numbers->size() == 1 ? 0 : i] !=
        (*factor.numbers)[factor.numbers->size() == 1 ? 0 : i])
      return {};
  return op.getX();
}

namespace {
/// The limits of a Clip as its quantizer rounds them, less the zero point.
struct Limits {
  int64_t low, high;
  /// Whether no byte is beyond them.
  bool isWide;
};

/// What may stand behind a product: a Relu or Clip, then a quantizer, each the
/// only reader of what it reads.
struct Behind {
  Operation *activation = nullptr;
  onnx::QuantizeLinearOp quantizer;
  Factor scale;
  std::optional<Limits> limits;
};
} // namespace

/// The number of a constant of one element; `otherwise` if it is left out.
static std::optional<double> readLimit(Value value, double otherwise) {
  if (isAbsent(value))
    return otherwise;
  ElementsAttr elements = onnx::getConstant(value);
  auto numbers = elements ? onnx::readFloats(elements, 1) : std::nullopt;
  if (!numbers || numbers->size() != 1 || std::isnan(numbers->front()))
    return std::nullopt;
  return numbers->front();
}

/// Rounding keeps the order of numbers, so that what is rounded can be clipped
/// instead.
static std::optional<Limits> getLimits(onnx::ClipOp clip,
                                       onnx::QuantizeLinearOp quantizer,
                                       const Factor &scale) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto low = readLimit(clip.getMin(), -infinity);
  auto high = readLimit(clip.getMax(), infinity);
  ElementsAttr zero = onnx::getConstant(quantizer.getYZeroPoint());
  auto zeros = zero ? onnx::readInts(zero, 1) : std::nullopt;
  if (!low || !high || !zeros || zeros->size() != 1)
    return std::nullopt;
  auto type = cast<RankedTensorType>(quantizer.getY().getType());
  QuantType stored = {8, !type.getElementType().isUnsignedInteger()};
  ScaleAndZeroPoint parameters = {scale.numbers->front(), zeros->front()};
  auto quantize = [&](double limit) {
    if (std::isinf(limit))
      return limit < 0 ? stored.min() : stored.max();
    return quantizeValue(limit, parameters, stored);
  };
  int64_t least = quantize(*low), most = quantize(*high);
  return Limits{least - zeros->front(), most - zeros->front(),
                least == stored.min() && most == stored.max()};
}

static std::optional<Behind> getBehind(Value real) {
  Behind behind;
  if (!real.hasOneUse())
    return std::nullopt;
  Operation *next = *real.user_begin();
  if (isa<onnx::ReluOp, onnx::ClipOp>(next) && next->getOperand(0) == real) {
    behind.activation = next;
    real = next->getResult(0);
    if (!real.hasOneUse())
      return std::nullopt;
  }
  auto quantizer = dyn_cast<onnx::QuantizeLinearOp>(*real.user_begin());
  if (!quantizer || quantizer.getX() != real || quantizer.getBlockSize() != 0 ||
      quantizer.getPrecision() != 0 || isAbsent(quantizer.getYZeroPoint()) ||
      !isByte(quantizer.getY()) || !isSingle(quantizer.getYScale()))
    return std::nullopt;
  behind.quantizer = quantizer;
  behind.scale = readFactor(quantizer.getYScale());
  if (!behind.scale.numbers)
    return std::nullopt;
  if (auto clip = dyn_cast_if_present<onnx::ClipOp>(behind.activation)) {
    behind.limits = getLimits(clip, quantizer, behind.scale);
    if (!behind.limits)
      return std::nullopt;
  }
  return behind;
}

/// Numbers that become bytes, kept between limits where those are narrower than
/// the type. The limits are whole: it doesn't matter that they come before
/// rounding.
static Value clipNumbers(ImplicitLocOpBuilder &b, Operation *op, Value numbers,
                         const Limits &limits) {
  if (limits.isWide)
    return numbers;
  auto constant = [&](int64_t limit) {
    auto number = static_cast<float>(limit);
    ArrayRef<char> bytes(reinterpret_cast<const char *>(&number),
                         sizeof number);
    return makeConstant(b, RankedTensorType::get({}, b.getF32Type()), bytes,
                        "limit");
  };
  return makeMapped(b, op, onnx::ClipOp::getOperationName(),
                    {numbers, constant(limits.low), constant(limits.high)});
}

bool kernels::hasQuantizerBehind(Value real) {
  return getBehind(real).has_value();
}

/// [.., W, merged * C] as [.., W * merged, C].
static Value splitColumns(ImplicitLocOpBuilder &b, Operation *op, Value value,
                          int64_t merged) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 2] *= merged;
  shape.back() /= merged;
  ArrayRef<char> bytes(reinterpret_cast<const char *>(shape.data()),
                       shape.size() * sizeof(int64_t));
  auto count = static_cast<int64_t>(shape.size());
  Value sizes = makeConstant(b, RankedTensorType::get(count, b.getI64Type()),
                             bytes, "sizes");
  OperationState state(b.getLoc(), onnx::ReshapeOp::getOperationName(),
                       {value, sizes}, type.clone(shape));
  if (Attribute name = op->getAttr(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, name);
  return b.create(state)->getResult(0);
}

void kernels::finishIsland(PatternRewriter &rewriter, Operation *op, Value sums,
                           Factor factor, Value bias, bool isConvolution,
                           int64_t merged) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  std::optional<Behind> behind = getBehind(op->getResult(0));
  auto place = [&](Value value, Value result) {
    if (merged > 1)
      value = splitColumns(b, op, value, merged);
    return castLike(
        b, op, isConvolution ? toChannelsFirst(b, op, value) : value, result);
  };
  if (!behind || !isAbsent(bias)) {
    Value real = makeReal(b, op, sums, factor, bias);
    return rewriter.replaceOp(op, place(real, op->getResult(0)));
  }
  onnx::QuantizeLinearOp quantizer = behind->quantizer;
  // Its zero point may be defined behind the product.
  b.setInsertionPoint(quantizer);
  Value real = makeReal(b, op, sums, divide(b, op, factor, behind->scale));
  if (isa_and_present<onnx::ReluOp>(behind->activation))
    real = makeMapped(b, op, onnx::ReluOp::getOperationName(), real);
  else if (behind->limits)
    real = clipNumbers(b, op, real, *behind->limits);
  Value rounded = makeRounded(b, op, real, quantizer.getYZeroPoint());
  rewriter.replaceOp(quantizer, place(rounded, quantizer.getY()));
  if (behind->activation)
    rewriter.eraseOp(behind->activation);
  rewriter.eraseOp(op);
}

bool kernels::isVectorBias(Value bias, int64_t columns) {
  auto type = dyn_cast<RankedTensorType>(bias.getType());
  return type && type.getElementType().isF32() &&
         type.getShape() == ArrayRef<int64_t>(columns);
}

namespace {
struct ConvIsland : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto x = getDequantized(op.getX()), w = getDequantizedWeights(op.getW());
    if (!x || !w || !x->hasOneScale() || (!w->hasOneScale() && w->axis != 0))
      return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
    auto type = dyn_cast<RankedTensorType>(w->bytes.getType());
    if (!type || type.getRank() < 3)
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    int64_t columns = type.getDimSize(0);
    bool hasBias = !isAbsent(op.getB());
    if (hasBias && !isVectorBias(op.getB(), columns))
      return rewriter.notifyMatchFailure(op, "its bias has an open size");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // Only numbers that are known can be those of a bias; no op is made yet.
    Value bias;
    if (hasBias && x->scale.numbers && w->scale.numbers)
      bias = getIntegerBias(op.getB(), multiply(b, op, x->scale, w->scale),
                            columns);
    FailureOr<Value> sums = makeConvolutionSums(
        rewriter, op,
        {x->bytes, x->zero, w->bytes, w->zero, bias,
         static_cast<int64_t>(op.getGroup()), /*isLast=*/false});
    if (failed(sums))
      return failure();
    finishIsland(rewriter, op, *sums, multiply(b, op, x->scale, w->scale),
                 bias || !hasBias ? Value() : op.getB(),
                 /*isConvolution=*/true);
    return success();
  }
};
} // namespace

/// The sums of a product of dequantized operands; fails with the reason.
static LogicalResult rewriteProduct(PatternRewriter &rewriter, Operation *op,
                                    Value left, Value right, bool isTransposed,
                                    Value addend, float alpha, float beta) {
  auto x = getDequantized(left), w = getDequantizedWeights(right);
  int64_t columnAxis = isTransposed ? 0 : 1;
  if (!x || !w || !x->hasOneScale() ||
      (!w->hasOneScale() && w->axis != columnAxis))
    return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
  auto input = dyn_cast<RankedTensorType>(left.getType());
  auto weights = readMatrix(w->bytes, w->zero, isTransposed);
  if (!input || !weights || weights->columns < 2 || input.getRank() < 2 ||
      input.getShape().back() != weights->depth ||
      (!isAbsent(x->zero) && !isSingle(x->zero)))
    return rewriter.notifyMatchFailure(op, "its weights are no matrix");
  bool hasBias = !isAbsent(addend);
  int64_t columns = weights->columns;
  if (hasBias && (!isVectorBias(addend, columns) || beta != 1.0f))
    return rewriter.notifyMatchFailure(op, "its addend is no plain vector");

  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  Factor factor = multiply(b, op, x->scale, w->scale);
  Value bias = hasBias && alpha == 1.0f
                   ? getIntegerBias(addend, factor, columns)
                   : Value();
  if (alpha != 1.0f)
    factor = multiply(b, op, factor, makeFactor(alpha));
  Value sums =
      makeSums(b, op, {x->bytes, x->zero, std::move(*weights), {}, bias});
  finishIsland(rewriter, op, sums, factor, bias || !hasBias ? Value() : addend,
               /*isConvolution=*/false);
  return success();
}

/// The same where both operands are known at run time only.
static LogicalResult rewriteActivations(PatternRewriter &rewriter,
                                        onnx::MatMulOp op) {
  auto x = getDequantized(op.getA()), w = getDequantized(op.getB());
  if (!x || !w || !x->hasOneScale() || !w->hasOneScale())
    return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
  FailureOr<Value> sums =
      makeActivationSums(rewriter, op, {x->bytes, x->zero, w->bytes, w->zero});
  if (failed(sums))
    return failure();
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  finishIsland(rewriter, op, *sums, multiply(b, op, x->scale, w->scale),
               /*bias=*/{}, /*isConvolution=*/false);
  return success();
}

namespace {
struct MatMulIsland : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto w = getDequantizedWeights(op.getB());
    if (w && !(isa<RankedTensorType>(w->bytes.getType()) &&
               cast<RankedTensorType>(w->bytes.getType()).getRank() == 2 &&
               readElements(w->bytes)))
      return rewriteActivations(rewriter, op);
    return rewriteProduct(rewriter, op, op.getA(), op.getB(), false, {}, 1, 1);
  }
};

struct GemmIsland : OpRewritePattern<onnx::GemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::GemmOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getTransA() != 0)
      return rewriter.notifyMatchFailure(op, "its left operand is transposed");
    return rewriteProduct(
        rewriter, op, op.getA(), op.getB(), op.getTransB() != 0, op.getC(),
        op.getAlpha().convertToFloat(), op.getBeta().convertToFloat());
  }
};
} // namespace

void kernels::addQuantizedIslandPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvIsland, MatMulIsland, GemmIsland>(patterns.getContext());
  addTransposedIslandPatterns(patterns);
}
