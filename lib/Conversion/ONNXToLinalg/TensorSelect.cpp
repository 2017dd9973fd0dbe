// Lowerings of ops that choose elements by position or by a condition:
// Compress, OneHot, ReverseSequence and Trilu.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;
using Predicate = arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Compress
//===----------------------------------------------------------------------===//

/// How many elements of a condition are true; fails if one at `limit` or beyond
/// is.
static Value countTrue(Emitter &e, Tensor condition, Value limit) {
  SmallVector<Value> counted = e.forEach(
      e.sizes(condition), {e.index(0), truth(e, true)},
      [&](ArrayRef<Value> at, ValueRange current) -> SmallVector<Value> {
        Value isTrue = e.read(condition, at).value;
        Value more = choose(e, isTrue, e.index(1), e.index(0));
        Value fits = either(e, negate(e, isTrue),
                            e.cmpIndex(Predicate::slt, at[0], limit));
        return {e.addIndex(current[0], more), both(e, current[1], fits)};
      });
  e.check(counted[1], "expects no true condition beyond the end of the axis");
  return counted[0];
}

/// The positions of true elements. Every position is written at the end of the
/// list so far, which grows if the element is true: hence one place more.
static Tensor listTrue(Emitter &e, Tensor condition, Value count) {
  Type type = e.getI64Type();
  OpFoldResult places = e.addSize(getAsOpFoldResult(count), e.getIndexAttr(1));
  Tensor list = e.empty({places}, type);
  SmallVector<Value> listed = e.forEach(
      e.sizes(condition), {list.value, e.index(0)},
      [&](ArrayRef<Value> at, ValueRange current) -> SmallVector<Value> {
        Tensor written =
            e.write({current[0], type}, current[1], {e.toI64(at[0]), type});
        Value more =
            choose(e, e.read(condition, at).value, e.index(1), e.index(0));
        return {written.value, e.addIndex(current[1], more)};
      });
  return {listed[0], type};
}

namespace {

struct LowerCompress : OpLowering<onnx::CompressOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::CompressOp op, Operands operands,
                Emitter &e) const override {
    Tensor input = asStored(operands[0]), condition = operands[1];
    int64_t axis = 0;
    if (op.getAxis())
      axis = normalAxis(*op.getAxis(), input.rank());
    else
      input = e.reshape(input, e.productOf(e.sizes(input)));
    Sizes sizes = e.sizes(input);
    Value count = countTrue(e, condition, e.asValue(sizes[axis]));
    Tensor list = listTrue(e, condition, count);
    sizes[axis] = count;
    Tensor result = e.generate(agreedSizes(e, op, 0, sizes), input.elementType,
                               [&](ArrayRef<Value> at) {
                                 Indices from(at);
                                 from[axis] = e.readIndex(list, at[axis]);
                                 return e.read(input, from);
                               });
    return SmallVector<Value>{result.value};
  }
};

//===----------------------------------------------------------------------===//
// OneHot
//===----------------------------------------------------------------------===//

struct LowerOneHot : OpLowering<onnx::OneHotOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::OneHotOp op, Operands operands,
                Emitter &e) const override {
    Tensor indices = operands[0], depth = operands[1];
    Tensor values = asStored(operands[2]);
    int64_t axis = normalAxis(op.getAxis(), indices.rank() + 1);
    Scalar count = e.read(depth, Indices(depth.rank(), e.index(0)));
    Value size = e.toIndex(e.cast(count, e.getI64Type()).value);
    if (auto known = List{op.getDepth(), depth}.constants())
      size = e.index(known->front());
    Sizes sizes = e.sizes(indices);
    sizes.insert(sizes.begin() + axis, getAsOpFoldResult(size));
    sizes = agreedSizes(e, op, 0, sizes);
    Scalar off = e.read(values, e.index(0)), on = e.read(values, e.index(1));
    Tensor result =
        e.generate(sizes, values.elementType, [&](ArrayRef<Value> at) {
          Indices from(at);
          from.erase(from.begin() + axis);
          Scalar index = e.read(indices, from);
          Value position = e.toIndex(e.cast(index, e.getI64Type()).value);
          // An unsigned index never counts from the end.
          if (!isUnsigned(indices.elementType))
            position = e.wrapIndex(position, size);
          return e.select(e.cmpIndex(Predicate::eq, position, at[axis]), on,
                          off);
        });
    return SmallVector<Value>{result.value};
  }
};

//===----------------------------------------------------------------------===//
// ReverseSequence and Trilu
//===----------------------------------------------------------------------===//

struct LowerReverseSequence : OpLowering<onnx::ReverseSequenceOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ReverseSequenceOp op, Operands operands,
                Emitter &e) const override {
    Tensor input = asStored(operands[0]), lengths = operands[1];
    int64_t batch = op.getBatchAxis(), time = op.getTimeAxis();
    Value dim = e.asValue(e.size(input, time));
    checkEqual(e, e.size(lengths, 0), e.size(input, batch),
               "expects one element of sequence_lens per batch entry");
    SmallVector<Value> valid =
        e.forEach(e.sizes(lengths), truth(e, true),
                  [&](ArrayRef<Value> at, ValueRange current) {
                    Value fits = e.cmpIndex(Predicate::ule,
                                            e.readIndex(lengths, at), dim);
                    return SmallVector<Value>{both(e, current[0], fits)};
                  });
    e.check(valid[0], "expects sequence_lens within the size of time_axis");
    Tensor result =
        e.generate(agreedSizes(e, op, 0, e.sizes(input)), input.elementType,
                   [&](ArrayRef<Value> at) {
                     Value length = e.readIndex(lengths, at[batch]);
                     Value last = e.subIndex(length, e.index(1));
                     Indices from(at);
                     from[time] =
                         choose(e, e.cmpIndex(Predicate::slt, at[time], length),
                                e.subIndex(last, at[time]), at[time]);
                     return e.read(input, from);
                   });
    return SmallVector<Value>{result.value};
  }
};

struct LowerTrilu : OpLowering<onnx::TriluOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::TriluOp op, Operands operands,
                Emitter &e) const override {
    Tensor input = asStored(operands[0]);
    Value diagonal = e.index(0);
    if (Tensor k = operands[1])
      diagonal = e.readIndex(k, Indices(k.rank(), e.index(0)));
    Scalar zero = e.integer(0, input.elementType);
    Predicate kept = op.getUpper() != 0 ? Predicate::sge : Predicate::sle;
    int64_t rank = input.rank();
    Tensor result = e.map({input}, e.sizes(input), input.elementType,
                          [&](ArrayRef<Scalar> element) {
                            Value row = linalg::IndexOp::create(e, rank - 2);
                            Value column = linalg::IndexOp::create(e, rank - 1);
                            Value offset = e.subIndex(column, row);
                            return e.select(e.cmpIndex(kept, offset, diagonal),
                                            element[0], zero);
                          });
    return SmallVector<Value>{result.value};
  }
};

} // namespace

void tensors::addTensorSelectLowerings(RewritePatternSet &patterns,
                                       const StorageTypeConverter &types) {
  patterns.add<LowerCompress, LowerOneHot, LowerReverseSequence, LowerTrilu>(
      types, patterns.getContext());
}
