// Determinants by elimination with partial pivoting.

#include "ContractionLists.h"
#include "ContractionSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;

namespace {
/// One step of the elimination: matrices [B, n, n], a batch index and the
/// diagonal element that the columns below become zero under.
struct Elimination {
  Emitter &e;
  Type type;
  Value batch, size;

  Scalar read(Value matrices, Value row, Value column) {
    return e.read({matrices, type}, {batch, row, column});
  }
  Value write(Value matrices, Value row, Value column, Scalar value) {
    return e.write({matrices, type}, {batch, row, column}, value).value;
  }
  Value findPivot(Value matrices, Value step);
  Value swapRows(Value matrices, Value a, Value b, Value from);
  Value clearBelow(Value matrices, Value step, Scalar pivot);
};
} // namespace

/// The row from `step` on with the largest element in column `step`.
Value Elimination::findPivot(Value matrices, Value step) {
  Scalar first = e.abs(read(matrices, step, step));
  return loop(e, e.addIndex(step, e.index(1)), size, {step, first.value},
              [&](Value row, ValueRange best) {
                Scalar here = e.abs(read(matrices, row, step));
                Value larger = e.compare(Emitter::GT, here, {best[1], type});
                return SmallVector<Value>{
                    e.createOrFold<arith::SelectOp>(larger, row, best[0]),
                    e.select(larger, here, {best[1], type}).value};
              })[0];
}

Value Elimination::swapRows(Value matrices, Value a, Value b, Value from) {
  return loop(e, from, size, matrices, [&](Value column, ValueRange carried) {
    Scalar x = read(carried[0], a, column), y = read(carried[0], b, column);
    Value swapped = write(carried[0], a, column, y);
    return SmallVector<Value>{write(swapped, b, column, x)};
  })[0];
}

/// Subtracts multiples of row `step`; none if the pivot is zero.
Value Elimination::clearBelow(Value matrices, Value step, Scalar pivot) {
  Value next = e.addIndex(step, e.index(1));
  Scalar zero = e.number(0, type);
  Value isZero = e.compare(Emitter::EQ, pivot, zero);
  return loop(e, next, size, matrices, [&](Value row, ValueRange outer) {
    Scalar factor = e.div(read(outer[0], row, step), pivot);
    factor = e.select(isZero, zero, factor);
    return loop(e, next, size, outer[0], [&](Value column, ValueRange inner) {
      Scalar x = e.sub(read(inner[0], row, column),
                       e.mul(factor, read(inner[0], step, column)));
      return SmallVector<Value>{write(inner[0], row, column, x)};
    });
  })[0];
}

namespace {
struct LowerDet : OpLowering<onnx::DetOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DetOp op, Operands operands, Emitter &e) const override {
    Tensor x = operands[0];
    int64_t rank = x.rank();
    Sizes sizes = e.sizes(x);
    checkEqual(e, sizes[rank - 2], sizes[rank - 1],
               "the matrices are not square");
    Type result = resultType(op), type = accumulatorTypeFor(result);
    Sizes batch(ArrayRef(sizes).drop_back(2));
    OpFoldResult count = e.productOf(batch), n = sizes.back();
    // A copy, since the elimination writes over it.
    Tensor work = writeOver(
        e, e.reshape(x, {count, n, n}), e.empty({count, n, n}, type),
        [&](Scalar element, ArrayRef<Value>) { return e.cast(element, type); });
    Tensor out = e.empty({count}, result);
    Value size = e.asValue(n), zero = e.index(0);
    SmallVector<Value> done = loop(
        e, zero, e.asValue(count), {work.value, out.value},
        [&](Value index, ValueRange carried) {
          Elimination step{e, type, index, size};
          SmallVector<Value> reduced =
              loop(e, zero, size, {carried[0], e.number(1, type).value},
                   [&](Value k, ValueRange state) {
                     return eliminate(e, step, k, state);
                   });
          Scalar det = e.cast({reduced[1], type}, result);
          return SmallVector<Value>{
              reduced[0], e.write({carried[1], result}, {index}, det).value};
        });
    return SmallVector<Value>{e.reshape({done[1], result}, batch).value};
  }

  static SmallVector<Value> eliminate(Emitter &e, Elimination &step, Value k,
                                      ValueRange state) {
    Value row = step.findPivot(state[0], k);
    Value matrices = step.swapRows(state[0], k, row, k);
    Scalar pivot = step.read(matrices, k, k), det = {state[1], step.type};
    Value stays = e.cmpIndex(arith::CmpIPredicate::eq, row, k);
    det = e.mul(det, e.select(stays, pivot, e.neg(pivot)));
    return {step.clearBelow(matrices, k, pivot), det.value};
  }
};
} // namespace

void onnxquant::lowering::addDetLowerings(RewritePatternSet &patterns,
                                          const StorageTypeConverter &types) {
  patterns.add<LowerDet>(types, patterns.getContext());
}
