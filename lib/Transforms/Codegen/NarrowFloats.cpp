// Floats by what microcontrollers have: sums, products, conversions to and from
// 32 bits. Enters: loops over buffers with math.floor, math.ceil and
// math.roundeven. Leaves: none of them on f32, and no conversion to 64 bits
// that needs only 32.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

namespace onnxquant {
#define GEN_PASS_DEF_NARROWFLOATS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// From here on every float is an integer.
static constexpr double integersFrom = 0x1p23;
/// How far back bounds are looked for.
static constexpr int deepest = 8;

namespace {
struct Bounds {
  double low = -INFINITY, high = INFINITY;
};

struct NarrowFloats : public onnxquant::impl::NarrowFloatsBase<NarrowFloats> {
  void runOnOperation() override;
};
} // namespace

/// What a float lies between, unless it is NaN.
static Bounds boundsOf(Value value, int depth = 0) {
  APFloat number(0.0f);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    double constant = number.convertToDouble();
    return {constant, constant};
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == deepest)
    return {};
  auto of = [&](unsigned operand) {
    return boundsOf(op->getOperand(operand), depth + 1);
  };
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op)) {
    Bounds a = of(0), b = of(1);
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  }
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op)) {
    Bounds a = of(0), b = of(1);
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  if (isa<arith::SelectOp>(op)) {
    Bounds a = of(1), b = of(2);
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  return {};
}

static Value makeConstant(ImplicitLocOpBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// A sum with 2^23 has no room for fractions: they are rounded half to even.
static Value roundEven(ImplicitLocOpBuilder &b, Value x) {
  Value size = math::AbsFOp::create(b, x),
        large = makeConstant(b, integersFrom);
  Value rounded =
      arith::SubFOp::create(b, arith::AddFOp::create(b, size, large), large);
  Value isSmall =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, size, large);
  Value chosen = arith::SelectOp::create(b, isSmall, rounded, size);
  return math::CopySignOp::create(b, chosen, x);
}

static Value floorOf(ImplicitLocOpBuilder &b, Value x) {
  Value rounded = roundEven(b, x);
  Value isAbove =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, rounded, x);
  Value less = arith::SubFOp::create(b, rounded, makeConstant(b, 1));
  return arith::SelectOp::create(b, isAbove, less, rounded);
}

static Value replacementOf(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  if (op->getNumResults() != 1)
    return {};
  if (auto convert = dyn_cast<arith::FPToSIOp>(op)) {
    Bounds bounds = boundsOf(convert.getIn());
    if (!convert.getType().isInteger(64) || bounds.low < -0x1p31 ||
        bounds.high >= 0x1p31)
      return {};
    Value narrow = arith::FPToSIOp::create(b, b.getI32Type(), convert.getIn());
    return arith::ExtSIOp::create(b, b.getI64Type(), narrow);
  }
  if (!op->getResult(0).getType().isF32())
    return {};
  if (auto round = dyn_cast<math::RoundEvenOp>(op))
    return roundEven(b, round.getOperand());
  if (auto floor = dyn_cast<math::FloorOp>(op))
    return floorOf(b, floor.getOperand());
  if (auto ceil = dyn_cast<math::CeilOp>(op))
    return arith::NegFOp::create(
        b, floorOf(b, arith::NegFOp::create(b, ceil.getOperand())));
  return {};
}

void NarrowFloats::runOnOperation() {
  SmallVector<Operation *> ops;
  getOperation().walk([&](Operation *op) {
    if (isa<arith::FPToSIOp, math::RoundEvenOp, math::FloorOp, math::CeilOp>(
            op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (Value replacement = replacementOf(op)) {
      op->getResult(0).replaceAllUsesWith(replacement);
      op->erase();
    }
}
