// Loops with maps of their own, views and checks of sizes.

#include "LoopSupport.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include <cstring>

using namespace mlir;
using namespace onnxquant::lowering;

Tensor onnxquant::lowering::emitLoops(
    Emitter &e, ArrayRef<Tensor> inputs, Tensor out, ArrayRef<AffineMap> maps,
    function_ref<Scalar(ArrayRef<Scalar>, Scalar)> body) {
  AffineMap outMap = maps.back();
  SmallVector<utils::IteratorType> iterators(outMap.getNumDims(),
                                             utils::IteratorType::reduction);
  for (AffineExpr expr : outMap.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      iterators[dim.getPosition()] = utils::IteratorType::parallel;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Tensor input : inputs) {
    operands.push_back(input.value);
    types.push_back(storageType(input.elementType));
  }
  types.push_back(storageType(out.elementType));
  auto generic = linalg::GenericOp::create(e, out.value.getType(), operands,
                                           out.value, maps, iterators);
  OpBuilder::InsertionGuard guard(e);
  Block *block = e.createBlock(&generic.getRegion(), {}, types,
                               SmallVector<Location>(types.size(), e.getLoc()));
  SmallVector<Scalar> elements;
  for (auto [input, argument] : llvm::zip(inputs, block->getArguments()))
    elements.push_back(e.load(argument, input.elementType));
  Scalar result =
      body(elements, e.load(block->getArguments().back(), out.elementType));
  linalg::YieldOp::create(e, e.store(result));
  return {generic.getResult(0), out.elementType};
}

/// a * b + sum, which may be fused into one rounding.
static Scalar multiplyAdd(Emitter &e, Scalar a, Scalar b, Scalar sum) {
  if (!isFloat(sum.elementType))
    return e.add(sum, e.mul(a, b));
  auto contract = arith::FastMathFlags::contract;
  Value product = arith::MulFOp::create(e, a.value, b.value, contract);
  return {arith::AddFOp::create(e, sum.value, product, contract),
          sum.elementType};
}

Tensor onnxquant::lowering::addProducts(Emitter &e, ArrayRef<Tensor> inputs,
                                        Tensor out, ArrayRef<AffineMap> maps) {
  size_t count = inputs.size() / 2;
  return emitLoops(
      e, inputs, out, maps, [&](ArrayRef<Scalar> elements, Scalar sum) {
        for (size_t i = 0; i < count; ++i)
          sum = multiplyAdd(e, elements[i], elements[count + i], sum);
        return sum;
      });
}

Tensor onnxquant::lowering::writeOver(
    Emitter &e, Tensor input, Tensor out,
    function_ref<Scalar(Scalar, ArrayRef<Value>)> body) {
  AffineMap map = e.getMultiDimIdentityMap(input.rank());
  return emitLoops(e, {input}, out, {map, map},
                   [&](ArrayRef<Scalar> elements, Scalar) {
                     Indices indices;
                     for (int64_t i = 0; i < input.rank(); ++i)
                       indices.push_back(linalg::IndexOp::create(e, i));
                     return body(elements[0], indices);
                   });
}

static Sizes asSizes(Emitter &e, ArrayRef<int64_t> values, size_t size) {
  Sizes sizes(size, e.getIndexAttr(1));
  for (auto [i, value] : llvm::enumerate(values))
    sizes[i] = e.getIndexAttr(value);
  return sizes;
}

static bool isKnownEmpty(Emitter &e, ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(sizes,
                      [&](OpFoldResult size) { return e.constant(size) == 0; });
}

Tensor onnxquant::lowering::slice(Emitter &e, Tensor tensor,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes,
                                  ArrayRef<int64_t> strides) {
  // A slice of nothing starts nowhere.
  if (isKnownEmpty(e, e.sizes(tensor)) || isKnownEmpty(e, sizes))
    return e.empty(sizes, tensor.elementType);
  bool isWhole = llvm::all_of(strides, [](int64_t s) { return s == 1; }) &&
                 llvm::all_of(offsets, [&](OpFoldResult offset) {
                   return e.constant(offset) == 0;
                 });
  for (auto [size, dim] : llvm::zip(sizes, tensor.shape()))
    isWhole &= !ShapedType::isDynamic(dim) && e.constant(size) == dim;
  if (isWhole)
    return tensor;
  return {tensor::ExtractSliceOp::create(e, tensor.value, offsets, sizes,
                                         asSizes(e, strides, sizes.size())),
          tensor.elementType};
}

int64_t onnxquant::lowering::findUnroll(Emitter &e, OpFoldResult size,
                                        int64_t limit) {
  std::optional<int64_t> known = e.constant(size);
  int64_t unroll = 1;
  while (known && *known > 0 && unroll * 2 <= limit &&
         *known % (unroll * 2) == 0)
    unroll *= 2;
  return unroll;
}

Tensor onnxquant::lowering::everyNth(Emitter &e, Tensor tensor, int64_t axis,
                                     int64_t first, int64_t step) {
  if (step == 1)
    return tensor;
  Sizes offsets(tensor.rank(), e.getIndexAttr(0)), sizes = e.sizes(tensor);
  SmallVector<int64_t> strides(tensor.rank(), 1);
  offsets[axis] = e.getIndexAttr(first);
  sizes[axis] = e.floorDivSize(sizes[axis], e.getIndexAttr(step));
  strides[axis] = step;
  return slice(e, tensor, offsets, sizes, strides);
}

Tensor onnxquant::lowering::insertSlice(Emitter &e, Tensor part, Tensor tensor,
                                        ArrayRef<OpFoldResult> offsets) {
  if (isKnownEmpty(e, e.sizes(part)))
    return tensor;
  return {tensor::InsertSliceOp::create(e, part.value, tensor.value, offsets,
                                        e.sizes(part),
                                        asSizes(e, {}, offsets.size())),
          tensor.elementType};
}

/// Every dimension on its own, but for `count` of them from `axis` on.
static SmallVector<ReassociationIndices> groupDims(int64_t rank, int64_t axis,
                                                   int64_t count) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i) {
    if (i <= axis || i >= axis + count)
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

/// A constant with the same elements in another shape; null for another tensor.
static Tensor reshapeConstant(Emitter &e, Tensor tensor,
                              ArrayRef<int64_t> shape) {
  ElementsAttr elements;
  if (!matchPattern(tensor.value, m_Constant(&elements)) ||
      ShapedType::isDynamicShape(shape))
    return {};
  auto type = RankedTensorType::get(shape, storageType(tensor.elementType));
  TypedAttr reshaped;
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    reshaped = cast<TypedAttr>(dense.reshape(type));
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    reshaped = DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (!reshaped)
    return {};
  return {arith::ConstantOp::create(e, reshaped), tensor.elementType};
}

/// The bytes of a constant that isn't one number over and over.
static ArrayRef<char> getBytes(ElementsAttr elements) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData();
  return {};
}

Tensor onnxquant::lowering::transposeFolded(Emitter &e, Tensor tensor,
                                            ArrayRef<int64_t> permutation) {
  ElementsAttr elements;
  size_t width = storageType(tensor.elementType).getIntOrFloatBitWidth() / 8;
  ArrayRef<int64_t> from = tensor.shape();
  ArrayRef<char> bytes;
  if (matchPattern(tensor.value, m_Constant(&elements)))
    bytes = getBytes(elements);
  if (bytes.empty() || bytes.size() != elements.size() * width)
    return e.transpose(tensor, permutation);

  SmallVector<int64_t> steps(from.size(), 1), shape, index(from.size(), 0);
  for (size_t i = from.size() - 1; i-- > 0;)
    steps[i] = steps[i + 1] * from[i + 1];
  for (int64_t axis : permutation)
    shape.push_back(from[axis]);
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(bytes.size(), /*align=*/64);
  char *to = blob.getMutableData().data();
  for (size_t i = 0; i < bytes.size(); i += width) {
    int64_t source = 0;
    for (auto [position, axis] : llvm::zip(index, permutation))
      source += position * steps[axis];
    std::memcpy(to + i, bytes.data() + source * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
  auto type = RankedTensorType::get(shape, storageType(tensor.elementType));
  auto folded =
      DenseResourceElementsAttr::get(type, "transposed", std::move(blob));
  return {arith::ConstantOp::create(e, folded), tensor.elementType};
}

Tensor onnxquant::lowering::mergeDims(Emitter &e, Tensor tensor, int64_t axis,
                                      int64_t count) {
  if (count == 1)
    return tensor;
  SmallVector<int64_t> shape(tensor.shape());
  for (int64_t i = 1; i < count; ++i) {
    shape[axis] *= shape[axis + 1];
    shape.erase(shape.begin() + axis + 1);
  }
  if (!ShapedType::isDynamicShape(tensor.shape()))
    if (Tensor constant = reshapeConstant(e, tensor, shape))
      return constant;
  return {tensor::CollapseShapeOp::create(
              e, tensor.value, groupDims(tensor.rank(), axis, count)),
          tensor.elementType};
}

Tensor onnxquant::lowering::splitDim(Emitter &e, Tensor tensor, int64_t axis,
                                     OpFoldResult outer, OpFoldResult inner) {
  Sizes sizes = e.sizes(tensor);
  sizes[axis] = outer;
  sizes.insert(sizes.begin() + axis + 1, inner);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(e.constant(size).value_or(ShapedType::kDynamic));
  if (Tensor constant = reshapeConstant(e, tensor, shape))
    return constant;
  // An expansion takes at most one unknown part, and only of an unknown whole.
  int64_t unknown = ShapedType::isDynamic(shape[axis]) +
                    ShapedType::isDynamic(shape[axis + 1]);
  if (unknown != ShapedType::isDynamic(tensor.shape()[axis]))
    return e.reshape(tensor, sizes);
  auto type = RankedTensorType::get(shape, storageType(tensor.elementType));
  return {tensor::ExpandShapeOp::create(
              e, type, tensor.value, groupDims(sizes.size(), axis, 2), sizes),
          tensor.elementType};
}

Tensor onnxquant::lowering::perChannel(Emitter &e, Tensor vector,
                                       int64_t trailing) {
  for (int64_t i = 0; i < trailing; ++i)
    vector = splitDim(e, vector, i, e.size(vector, i), e.getIndexAttr(1));
  return vector;
}

template <typename Op, typename Fold>
static OpFoldResult combine(Emitter &e, OpFoldResult a, OpFoldResult b,
                            Fold fold) {
  std::optional<int64_t> x = e.constant(a), y = e.constant(b);
  if (x && y)
    return e.getIndexAttr(fold(*x, *y));
  return e.createOrFold<Op>(e.asValue(a), e.asValue(b));
}

OpFoldResult onnxquant::lowering::minSize(Emitter &e, OpFoldResult a,
                                          OpFoldResult b) {
  return combine<arith::MinSIOp>(
      e, a, b, [](int64_t x, int64_t y) { return std::min(x, y); });
}

OpFoldResult onnxquant::lowering::maxSize(Emitter &e, OpFoldResult a,
                                          OpFoldResult b) {
  return combine<arith::MaxSIOp>(
      e, a, b, [](int64_t x, int64_t y) { return std::max(x, y); });
}

OpFoldResult onnxquant::lowering::broadcastSize(Emitter &e, OpFoldResult a,
                                                OpFoldResult b) {
  std::optional<int64_t> x = e.constant(a), y = e.constant(b);
  if (y == 1 || a == b || (x && x == y))
    return a;
  if (x == 1)
    return b;
  Value left = e.asValue(a), right = e.asValue(b), one = e.index(1);
  auto equal = arith::CmpIPredicate::eq;
  Value leftIsOne = e.cmpIndex(equal, left, one);
  Value fits = e.createOrFold<arith::OrIOp>(
      e.cmpIndex(equal, left, right),
      e.createOrFold<arith::OrIOp>(leftIsOne, e.cmpIndex(equal, right, one)));
  e.check(fits, "sizes of operands don't go together");
  if (x)
    return a;
  if (y)
    return b;
  return e.createOrFold<arith::SelectOp>(leftIsOne, right, left);
}

void onnxquant::lowering::checkBroadcast(Emitter &e, OpFoldResult size,
                                         OpFoldResult full) {
  std::optional<int64_t> known = e.constant(size);
  if (known == 1 || size == full || (known && known == e.constant(full)))
    return;
  Value own = e.asValue(size);
  e.check(e.createOrFold<arith::OrIOp>(
              e.cmpIndex(arith::CmpIPredicate::eq, own, e.index(1)),
              e.cmpIndex(arith::CmpIPredicate::eq, own, e.asValue(full))),
          "sizes of operands don't go together");
}

void onnxquant::lowering::checkAll(Emitter &e, Tensor tensor,
                                   const Twine &message,
                                   function_ref<Value(Scalar)> holds) {
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < tensor.rank(); ++i)
    axes.push_back(i);
  Type type = e.getI1Type();
  Tensor all = e.reduce(
      tensor, axes, /*keepDims=*/false, e.integer(1, type),
      [&](Scalar x, Scalar before) -> Scalar {
        return {e.createOrFold<arith::AndIOp>(before.value, holds(x)), type};
      });
  e.check(e.read(all, {}).value, message);
}

void onnxquant::lowering::checkEqual(Emitter &e, OpFoldResult a, OpFoldResult b,
                                     const Twine &message) {
  std::optional<int64_t> x = e.constant(a), y = e.constant(b);
  if (a == b || (x && x == y))
    return;
  e.check(e.cmpIndex(arith::CmpIPredicate::eq, e.asValue(a), e.asValue(b)),
          message);
}

void onnxquant::lowering::checkAtLeast(Emitter &e, OpFoldResult a,
                                       OpFoldResult b, const Twine &message) {
  std::optional<int64_t> x = e.constant(a), y = e.constant(b);
  if (x && y && *x >= *y)
    return;
  e.check(e.cmpIndex(arith::CmpIPredicate::sge, e.asValue(a), e.asValue(b)),
          message);
}

Tensor onnxquant::lowering::castTo(Emitter &e, Tensor tensor,
                                   Type elementType) {
  if (tensor.elementType == elementType)
    return tensor;
  return e.map({tensor}, e.sizes(tensor), elementType,
               [&](ArrayRef<Scalar> x) { return e.cast(x[0], elementType); });
}

SmallVector<Value> onnxquant::lowering::loop(
    Emitter &e, Value from, Value to, ValueRange carried,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(
      e, from, to, e.index(1), carried,
      [&](OpBuilder &builder, Location loc, Value position, ValueRange values) {
        OpBuilder::InsertionGuard guard(e);
        e.setInsertionPointToEnd(builder.getInsertionBlock());
        scf::YieldOp::create(e, body(position, values));
      });
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value>
onnxquant::lowering::branch(Emitter &e, Value condition, TypeRange types,
                            function_ref<SmallVector<Value>()> thenBody,
                            function_ref<SmallVector<Value>()> elseBody) {
  auto op = scf::IfOp::create(e, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e);
  for (auto [block, body] : {std::pair(op.thenBlock(), thenBody),
                             std::pair(op.elseBlock(), elseBody)}) {
    e.setInsertionPointToEnd(block);
    scf::YieldOp::create(e, body());
  }
  return SmallVector<Value>(op.getResults());
}
