// Arithmetic, comparisons, logic and bits of operands that broadcast, and the
// list of the Math family.

#include "MathSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Functions of two elements
//===----------------------------------------------------------------------===//

template <typename ArithOp>
static Scalar bitwise(Emitter &e, Scalar a, Scalar b) {
  return {ArithOp::create(e, a.value, b.value).getResult(), a.elementType};
}

static Scalar add(Emitter &e, Scalar a, Scalar b) { return e.add(a, b); }
static Scalar sub(Emitter &e, Scalar a, Scalar b) { return e.sub(a, b); }
static Scalar mul(Emitter &e, Scalar a, Scalar b) { return e.mul(a, b); }
static Scalar minimum(Emitter &e, Scalar a, Scalar b) { return e.min(a, b); }
static Scalar maximum(Emitter &e, Scalar a, Scalar b) { return e.max(a, b); }

/// `a` shifted by `b` bits. Zeros come in, and shifting by the width or more
/// leaves nothing else.
static Scalar shift(Emitter &e, Scalar a, Scalar b, bool left) {
  Type type = a.value.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(e, e.getIntegerAttr(type, value));
  };
  Value zero = constant(0), width = constant(type.getIntOrFloatBitWidth());
  Value fits =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, b.value, width);
  Value count = arith::SelectOp::create(e, fits, b.value, zero);
  Value shifted = left ? Value(arith::ShLIOp::create(e, a.value, count))
                       : arith::ShRUIOp::create(e, a.value, count);
  return {arith::SelectOp::create(e, fits, shifted, zero), a.elementType};
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Two operands or more, joined from left to right.
template <typename OpTy, Scalar (*function)(Emitter &, Scalar, Scalar)>
struct LowerJoin : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Tensor c = e.map(operands.all(), resultType(op), [&](ArrayRef<Scalar> v) {
      Scalar joined = v[0];
      for (Scalar next : v.drop_front())
        joined = function(e, joined, next);
      return joined;
    });
    return SmallVector<Value>{c.value};
  }
};

struct LowerMean : OpLowering<onnx::MeanOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MeanOp op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    Tensor mean = e.map(operands.all(), type, [&](ArrayRef<Scalar> v) {
      Scalar sum = v[0];
      for (Scalar next : v.drop_front())
        sum = e.add(sum, next);
      return e.div(sum, e.number(v.size(), type));
    });
    return SmallVector<Value>{mean.value};
  }
};

template <typename OpTy, Emitter::Compare predicate>
struct LowerCompare : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    Tensor c = e.map(operands.all(), type, [&](ArrayRef<Scalar> v) {
      return Scalar{e.compare(predicate, v[0], v[1]), type};
    });
    return SmallVector<Value>{c.value};
  }
};

struct LowerBitShift : OpLowering<onnx::BitShiftOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::BitShiftOp op, Operands operands,
                Emitter &e) const override {
    bool left = op.getDirection() == "LEFT";
    Tensor z = e.map(operands.all(), resultType(op), [&](ArrayRef<Scalar> v) {
      return shift(e, v[0], v[1], left);
    });
    return SmallVector<Value>{z.value};
  }
};

} // namespace

void onnxquant::lowering::addMathLowerings(RewritePatternSet &patterns,
                                           const StorageTypeConverter &types) {
  patterns.add<LowerJoin<onnx::AddOp, add>, LowerJoin<onnx::SubOp, sub>,
               LowerJoin<onnx::MulOp, mul>, LowerJoin<onnx::MaxOp, maximum>,
               LowerJoin<onnx::MinOp, minimum>, LowerJoin<onnx::SumOp, add>,
               LowerJoin<onnx::AndOp, bitwise<arith::AndIOp>>,
               LowerJoin<onnx::OrOp, bitwise<arith::OrIOp>>,
               LowerJoin<onnx::XorOp, bitwise<arith::XOrIOp>>,
               LowerJoin<onnx::BitwiseAndOp, bitwise<arith::AndIOp>>,
               LowerJoin<onnx::BitwiseOrOp, bitwise<arith::OrIOp>>,
               LowerJoin<onnx::BitwiseXorOp, bitwise<arith::XOrIOp>>,
               LowerCompare<onnx::EqualOp, Emitter::EQ>,
               LowerCompare<onnx::GreaterOp, Emitter::GT>,
               LowerCompare<onnx::GreaterOrEqualOp, Emitter::GE>,
               LowerCompare<onnx::LessOp, Emitter::LT>,
               LowerCompare<onnx::LessOrEqualOp, Emitter::LE>, LowerMean,
               LowerBitShift>(types, patterns.getContext());
  addMathUnaryLowerings(patterns, types);
  addMathActivationLowerings(patterns, types);
  addMathDivisionLowerings(patterns, types);
  addMathSelectLowerings(patterns, types);
}
