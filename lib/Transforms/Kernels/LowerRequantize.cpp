// Requantization in plain arithmetic, on scalars and on vectors: what is left
// of it outside of kernels' last steps. Enters: `onnxq.requantize`. Leaves:
//
//   round(x) + zero_point, compared and selected, converted, narrowed

#include "LowerKernels.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWERREQUANTIZE
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using onnxq::RequantizeOp;

/// The value that a requantization rounds.
static Value emitScaled(ImplicitLocOpBuilder &b, RequantizeOp op) {
  Value x = op.getValue();
  if (!op.getScale())
    return x;
  Type real = op.getScale().getType();
  if (x.getType() != real)
    x = arith::SIToFPOp::create(b, real, x);
  return arith::MulFOp::create(b, x, op.getScale());
}

void kernels::applyScale(RequantizeOp op) {
  if (!op.getScale())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  op.getValueMutable().assign(emitScaled(b, op));
  op.getScaleMutable().clear();
}

static Value expand(RequantizeOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x = emitScaled(b, op);
  Type real = x.getType(), result = op.getType();
  bool isFloat = getElementTypeOrSelf(result).isF32();
  x = math::RoundEvenOp::create(b, x);
  // Zero, where it is no integer, must not stay negative.
  if (isFloat || !matchPattern(op.getZeroPoint(), m_Zero()))
    x = arith::AddFOp::create(
        b, x, b.createOrFold<arith::SIToFPOp>(real, op.getZeroPoint()));
  auto bound = [&](int64_t limit, arith::CmpFPredicate predicate) {
    auto value =
        b.getFloatAttr(getElementTypeOrSelf(real), static_cast<double>(limit));
    TypedAttr limits = value;
    if (auto vector = dyn_cast<VectorType>(real))
      limits = DenseElementsAttr::get(vector, value);
    Value edge = arith::ConstantOp::create(b, limits);
    Value isInside = arith::CmpFOp::create(b, predicate, x, edge);
    x = arith::SelectOp::create(b, isInside, x, edge);
  };
  bound(static_cast<int64_t>(op.getLower()), arith::CmpFPredicate::OGT);
  bound(static_cast<int64_t>(op.getUpper()), arith::CmpFPredicate::OLT);
  if (isFloat)
    return real == result ? x : Value(arith::TruncFOp::create(b, result, x));
  // In range now, so that a plain conversion is enough.
  Value whole =
      arith::FPToSIOp::create(b, onnxq::getLikeShaped(real, b.getI32Type()), x);
  return arith::TruncIOp::create(b, result, whole);
}

namespace {
struct LowerRequantize
    : public onnxquant::impl::LowerRequantizeBase<LowerRequantize> {
  void runOnOperation() override {
    getOperation().walk([&](RequantizeOp op) {
      op.replaceAllUsesWith(expand(op));
      op.erase();
      ++numLowered;
    });
  }
};
} // namespace
