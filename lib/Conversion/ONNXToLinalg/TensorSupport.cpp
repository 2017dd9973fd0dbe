// Lists, folding conditions and sizes for the Tensor family, and its list of
// lowerings.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

/// Constants of more elements than this are read at run time.
static constexpr int64_t maxConstants = 4096;

Type tensors::storedType(Tensor tensor) {
  return cast<RankedTensorType>(tensor.value.getType()).getElementType();
}

Tensor tensors::asStored(Tensor tensor) {
  return {tensor.value, storedType(tensor)};
}

int64_t tensors::normalAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> tensors::normalAxes(std::optional<ArrayAttr> axes,
                                         int64_t rank) {
  if (!axes)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> normal;
  for (int64_t axis : onnx::shape::getInts(axes))
    normal.push_back(normalAxis(axis, rank));
  return normal;
}

bool tensors::isAbsent(Tensor tensor) {
  return !tensor || llvm::is_contained(tensor.shape(), 0);
}

//===----------------------------------------------------------------------===//
// Values and conditions
//===----------------------------------------------------------------------===//

Sizes tensors::toSizes(ArrayRef<Value> values) {
  return llvm::map_to_vector(
      values, [](Value value) { return getAsOpFoldResult(value); });
}

Indices tensors::toValues(Emitter &e, ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(
      sizes, [&](OpFoldResult size) { return e.asValue(size); });
}

Value tensors::choose(Emitter &e, Value condition, Value a, Value b) {
  return e.createOrFold<arith::SelectOp>(condition, a, b);
}

Value tensors::both(Emitter &e, Value a, Value b) {
  return e.createOrFold<arith::AndIOp>(a, b);
}

Value tensors::either(Emitter &e, Value a, Value b) {
  return e.createOrFold<arith::OrIOp>(a, b);
}

Value tensors::truth(Emitter &e, bool value) {
  return arith::ConstantOp::create(e, e.getBoolAttr(value));
}

Value tensors::negate(Emitter &e, Value condition) {
  return e.createOrFold<arith::XOrIOp>(condition, truth(e, true));
}

Value tensors::isEqual(Emitter &e, Value a, int64_t b) {
  return e.cmpIndex(arith::CmpIPredicate::eq, a, e.index(b));
}

Value tensors::clampIndex(Emitter &e, Value value, Value low, Value high) {
  return e.minIndex(e.maxIndex(value, low), high);
}

Value tensors::isWithin(Emitter &e, Value position, Value size) {
  return e.cmpIndex(arith::CmpIPredicate::ult, position, size);
}

Value tensors::floatToIndex(Emitter &e, Scalar value) {
  return e.toIndex(e.cast(e.math<math::FloorOp>(value), e.getI64Type()).value);
}

Scalar tensors::indexToFloat(Emitter &e, Value position, Type elementType) {
  return e.cast({e.toI64(position), e.getI64Type()}, elementType);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> List::constants() const {
  if (!tensor)
    return std::nullopt;
  ElementsAttr elements = onnx::getConstant(written);
  return elements ? onnx::readInts(elements, maxConstants) : std::nullopt;
}

/// Entry k of a list of known length.
static Value entryOf(Emitter &e, List list, int64_t k) {
  if (std::optional<SmallVector<int64_t>> constants = list.constants())
    if (k < static_cast<int64_t>(constants->size()))
      return e.index((*constants)[k]);
  Indices position;
  if (list.tensor.rank() == 1)
    position.push_back(e.index(k));
  return e.readIndex(list.tensor, position);
}

Indices tensors::readList(Emitter &e, List list, int64_t count,
                          StringRef name) {
  if (list.tensor.rank() == 1)
    checkEqual(e, e.size(list.tensor, 0), e.getIndexAttr(count),
               "expects " + name + " of " + Twine(count) + " elements");
  Indices values;
  for (int64_t k = 0; k < count; ++k)
    values.push_back(entryOf(e, list, k));
  return values;
}

/// The spreading of lists whose axes or length come at run time.
static void spreadAtRunTime(Emitter &e, ArrayRef<List> lists, List axes,
                            MutableArrayRef<Indices> values, Value count) {
  int64_t rank = values.front().size();
  Value limit = e.index(rank);
  e.check(e.cmpIndex(arith::CmpIPredicate::sle, count, limit),
          "expects lists of at most one element per dimension");
  if (axes.tensor)
    checkEqual(e, e.size(axes.tensor, 0), count,
               "expects as many axes as values for them");
  SmallVector<Value> carried = {truth(e, true)};
  for (const Indices &list : values)
    llvm::append_range(carried, list);
  carried =
      e.forEach({count}, carried, [&](ArrayRef<Value> k, ValueRange current) {
        Value axis = axes.tensor ? e.readIndex(axes.tensor, k) : k[0];
        axis = e.wrapIndex(axis, limit);
        SmallVector<Value> next = {
            both(e, current[0], isWithin(e, axis, limit))};
        for (size_t i = 0; i < values.size(); ++i) {
          bool isSecondHalf = i >= lists.size();
          Value at = isSecondHalf ? e.addIndex(k[0], count) : k[0];
          Value entry = e.readIndex(lists[isSecondHalf ? 0 : i].tensor, at);
          for (int64_t d = 0; d < rank; ++d)
            next.push_back(choose(e, isEqual(e, axis, d), entry,
                                  current[1 + i * rank + d]));
        }
        return next;
      });
  e.check(carried[0], "expects axes within the dimensions of the operand");
  for (size_t i = 0; i < values.size(); ++i)
    values[i].assign(carried.begin() + 1 + i * rank,
                     carried.begin() + 1 + (i + 1) * rank);
}

void tensors::spreadOverAxes(Emitter &e, ArrayRef<List> lists, List axes,
                             MutableArrayRef<Indices> values) {
  int64_t rank = values.front().size();
  bool isHalved = values.size() > lists.size();
  OpFoldResult length = e.size(lists[0].tensor, 0);
  for (List list : lists.drop_front())
    checkEqual(e, e.size(list.tensor, 0), length,
               "expects lists of the same length");
  std::optional<SmallVector<int64_t>> known = axes.constants();
  std::optional<int64_t> count = e.constant(length);
  if (isHalved) {
    length = e.floorDivSize(length, e.getIndexAttr(2));
    count = e.constant(length);
  }
  if (known) {
    count = known->size();
    checkEqual(e, length, e.getIndexAttr(*count),
               "expects as many values as axes");
  } else if (!axes.tensor && isHalved && !count) {
    count = rank;
    checkEqual(e, length, e.getIndexAttr(rank),
               "expects two values per dimension");
  }
  if (!count || (axes.tensor && !known))
    return spreadAtRunTime(e, lists, axes, values, e.asValue(length));
  for (int64_t k = 0; k < *count; ++k) {
    int64_t axis = known ? normalAxis((*known)[k], rank) : k;
    if (axis < 0 || axis >= rank) {
      e.check(truth(e, false),
              "expects axes within the dimensions of the operand");
      continue;
    }
    for (size_t i = 0; i < lists.size(); ++i)
      values[i][axis] = entryOf(e, lists[i], k);
    if (isHalved)
      values[1][axis] = entryOf(e, lists[0], k + *count);
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Whether a size is a tensor's, and so never negative.
static bool isSizeOfTensor(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  return value && value.getDefiningOp<tensor::DimOp>();
}

Sizes tensors::agreedSizes(Emitter &e, Operation *op, unsigned number,
                           ArrayRef<OpFoldResult> computed) {
  Sizes sizes = e.resultSizes(number, computed);
  for (auto [index, size] : llvm::enumerate(sizes))
    if (std::optional<int64_t> promised = e.constant(size))
      checkEqual(e, computed[index], size,
                 "expects dimension " + Twine(index) + " of the result to be " +
                     Twine(*promised));
    else if (!isSizeOfTensor(size))
      checkAtLeast(e, size, e.getIndexAttr(0),
                   "expects dimension " + Twine(index) +
                       " of the result not to be negative");
  return sizes;
}

Tensor tensors::takePart(Emitter &e, Tensor tensor,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         ArrayRef<OpFoldResult> steps) {
  if (llvm::any_of(sizes, [&](OpFoldResult s) { return e.constant(s) == 0; }))
    return e.empty(sizes, tensor.elementType);
  Sizes ones(sizes.size(), e.getIndexAttr(1));
  if (steps.empty())
    steps = ones;
  bool isWhole = true;
  for (size_t d = 0; d < sizes.size(); ++d)
    isWhole &= e.constant(offsets[d]) == 0 && e.constant(steps[d]) == 1 &&
               e.constant(sizes[d]).value_or(ShapedType::kDynamic) ==
                   tensor.shape()[d] &&
               e.constant(sizes[d]);
  if (isWhole)
    return tensor;
  return {
      tensor::ExtractSliceOp::create(e, tensor.value, offsets, sizes, steps),
      tensor.elementType};
}

Tensor tensors::putPart(Emitter &e, Tensor part, Tensor tensor,
                        ArrayRef<OpFoldResult> offsets) {
  if (llvm::is_contained(part.shape(), 0))
    return tensor;
  return insertSlice(e, part, tensor, offsets);
}

Tensor tensors::repeatDims(Emitter &e, Tensor tensor,
                           ArrayRef<OpFoldResult> outer,
                           ArrayRef<OpFoldResult> inner) {
  Sizes from = e.sizes(tensor), sizes, products;
  for (auto [before, size, after] : llvm::zip(outer, from, inner)) {
    Sizes factors = {before, size, after};
    bool isZero = llvm::any_of(
        factors, [&](OpFoldResult factor) { return e.constant(factor) == 0; });
    products.push_back(isZero ? e.getIndexAttr(0) : e.productOf(factors));
  }
  if (llvm::any_of(products,
                   [&](OpFoldResult s) { return e.constant(s) == 0; }))
    return e.empty(products, tensor.elementType);
  SmallVector<ReassociationIndices> groups;
  SmallVector<unsigned> own;
  for (size_t i = 0; i < from.size(); ++i) {
    groups.emplace_back();
    auto addLoop = [&](OpFoldResult size) {
      groups.back().push_back(sizes.size());
      sizes.push_back(size);
    };
    if (e.constant(outer[i]) != 1)
      addLoop(outer[i]);
    own.push_back(sizes.size());
    addLoop(from[i]);
    if (e.constant(inner[i]) != 1)
      addLoop(inner[i]);
  }
  if (sizes.size() == from.size())
    return tensor;
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : own)
    exprs.push_back(e.getAffineDimExpr(loop));
  AffineMap map = AffineMap::get(sizes.size(), 0, exprs, e.getContext());
  Tensor source = asStored(tensor);
  Tensor repeated =
      emitLoops(e, {source}, e.empty(sizes, source.elementType),
                {map, e.getMultiDimIdentityMap(sizes.size())},
                [](ArrayRef<Scalar> element, Scalar) { return element[0]; });
  return {tensor::CollapseShapeOp::create(e, repeated.value, groups),
          tensor.elementType};
}

void tensors::checkIndices(Emitter &e, List indices, Value size) {
  std::optional<int64_t> bound = e.constant(size);
  std::optional<SmallVector<int64_t>> known = indices.constants();
  if (bound && known && llvm::all_of(*known, [&](int64_t index) {
        return index >= -*bound && index < *bound;
      }))
    return;
  SmallVector<Value> valid =
      e.forEach(e.sizes(indices.tensor), truth(e, true),
                [&](ArrayRef<Value> at, ValueRange current) {
                  Value index = e.readIndex(indices.tensor, at);
                  Value inside = isWithin(e, e.wrapIndex(index, size), size);
                  return SmallVector<Value>{both(e, current[0], inside)};
                });
  e.check(valid[0], "expects indices within the dimension that they index");
}

void onnxquant::lowering::addTensorLowerings(
    RewritePatternSet &patterns, const StorageTypeConverter &types) {
  addTensorShapeLowerings(patterns, types);
  addTensorLayoutLowerings(patterns, types);
  addTensorSliceLowerings(patterns, types);
  addTensorGatherLowerings(patterns, types);
  addTensorSelectLowerings(patterns, types);
  addTensorResizeLowerings(patterns, types);
  addTensorGridLowerings(patterns, types);
  addTensorEncodedLowerings(patterns, types);
}
