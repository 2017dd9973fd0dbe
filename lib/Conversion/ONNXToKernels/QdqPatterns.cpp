// QDQ patterns of convolutions and products,
//
//   QuantizeLinear([Relu | Clip](Conv(DequantizeLinear(x),
//   DequantizeLinear(w))))
//
// to kernels of integers: the accumulators of their quantized forms, exact,
// then scaled. A quantizer behind them, with a Relu or Clip between at most,
// makes them F11 of docs/QuantizationSemantics.md; any other op gets the real
// numbers.

#include "QdqPatterns.h"
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
  if (!op || (!hasIntegers(op.getX(), 8) && !hasIntegers(op.getX(), 16)))
    return std::nullopt;
  return read(op);
}

std::optional<Dequantized> kernels::getDequantizedWeights(Value real) {
  auto op = real.getDefiningOp<onnx::DequantizeLinearOp>();
  if (!op || !hasIntegers(op.getX(), 4) || !onnx::getConstant(op.getX()))
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
  if (!op || !factor.values || op.getBlockSize() != 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(op.getX().getType());
  if (!type || !type.getElementType().isInteger(32) ||
      type.getShape() != ArrayRef<int64_t>(columns) ||
      !isZero(op.getXZeroPoint()))
    return {};
  Factor scale = readFactor(op.getXScale());
  if (!scale.values)
    return {};
  size_t count = std::max(scale.values->size(), factor.values->size());
  for (size_t i = 0; i < count; ++i)
    if ((*scale.values)[scale.values->size() == 1 ? 0 : i] !=
        (*factor.values)[factor.values->size() == 1 ? 0 : i])
      return {};
  return op.getX();
}

/// The value of a constant of one element; `otherwise` if it is left out.
static std::optional<double> readLimit(Value value, double otherwise) {
  if (isAbsent(value))
    return otherwise;
  ElementsAttr elements = onnx::getConstant(value);
  auto values = elements ? onnx::readFloats(elements, 1) : std::nullopt;
  if (!values || values->size() != 1 || std::isnan(values->front()))
    return std::nullopt;
  return values->front();
}

/// Rounding keeps the order of values, so that what is rounded can be clipped
/// instead.
static std::optional<QuantizedLimits>
getLimits(onnx::ClipOp clip, onnx::QuantizeLinearOp quantizer,
          const Factor &scale) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto low = readLimit(clip.getMin(), -infinity);
  auto high = readLimit(clip.getMax(), infinity);
  std::optional<int64_t> zero = readInteger(quantizer.getYZeroPoint());
  if (!low || !high || !zero)
    return std::nullopt;
  auto type = cast<RankedTensorType>(quantizer.getY().getType());
  QuantType stored = {8, !type.getElementType().isUnsignedInteger()};
  ScaleAndZeroPoint parameters = {scale.values->front(), *zero};
  auto quantize = [&](double limit) {
    if (std::isinf(limit))
      return limit;
    return static_cast<double>(quantizeValue(limit, parameters, stored) -
                               *zero);
  };
  return QuantizedLimits{quantize(*low), quantize(*high)};
}

QdqOutput::QdqOutput(Operation *op, Value floatBias)
    : op(op), floatBias(floatBias) {
  Value real = op->getResult(0);
  if (!isAbsent(floatBias) || !real.hasOneUse())
    return;
  Operation *next = *real.user_begin();
  if (isa<onnx::ReluOp, onnx::ClipOp>(next) && next->getOperand(0) == real) {
    activation = next;
    real = next->getResult(0);
    if (!real.hasOneUse())
      return;
  }
  auto found = dyn_cast<onnx::QuantizeLinearOp>(*real.user_begin());
  if (!found || found.getX() != real || found.getBlockSize() != 0 ||
      found.getPrecision() != 0 || isAbsent(found.getYZeroPoint()) ||
      !hasIntegers(found.getY(), 8) || !isSingle(found.getYScale()))
    return;
  scale = readFactor(found.getYScale());
  if (!scale.values)
    return;
  if (auto clip = dyn_cast_if_present<onnx::ClipOp>(activation)) {
    limits = getLimits(clip, found, scale);
    if (!limits)
      return;
  } else if (activation) {
    limits = {0, std::numeric_limits<double>::infinity()};
  }
  quantizer = found;
}

RequantizationFn QdqOutput::getRequantization(const FactorFn &factor) const {
  if (!isQuantized())
    return {};
  return [this, factor](ImplicitLocOpBuilder &b) {
    onnx::QuantizeLinearOp to = quantizer;
    return Requantization{divide(b, op, factor(b), scale), to.getYZeroPoint(),
                          limits};
  };
}

void QdqOutput::moveTo(PatternRewriter &rewriter) const {
  if (isQuantized())
    rewriter.setInsertionPoint(quantizer);
}

/// [.., W, merged * C] as [.., W * merged, C].
static Value splitColumns(ImplicitLocOpBuilder &b, Operation *op, Value value,
                          int64_t merged) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 2] *= merged;
  shape.back() /= merged;
  Value sizes = makeNumbers<int64_t>(b, static_cast<int64_t>(shape.size()),
                                     b.getI64Type(), shape, "sizes");
  OperationState state(b.getLoc(), onnx::ReshapeOp::getOperationName(),
                       {value, sizes}, type.clone(shape));
  if (Attribute name = op->getAttr(onnx::nodeNameAttr))
    state.addAttribute(onnx::nodeNameAttr, name);
  return b.create(state)->getResult(0);
}

void QdqOutput::replace(PatternRewriter &rewriter, Value result,
                        const FactorFn &factor, bool isConvolution,
                        int64_t merged) {
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  if (!isQuantized())
    result = makeReal(b, op, result, factor(b), floatBias);
  if (merged > 1)
    result = splitColumns(b, op, result, merged);
  if (isConvolution)
    result = toChannelsFirst(b, op, result);
  Value replaced = op->getResult(0);
  if (isQuantized())
    replaced = quantizer.getY();
  result = castLike(b, op, result, replaced);
  rewriter.replaceOp(replaced.getDefiningOp(), result);
  if (!isQuantized())
    return;
  if (activation)
    rewriter.eraseOp(activation);
  rewriter.eraseOp(op);
}

bool kernels::isVectorBias(Value bias, int64_t columns) {
  auto type = dyn_cast<RankedTensorType>(bias.getType());
  return type && type.getElementType().isF32() &&
         type.getShape() == ArrayRef<int64_t>(columns);
}

namespace {
struct ConvQdq : OpRewritePattern<onnx::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvOp op,
                                PatternRewriter &rewriter) const override {
    auto x = getDequantized(op.getX()), w = getDequantizedWeights(op.getW());
    if (!x || !w || !x->hasOneScale() || (!w->hasOneScale() && w->axis != 0))
      return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
    auto type = dyn_cast<RankedTensorType>(w->stored.getType());
    if (!type || type.getRank() < 3)
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    int64_t columns = type.getDimSize(0);
    bool hasBias = !isAbsent(op.getB());
    if (hasBias && !isVectorBias(op.getB(), columns))
      return rewriter.notifyMatchFailure(op, "its bias has a dynamic size");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // Only values that are known can be those of a bias; no op is made yet.
    Value bias;
    if (hasBias && x->scale.values && w->scale.values)
      bias = getIntegerBias(op.getB(), multiply(b, op, x->scale, w->scale),
                            columns);
    auto getFactor = [&](ImplicitLocOpBuilder &b) {
      return multiply(b, op, x->scale, w->scale);
    };
    QdqOutput output(op, bias || !hasBias ? Value() : op.getB());
    output.moveTo(rewriter);
    FailureOr<Value> result = makeConvolutionSums(
        rewriter, op,
        {x->stored, x->zero, w->stored, w->zero, bias,
         static_cast<int64_t>(op.getGroup()), /*isLast=*/false,
         output.getRequantization(getFactor)});
    if (failed(result))
      return failure();
    output.replace(rewriter, *result, getFactor, /*isConvolution=*/true);
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
  auto weights = readMatrix(w->stored, w->zero, isTransposed);
  if (!input || !weights || weights->n < 2 || input.getRank() < 2 ||
      input.getShape().back() != weights->k ||
      (!isAbsent(x->zero) && !isSingle(x->zero)))
    return rewriter.notifyMatchFailure(op, "its weights are no matrix");
  bool hasBias = !isAbsent(addend);
  int64_t columns = weights->n;
  if (hasBias && (!isVectorBias(addend, columns) || beta != 1.0f))
    return rewriter.notifyMatchFailure(op, "its addend is no plain vector");

  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  // Only values that are known can be those of a bias; no op is made yet.
  Value bias;
  if (hasBias && alpha == 1.0f && x->scale.values && w->scale.values)
    bias = getIntegerBias(addend, multiply(b, op, x->scale, w->scale), columns);
  auto getFactor = [&](ImplicitLocOpBuilder &b) {
    Factor factor = multiply(b, op, x->scale, w->scale);
    return alpha == 1.0f ? factor : multiply(b, op, factor, makeFactor(alpha));
  };
  QdqOutput output(op, bias || !hasBias ? Value() : addend);
  output.moveTo(rewriter);
  b.setInsertionPoint(rewriter.getInsertionBlock(),
                      rewriter.getInsertionPoint());
  Value result = makeSums(b, op,
                          {x->stored,
                           x->zero,
                           std::move(*weights),
                           {},
                           bias,
                           output.getRequantization(getFactor)});
  output.replace(rewriter, result, getFactor, /*isConvolution=*/false);
  return success();
}

/// The same where both operands are known at run time only.
static LogicalResult rewriteActivations(PatternRewriter &rewriter,
                                        onnx::MatMulOp op) {
  auto x = getDequantized(op.getA()), w = getDequantized(op.getB());
  if (!x || !w || !x->hasOneScale() || !w->hasOneScale())
    return rewriter.notifyMatchFailure(op, "its operands aren't quantized");
  auto getFactor = [&](ImplicitLocOpBuilder &b) {
    return multiply(b, op, x->scale, w->scale);
  };
  QdqOutput output(op, /*floatBias=*/{});
  output.moveTo(rewriter);
  FailureOr<Value> result =
      makeActivationSums(rewriter, op,
                         {x->stored, x->zero, w->stored, w->zero,
                          output.getRequantization(getFactor)});
  if (failed(result))
    return failure();
  output.replace(rewriter, *result, getFactor, /*isConvolution=*/false);
  return success();
}

namespace {
struct MatMulQdq : OpRewritePattern<onnx::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto w = getDequantizedWeights(op.getB());
    if (w && !(isa<RankedTensorType>(w->stored.getType()) &&
               cast<RankedTensorType>(w->stored.getType()).getRank() == 2 &&
               readElements(w->stored)))
      return rewriteActivations(rewriter, op);
    return rewriteProduct(rewriter, op, op.getA(), op.getB(), false, {}, 1, 1);
  }
};

struct GemmQdq : OpRewritePattern<onnx::GemmOp> {
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

void kernels::addQdqPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvQdq, MatMulQdq, GemmQdq>(patterns.getContext());
  addTransposedQdqPatterns(patterns);
}
