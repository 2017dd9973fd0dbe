// Scales of accumulators, and the end of epilogues that requantize.

#include "Requantization.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Support/Quantization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

Factor kernels::readFactor(Value scale) {
  auto type = dyn_cast<RankedTensorType>(scale.getType());
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      !type.getElementType().isF32())
    return {};
  Factor factor = {scale, {}};
  if (ElementsAttr elements = onnx::getConstant(scale))
    if (auto values =
            onnx::readFloats(elements, std::numeric_limits<int64_t>::max())) {
      factor.values.emplace();
      for (double value : *values)
        factor.values->push_back(static_cast<float>(value));
    }
  return factor;
}

Factor kernels::makeFactor(float value) {
  return {{}, SmallVector<float>{value}};
}

static Value materialize(ImplicitLocOpBuilder &b, const Factor &factor) {
  if (factor.value)
    return factor.value;
  return makeNumbers<float>(b, static_cast<int64_t>(factor.values->size()),
                            b.getF32Type(), *factor.values, "factor");
}

/// Two factors combined: now, or by an op of this name.
static Factor combine(ImplicitLocOpBuilder &b, Operation *node, const Factor &x,
                      const Factor &y, StringRef name,
                      function_ref<float(float, float)> compute) {
  if (x.values && y.values) {
    size_t count = std::max(x.values->size(), y.values->size());
    Factor result;
    result.values.emplace();
    for (size_t i = 0; i < count; ++i)
      result.values->push_back(
          compute((*x.values)[x.values->size() == 1 ? 0 : i],
                  (*y.values)[y.values->size() == 1 ? 0 : i]));
    return result;
  }
  Value left = materialize(b, x), right = materialize(b, y);
  auto leftType = cast<RankedTensorType>(left.getType());
  auto rightType = cast<RankedTensorType>(right.getType());
  bool isLeft = leftType.getRank() > rightType.getRank() ||
                (leftType.getRank() == rightType.getRank() &&
                 leftType.getNumElements() >= rightType.getNumElements());
  return {makeOp(b, node, name, {left, right}, isLeft ? leftType : rightType),
          {}};
}

Factor kernels::multiply(ImplicitLocOpBuilder &b, Operation *node, Factor x,
                         Factor y) {
  return combine(b, node, x, y, onnx::MulOp::getOperationName(),
                 [](float a, float c) { return a * c; });
}

Factor kernels::divide(ImplicitLocOpBuilder &b, Operation *node, Factor x,
                       Factor y) {
  return combine(b, node, x, y, onnx::DivOp::getOperationName(),
                 [](float a, float c) { return a / c; });
}

Value kernels::makeReal(ImplicitLocOpBuilder &b, Operation *node, Value sums,
                        Factor factor, Value bias) {
  Value real = makeCast(b, node, sums, b.getF32Type());
  real = makeOp(b, node, onnx::MulOp::getOperationName(),
                {real, materialize(b, factor)}, real.getType());
  if (isAbsent(bias))
    return real;
  return makeOp(b, node, onnx::AddOp::getOperationName(), {real, bias},
                real.getType());
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

RequantizeEpilogue::RequantizeEpilogue(
    ImplicitLocOpBuilder &b, const Requantization &requantization, int64_t rank,
    SmallVectorImpl<EpilogueOperand> &epilogueOperands)
    : requantization(requantization),
      zeroPoint(readInteger(requantization.zeroPoint)) {
  auto addSingle = [&](Value value) {
    SmallVector<AffineExpr> first(
        cast<RankedTensorType>(value.getType()).getRank(),
        b.getAffineConstantExpr(0));
    epilogueOperands.push_back(
        {value, AffineMap::get(rank, 0, first, b.getContext())});
    return epilogueOperands.size();
  };
  const Factor &scale = requantization.scale;
  if (!scale.values && isSingle(scale.value)) {
    scaleNumber = addSingle(scale.value);
  } else if (!scale.values || scale.values->size() > 1) {
    epilogueOperands.push_back(perChannel(materialize(b, scale), rank));
    scaleNumber = epilogueOperands.size();
  }
  if (!zeroPoint)
    zeroNumber = addSingle(requantization.zeroPoint);
}

Type RequantizeEpilogue::getElementType() const {
  return cast<RankedTensorType>(requantization.zeroPoint.getType())
      .getElementType();
}

Value RequantizeEpilogue::emit(ImplicitLocOpBuilder &b, Value accumulator,
                               ValueRange arguments) const {
  Type type = getElementType(), f32 = b.getF32Type();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(
        b, b.getF32FloatAttr(static_cast<float>(value)));
  };
  const Factor &factor = requantization.scale;
  Value scale =
      scaleNumber ? arguments[*scaleNumber] : constant(factor.values->front());
  Value zero;
  if (zeroPoint)
    zero = arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(*zeroPoint)));
  else if (type.isUnsignedInteger())
    zero = arith::ExtUIOp::create(b, b.getI32Type(), arguments[*zeroNumber]);
  else
    zero = arith::ExtSIOp::create(b, b.getI32Type(), arguments[*zeroNumber]);
  QuantType stored = {type.getIntOrFloatBitWidth(), !type.isUnsignedInteger()};
  int64_t lower = stored.min(), upper = stored.max();
  Value value = accumulator;
  if (const auto &limits = requantization.limits) {
    // Products with finite scales are no NaN: limits are bounds. NaN would
    // become the lower one.
    bool areBounds = zeroPoint && factor.values &&
                     llvm::all_of(*factor.values, [](float value) {
                       return std::isfinite(value);
                     });
    if (areBounds) {
      auto toBound = [&](double limit) {
        return static_cast<int64_t>(
            std::clamp<double>(limit + *zeroPoint, stored.min(), stored.max()));
      };
      lower = toBound(limits->low);
      upper = toBound(limits->high);
    } else {
      value = arith::SIToFPOp::create(b, f32, value);
      value = arith::MulFOp::create(b, value, scale);
      if (std::isfinite(limits->low))
        value = arith::MaximumFOp::create(b, value, constant(limits->low));
      if (std::isfinite(limits->high))
        value = arith::MinimumFOp::create(b, value, constant(limits->high));
      scale = {};
    }
  }
  return onnxq::RequantizeOp::create(b, onnxq::getRegionType(type), value,
                                     scale, zero, lower, upper);
}
