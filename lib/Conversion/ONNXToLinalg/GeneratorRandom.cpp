// Random values. Every element is a function of the node's key and the
// element's place in memory order, so that runs repeat, whatever the order of
// the loops.
//
// The key is made of `seed`, or, without it, of the names of the node and its
// results. The generator is SplitMix64, counted instead of stepped.

#include "MathSupport.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

//===----------------------------------------------------------------------===//
// The generator
//===----------------------------------------------------------------------===//

static constexpr uint64_t step = 0x9e3779b97f4a7c15;
static constexpr uint64_t factors[] = {0xbf58476d1ce4e5b9, 0x94d049bb133111eb};
static constexpr unsigned shifts[] = {30, 27, 31};

static uint64_t scramble(uint64_t bits) {
  bits = (bits ^ (bits >> shifts[0])) * factors[0];
  bits = (bits ^ (bits >> shifts[1])) * factors[1];
  return bits ^ (bits >> shifts[2]);
}

static uint64_t keyOf(Operation *op, std::optional<APFloat> seed) {
  if (seed)
    return scramble(seed->bitcastToAPInt().getZExtValue());
  std::string names;
  for (StringRef attribute : {onnx::nodeNameAttr, onnx::resultNamesAttr})
    if (Attribute value = op->getAttr(attribute)) {
      llvm::raw_string_ostream stream(names);
      value.print(stream);
    }
  return scramble(llvm::xxh3_64bits(names));
}

namespace {
/// Emits draws; `number` tells draws of one element apart.
struct Random {
  Emitter &e;
  uint64_t key;
  Sizes sizes;
  unsigned drawsPerElement = 1;

  Value constant(uint64_t value) const {
    return arith::ConstantOp::create(
        e, e.getI64IntegerAttr(static_cast<int64_t>(value)));
  }

  /// 64 random bits for the element at `indices`.
  Value bits(ArrayRef<Value> indices, unsigned number = 0) const {
    Value place = e.index(0);
    for (auto [index, size] : llvm::zip(indices, sizes))
      place = e.addIndex(e.mulIndex(place, e.asValue(size)), index);
    Value counter = arith::MulIOp::create(e, e.toI64(place),
                                          constant(step * drawsPerElement));
    Value bits =
        arith::AddIOp::create(e, counter, constant(key + step * (number + 1)));
    for (unsigned round = 0; round < 3; ++round) {
      Value moved = arith::ShRUIOp::create(e, bits, constant(shifts[round]));
      bits = arith::XOrIOp::create(e, bits, moved);
      if (round < 2)
        bits = arith::MulIOp::create(e, bits, constant(factors[round]));
    }
    return bits;
  }

  /// A number from 0, or from one unit above it, to 1, one unit less included:
  /// as many digits as the compute type of `type` has.
  Scalar uniform(ArrayRef<Value> indices, Type type, unsigned number = 0,
                 bool aboveZero = false) const {
    Type compute = computeType(type);
    unsigned digits = compute.isF64() ? 53 : 24;
    Value drawn =
        arith::ShRUIOp::create(e, bits(indices, number), constant(64 - digits));
    if (aboveZero)
      drawn = arith::AddIOp::create(e, drawn, constant(1));
    Scalar whole{arith::SIToFPOp::create(e, compute, drawn), type};
    return e.mul(whole, e.number(std::ldexp(1.0, -int(digits)), type));
  }
};

//===----------------------------------------------------------------------===//
// Uniform and normal values
//===----------------------------------------------------------------------===//

/// A value by the attributes `low` and `high`.
template <typename OpTy>
Scalar drawUniform(OpTy op, const Random &random, ArrayRef<Value> at,
                   Type type) {
  Emitter &e = random.e;
  double low = op.getLow().convertToFloat(),
         high = op.getHigh().convertToFloat();
  Scalar drawn = random.uniform(at, type);
  return e.add(e.number(low, type), e.mul(drawn, e.number(high - low, type)));
}

/// A value by the attributes `mean` and `scale`: the radius and the angle of
/// a normally distributed point give one of its coordinates.
template <typename OpTy>
Scalar drawNormal(OpTy op, const Random &random, ArrayRef<Value> at,
                  Type type) {
  Emitter &e = random.e;
  Scalar first = random.uniform(at, type, 0, /*aboveZero=*/true),
         second = random.uniform(at, type, 1);
  Scalar radius = e.math<math::SqrtOp>(
      e.mul(e.number(-2, type), e.math<math::LogOp>(first)));
  Scalar angle = e.mul(e.number(2 * M_PI, type), second);
  Scalar normal = e.mul(radius, e.math<math::CosOp>(angle));
  return e.add(e.number(op.getMean().convertToFloat(), type),
               e.mul(e.number(op.getScale().convertToFloat(), type), normal));
}

template <typename OpTy>
using Draw = Scalar (*)(OpTy, const Random &, ArrayRef<Value>, Type);

/// Random floats of the operand's shape, or, without one, of the result's.
template <typename OpTy, Draw<OpTy> draw>
struct LowerRandom : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Type type = resultType(op);
    Sizes sizes;
    if (operands.size() > 0)
      sizes = e.sizes(operands[0]);
    else
      for (Attribute size : op->template getAttrOfType<ArrayAttr>("shape"))
        sizes.push_back(e.getIndexAttr(cast<IntegerAttr>(size).getInt()));
    Random random{e, keyOf(op, op.getSeed()), sizes, /*drawsPerElement=*/2};
    Tensor y = e.generate(sizes, type, [&](ArrayRef<Value> at) {
      return draw(op, random, at, type);
    });
    return SmallVector<Value>{y.value};
  }
};

//===----------------------------------------------------------------------===//
// Events and classes
//===----------------------------------------------------------------------===//

struct LowerBernoulli : OpLowering<onnx::BernoulliOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::BernoulliOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op);
    Tensor input = operands[0];
    Random random{e, keyOf(op, op.getSeed()), e.sizes(input)};
    Tensor y = e.generate(random.sizes, type, [&](ArrayRef<Value> at) {
      Scalar drawn = random.uniform(at, input.elementType);
      Value happens = e.compare(Emitter::LT, drawn, e.read(input, at));
      return e.select(happens, e.number(1, type), e.number(0, type));
    });
    return SmallVector<Value>{y.value};
  }
};

/// Finds the class at which the sum of the probabilities up to it passes a
/// random part of their total.
struct LowerMultinomial : OpLowering<onnx::MultinomialOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::MultinomialOp op, Operands operands,
                Emitter &e) const override {
    Type type = resultType(op), f64 = e.getF64Type();
    OpFoldResult batch = e.size(operands[0], 0),
                 classes = e.size(operands[0], 1);
    checkPositive(e, classes, "the number of classes");
    Tensor sums = sumUp(e, operands[0]);
    Sizes sizes = {batch, e.getIndexAttr(op.getSampleSize())};
    Random random{e, keyOf(op, op.getSeed()), sizes};
    Value last = e.subIndex(e.asValue(classes), e.index(1));
    Tensor y = e.generate(sizes, type, [&](ArrayRef<Value> at) {
      Scalar total = e.read(sums, {at[0], last});
      Scalar part = e.mul(random.uniform(at, f64), total);
      SmallVector<Value> found = e.forEach(
          {classes}, e.index(0),
          [&](ArrayRef<Value> index, ValueRange count) -> SmallVector<Value> {
            Value isBelow =
                e.compare(Emitter::LE, e.read(sums, {at[0], index[0]}), part);
            Value more = e.addIndex(count[0], e.index(1));
            return {arith::SelectOp::create(e, isBelow, more, count[0])};
          });
      Value chosen = e.minIndex(found[0], last);
      return e.cast({e.toI64(chosen), e.getI64Type()}, type);
    });
    return SmallVector<Value>{y.value};
  }

  /// The sums of the classes' probabilities, up to a common factor per row.
  static Tensor sumUp(Emitter &e, Tensor input) {
    Type f64 = e.getF64Type();
    Tensor wide = e.map({input}, f64,
                        [&](ArrayRef<Scalar> x) { return e.cast(x[0], f64); });
    Tensor most =
        e.reduce(wide, {1}, /*keepDims=*/true, e.lowest(f64),
                 [&](Scalar x, Scalar best) { return e.max(x, best); });
    Sizes sizes = e.sizes(input);
    SmallVector<Value> sums = e.forEach(
        sizes, {e.empty(sizes, f64).value, e.number(0, f64).value},
        [&](ArrayRef<Value> at, ValueRange carried) -> SmallVector<Value> {
          Value isFirst =
              e.cmpIndex(arith::CmpIPredicate::eq, at[1], e.index(0));
          Scalar before =
              e.select(isFirst, e.number(0, f64), {carried[1], f64});
          Scalar exponent =
              e.sub(e.read(wide, at), e.read(most, {at[0], e.index(0)}));
          Scalar sum = e.add(before, e.math<math::ExpOp>(exponent));
          return {e.write({carried[0], f64}, at, sum).value, sum.value};
        });
    return {sums[0], f64};
  }
};

} // namespace

void onnxquant::lowering::addRandomLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerRandom<onnx::RandomNormalOp, drawNormal>,
               LowerRandom<onnx::RandomNormalLikeOp, drawNormal>,
               LowerRandom<onnx::RandomUniformOp, drawUniform>,
               LowerRandom<onnx::RandomUniformLikeOp, drawUniform>,
               LowerBernoulli, LowerMultinomial>(types, patterns.getContext());
}
