// Matrix products and convolutions of quantized operands in the ai.onnx domain,
// and QLinearConv of com.microsoft.
//
// Operands lose their zero points as they are loaded, so that padding is zero;
// sums are `i32` (`f32` for 8-bit floats). The multiplier of a requantization
// is computed once per scale, not per element.

#include "QuantizationSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

static Type sumType(Emitter &e, Type type) {
  return isFloat(type) ? Type(e.getF32Type()) : e.getI32Type();
}

/// (a - a_zero) * (b - b_zero) as numpy's matmul.
static Tensor integerMatmul(Emitter &e, Tensor a, Tensor aZero, Tensor b,
                            Tensor bZero) {
  Type type = sumType(e, a.elementType);
  int64_t row = std::max<int64_t>(a.rank() - 2, 0);
  return matmul(e, a, b, type, minusZero(e, a, aZero, row, type),
                minusZero(e, b, bZero, b.rank() - 1, type));
}

/// F3: sums to quantized numbers. `multiplier` and `zero` broadcast.
static Tensor requantize(Emitter &e, Tensor sums, Tensor multiplier,
                         Tensor zero, Type type) {
  Type real = multiplier.elementType;
  if (hasOneElement(multiplier) && hasOneElement(zero)) {
    Scalar m = onlyElement(e, multiplier), z = onlyElement(e, zero);
    return e.map({sums}, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
      return roundAndClamp(e, e.mul(e.cast(in[0], real), m), z, type);
    });
  }
  return e.map(
      {sums, multiplier, zero}, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
        return roundAndClamp(e, e.mul(e.cast(in[0], real), in[1]), in[2], type);
      });
}

/// a * b / y of real scales, which broadcast.
static Tensor multiplierOf(Emitter &e, Tensor a, Tensor b, Tensor y) {
  Tensor product = scaleProduct(e, a, b);
  Type real = product.elementType;
  return e.map({product, y}, real, [&](ArrayRef<Scalar> s) {
    return e.div(s[0], e.cast(s[1], real));
  });
}

namespace {
struct LowerMatMulInteger : OpLowering<onnx::MatMulIntegerOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MatMulIntegerOp op, Operands operands,
                Emitter &e) const override {
    Tensor y =
        integerMatmul(e, operands[0], operands[2], operands[1], operands[3]);
    return SmallVector<Value>{y.value};
  }
};

struct LowerQLinearMatMul : OpLowering<onnx::QLinearMatMulOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::QLinearMatMulOp op, Operands operands,
                Emitter &e) const override {
    Tensor a = operands[0], b = operands[3];
    Tensor sums = integerMatmul(e, a, operands[2], b, operands[5]);
    auto rows = [&](Tensor parameter) {
      return alongRows(e, parameter, a.rank(), b.rank());
    };
    Tensor bScale = alongColumns(e, operands[4], a.rank(), b.rank());
    Tensor multiplier =
        multiplierOf(e, rows(operands[1]), bScale, rows(operands[6]));
    Tensor y =
        requantize(e, sums, multiplier, rows(operands[7]), resultType(op));
    return SmallVector<Value>{y.value};
  }
};

struct LowerConvInteger : OpLowering<onnx::ConvIntegerOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ConvIntegerOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], w = operands[1];
    Type i32 = e.getI32Type();
    Sizes kernel = e.sizes(w);
    kernel.erase(kernel.begin(), kernel.begin() + 2);
    WindowSizes window = getWindowSizes(e, op, x, kernel);
    Tensor y = convolve(e, x, w, window, op.getGroup(), i32, /*bias=*/{},
                        minusZero(e, x, operands[2], 1, i32),
                        minusZero(e, w, operands[3], 0, i32));
    return SmallVector<Value>{y.value};
  }
};
} // namespace

/// Both domains' QLinearConv of an `x` whose channels are dimension 1.
template <typename OpTy>
static Tensor quantizedConv(Emitter &e, OpTy op, Tensor x, Operands operands) {
  Tensor w = operands[3];
  Type i32 = e.getI32Type();
  Sizes kernel = e.sizes(w);
  kernel.erase(kernel.begin(), kernel.begin() + 2);
  WindowSizes window = getWindowSizes(e, op, x, kernel);
  Tensor sums = convolve(e, x, w, window, op.getGroup(), i32, operands[8],
                         minusZero(e, x, operands[2], 1, i32),
                         minusZero(e, w, operands[5], 0, i32));
  Tensor multiplier = multiplierOf(e, operands[1], operands[4], operands[6]);
  return requantize(e, sums, alongAxis(e, multiplier, 1, x.rank()), operands[7],
                    resultType(op));
}

namespace {
struct LowerQLinearConv : OpLowering<onnx::QLinearConvOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::QLinearConvOp op, Operands operands,
                Emitter &e) const override {
    return SmallVector<Value>{
        quantizedConv(e, op, operands[0], operands).value};
  }
};

struct LowerMicrosoftQLinearConv : OpLowering<onnx::microsoft::QLinearConvOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::microsoft::QLinearConvOp op, Operands operands,
                Emitter &e) const override {
    bool isLast = op.getChannelsLast() != 0;
    Tensor x = isLast ? channelsSecond(e, operands[0]) : operands[0];
    Tensor y = quantizedConv(e, op, x, operands);
    return SmallVector<Value>{(isLast ? channelsLast(e, y) : y).value};
  }
};
} // namespace

void onnxquant::lowering::addQuantizedProducts(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerMatMulInteger, LowerQLinearMatMul, LowerConvInteger,
               LowerQLinearConv, LowerMicrosoftQLinearConv>(
      types, patterns.getContext());
}
