// Activations over an axis and dropout, and the list of the family.

#include "ContractionLists.h"
#include "ContractionSupport.h"
#include "NNSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// Activations over an axis
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy, Tensor (*function)(Emitter &, Tensor, int64_t)>
struct LowerAlongAxis : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    Tensor x = castTo(e, operands[0], accumulatorTypeFor(type));
    Tensor y = function(e, x, positiveAxis(op.getAxis(), x.rank()));
    return SmallVector<Value>{castTo(e, y, type).value};
  }
};
} // namespace

/// One at the first largest element along the axis; a NaN is larger than any.
static Tensor hardmax(Emitter &e, Tensor x, int64_t axis) {
  Type type = x.elementType, indexType = e.getI64Type();
  Tensor max = e.reduce(x, {axis}, /*keepDims=*/true, e.lowest(type),
                        [&](Scalar v, Scalar m) { return e.max(m, v); });
  SmallVector<AffineExpr> whole, kept, reduced;
  for (int64_t i = 0; i < x.rank(); ++i) {
    whole.push_back(e.getAffineDimExpr(i));
    kept.push_back(i == axis ? e.getAffineConstantExpr(0) : whole[i]);
    if (i != axis)
      reduced.push_back(whole[i]);
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(x.rank(), 0, exprs, e.getContext());
  };
  Sizes sizes = e.sizes(x), first = sizes;
  first.erase(first.begin() + axis);
  Scalar none = e.highest(indexType);
  Tensor places = emitLoops(
      e, {x, max}, e.filled(first, none), {map(whole), map(kept), map(reduced)},
      [&](ArrayRef<Scalar> v, Scalar before) {
        Value isMax =
            e.createOrFold<arith::OrIOp>(e.compare(Emitter::EQ, v[0], v[1]),
                                         e.compare(Emitter::NE, v[0], v[0]));
        Scalar here = {e.toI64(linalg::IndexOp::create(e, axis)), indexType};
        return e.min(before, e.select(isMax, here, none));
      });
  return emitLoops(e, {places}, e.empty(sizes, type),
                   {map(reduced), map(whole)}, [&](ArrayRef<Scalar> v, Scalar) {
                     Scalar here = {e.toI64(linalg::IndexOp::create(e, axis)),
                                    indexType};
                     return e.select(e.compare(Emitter::EQ, v[0], here),
                                     e.number(1, type), e.number(0, type));
                   });
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// The only element of a tensor with one.
static Scalar readOnly(Emitter &e, Tensor tensor) {
  Indices zeros(tensor.rank(), e.index(0));
  for (int64_t i = 0; i < tensor.rank(); ++i)
    checkEqual(e, e.size(tensor, i), e.getIndexAttr(1),
               "ratio and training_mode must have one element");
  return e.read(tensor, zeros);
}

/// A number from [0, 1) that depends on a counter and a seed only: the counter
/// with its bits mixed by multiplications and shifts.
static Scalar uniform(Emitter &e, Value counter, int64_t seed) {
  auto constant = [&](uint64_t value) -> Value {
    return arith::ConstantIntOp::create(e, static_cast<int64_t>(value), 64);
  };
  auto mix = [&](Value bits, unsigned shift, uint64_t factor) -> Value {
    Value shifted = arith::ShRUIOp::create(e, bits, constant(shift));
    Value mixed = arith::XOrIOp::create(e, bits, shifted);
    return factor
               ? arith::MulIOp::create(e, mixed, constant(factor)).getResult()
               : mixed;
  };
  uint64_t step = 0x9e3779b97f4a7c15;
  Value bits = arith::MulIOp::create(
      e, arith::AddIOp::create(e, counter, constant(1)), constant(step));
  bits = arith::AddIOp::create(
      e, bits, constant(static_cast<uint64_t>(seed) * 0xd1342543de82ef95));
  bits = mix(bits, 30, 0xbf58476d1ce4e5b9);
  bits = mix(bits, 27, 0x94d049bb133111eb);
  bits = mix(bits, 31, 0);
  // The 24 bits that an f32 holds.
  Value high = arith::ShRUIOp::create(e, bits, constant(40));
  Type type = e.getF32Type();
  Scalar number = {arith::UIToFPOp::create(e, type, high), type};
  return e.mul(number, e.number(0x1p-24, type));
}

namespace {
struct LowerDropout : OpLowering<onnx::DropoutOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DropoutOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0], ratio = operands[1], training = operands[2];
    Type type = resultType(op), boolType = e.getI1Type();
    Sizes sizes = e.sizes(x);
    bool hasMask = !isa<NoneType>(op.getMask().getType());
    if (!training) {
      Tensor mask =
          hasMask ? e.filled(sizes, e.integer(1, boolType)) : Tensor();
      return SmallVector<Value>{x.value, mask.value};
    }
    Type f32 = e.getF32Type();
    Scalar share = ratio ? e.cast(readOnly(e, ratio), f32) : e.number(0.5, f32);
    Value trains = readOnly(e, training).value;
    Scalar one = e.number(1, f32), zero = e.number(0, f32);
    e.check(e.createOrFold<arith::AndIOp>(e.compare(Emitter::GE, share, zero),
                                          e.compare(Emitter::LT, share, one)),
            "ratio is not from 0 up to but not including 1");
    share = e.select(trains, share, zero);
    Scalar factor = e.div(one, e.sub(one, share));
    int64_t seed = op.getSeed().value_or(0);
    Tensor mask = e.generate(sizes, boolType, [&](ArrayRef<Value> indices) {
      Value counter = e.index(0);
      for (auto [index, size] : llvm::zip(indices, sizes))
        counter = e.addIndex(e.mulIndex(counter, e.asValue(size)), index);
      Scalar number = uniform(e, e.toI64(counter), seed);
      return Scalar{e.compare(Emitter::GE, number, share), boolType};
    });
    Type wide = accumulatorTypeFor(type);
    Tensor y = e.map({x, mask}, sizes, type, [&](ArrayRef<Scalar> v) {
      Scalar kept = e.mul(e.cast(v[0], wide), e.cast(factor, wide));
      return e.cast(e.select(v[1].value, kept, e.number(0, wide)), type);
    });
    return SmallVector<Value>{y.value, mask.value};
  }
};
} // namespace

void onnxquant::lowering::addNNLowerings(RewritePatternSet &patterns,
                                         const StorageTypeConverter &types) {
  patterns.add<LowerAlongAxis<onnx::SoftmaxOp, softmax>,
               LowerAlongAxis<onnx::LogSoftmaxOp, logSoftmax>,
               LowerAlongAxis<onnx::HardmaxOp, hardmax>, LowerDropout>(
      types, patterns.getContext());
  addPoolLowerings(patterns, types);
  addRoiLowerings(patterns, types);
  addNormalizationLowerings(patterns, types);
  addLossLowerings(patterns, types);
}
