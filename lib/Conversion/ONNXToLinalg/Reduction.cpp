// Reductions, positions of extremes and running sums.
//
// Axes may be known only at run time; then every element is added to its place
// in the result, whose reduced dimensions have size 1.

#include "LoopSupport.h"
#include "Lowering.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/PlaceOrder.h"
#include "PlaceSums.h"
#include "ReductionLists.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ir = onnxquant::onnx;

namespace {

/// One reduction over known or unknown axes. Results keep all dimensions until
/// `finish`.
class Reducer {
public:
  using Body = function_ref<Scalar(Scalar, Scalar)>;

  Reducer(Operation *op, Tensor data, Tensor axes, bool keepDims, bool noop,
          Emitter &e)
      : op(op), data(data), keepDims(keepDims), e(e) {
    int64_t rank = data.rank();
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    if (!axes) {
      known = noop ? SmallVector<int64_t>() : all;
      return;
    }
    if (ElementsAttr constant = ir::getConstant(op->getOperand(1)))
      if (auto ints = ir::readInts(constant, 64)) {
        SmallVector<int64_t> list;
        for (int64_t axis : *ints)
          list.push_back(axis < 0 ? axis + rank : axis);
        llvm::sort(list);
        list.erase(llvm::unique(list), list.end());
        known = list.empty() && !noop ? all : list;
        return;
      }
    readFlags(axes, noop);
  }

  Tensor fold(Tensor input, Scalar init, Body body) {
    if (known)
      return e.reduce(input, *known, /*keepDims=*/true, init, body);
    Sizes sizes = e.sizes(input), kept;
    for (auto [size, flag] : llvm::zip(sizes, flags))
      kept.push_back(
          e.createOrFold<arith::SelectOp>(flag, e.index(1), e.asValue(size)));
    Tensor out = e.filled(kept, init);
    SmallVector<Value> results = e.forEach(
        sizes, out.value, [&](ArrayRef<Value> indices, ValueRange carried) {
          Tensor sum = {carried[0], init.elementType};
          Indices place;
          for (auto [index, flag] : llvm::zip(indices, flags))
            place.push_back(
                e.createOrFold<arith::SelectOp>(flag, e.index(0), index));
          Scalar next = body(e.read(input, indices), e.read(sum, place));
          return SmallVector<Value>{e.write(sum, place, next).value};
        });
    return {results[0], init.elementType};
  }

  /// Whether axes are known and follow each other.
  bool isContiguous() const {
    return known && !known->empty() &&
           known->back() - known->front() + 1 ==
               static_cast<int64_t>(known->size());
  }

  /// Sums of an image's places, in the order of GlobalAveragePool.
  Tensor foldPlaces(Tensor input, Type sumType) {
    return sumPlaces(e, input, known->front(), known->size(), sumType);
  }

  /// How many elements make one result.
  Value count() {
    Value total = e.index(1);
    Sizes sizes = e.sizes(data);
    for (int64_t i = 0; i < data.rank(); ++i) {
      Value size = e.asValue(sizes[i]);
      if (known) {
        if (llvm::is_contained(*known, i))
          total = e.mulIndex(total, size);
        continue;
      }
      total = e.mulIndex(
          total, e.createOrFold<arith::SelectOp>(flags[i], size, e.index(1)));
    }
    return total;
  }

  Results finish(Tensor kept) {
    kept = castTo(e, kept, resultType(op));
    if (keepDims)
      return SmallVector<Value>{kept.value};
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Sizes sizes;
    if (known) {
      Sizes all = e.sizes(kept);
      for (int64_t i = 0; i < data.rank(); ++i)
        if (!llvm::is_contained(*known, i))
          sizes.push_back(all[i]);
    } else {
      if (!type.hasStaticShape())
        return refuse(op, "axes are known at run time only, and the result's "
                          "sizes are not stated");
      for (int64_t size : type.getShape())
        sizes.push_back(e.getIndexAttr(size));
    }
    return SmallVector<Value>{e.reshape(kept, sizes).value};
  }

private:
  /// Per dimension, whether one of the axes names it.
  void readFlags(Tensor axes, bool noop) {
    int64_t rank = data.rank();
    Value size = e.asValue(e.size(axes, 0));
    Value isEmpty = e.cmpIndex(arith::CmpIPredicate::eq, size, e.index(0));
    for (int64_t d = 0; d < rank; ++d) {
      Value none = arith::ConstantIntOp::create(e, 0, 1);
      Value flag =
          loop(e, e.index(0), size, none, [&](Value i, ValueRange carried) {
            Value axis = e.readIndex(axes, i);
            Value fits = arith::AndIOp::create(
                e, e.cmpIndex(arith::CmpIPredicate::sge, axis, e.index(-rank)),
                e.cmpIndex(arith::CmpIPredicate::slt, axis, e.index(rank)));
            e.check(fits, "an axis is out of range");
            Value same =
                e.cmpIndex(arith::CmpIPredicate::eq,
                           e.wrapIndex(axis, e.index(rank)), e.index(d));
            return SmallVector<Value>{
                arith::OrIOp::create(e, carried[0], same)};
          })[0];
      if (!noop)
        flag = arith::OrIOp::create(e, flag, isEmpty);
      flags.push_back(flag);
    }
  }

  Operation *op;
  Tensor data;
  bool keepDims;
  Emitter &e;
  std::optional<SmallVector<int64_t>> known;
  SmallVector<Value> flags;
};

/// Small floats are summed in f32, everything else in its own type.
Type accumulatorType(Type type, Emitter &e) {
  return isFloat(type) && !type.isF64() ? Type(e.getF32Type()) : type;
}

/// A sum of `term(x)`, then `last` on the sum.
template <typename OpTy> struct LowerSum : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  virtual Scalar term(Emitter &e, Scalar x) const { return x; }
  virtual Scalar last(Emitter &e, Scalar sum, Value count) const { return sum; }
  /// What must hold for the number of elements of a sum.
  virtual void checkCount(Emitter &e, Value count) const {}

  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Reducer reducer(op, operands[0], operands[1], op.getKeepdims() != 0,
                    op.getNoopWithEmptyAxes() != 0, e);
    Type sumType = accumulatorType(operands[0].elementType, e);
    Tensor sum;
    if (op->hasAttr(ir::placesAttr) && reducer.isContiguous())
      sum = reducer.foldPlaces(operands[0], sumType);
    else
      sum = reducer.fold(operands[0], e.number(0, sumType),
                         [&](Scalar x, Scalar total) {
                           return e.add(total, term(e, e.cast(x, sumType)));
                         });
    Value count = reducer.count();
    checkCount(e, count);
    Tensor result = e.map({sum}, sumType, [&](ArrayRef<Scalar> x) {
      return last(e, x[0], count);
    });
    return reducer.finish(result);
  }
};

struct LowerReduceSum : LowerSum<ir::ReduceSumOp> {
  using LowerSum::LowerSum;
};
struct LowerReduceL1 : LowerSum<ir::ReduceL1Op> {
  using LowerSum::LowerSum;
  Scalar term(Emitter &e, Scalar x) const override { return e.abs(x); }
};
struct LowerReduceSumSquare : LowerSum<ir::ReduceSumSquareOp> {
  using LowerSum::LowerSum;
  Scalar term(Emitter &e, Scalar x) const override { return e.mul(x, x); }
};

/// A float function of a number of any type.
template <typename MathOp> Scalar inFloat(Emitter &e, Scalar x) {
  if (isFloat(x.elementType))
    return e.math<MathOp>(x);
  return e.cast(e.math<MathOp>(e.cast(x, e.getF64Type())), x.elementType);
}

struct LowerReduceL2 : LowerSum<ir::ReduceL2Op> {
  using LowerSum::LowerSum;
  Scalar term(Emitter &e, Scalar x) const override { return e.mul(x, x); }
  Scalar last(Emitter &e, Scalar sum, Value) const override {
    return inFloat<math::SqrtOp>(e, sum);
  }
};
struct LowerReduceLogSum : LowerSum<ir::ReduceLogSumOp> {
  using LowerSum::LowerSum;
  Scalar last(Emitter &e, Scalar sum, Value) const override {
    return inFloat<math::LogOp>(e, sum);
  }
};
struct LowerReduceMean : LowerSum<ir::ReduceMeanOp> {
  using LowerSum::LowerSum;
  void checkCount(Emitter &e, Value count) const override {
    checkAtLeast(e, count, e.getIndexAttr(1),
                 "there is no mean of an axis without elements");
  }
  Scalar last(Emitter &e, Scalar sum, Value count) const override {
    Scalar n = e.cast({e.toI64(count), e.getI64Type()}, sum.elementType);
    if (!isFloat(sum.elementType))
      n = e.max(n, e.integer(1, sum.elementType));
    return e.div(sum, n);
  }
};

struct LowerReduceLogSumExp : OpLowering<ir::ReduceLogSumExpOp> {
  using OpLowering::OpLowering;
  Results lower(ir::ReduceLogSumExpOp op, Operands operands,
                Emitter &e) const override {
    Type given = operands[0].elementType;
    Type type =
        isFloat(given) ? accumulatorType(given, e) : Type(e.getF64Type());
    Reducer reducer(op, operands[0], operands[1], op.getKeepdims() != 0,
                    op.getNoopWithEmptyAxes() != 0, e);
    Tensor x = castTo(e, operands[0], type);
    // The greatest element goes first, so that no power overflows.
    Tensor top = reducer.fold(x, e.lowest(type),
                              [&](Scalar a, Scalar b) { return e.max(a, b); });
    Tensor base = e.map({top}, type, [&](ArrayRef<Scalar> v) {
      Scalar zero = e.number(0, type);
      Value finite =
          e.compare(Emitter::LT, e.abs(v[0]),
                    e.number(std::numeric_limits<double>::infinity(), type));
      return e.select(finite, v[0], zero);
    });
    Tensor powers = e.map({x, base}, e.sizes(x), type, [&](ArrayRef<Scalar> v) {
      return e.math<math::ExpOp>(e.sub(v[0], v[1]));
    });
    Tensor sum = reducer.fold(powers, e.number(0, type),
                              [&](Scalar a, Scalar b) { return e.add(b, a); });
    return reducer.finish(
        e.map({sum, base}, e.sizes(sum), type, [&](ArrayRef<Scalar> v) {
          return e.add(e.math<math::LogOp>(v[0]), v[1]);
        }));
  }
};

struct LowerReduceProd : OpLowering<ir::ReduceProdOp> {
  using OpLowering::OpLowering;
  Results lower(ir::ReduceProdOp op, Operands operands,
                Emitter &e) const override {
    Reducer reducer(op, operands[0], operands[1], op.getKeepdims() != 0,
                    op.getNoopWithEmptyAxes() != 0, e);
    Type type = accumulatorType(operands[0].elementType, e);
    return reducer.finish(reducer.fold(operands[0], e.number(1, type),
                                       [&](Scalar x, Scalar product) {
                                         return e.mul(product, e.cast(x, type));
                                       }));
  }
};

template <typename OpTy, bool greatest> struct LowerExtreme : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Reducer reducer(op, operands[0], operands[1], op.getKeepdims() != 0,
                    op.getNoopWithEmptyAxes() != 0, e);
    Type type = operands[0].elementType;
    Scalar init = greatest ? e.lowest(type) : e.highest(type);
    return reducer.finish(
        reducer.fold(operands[0], init, [&](Scalar x, Scalar best) {
          return greatest ? e.max(best, x) : e.min(best, x);
        }));
  }
};

/// The position of an extreme along one axis.
template <typename OpTy, bool greatest> struct LowerArg : OpLowering<OpTy> {
  using OpLowering<OpTy>::OpLowering;
  Results lower(OpTy op, Operands operands, Emitter &e) const override {
    Tensor x = operands[0];
    int64_t axis = op.getAxis();
    axis = axis < 0 ? axis + x.rank() : axis;
    bool takesLast = op.getSelectLastIndex() != 0;
    Sizes sizes = e.sizes(x), kept = sizes, dropped = sizes;
    kept[axis] = e.getIndexAttr(1);
    dropped.erase(dropped.begin() + axis);
    Value length = e.asValue(sizes[axis]);
    checkAtLeast(e, sizes[axis], e.getIndexAttr(1),
                 "the axis to look along has no elements");
    Tensor found = e.generate(kept, e.getI64Type(), [&](ArrayRef<Value> at) {
      Indices place(at.begin(), at.end());
      place[axis] = e.index(0);
      Value first = e.read(x, place).value;
      Value zero = e.index(0);
      SmallVector<Value> best =
          loop(e, e.index(1), length, {first, zero},
               [&](Value i, ValueRange carried) {
                 place[axis] = i;
                 Scalar value = e.read(x, place);
                 Scalar top = {carried[0], x.elementType};
                 Emitter::Compare predicate =
                     greatest ? (takesLast ? Emitter::GE : Emitter::GT)
                              : (takesLast ? Emitter::LE : Emitter::LT);
                 Value better = e.compare(predicate, value, top);
                 return SmallVector<Value>{
                     e.select(better, value, top).value,
                     arith::SelectOp::create(e, better, i, carried[1])};
               });
      return Scalar{e.toI64(best[1]), e.getI64Type()};
    });
    if (op.getKeepdims() == 0)
      found = e.reshape(found, dropped);
    return SmallVector<Value>{found.value};
  }
};

/// Sums along an axis that may be known only at run time: every element is its
/// predecessor's sum and one more.
struct LowerCumSum : OpLowering<ir::CumSumOp> {
  using OpLowering::OpLowering;
  Results lower(ir::CumSumOp op, Operands operands, Emitter &e) const override {
    Tensor x = operands[0];
    Type type = accumulatorType(x.elementType, e);
    Indices origin(operands[1].rank(), e.index(0));
    Value rank = e.index(x.rank());
    Value axis = e.readIndex(operands[1], origin);
    e.check(arith::AndIOp::create(
                e,
                e.cmpIndex(arith::CmpIPredicate::sge, axis, e.index(-x.rank())),
                e.cmpIndex(arith::CmpIPredicate::slt, axis, rank)),
            "the axis is out of range");
    axis = e.wrapIndex(axis, rank);
    bool reverse = op.getReverse() != 0, exclusive = op.getExclusive() != 0;
    Sizes sizes = e.sizes(x);
    Tensor out = e.filled(sizes, e.number(0, type));
    SmallVector<Value> results = e.forEach(
        sizes, out.value, [&](ArrayRef<Value> at, ValueRange carried) {
          Tensor sums = {carried[0], type};
          Indices place, before;
          Value isFirst = arith::ConstantIntOp::create(e, 0, 1);
          for (int64_t d = 0; d < x.rank(); ++d) {
            Value size = e.asValue(sizes[d]);
            Value last = e.subIndex(size, e.index(1));
            Value position = reverse ? e.subIndex(last, at[d]) : at[d];
            Value onAxis =
                e.cmpIndex(arith::CmpIPredicate::eq, axis, e.index(d));
            Value atStart =
                e.cmpIndex(arith::CmpIPredicate::eq, at[d], e.index(0));
            Value steps = arith::AndIOp::create(e, onAxis, atStart);
            isFirst = arith::OrIOp::create(e, isFirst, steps);
            Value previous = reverse ? e.addIndex(position, e.index(1))
                                     : e.subIndex(position, e.index(1));
            Value moves = arith::AndIOp::create(
                e, onAxis,
                arith::XOrIOp::create(e, atStart,
                                      arith::ConstantIntOp::create(e, 1, 1)));
            place.push_back(position);
            before.push_back(
                arith::SelectOp::create(e, moves, previous, position));
          }
          Scalar zero = e.number(0, type);
          Scalar sum = e.select(isFirst, zero, e.read(sums, before));
          Scalar own = e.cast(e.read(x, exclusive ? before : place), type);
          if (exclusive)
            own = e.select(isFirst, zero, own);
          return SmallVector<Value>{
              e.write(sums, place, e.add(sum, own)).value};
        });
    return SmallVector<Value>{
        castTo(e, {results[0], type}, x.elementType).value};
  }
};

} // namespace

void onnxquant::lowering::addReductionLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<
      LowerReduceSum, LowerReduceL1, LowerReduceL2, LowerReduceSumSquare,
      LowerReduceLogSum, LowerReduceLogSumExp, LowerReduceMean, LowerReduceProd,
      LowerExtreme<ir::ReduceMaxOp, true>, LowerExtreme<ir::ReduceMinOp, false>,
      LowerArg<ir::ArgMaxOp, true>, LowerArg<ir::ArgMinOp, false>, LowerCumSum>(
      types, patterns.getContext());
  addSelectionLowerings(patterns, types);
}
