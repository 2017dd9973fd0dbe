// Lowerings of ops that give a tensor other dimensions or tell them: the
// elements stay where they are.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

/// The sizes that a Reshape's list means: zeros taken over, -1 filled in. A
/// size that `isFixed` is what it says.
static Indices resolveShape(Emitter &e, Indices wanted, Tensor data,
                            ArrayRef<bool> isFixed) {
  Value total = e.asValue(e.productOf(e.sizes(data)));
  Value known = e.index(1), open = e.index(0), one = e.index(1);
  SmallVector<Value> isOpen;
  for (auto [i, size] : llvm::enumerate(wanted)) {
    if (!isFixed[i]) {
      Value isZero = isEqual(e, size, 0);
      if (static_cast<int64_t>(i) < data.rank())
        size = choose(e, isZero, e.asValue(e.size(data, i)), size);
      else
        e.check(negate(e, isZero), "expects no 0 in shape beyond the "
                                   "dimensions of data");
    }
    e.check(e.cmpIndex(arith::CmpIPredicate::sge, size, e.index(-1)),
            "expects sizes in shape of -1 or more");
    isOpen.push_back(isEqual(e, size, -1));
    known = e.mulIndex(known, choose(e, isOpen.back(), one, size));
    open = e.addIndex(open, choose(e, isOpen.back(), one, e.index(0)));
  }
  e.check(e.cmpIndex(arith::CmpIPredicate::sle, open, one),
          "expects at most one -1 in shape");
  Value rest = e.floorDivIndex(total, e.maxIndex(known, one));
  Value product = one;
  for (auto [size, condition] : llvm::zip(wanted, isOpen)) {
    size = choose(e, condition, rest, size);
    product = e.mulIndex(product, size);
  }
  e.check(e.cmpIndex(arith::CmpIPredicate::eq, product, total),
          "expects a shape of as many elements as data has");
  return wanted;
}

namespace {

struct LowerReshape : OpLowering<onnx::ReshapeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ReshapeOp op, Operands operands,
                Emitter &e) const override {
    auto type = cast<RankedTensorType>(op.getReshaped().getType());
    Indices wanted =
        readList(e, {op.getShape(), operands[1]}, type.getRank(), "shape");
    SmallVector<bool> isFixed(type.getRank(), op.getAllowzero() != 0);
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(i))
        continue;
      wanted[i] = e.index(type.getDimSize(i));
      isFixed[i] = true;
    }
    Indices sizes = resolveShape(e, wanted, operands[0], isFixed);
    Sizes agreed = agreedSizes(e, op, 0, toSizes(sizes));
    return SmallVector<Value>{e.reshape(operands[0], agreed).value};
  }
};

struct LowerFlatten : OpLowering<onnx::FlattenOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::FlattenOp op, Operands operands,
                Emitter &e) const override {
    Sizes sizes = e.sizes(operands[0]);
    int64_t axis = normalAxis(op.getAxis(), sizes.size());
    Sizes matrix = {e.productOf(ArrayRef(sizes).take_front(axis)),
                    e.productOf(ArrayRef(sizes).drop_front(axis))};
    return SmallVector<Value>{
        e.reshape(operands[0], agreedSizes(e, op, 0, matrix)).value};
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Squeeze and Unsqueeze
//===----------------------------------------------------------------------===//

/// Per dimension of `rank`, whether some axis of the list names it.
static SmallVector<Value> markAxes(Emitter &e, ArrayRef<Value> axes,
                                   int64_t rank) {
  SmallVector<Value> marks(rank, truth(e, false));
  Value limit = e.index(rank);
  for (Value axis : axes) {
    axis = e.wrapIndex(axis, limit);
    e.check(isWithin(e, axis, limit), "expects axes within the dimensions");
    for (auto [d, mark] : llvm::enumerate(marks))
      mark = either(e, mark, isEqual(e, axis, d));
  }
  return marks;
}

/// The sizes that are kept, in order; there must be `count` of them.
static Indices keptSizes(Emitter &e, ArrayRef<Value> sizes,
                         ArrayRef<Value> isKept, int64_t count) {
  Indices kept(count, e.index(1));
  Value next = e.index(0);
  for (auto [size, keep] : llvm::zip(sizes, isKept)) {
    for (auto [position, out] : llvm::enumerate(kept))
      out = choose(e, both(e, keep, isEqual(e, next, position)), size, out);
    next = e.addIndex(next, choose(e, keep, e.index(1), e.index(0)));
  }
  e.check(isEqual(e, next, count),
          "expects a result of " + Twine(count) + " dimensions");
  return kept;
}

namespace {

struct LowerSqueeze : OpLowering<onnx::SqueezeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::SqueezeOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = operands[0], axes = operands[1];
    int64_t count =
        cast<RankedTensorType>(op.getSqueezed().getType()).getRank();
    Indices sizes = toValues(e, e.sizes(data));
    SmallVector<Value> isKept;
    if (!axes) {
      for (Value size : sizes)
        isKept.push_back(negate(e, isEqual(e, size, 1)));
    } else {
      Indices list =
          readList(e, {op.getAxes(), axes},
                   std::max<int64_t>(data.rank() - count, 0), "axes");
      for (auto [size, mark] :
           llvm::zip(sizes, markAxes(e, list, data.rank()))) {
        e.check(either(e, negate(e, mark), isEqual(e, size, 1)),
                "expects dimensions of size 1 along axes");
        isKept.push_back(negate(e, mark));
      }
    }
    Sizes kept = toSizes(keptSizes(e, sizes, isKept, count));
    return SmallVector<Value>{
        e.reshape(data, agreedSizes(e, op, 0, kept)).value};
  }
};

struct LowerUnsqueeze : OpLowering<onnx::UnsqueezeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::UnsqueezeOp op, Operands operands,
                Emitter &e) const override {
    Tensor data = operands[0];
    int64_t count =
        cast<RankedTensorType>(op.getExpanded().getType()).getRank();
    Indices list = readList(e, {op.getAxes(), operands[1]},
                            std::max<int64_t>(count - data.rank(), 0), "axes");
    Indices from = toValues(e, e.sizes(data)), sizes;
    Value next = e.index(0), one = e.index(1);
    for (Value mark : markAxes(e, list, count)) {
      Value size = one;
      for (auto [position, own] : llvm::enumerate(from))
        size = choose(e, isEqual(e, next, position), own, size);
      sizes.push_back(choose(e, mark, one, size));
      next = e.addIndex(next, choose(e, mark, e.index(0), one));
    }
    e.check(isEqual(e, next, data.rank()), "expects distinct axes");
    return SmallVector<Value>{
        e.reshape(data, agreedSizes(e, op, 0, toSizes(sizes))).value};
  }
};

//===----------------------------------------------------------------------===//
// Identity, Shape and Size
//===----------------------------------------------------------------------===//

struct LowerIdentity : OpLowering<onnx::IdentityOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::IdentityOp op, Operands operands,
                Emitter &) const override {
    return SmallVector<Value>{operands[0].value};
  }
};

} // namespace

/// A vector, or a scalar, of sizes.
static Value tensorOfSizes(Emitter &e, ArrayRef<OpFoldResult> sizes,
                           bool isScalar) {
  SmallVector<int64_t> shape;
  if (!isScalar)
    shape.push_back(sizes.size());
  auto type = RankedTensorType::get(shape, e.getI64Type());
  SmallVector<int64_t> constants;
  SmallVector<Value> values;
  for (OpFoldResult size : sizes)
    if (std::optional<int64_t> constant = e.constant(size))
      constants.push_back(*constant);
  if (constants.size() == sizes.size())
    return arith::ConstantOp::create(
        e, DenseElementsAttr::get(type, ArrayRef<int64_t>(constants)));
  for (OpFoldResult size : sizes)
    values.push_back(e.toI64(e.asValue(size)));
  return tensor::FromElementsOp::create(e, type, values);
}

namespace {

struct LowerShape : OpLowering<onnx::ShapeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ShapeOp op, Operands operands,
                Emitter &e) const override {
    Sizes sizes = e.sizes(operands[0]);
    int64_t rank = sizes.size();
    auto bound = [&](int64_t value) {
      return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
    };
    int64_t start = bound(op.getStart());
    int64_t end = std::max(start, bound(op.getEnd().value_or(rank)));
    ArrayRef<OpFoldResult> part = ArrayRef(sizes).slice(start, end - start);
    return SmallVector<Value>{tensorOfSizes(e, part, /*isScalar=*/false)};
  }
};

struct LowerSize : OpLowering<onnx::SizeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::SizeOp op, Operands operands, Emitter &e) const override {
    return SmallVector<Value>{
        tensorOfSizes(e, e.productOf(e.sizes(operands[0])), /*isScalar=*/true)};
  }
};

} // namespace

void tensors::addTensorShapeLowerings(RewritePatternSet &patterns,
                                      const StorageTypeConverter &types) {
  patterns.add<LowerReshape, LowerFlatten, LowerSqueeze, LowerUnsqueeze,
               LowerIdentity, LowerShape, LowerSize>(types,
                                                     patterns.getContext());
}
