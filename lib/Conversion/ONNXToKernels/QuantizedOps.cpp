// Quantized convolutions and products of both domains. F10, F11, F13, F19 and
// F20 of docs/QuantizationSemantics.md.

#include "IntegerProduct.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
namespace ms = onnxquant::onnx::microsoft;

/// Requantization by x * w / y.
static RequantizationFn requantizeTo(Operation *op, const Factor &x,
                                     const Factor &w, const Factor &y,
                                     Value zeroPoint) {
  return [=](ImplicitLocOpBuilder &b) {
    return Requantization{divide(b, op, multiply(b, op, x, w), y), zeroPoint,
                          /*limits=*/{}};
  };
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Both domains' QLinearConv.
template <typename OpTy>
static LogicalResult rewriteQLinearConv(OpTy op, PatternRewriter &rewriter,
                                        bool isLast) {
  Factor x = readFactor(op.getXScale()), w = readFactor(op.getWScale()),
         y = readFactor(op.getYScale());
  if (!x || !w || !y || !isSingle(op.getXScale()) ||
      !isSingle(op.getYScale()) || !isSingle(op.getYZeroPoint()))
    return rewriter.notifyMatchFailure(op, "its scales have open shapes");
  FailureOr<Value> result = makeConvolutionSums(
      rewriter, op,
      {op.getX(), op.getXZeroPoint(), op.getW(), op.getWZeroPoint(), op.getB(),
       static_cast<int64_t>(op.getGroup()), isLast,
       requantizeTo(op, x, w, y, op.getYZeroPoint())});
  if (failed(result))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  if (!isLast)
    result = toChannelsFirst(b, op, *result);
  rewriter.replaceOp(op, castLike(b, op, *result, op.getY()));
  return success();
}

namespace {
struct QLinearConvToContract : OpRewritePattern<onnx::QLinearConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::QLinearConvOp op,
                                PatternRewriter &rewriter) const override {
    return rewriteQLinearConv(op, rewriter, /*isLast=*/false);
  }
};

struct MicrosoftQLinearConvToContract : OpRewritePattern<ms::QLinearConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ms::QLinearConvOp op,
                                PatternRewriter &rewriter) const override {
    return rewriteQLinearConv(op, rewriter, op.getChannelsLast() != 0);
  }
};

struct ConvIntegerToContract : OpRewritePattern<onnx::ConvIntegerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::ConvIntegerOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<Value> sums = makeConvolutionSums(
        rewriter, op,
        {op.getX(), op.getXZeroPoint(), op.getW(), op.getWZeroPoint(),
         /*bias=*/{}, static_cast<int64_t>(op.getGroup()), /*isLast=*/false});
    if (failed(sums))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, castLike(b, op, toChannelsFirst(b, op, *sums), op.getY()));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The sums of a product of `a` [.., K] with a matrix, or with matrices that
/// are only known at run time.
static FailureOr<Value> makeProductSums(PatternRewriter &rewriter,
                                        Operation *op, Value a, Value aZero,
                                        Value w, Value wZero, bool isTransposed,
                                        Value bias,
                                        const RequantizationFn &to = {}) {
  auto input = dyn_cast<RankedTensorType>(a.getType());
  if (!input || input.getRank() < 2)
    return rewriter.notifyMatchFailure(op, "its left operand is no matrix");
  auto right = dyn_cast<RankedTensorType>(w.getType());
  if (!right || right.getRank() != 2 || !readElements(w)) {
    if (isTransposed || !isAbsent(bias))
      return rewriter.notifyMatchFailure(op, "its weights aren't constant");
    return makeActivationSums(rewriter, op, {a, aZero, w, wZero, to});
  }
  if (!isAbsent(aZero) && !isSingle(aZero))
    return rewriter.notifyMatchFailure(op, "its zero point varies");
  if (!isAbsent(wZero) && cast<ShapedType>(wZero.getType()).getRank() > 1)
    return rewriter.notifyMatchFailure(op, "its zero point is no vector");
  auto weights = readMatrix(w, wZero, isTransposed);
  if (!weights || weights->n < 2)
    return rewriter.notifyMatchFailure(op, "its weights are no matrix");
  if (input.getShape().back() != weights->k)
    return rewriter.notifyMatchFailure(op, "its sizes are open");
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  return makeSums(b, op, {a, aZero, std::move(*weights), {}, bias, to});
}

namespace {
struct MatMulIntegerToContract : OpRewritePattern<onnx::MatMulIntegerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::MatMulIntegerOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<Value> sums =
        makeProductSums(rewriter, op, op.getA(), op.getAZeroPoint(), op.getB(),
                        op.getBZeroPoint(), false, {});
    if (failed(sums))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, castLike(b, op, *sums, op.getY()));
    return success();
  }
};

struct QLinearMatMulToContract : OpRewritePattern<onnx::QLinearMatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::QLinearMatMulOp op,
                                PatternRewriter &rewriter) const override {
    Factor x = readFactor(op.getAScale()), w = readFactor(op.getBScale()),
           y = readFactor(op.getYScale());
    if (!x || !w || !y || !isSingle(op.getAScale()) ||
        !isSingle(op.getYScale()) || !isSingle(op.getYZeroPoint()))
      return rewriter.notifyMatchFailure(op, "its scales vary by row");
    if (!hasIntegers(op.getA(), 8) || !hasIntegers(op.getB(), 8))
      return rewriter.notifyMatchFailure(op, "its elements are floats");
    FailureOr<Value> result =
        makeProductSums(rewriter, op, op.getA(), op.getAZeroPoint(), op.getB(),
                        op.getBZeroPoint(), false, {},
                        requantizeTo(op, x, w, y, op.getYZeroPoint()));
    if (failed(result))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, castLike(b, op, *result, op.getY()));
    return success();
  }
};

struct QGemmToContract : OpRewritePattern<ms::QGemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ms::QGemmOp op,
                                PatternRewriter &rewriter) const override {
    Factor x = readFactor(op.getAScale()), w = readFactor(op.getBScale());
    bool isRequantized = !isAbsent(op.getYScale());
    if (!x || !w || !isSingle(op.getAScale()) ||
        (isRequantized &&
         (!readFactor(op.getYScale()) || !isSingle(op.getYScale()) ||
          isAbsent(op.getYZeroPoint()) || !isSingle(op.getYZeroPoint()))))
      return rewriter.notifyMatchFailure(op, "its scales have open shapes");
    if (op.getTransA() != 0)
      return rewriter.notifyMatchFailure(op, "its left operand is transposed");
    auto type = dyn_cast<RankedTensorType>(op.getB().getType());
    int64_t columns = type ? type.getDimSize(op.getTransB() != 0 ? 0 : 1) : 0;
    if (!isAbsent(op.getC()) &&
        cast<ShapedType>(op.getC().getType()).getShape() !=
            ArrayRef<int64_t>(columns))
      return rewriter.notifyMatchFailure(op, "its bias is no vector");
    auto getFactor = [=](ImplicitLocOpBuilder &b) mutable {
      Factor alpha = makeFactor(op.getAlpha().convertToFloat());
      return multiply(b, op, multiply(b, op, alpha, x), w);
    };
    RequantizationFn to;
    if (isRequantized)
      to = [=](ImplicitLocOpBuilder &b) mutable {
        return Requantization{
            divide(b, op, getFactor(b), readFactor(op.getYScale())),
            op.getYZeroPoint(),
            /*limits=*/{}};
      };
    FailureOr<Value> result =
        makeProductSums(rewriter, op, op.getA(), op.getAZeroPoint(), op.getB(),
                        op.getBZeroPoint(), op.getTransB() != 0, op.getC(), to);
    if (failed(result))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (!isRequantized)
      result = makeReal(b, op, *result, getFactor(b));
    rewriter.replaceOp(op, castLike(b, op, *result, op.getY()));
    return success();
  }
};

/// A float bias per column.
static bool isColumnBias(Value bias) {
  if (isAbsent(bias))
    return true;
  auto type = dyn_cast<RankedTensorType>(bias.getType());
  return type && type.getRank() == 1 && type.hasStaticShape() &&
         type.getElementType().isF32();
}

struct MatMulIntegerToFloatToContract
    : OpRewritePattern<ms::MatMulIntegerToFloatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ms::MatMulIntegerToFloatOp op,
                                PatternRewriter &rewriter) const override {
    Factor x = readFactor(op.getAScale()), w = readFactor(op.getBScale());
    if (!x || !w || !isSingle(op.getAScale()) || !isColumnBias(op.getBias()))
      return rewriter.notifyMatchFailure(op, "its scales or bias are open");
    FailureOr<Value> sums =
        makeProductSums(rewriter, op, op.getA(), op.getAZeroPoint(), op.getB(),
                        op.getBZeroPoint(), false, {});
    if (failed(sums))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = makeReal(b, op, *sums, multiply(b, op, x, w), op.getBias());
    rewriter.replaceOp(op, castLike(b, op, result, op.getY()));
    return success();
  }
};

struct DynamicQuantizeMatMulToContract
    : OpRewritePattern<ms::DynamicQuantizeMatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ms::DynamicQuantizeMatMulOp op,
                                PatternRewriter &rewriter) const override {
    Factor w = readFactor(op.getBScale());
    auto input = dyn_cast<RankedTensorType>(op.getA().getType());
    if (!w || !input || !isColumnBias(op.getBias()))
      return rewriter.notifyMatchFailure(op, "its scales or bias are open");
    auto weights = readMatrix(op.getB(), op.getBZeroPoint());
    if (!weights || weights->n < 2 || input.getRank() < 2 ||
        input.getShape().back() != weights->k)
      return rewriter.notifyMatchFailure(op, "its weights are no matrix");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type ui8 = b.getIntegerType(8, /*isSigned=*/false);
    OperationState state(
        op.getLoc(), onnx::DynamicQuantizeLinearOp::getOperationName(),
        op.getA(),
        {input.clone(ui8), RankedTensorType::get({}, b.getF32Type()),
         RankedTensorType::get({}, ui8)});
    Operation *quantizer = b.create(state);
    Value sums = makeSums(b, op,
                          {quantizer->getResult(0),
                           quantizer->getResult(2),
                           std::move(*weights),
                           {},
                           {}});
    Factor factor = multiply(b, op, {quantizer->getResult(1), std::nullopt}, w);
    Value result = makeReal(b, op, sums, factor, op.getBias());
    rewriter.replaceOp(op, castLike(b, op, result, op.getY()));
    return success();
  }
};
} // namespace

void kernels::addQuantizedOpPatterns(RewritePatternSet &patterns) {
  patterns.add<QLinearConvToContract, MicrosoftQLinearConvToContract,
               ConvIntegerToContract, MatMulIntegerToContract,
               QLinearMatMulToContract, QGemmToContract,
               MatMulIntegerToFloatToContract, DynamicQuantizeMatMulToContract>(
      patterns.getContext());
}
