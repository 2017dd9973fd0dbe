// Lowerings of ops that read or write at computed positions: Gather and Scatter
// with their kinds. All indices are checked before the first access. Scatters
// write in the order of their indices.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// The position that a checked index means.
static Value readPosition(Emitter &e, Tensor indices, ArrayRef<Value> at,
                          Value size) {
  return e.wrapIndex(e.readIndex(indices, at), size);
}

namespace {

struct LowerGather : OpLowering<onnx::GatherOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GatherOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = asStored(operands[0]), indices = operands[1];
    int64_t axis = normalAxis(op.getAxis(), data.rank());
    int64_t count = indices.rank();
    Sizes sizes = e.sizes(data);
    Value dim = e.asValue(sizes[axis]);
    checkIndices(e, {op.getIndices(), indices}, dim);
    Sizes inserted = e.sizes(indices);
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, inserted.begin(), inserted.end());
    Tensor result = e.generate(
        agreedSizes(e, op, 0, sizes), data.elementType,
        [&](ArrayRef<Value> at) {
          Indices from(at.take_front(axis));
          from.push_back(readPosition(e, indices, at.slice(axis, count), dim));
          llvm::append_range(from, at.drop_front(axis + count));
          return e.read(data, from);
        });
    return SmallVector<Value>{result.value};
  }
};

} // namespace

/// Fails unless `indices` has no more elements than `data` along all dimensions
/// but `axis`.
static void checkInner(Emitter &e, Tensor indices, Tensor data, int64_t axis) {
  for (int64_t d = 0; d < data.rank(); ++d)
    if (d != axis)
      checkAtLeast(
          e, e.size(data, d), e.size(indices, d),
          "expects indices of no larger size than data but along axis");
}

namespace {

struct LowerGatherElements : OpLowering<onnx::GatherElementsOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GatherElementsOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = asStored(operands[0]), indices = operands[1];
    int64_t axis = normalAxis(op.getAxis(), data.rank());
    Value dim = e.asValue(e.size(data, axis));
    checkInner(e, indices, data, axis);
    checkIndices(e, {op.getIndices(), indices}, dim);
    Tensor result = e.generate(agreedSizes(e, op, 0, e.sizes(indices)),
                               data.elementType, [&](ArrayRef<Value> at) {
                                 Indices from(at);
                                 from[axis] = readPosition(e, indices, at, dim);
                                 return e.read(data, from);
                               });
    return SmallVector<Value>{result.value};
  }
};

} // namespace

/// Fails unless every tuple in the last dimension of `indices` is within the
/// dimensions of `data` from `first` on.
static void checkTuples(Emitter &e, Tensor indices, Tensor data, int64_t first,
                        int64_t length) {
  Sizes prefix = e.sizes(indices);
  prefix.pop_back();
  SmallVector<Value> valid = e.forEach(
      prefix, truth(e, true), [&](ArrayRef<Value> at, ValueRange current) {
        Value inside = current[0];
        Indices position(at);
        position.push_back(Value());
        for (int64_t k = 0; k < length; ++k) {
          position.back() = e.index(k);
          Value dim = e.asValue(e.size(data, first + k));
          inside =
              both(e, inside,
                   isWithin(e, readPosition(e, indices, position, dim), dim));
        }
        return SmallVector<Value>{inside};
      });
  e.check(valid[0], "expects indices within the dimensions that they index");
}

/// The tuple of positions at `prefix`.
static Indices readTuple(Emitter &e, Tensor indices, ArrayRef<Value> prefix,
                         Tensor data, int64_t first, int64_t length) {
  Indices at(prefix), tuple;
  at.push_back(Value());
  for (int64_t k = 0; k < length; ++k) {
    at.back() = e.index(k);
    tuple.push_back(
        readPosition(e, indices, at, e.asValue(e.size(data, first + k))));
  }
  return tuple;
}

namespace {

struct LowerGatherND : OpLowering<onnx::GatherNDOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::GatherNDOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = asStored(operands[0]), indices = operands[1];
    int64_t batch = op.getBatchDims();
    int64_t prefix = indices.rank() - 1;
    int64_t rank = cast<RankedTensorType>(op.getOutput().getType()).getRank();
    int64_t length = prefix + data.rank() - batch - rank;
    if (length < 0 || batch + length > data.rank())
      return refuse(op, "the ranks of its operands and result don't fit");
    checkEqual(e, e.size(indices, prefix), e.getIndexAttr(length),
               "expects tuples of " + Twine(length) + " indices");
    for (int64_t d = 0; d < batch; ++d)
      checkEqual(e, e.size(indices, d), e.size(data, d),
                 "expects data and indices of the same batch");
    checkTuples(e, indices, data, batch, length);
    Sizes sizes = e.sizes(indices);
    sizes.pop_back();
    llvm::append_range(sizes,
                       ArrayRef(e.sizes(data)).drop_front(batch + length));
    Tensor result = e.generate(
        agreedSizes(e, op, 0, sizes), data.elementType,
        [&](ArrayRef<Value> at) {
          Indices from(at.take_front(batch));
          llvm::append_range(from, readTuple(e, indices, at.take_front(prefix),
                                             data, batch, length));
          llvm::append_range(from, at.drop_front(prefix));
          return e.read(data, from);
        });
    return SmallVector<Value>{result.value};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// What a scatter leaves where `update` meets `old`.
static Scalar combine(Emitter &e, StringRef reduction, Scalar old,
                      Scalar update) {
  if (reduction == "none")
    return update;
  bool isTruth = isBool(old.elementType);
  if (isTruth && (reduction == "add" || reduction == "max"))
    return {either(e, old.value, update.value), old.elementType};
  if (isTruth)
    return {both(e, old.value, update.value), old.elementType};
  if (reduction == "add")
    return e.add(old, update);
  if (reduction == "mul")
    return e.mul(old, update);
  return reduction == "max" ? e.max(old, update) : e.min(old, update);
}

/// Writes an update over an element of `data`.
static SmallVector<Value> scatterOne(Emitter &e, StringRef reduction,
                                     Tensor data, ArrayRef<Value> to,
                                     Scalar update) {
  if (reduction != "none")
    update = combine(e, reduction, e.read(data, to), update);
  return {e.write(data, to, update).value};
}

namespace {

struct LowerScatterElements : OpLowering<onnx::ScatterElementsOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ScatterElementsOp op, Operands operands,
                Emitter &e) const override {
    bool moves = op.getReduction() == "none";
    Tensor data = moves ? asStored(operands[0]) : operands[0];
    Tensor updates = moves ? asStored(operands[2]) : operands[2];
    Tensor indices = operands[1];
    int64_t axis = normalAxis(op.getAxis(), data.rank());
    Value dim = e.asValue(e.size(data, axis));
    for (int64_t d = 0; d < data.rank(); ++d)
      checkEqual(e, e.size(indices, d), e.size(updates, d),
                 "expects indices and updates of the same sizes");
    checkInner(e, indices, data, axis);
    checkIndices(e, {op.getIndices(), indices}, dim);
    return e.forEach(e.sizes(indices), data.value,
                     [&](ArrayRef<Value> at, ValueRange current) {
                       Indices to(at);
                       to[axis] = readPosition(e, indices, at, dim);
                       return scatterOne(e, op.getReduction(),
                                         {current[0], data.elementType}, to,
                                         e.read(updates, at));
                     });
  }
};

struct LowerScatterND : OpLowering<onnx::ScatterNDOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ScatterNDOp op, Operands operands,
                Emitter &e) const override {
    bool moves = op.getReduction() == "none";
    Tensor data = moves ? asStored(operands[0]) : operands[0];
    Tensor updates = moves ? asStored(operands[2]) : operands[2];
    Tensor indices = operands[1];
    int64_t prefix = indices.rank() - 1;
    int64_t length = prefix + data.rank() - updates.rank();
    if (length < 0 || length > data.rank())
      return refuse(op, "the ranks of its operands don't fit");
    checkEqual(e, e.size(indices, prefix), e.getIndexAttr(length),
               "expects tuples of " + Twine(length) + " indices");
    Sizes sizes = e.sizes(updates);
    for (int64_t d = 0; d < updates.rank(); ++d)
      checkEqual(e, sizes[d],
                 d < prefix ? e.size(indices, d)
                            : e.size(data, d - prefix + length),
                 "expects updates of the sizes that indices and data tell");
    checkTuples(e, indices, data, 0, length);
    Sizes outer(ArrayRef(sizes).take_front(prefix));
    Sizes inner(ArrayRef(sizes).drop_front(prefix));
    return e.forEach(
        outer, data.value, [&](ArrayRef<Value> at, ValueRange current) {
          Indices tuple = readTuple(e, indices, at, data, 0, length);
          Indices from(at);
          return e.forEach(inner, current,
                           [&](ArrayRef<Value> rest, ValueRange values) {
                             Indices to = tuple, source = from;
                             llvm::append_range(to, rest);
                             llvm::append_range(source, rest);
                             return scatterOne(e, op.getReduction(),
                                               {values[0], data.elementType},
                                               to, e.read(updates, source));
                           });
        });
  }
};

} // namespace

void tensors::addTensorGatherLowerings(RewritePatternSet &patterns,
                                       const StorageTypeConverter &types) {
  patterns.add<LowerGather, LowerGatherElements, LowerGatherND,
               LowerScatterElements, LowerScatterND>(types,
                                                     patterns.getContext());
}
