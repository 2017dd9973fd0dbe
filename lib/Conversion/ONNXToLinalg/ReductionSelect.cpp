// Ops that pick elements: TopK, NonZero, NonMaxSuppression and Unique. They run
// in order, element by element; how many they pick is known at run time.

#include "LoopSupport.h"
#include "Lowering.h"
#include "ReductionLists.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
namespace ir = onnxquant::onnx;

static Value both(Emitter &e, Value a, Value b) {
  return arith::AndIOp::create(e, a, b);
}
static Value negate(Emitter &e, Value a) {
  return arith::XOrIOp::create(e, a, arith::ConstantIntOp::create(e, 1, 1));
}
static Value less(Emitter &e, Value a, Value b) {
  return e.cmpIndex(arith::CmpIPredicate::slt, a, b);
}
static Value equal(Emitter &e, Value a, Value b) {
  return e.cmpIndex(arith::CmpIPredicate::eq, a, b);
}

/// `condition ? then(carried) : carried`.
static SmallVector<Value> when(Emitter &e, Value condition, ValueRange carried,
                               function_ref<SmallVector<Value>()> then) {
  auto branch = scf::IfOp::create(e, carried.getTypes(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(&branch.getThenRegion().front());
  SmallVector<Value> values = then();
  scf::YieldOp::create(e, values);
  e.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(e, carried);
  return SmallVector<Value>(branch.getResults());
}

/// Repeats `step` as long as `condition` holds.
static SmallVector<Value>
repeatWhile(Emitter &e, ValueRange carried,
            function_ref<Value(ValueRange)> condition,
            function_ref<SmallVector<Value>(ValueRange)> step) {
  auto loop = scf::WhileOp::create(e, carried.getTypes(), carried);
  OpBuilder::InsertionGuard guard(e);
  SmallVector<Location> locs(carried.size(), e.getLoc());
  Block *before =
      e.createBlock(&loop.getBefore(), {}, carried.getTypes(), locs);
  scf::ConditionOp::create(e, condition(before->getArguments()),
                           before->getArguments());
  Block *after = e.createBlock(&loop.getAfter(), {}, carried.getTypes(), locs);
  SmallVector<Value> next = step(after->getArguments());
  scf::YieldOp::create(e, next);
  return SmallVector<Value>(loop.getResults());
}

/// The only element of a tensor of one.
static Scalar only(Emitter &e, Tensor tensor) {
  return e.read(tensor, Indices(tensor.rank(), e.index(0)));
}

namespace {

/// Keeps the best k of a slice sorted while going through it: an element moves
/// the worse ones down. Of equals the first stays first.
struct LowerTopK : OpLowering<ir::TopKOp> {
  using OpLowering::OpLowering;
  Results lower(ir::TopKOp op, Operands operands, Emitter &e) const override {
    Tensor x = operands[0];
    Type type = x.elementType, i64 = e.getI64Type();
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + x.rank() : op.getAxis();
    bool largest = op.getLargest() != 0;
    Sizes sizes = e.sizes(x), outSizes = sizes, outer = sizes;
    Value length = e.asValue(sizes[axis]);
    Value k = e.toIndex(only(e, operands[1]).value);
    e.check(both(e, e.cmpIndex(arith::CmpIPredicate::sge, k, e.index(0)),
                 e.cmpIndex(arith::CmpIPredicate::sle, k, length)),
            "K is negative or more than the axis has elements");
    outSizes[axis] = k;
    outSizes = e.resultSizes(0, outSizes);
    outer[axis] = e.getIndexAttr(1);
    Tensor values = e.filled(outSizes, e.number(0, type));
    Tensor indices = e.filled(outSizes, e.integer(0, i64));
    SmallVector<Value> results = e.forEach(
        outer, {values.value, indices.value},
        [&](ArrayRef<Value> at, ValueRange carried) {
          return loop(e, e.index(0), length, carried,
                      [&](Value i, ValueRange state) {
                        return insert(e, x, at, axis, i, k, largest, state);
                      });
        });
    return results;
  }

private:
  static SmallVector<Value> insert(Emitter &e, Tensor x, ArrayRef<Value> at,
                                   int64_t axis, Value i, Value k, bool largest,
                                   ValueRange state) {
    Type type = x.elementType, i64 = e.getI64Type();
    Indices place(at.begin(), at.end());
    auto along = [&](Value position) {
      place[axis] = position;
      return place;
    };
    Scalar value = e.read(x, along(i));
    Value filled = e.minIndex(i, k);
    SmallVector<Value> moved = repeatWhile(
        e, {filled, state[0], state[1]},
        [&](ValueRange s) {
          Value inside = less(e, e.index(0), s[0]);
          Value previous = e.maxIndex(e.subIndex(s[0], e.index(1)), e.index(0));
          // With nothing kept there is nothing to compare with.
          auto branch = scf::IfOp::create(e, TypeRange{e.getI1Type()}, inside,
                                          /*withElseRegion=*/true);
          OpBuilder::InsertionGuard guard(e);
          e.setInsertionPointToStart(&branch.getThenRegion().front());
          Scalar other = e.read({s[1], type}, along(previous));
          Value better =
              e.compare(largest ? Emitter::GT : Emitter::LT, value, other);
          scf::YieldOp::create(e, better);
          e.setInsertionPointToStart(&branch.getElseRegion().front());
          scf::YieldOp::create(e, Value(arith::ConstantIntOp::create(e, 0, 1)));
          return branch.getResult(0);
        },
        [&](ValueRange s) {
          Value previous = e.subIndex(s[0], e.index(1));
          SmallVector<Value> shifted =
              when(e, less(e, s[0], k), {s[1], s[2]}, [&]() {
                Scalar v = e.read({s[1], type}, along(previous));
                Scalar n = e.read({s[2], i64}, along(previous));
                Value newValues = e.write({s[1], type}, along(s[0]), v).value;
                Value newIndices = e.write({s[2], i64}, along(s[0]), n).value;
                return SmallVector<Value>{newValues, newIndices};
              });
          return SmallVector<Value>{previous, shifted[0], shifted[1]};
        });
    return when(e, less(e, moved[0], k), {moved[1], moved[2]}, [&]() {
      Value newValues = e.write({moved[1], type}, along(moved[0]), value).value;
      Value newIndices =
          e.write({moved[2], i64}, along(moved[0]), {e.toI64(i), i64}).value;
      return SmallVector<Value>{newValues, newIndices};
    });
  }
};

struct LowerNonZero : OpLowering<ir::NonZeroOp> {
  using OpLowering::OpLowering;
  Results lower(ir::NonZeroOp op, Operands operands,
                Emitter &e) const override {
    Tensor x = operands[0];
    Type i64 = e.getI64Type();
    Sizes sizes = e.sizes(x);
    auto isNonZero = [&](ArrayRef<Value> at) {
      return e.cast(e.read(x, at), e.getI1Type()).value;
    };
    Value count = e.forEach(
        sizes, e.index(0), [&](ArrayRef<Value> at, ValueRange carried) {
          Value more = e.addIndex(carried[0], e.index(1));
          return SmallVector<Value>{
              arith::SelectOp::create(e, isNonZero(at), more, carried[0])};
        })[0];
    Sizes outSizes = e.resultSizes(0, {e.getIndexAttr(x.rank()), count});
    Tensor out = e.filled(outSizes, e.integer(0, i64));
    SmallVector<Value> results =
        e.forEach(sizes, {e.index(0), out.value},
                  [&](ArrayRef<Value> at, ValueRange carried) {
                    return when(e, isNonZero(at), carried, [&]() {
                      Tensor filled = {carried[1], i64};
                      for (auto [d, position] : llvm::enumerate(at))
                        filled = e.write(filled, {e.index(d), carried[0]},
                                         {e.toI64(position), i64});
                      return SmallVector<Value>{
                          e.addIndex(carried[0], e.index(1)), filled.value};
                    });
                  });
    return SmallVector<Value>{results[1]};
  }
};

/// Greedy suppression: per batch and class, the best box that is left is taken,
/// and boxes that overlap it too much are dropped.
struct LowerNonMaxSuppression : OpLowering<ir::NonMaxSuppressionOp> {
  using OpLowering::OpLowering;
  Results lower(ir::NonMaxSuppressionOp op, Operands operands,
                Emitter &e) const override {
    Tensor boxes = operands[0], scores = operands[1];
    Type i64 = e.getI64Type(), f32 = e.getF32Type(), flag = e.getI1Type();
    Sizes scoreSizes = e.sizes(scores);
    Value numBoxes = e.asValue(scoreSizes[2]);
    auto expectSize = [&](int64_t axis, OpFoldResult size, StringRef what) {
      e.check(e.cmpIndex(arith::CmpIPredicate::eq,
                         e.asValue(e.size(boxes, axis)), e.asValue(size)),
              "expects boxes " + what);
    };
    expectSize(0, scoreSizes[0], "for as many images as scores");
    expectSize(1, scoreSizes[2], "for as many places as scores");
    expectSize(2, e.getIndexAttr(4), "of four numbers");
    Value most =
        operands[2] ? e.toIndex(only(e, operands[2]).value) : e.index(0);
    most = e.minIndex(e.maxIndex(most, e.index(0)), numBoxes);
    Scalar overlap = operands[3] ? only(e, operands[3]) : e.number(0, f32);
    Scalar threshold =
        operands[4] ? only(e, operands[4])
                    : e.number(-std::numeric_limits<double>::infinity(), f32);
    bool centers = op.getCenterPointBox() != 0;
    OpFoldResult room =
        e.mulSize(e.mulSize(scoreSizes[0], scoreSizes[1]), most);
    Tensor chosen = e.filled({room, e.getIndexAttr(3)}, e.integer(0, i64));
    SmallVector<Value> results = e.forEach(
        {scoreSizes[0], scoreSizes[1]}, {e.index(0), chosen.value},
        [&](ArrayRef<Value> at, ValueRange carried) {
          Tensor dropped =
              e.generate({scoreSizes[2]}, flag, [&](ArrayRef<Value> i) {
                Scalar score = e.read(scores, {at[0], at[1], i[0]});
                return Scalar{
                    negate(e, e.compare(Emitter::GT, score, threshold)), flag};
              });
          SmallVector<Value> state =
              loop(e, e.index(0), most, {carried[0], carried[1], dropped.value},
                   [&](Value, ValueRange s) {
                     return takeBest(e, boxes, scores, at, numBoxes, overlap,
                                     centers, s);
                   });
          return SmallVector<Value>{state[0], state[1]};
        });
    Sizes outSizes = e.resultSizes(0, {results[0], e.getIndexAttr(3)});
    Tensor found = {results[1], i64};
    return SmallVector<Value>{
        e.generate(outSizes, i64, [&](ArrayRef<Value> at) {
           return e.read(found, at);
         }).value};
  }

private:
  /// Corners of a box: y1, x1, y2, x2 in rising order.
  static SmallVector<Scalar> corners(Emitter &e, Tensor boxes, Value batch,
                                     Value box, bool centers) {
    SmallVector<Scalar> v;
    for (int64_t i = 0; i < 4; ++i)
      v.push_back(e.read(boxes, {batch, box, e.index(i)}));
    if (centers) {
      Scalar half = e.number(0.5, boxes.elementType);
      Scalar w = e.mul(v[2], half), h = e.mul(v[3], half);
      return {e.sub(v[1], h), e.sub(v[0], w), e.add(v[1], h), e.add(v[0], w)};
    }
    return {e.min(v[0], v[2]), e.min(v[1], v[3]), e.max(v[0], v[2]),
            e.max(v[1], v[3])};
  }

  static Value overlaps(Emitter &e, ArrayRef<Scalar> a, ArrayRef<Scalar> b,
                        Scalar limit) {
    Scalar zero = e.number(0, limit.elementType);
    auto area = [&](Scalar y1, Scalar x1, Scalar y2, Scalar x2) {
      return e.mul(e.max(e.sub(y2, y1), zero), e.max(e.sub(x2, x1), zero));
    };
    Scalar common = area(e.max(a[0], b[0]), e.max(a[1], b[1]),
                         e.min(a[2], b[2]), e.min(a[3], b[3]));
    Scalar total =
        e.sub(e.add(area(a[0], a[1], a[2], a[3]), area(b[0], b[1], b[2], b[3])),
              common);
    Value hasArea = e.compare(Emitter::GT, total, zero);
    return both(e, hasArea,
                e.compare(Emitter::GT, e.div(common, total), limit));
  }

  static SmallVector<Value> takeBest(Emitter &e, Tensor boxes, Tensor scores,
                                     ArrayRef<Value> at, Value numBoxes,
                                     Scalar limit, bool centers, ValueRange s) {
    Type i64 = e.getI64Type(), flag = e.getI1Type();
    Tensor dropped = {s[2], flag};
    Value none = e.index(-1);
    Value bottom = e.lowest(scores.elementType).value;
    SmallVector<Value> best =
        loop(e, e.index(0), numBoxes, {none, bottom},
             [&](Value i, ValueRange carried) {
               Scalar score = e.read(scores, {at[0], at[1], i});
               Scalar top = {carried[1], scores.elementType};
               Value isLeft = negate(e, e.read(dropped, i).value);
               Value isFirst = less(e, carried[0], e.index(0));
               Value better = arith::OrIOp::create(
                   e, isFirst, e.compare(Emitter::GT, score, top));
               Value takes = both(e, isLeft, better);
               return SmallVector<Value>{
                   arith::SelectOp::create(e, takes, i, carried[0]),
                   e.select(takes, score, top).value};
             });
    Value found = e.cmpIndex(arith::CmpIPredicate::sge, best[0], e.index(0));
    return when(e, found, s, [&]() {
      Tensor chosen = {s[1], i64};
      for (auto [column, value] :
           llvm::enumerate(ArrayRef<Value>{at[0], at[1], best[0]}))
        chosen =
            e.write(chosen, {s[0], e.index(column)}, {e.toI64(value), i64});
      SmallVector<Scalar> own = corners(e, boxes, at[0], best[0], centers);
      Tensor flags = e.write(dropped, best[0],
                             {arith::ConstantIntOp::create(e, 1, 1), flag});
      SmallVector<Value> swept = loop(
          e, e.index(0), numBoxes, flags.value,
          [&](Value i, ValueRange carried) {
            Tensor current = {carried[0], flag};
            SmallVector<Scalar> other = corners(e, boxes, at[0], i, centers);
            Value isDropped = arith::OrIOp::create(
                e, e.read(current, i).value, overlaps(e, own, other, limit));
            return SmallVector<Value>{
                e.write(current, i, {isDropped, flag}).value};
          });
      return SmallVector<Value>{e.addIndex(s[0], e.index(1)), chosen.value,
                                swept[0]};
    });
  }
};

/// Items (elements, or slices along an axis) in the order of their first
/// appearance or sorted; equal ones are found by comparing with those so far.
struct LowerUnique : OpLowering<ir::UniqueOp> {
  using OpLowering::OpLowering;
  Results lower(ir::UniqueOp op, Operands operands, Emitter &e) const override;

private:
  /// The distinct items so far: how many, where each appears first and how
  /// often, in their final order.
  struct Items {
    Value count;
    Tensor firsts, counts;
  };
  static Tensor getRows(Emitter &e, Tensor x, std::optional<int64_t> axis);
  static Items findItems(Emitter &e, Tensor rows, bool sorted);
  static SmallVector<Value> addItem(Emitter &e, Tensor rows, bool sorted,
                                    Value i, ValueRange state);
  static Value findItem(Emitter &e, Tensor rows, const Items &items, Value i);

  /// -1, 0 or 1 as item `a` is before, equal to or after item `b`.
  static Value compareItems(Emitter &e, Tensor x, Value a, Value b) {
    Value zero = e.index(0);
    return loop(e, zero, e.asValue(e.size(x, 1)), zero,
                [&](Value i, ValueRange carried) {
                  Scalar p = e.read(x, {a, i}), q = e.read(x, {b, i});
                  Value below = e.compare(Emitter::LT, p, q);
                  Value above = e.compare(Emitter::GT, p, q);
                  Value here = arith::SelectOp::create(
                      e, below, e.index(-1),
                      arith::SelectOp::create(e, above, e.index(1), zero));
                  Value open = equal(e, carried[0], zero);
                  return SmallVector<Value>{
                      arith::SelectOp::create(e, open, here, carried[0])};
                })[0];
  }
};

/// Items become rows: [items, elements of an item].
Tensor LowerUnique::getRows(Emitter &e, Tensor x, std::optional<int64_t> axis) {
  Sizes sizes = e.sizes(x), rest;
  if (!axis)
    return e.reshape(x, {e.productOf(sizes), e.getIndexAttr(1)});
  SmallVector<int64_t> order = {*axis};
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != *axis) {
      order.push_back(d);
      rest.push_back(sizes[d]);
    }
  return e.reshape(e.transpose(x, order), {sizes[*axis], e.productOf(rest)});
}

/// The items with item `i`: it is counted, or put where it belongs.
SmallVector<Value> LowerUnique::addItem(Emitter &e, Tensor rows, bool sorted,
                                        Value i, ValueRange s) {
  Type i64 = e.getI64Type();
  Tensor firsts = {s[1], i64};
  // The index of the equal item, or where a new one belongs.
  SmallVector<Value> found =
      loop(e, e.index(0), s[0], {s[0], e.index(1)}, [&](Value j, ValueRange p) {
        Value other = e.readIndex(firsts, j);
        Value order = compareItems(e, rows, i, other);
        Value open = both(e, equal(e, p[0], s[0]), equal(e, p[1], e.index(1)));
        Value same = equal(e, order, e.index(0));
        Value stops = sorted ? Value(e.cmpIndex(arith::CmpIPredicate::sle,
                                                order, e.index(0)))
                             : same;
        Value takes = both(e, open, stops);
        return SmallVector<Value>{
            arith::SelectOp::create(e, takes, j, p[0]),
            arith::SelectOp::create(
                e, takes,
                arith::SelectOp::create(e, same, e.index(0), e.index(2)),
                p[1])};
      });
  Value isKnown = equal(e, found[1], e.index(0));
  SmallVector<Value> shifted = when(e, negate(e, isKnown), {s[1], s[2]}, [&]() {
    // Make room from the end down.
    return loop(e, e.index(0), e.subIndex(s[0], found[0]), {s[1], s[2]},
                [&](Value n, ValueRange c) {
                  Value to = e.subIndex(s[0], n);
                  Value from = e.subIndex(to, e.index(1));
                  Scalar f = e.read({c[0], i64}, from);
                  Scalar t = e.read({c[1], i64}, from);
                  return SmallVector<Value>{e.write({c[0], i64}, to, f).value,
                                            e.write({c[1], i64}, to, t).value};
                });
  });
  Tensor f = {shifted[0], i64}, t = {shifted[1], i64};
  Scalar seen = e.read(t, found[0]);
  Scalar one = e.integer(1, i64);
  Scalar total = e.select(isKnown, e.add(seen, one), one);
  Scalar first = e.select(isKnown, e.read(f, found[0]), {e.toI64(i), i64});
  Value more = e.addIndex(s[0], e.index(1));
  return {arith::SelectOp::create(e, isKnown, s[0], more),
          e.write(f, found[0], first).value, e.write(t, found[0], total).value};
}

LowerUnique::Items LowerUnique::findItems(Emitter &e, Tensor rows,
                                          bool sorted) {
  OpFoldResult count = e.size(rows, 0);
  Value numItems = e.asValue(count);
  Type i64 = e.getI64Type();
  Tensor zeros = e.filled({count}, e.integer(0, i64));
  SmallVector<Value> state = loop(
      e, e.index(0), numItems, {e.index(0), zeros.value, zeros.value},
      [&](Value i, ValueRange s) { return addItem(e, rows, sorted, i, s); });
  return {state[0], {state[1], i64}, {state[2], i64}};
}

/// Which of the distinct items item `i` is.
Value LowerUnique::findItem(Emitter &e, Tensor rows, const Items &items,
                            Value i) {
  return loop(
      e, e.index(0), items.count, e.index(0), [&](Value j, ValueRange c) {
        Value same =
            equal(e, compareItems(e, rows, i, e.readIndex(items.firsts, j)),
                  e.index(0));
        return SmallVector<Value>{arith::SelectOp::create(e, same, j, c[0])};
      })[0];
}

Results LowerUnique::lower(ir::UniqueOp op, Operands operands,
                           Emitter &e) const {
  Tensor x = operands[0];
  Type i64 = e.getI64Type();
  std::optional<int64_t> axis = op.getAxis();
  if (axis && *axis < 0)
    *axis += x.rank();
  Tensor rows = getRows(e, x, axis);
  Items items = findItems(e, rows, op.getSorted() != 0);
  OpFoldResult count = e.size(rows, 0);
  Sizes sizes = {items.count};
  if (axis) {
    sizes = e.sizes(x);
    sizes[*axis] = items.count;
  }
  sizes = e.resultSizes(0, sizes);
  Tensor flat = axis ? x : e.reshape(x, {count});
  Tensor y = e.generate(sizes, x.elementType, [&](ArrayRef<Value> at) {
    Indices indices(at.begin(), at.end());
    Value &item = indices[axis.value_or(0)];
    item = e.readIndex(items.firsts, item);
    return e.read(flat, indices);
  });
  auto prefix = [&](unsigned index, Tensor source) -> Value {
    return e
        .generate(e.resultSizes(index, {items.count}), i64,
                  [&](ArrayRef<Value> at) { return e.read(source, at); })
        .value;
  };
  SmallVector<Value> results = {y.value, Value(), Value(), Value()};
  if (!ir::isLeftOut(op.getIndices()))
    results[1] = prefix(1, items.firsts);
  if (!ir::isLeftOut(op.getInverseIndices()))
    results[2] =
        e.generate(e.resultSizes(2, {count}), i64, [&](ArrayRef<Value> at) {
           Value item = findItem(e, rows, items, at[0]);
           return Scalar{e.toI64(item), i64};
         }).value;
  if (!ir::isLeftOut(op.getCounts()))
    results[3] = prefix(3, items.counts);
  return results;
}

} // namespace

void onnxquant::lowering::addSelectionLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  patterns.add<LowerTopK, LowerNonZero, LowerNonMaxSuppression, LowerUnique>(
      types, patterns.getContext());
}
