// Float ops of com.microsoft that stand for several ai.onnx ones: activations,
// normalization of a sum, and products with what follows them.

#include "MathSupport.h"
#include "QuantizationSupport.h"
#include "RecurrentSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ms = onnxquant::onnx::microsoft;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// A function of `x` plus a bias along the last dimension (or null), computed
/// in the accumulator's type.
static Tensor biasedFunction(Emitter &e, Tensor x, Tensor bias,
                             function_ref<Scalar(Scalar)> function) {
  Type type = x.elementType, real = accumulatorTypeFor(type);
  SmallVector<Tensor> inputs = {x};
  if (bias) {
    checkEqual(e, e.size(bias, 0), e.size(x, x.rank() - 1),
               "the bias has another size than the last dimension");
    inputs.push_back(bias);
  }
  return e.map(inputs, e.sizes(x), type, [&](ArrayRef<Scalar> in) {
    Scalar value = e.cast(in[0], real);
    if (in.size() > 1)
      value = e.add(value, e.cast(in[1], real));
    return e.cast(function(value), type);
  });
}

namespace {
struct LowerGelu : OpLowering<ms::GeluOp> {
  using OpLowering::OpLowering;
  Results lower(ms::GeluOp op, Operands operands, Emitter &e) const override {
    Tensor y = biasedFunction(e, operands[0], {},
                              [&](Scalar x) { return gelu(e, x); });
    return SmallVector<Value>{y.value};
  }
};

struct LowerBiasGelu : OpLowering<ms::BiasGeluOp> {
  using OpLowering::OpLowering;
  Results lower(ms::BiasGeluOp op, Operands operands,
                Emitter &e) const override {
    Tensor y = biasedFunction(e, operands[0], operands[1],
                              [&](Scalar x) { return gelu(e, x); });
    return SmallVector<Value>{y.value};
  }
};

struct LowerQuickGelu : OpLowering<ms::QuickGeluOp> {
  using OpLowering::OpLowering;
  Results lower(ms::QuickGeluOp op, Operands operands,
                Emitter &e) const override {
    double alpha = op.getAlpha().convertToFloat();
    Tensor y = biasedFunction(e, operands[0], {}, [&](Scalar x) {
      Scalar slope = e.number(alpha, x.elementType);
      return e.mul(x, sigmoid(e, e.mul(slope, x)));
    });
    return SmallVector<Value>{y.value};
  }
};

struct LowerFastGelu : OpLowering<ms::FastGeluOp> {
  using OpLowering::OpLowering;
  Results lower(ms::FastGeluOp op, Operands operands,
                Emitter &e) const override {
    Tensor y = biasedFunction(e, operands[0], operands[1],
                              [&](Scalar x) { return fastGelu(e, x); });
    return SmallVector<Value>{y.value};
  }

  /// 0.5 * x * (1 + tanh(x * (0.797885 + 0.035677 * x^2))).
  static Scalar fastGelu(Emitter &e, Scalar x) {
    Type type = x.elementType;
    Scalar square = e.mul(e.number(0.035677408136300125, type), e.mul(x, x));
    Scalar inner = e.mul(x, e.add(square, e.number(0.7978845608028654, type)));
    Scalar half = e.mul(e.number(0.5, type), x);
    return e.mul(half, e.add(e.number(1, type), e.math<math::TanhOp>(inner)));
  }
};

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

struct LowerSkipLayerNormalization : OpLowering<ms::SkipLayerNormalizationOp> {
  using OpLowering::OpLowering;
  Results lower(ms::SkipLayerNormalizationOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op), real = accumulatorTypeFor(type);
    Tensor input = operands[0], gamma = operands[2], beta = operands[3];
    int64_t last = input.rank() - 1;
    OpFoldResult width = e.size(input, last);
    for (Tensor vector : {gamma, beta, operands[4]})
      if (vector)
        checkEqual(e, e.size(vector, 0), width,
                   "a weight has another size than the last dimension");

    Tensor sum = sumOf(e, {input, operands[1], operands[4]}, real);
    Scalar count =
        e.cast(Scalar{e.toI64(e.asValue(width)), e.getI64Type()}, real);
    auto meanOf = [&](Tensor values) {
      Tensor total =
          e.reduce(values, {last}, /*keepDims=*/true, e.number(0, real),
                   [&](Scalar v, Scalar acc) { return e.add(acc, v); });
      return e.map({total}, e.sizes(total), real,
                   [&](ArrayRef<Scalar> in) { return e.div(in[0], count); });
    };
    Sizes sizes = e.sizes(sum);
    Tensor mean = meanOf(sum);
    Tensor squares = e.map({sum, mean}, sizes, real, [&](ArrayRef<Scalar> in) {
      Scalar distance = e.sub(in[0], in[1]);
      return e.mul(distance, distance);
    });
    Tensor variance = meanOf(squares);
    Scalar epsilon = e.number(op.getEpsilon().convertToFloat(), real);
    Tensor inverse =
        e.map({variance}, e.sizes(variance), real, [&](ArrayRef<Scalar> in) {
          Scalar root = e.math<math::SqrtOp>(e.add(in[0], epsilon));
          return e.div(e.number(1, real), root);
        });

    SmallVector<Tensor> inputs = {sum, mean, inverse, gamma};
    if (beta)
      inputs.push_back(beta);
    Tensor y = e.map(inputs, sizes, type, [&](ArrayRef<Scalar> in) {
      Scalar scaled =
          e.mul(e.mul(e.sub(in[0], in[1]), in[2]), e.cast(in[3], real));
      if (in.size() > 4)
        scaled = e.add(scaled, e.cast(in[4], real));
      return e.cast(scaled, type);
    });
    SmallVector<Value> results(op->getNumResults());
    results[0] = y.value;
    Tensor others[] = {mean, inverse, sum};
    for (auto [i, tensor] : llvm::enumerate(others))
      if (!onnx::isLeftOut(op->getResult(i + 1)))
        results[i + 1] = castTo(e, tensor, resultType(op, i + 1)).value;
    return results;
  }

  /// The sum of those that are there, in the sizes of the first.
  static Tensor sumOf(Emitter &e, ArrayRef<Tensor> all, Type real) {
    SmallVector<Tensor> inputs;
    llvm::copy_if(all, std::back_inserter(inputs),
                  [](Tensor tensor) { return static_cast<bool>(tensor); });
    Sizes sizes = e.sizes(all[0]);
    for (auto [size, expected] : llvm::zip(e.broadcastSizes(inputs), sizes))
      checkEqual(e, size, expected, "the operands don't go together");
    return e.map(inputs, sizes, real, [&](ArrayRef<Scalar> in) {
      Scalar sum = e.cast(in[0], real);
      for (Scalar value : in.drop_front())
        sum = e.add(sum, e.cast(value, real));
      return sum;
    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The activation of a fused op from its name and parameters; none if it isn't
/// known. No name is the identity.
static std::optional<Activation> fusedActivation(StringRef name,
                                                 ArrayRef<double> parameters) {
  std::optional<Activation> function = findActivation(name);
  std::string lower = name.lower();
  double infinity = std::numeric_limits<double>::infinity();
  if (lower.empty() || lower == "clip" || lower == "hardswish")
    function = Activation{lower, -infinity, infinity};
  if (function && !parameters.empty())
    function->alpha = parameters[0];
  if (function && parameters.size() > 1)
    function->beta = parameters[1];
  return function;
}

static Scalar applyFused(Emitter &e, const Activation &function, Scalar x) {
  if (function.name.empty())
    return x;
  Type type = x.elementType;
  if (function.name == "clip")
    return e.min(e.max(x, e.number(function.alpha, type)),
                 e.number(function.beta, type));
  if (function.name == "hardswish")
    return e.mul(x, hardSigmoid(e, x, 1.0 / 6, 0.5));
  return activate(e, function, x);
}

namespace {
struct LowerFusedConv : OpLowering<ms::FusedConvOp> {
  using OpLowering::OpLowering;
  Results lower(ms::FusedConvOp op, Operands operands,
                Emitter &e) const override {
    SmallVector<double> parameters;
    if (std::optional<ArrayAttr> list = op.getActivationParams())
      for (auto value : list->getAsRange<FloatAttr>())
        parameters.push_back(value.getValueAsDouble());
    StringRef name = op.getActivation().value_or("");
    std::optional<Activation> function = fusedActivation(name, parameters);
    if (!function)
      return refuse(op, "the activation '" + name + "' isn't known");

    Tensor x = operands[0], w = operands[1], z = operands[3];
    Type type = resultType(op), real = accumulatorTypeFor(type);
    Sizes kernel = e.sizes(w);
    kernel.erase(kernel.begin(), kernel.begin() + 2);
    WindowSizes window = getWindowSizes(e, op, x, kernel);
    Tensor sums = convolve(e, x, w, window, op.getGroup(), real, operands[2]);
    SmallVector<Tensor> inputs = {sums};
    if (z) {
      for (auto [size, expected] : llvm::zip(e.sizes(z), e.sizes(sums)))
        checkEqual(e, size, expected,
                   "the sum has another size than the result");
      inputs.push_back(z);
    }
    Tensor y = e.map(inputs, e.sizes(sums), type, [&](ArrayRef<Scalar> in) {
      Scalar sum = in[0];
      if (in.size() > 1)
        sum = e.add(sum, e.cast(in[1], real));
      return e.cast(applyFused(e, *function, sum), type);
    });
    return SmallVector<Value>{y.value};
  }
};

struct LowerFusedGemm : OpLowering<ms::FusedGemmOp> {
  using OpLowering::OpLowering;
  Results lower(ms::FusedGemmOp op, Operands operands,
                Emitter &e) const override {
    StringRef name = op.getActivation().value_or("");
    SmallVector<double> parameters;
    if (op.getActivationAlpha())
      parameters.push_back(op.getActivationAlpha()->convertToFloat());
    if (op.getActivationAlpha() && op.getActivationBeta())
      parameters.push_back(op.getActivationBeta()->convertToFloat());
    std::optional<Activation> function = fusedActivation(name, parameters);
    Type type = resultType(op), real = accumulatorTypeFor(type);
    if (!function || (!isFloat(real) && !name.empty()))
      return refuse(op, "the activation '" + name + "' isn't known");

    Tensor a = operands[0], b = operands[1], c = operands[2];
    if (op.getTransA() != 0)
      a = e.transpose(a, {1, 0});
    if (op.getTransB() != 0)
      b = e.transpose(b, {1, 0});
    Tensor product = matmul(e, a, b, real);
    Sizes sizes = e.sizes(product);
    SmallVector<Tensor> inputs = {product};
    if (c) {
      inputs.push_back(c);
      for (auto [size, expected] : llvm::zip(e.broadcastSizes(inputs), sizes))
        checkEqual(e, size, expected, "the bias doesn't fit the product");
    }
    double alpha = op.getAlpha().convertToFloat();
    double beta = op.getBeta().convertToFloat();
    Tensor y = e.map(inputs, sizes, type, [&](ArrayRef<Scalar> in) {
      Scalar sum = scaled(e, in[0], alpha);
      if (in.size() > 1)
        sum = e.add(sum, scaled(e, e.cast(in[1], real), beta));
      return e.cast(applyFused(e, *function, sum), type);
    });
    return SmallVector<Value>{y.value};
  }

  static Scalar scaled(Emitter &e, Scalar x, double factor) {
    return factor == 1 ? x : e.mul(x, e.number(factor, x.elementType));
  }
};

struct LowerFusedMatMul : OpLowering<ms::FusedMatMulOp> {
  using OpLowering::OpLowering;
  Results lower(ms::FusedMatMulOp op, Operands operands,
                Emitter &e) const override {
    Tensor a =
        arranged(e, operands[0], op.getTransA() != 0, op.getTransBatchA() != 0);
    Tensor b =
        arranged(e, operands[1], op.getTransB() != 0, op.getTransBatchB() != 0);
    Type type = resultType(op), real = accumulatorTypeFor(type);
    Tensor product = matmul(e, a, b, real);
    Scalar alpha = e.number(op.getAlpha().convertToFloat(), real);
    Tensor y =
        e.map({product}, e.sizes(product), type, [&](ArrayRef<Scalar> in) {
          return e.cast(e.mul(in[0], alpha), type);
        });
    return SmallVector<Value>{y.value};
  }

  /// [b0, b1.., m, k] as [b1.., m, b0, k] if `movesBatch`, then with the last
  /// two dimensions swapped if `isTransposed`. Vectors stay.
  static Tensor arranged(Emitter &e, Tensor x, bool isTransposed,
                         bool movesBatch) {
    int64_t rank = x.rank();
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
    if (movesBatch && rank > 2)
      std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    if (isTransposed && rank > 1)
      std::swap(order[rank - 1], order[rank - 2]);
    return llvm::is_sorted(order) ? x : e.transpose(x, order);
  }
};
} // namespace

void onnxquant::lowering::addMicrosoftFused(RewritePatternSet &patterns,
                                            const StorageTypeConverter &types) {
  patterns.add<LowerGelu, LowerBiasGelu, LowerQuickGelu, LowerFastGelu,
               LowerSkipLayerNormalization, LowerFusedConv, LowerFusedGemm,
               LowerFusedMatMul>(types, patterns.getContext());
}
