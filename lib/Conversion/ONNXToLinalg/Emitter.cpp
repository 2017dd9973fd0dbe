// Sizes, tensors and checks; elements are in EmitterScalars.cpp.

#include "Emitter.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace onnxquant::lowering;

Emitter::Emitter(OpBuilder &builder, Operation *op)
    : ImplicitLocOpBuilder(op->getLoc(), builder), op(op) {
  if (auto name = op->getAttrOfType<StringAttr>(onnxquant::onnx::nodeNameAttr))
    nodeName = name.str();
  if (nodeName.empty())
    nodeName = op->getName().stripDialect().str();
}

void Emitter::check(Value condition, const Twine &message) {
  if (matchPattern(condition, m_One()))
    return;
  cf::AssertOp::create(*this, condition,
                       getStringAttr("node '" + nodeName + "': " + message));
}

void Emitter::checkRead(Tensor tensor, ArrayRef<Value> indices) {
  for (auto [axis, position] : llvm::enumerate(indices)) {
    std::optional<int64_t> known = getConstantIntValue(position);
    int64_t stated = tensor.shape()[axis];
    if (!known || (!ShapedType::isDynamic(stated) && *known < stated))
      continue;
    // An element at a fixed place, such as the only one: nothing else tells
    // that it is there. Loops have no checks: it is made before them.
    OpBuilder::InsertionGuard guard(*this);
    if (getInsertionBlock() != op->getBlock()) {
      Region *region = tensor.value.getParentRegion();
      if (!region || !region->isAncestor(op->getParentRegion()))
        continue;
      setInsertionPoint(op);
    }
    auto checked = checkedReads.try_emplace({tensor.value, axis}, *known);
    if (!checked.second && checked.first->second >= *known)
      continue;
    checked.first->second = *known;
    check(cmpIndex(arith::CmpIPredicate::sgt, asValue(size(tensor, axis)),
                   index(*known)),
          "an operand that needs " + Twine(*known + 1) +
              (*known == 0 ? " element" : " elements") + " has fewer");
  }
}

//===----------------------------------------------------------------------===//
// Sizes and indices
//===----------------------------------------------------------------------===//

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value Emitter::asValue(OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(*this, getLoc(), size);
}

std::optional<int64_t> Emitter::constant(OpFoldResult size) {
  return getConstantIntValue(size);
}

OpFoldResult Emitter::size(Tensor tensor, int64_t axis) {
  return tensor::getMixedSize(*this, getLoc(), tensor.value, axis);
}

Sizes Emitter::sizes(Tensor tensor) {
  return tensor::getMixedSizes(*this, getLoc(), tensor.value);
}

/// Folds two constants, or emits the op on values.
template <typename Op, typename Fold>
static OpFoldResult combineSizes(Emitter &e, OpFoldResult a, OpFoldResult b,
                                 Fold fold) {
  std::optional<int64_t> x = e.constant(a), y = e.constant(b);
  if (x && y)
    return e.getIndexAttr(fold(*x, *y));
  return e.createOrFold<Op>(e.asValue(a), e.asValue(b));
}

OpFoldResult Emitter::addSize(OpFoldResult a, OpFoldResult b) {
  return combineSizes<arith::AddIOp>(
      *this, a, b, [](int64_t x, int64_t y) { return x + y; });
}
OpFoldResult Emitter::subSize(OpFoldResult a, OpFoldResult b) {
  return combineSizes<arith::SubIOp>(
      *this, a, b, [](int64_t x, int64_t y) { return x - y; });
}
OpFoldResult Emitter::mulSize(OpFoldResult a, OpFoldResult b) {
  return combineSizes<arith::MulIOp>(
      *this, a, b, [](int64_t x, int64_t y) { return x * y; });
}
OpFoldResult Emitter::floorDivSize(OpFoldResult a, OpFoldResult b) {
  if (constant(b) == 0)
    return getIndexAttr(0);
  return combineSizes<arith::FloorDivSIOp>(
      *this, a, b,
      [](int64_t x, int64_t y) { return llvm::divideFloorSigned(x, y); });
}

OpFoldResult Emitter::productOf(ArrayRef<OpFoldResult> sizes) {
  OpFoldResult product = getIndexAttr(1);
  for (OpFoldResult size : sizes)
    product = mulSize(product, size);
  return product;
}

Sizes Emitter::resultSizes(unsigned number, ArrayRef<OpFoldResult> computed) {
  Sizes sizes(computed.begin(), computed.end());
  auto type = dyn_cast<RankedTensorType>(op->getResult(number).getType());
  if (type && type.getRank() == static_cast<int64_t>(sizes.size()))
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(i))
        continue;
      int64_t stated = type.getDimSize(i);
      if (!constant(sizes[i]))
        check(cmpIndex(arith::CmpIPredicate::eq, asValue(sizes[i]),
                       index(stated)),
              "expects a result of size " + Twine(stated) + " in dimension " +
                  Twine(i) + ", but got another");
      sizes[i] = getIndexAttr(stated);
    }
  return sizes;
}

Value Emitter::addIndex(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}
Value Emitter::subIndex(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}
Value Emitter::mulIndex(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}
Value Emitter::floorDivIndex(Value a, Value b) {
  return createOrFold<arith::FloorDivSIOp>(a, b);
}
Value Emitter::remIndex(Value a, Value b) {
  return createOrFold<arith::RemSIOp>(a, b);
}
Value Emitter::minIndex(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}
Value Emitter::maxIndex(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(a, b);
}
Value Emitter::cmpIndex(arith::CmpIPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}

Value Emitter::wrapIndex(Value position, Value size) {
  Value negative =
      cmpIndex(arith::CmpIPredicate::slt, position, this->index(0));
  return createOrFold<arith::SelectOp>(negative, addIndex(position, size),
                                       position);
}

Value Emitter::toI64(Value position) {
  return createOrFold<arith::IndexCastOp>(getI64Type(), position);
}

Value Emitter::toIndex(Value integer, bool isUnsigned) {
  if (isa<IndexType>(integer.getType()))
    return integer;
  if (isUnsigned)
    return createOrFold<arith::IndexCastUIOp>(getIndexType(), integer);
  return createOrFold<arith::IndexCastOp>(getIndexType(), integer);
}

Value Emitter::readIndex(Tensor tensor, ArrayRef<Value> indices) {
  return toIndex(read(tensor, indices).value, isUnsigned(tensor.elementType));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Tensor Emitter::empty(ArrayRef<OpFoldResult> sizes, Type elementType) {
  return {tensor::EmptyOp::create(*this, sizes, storageType(elementType)),
          elementType};
}

Tensor Emitter::filled(ArrayRef<OpFoldResult> sizes, Scalar value) {
  Tensor out = empty(sizes, value.elementType);
  Value stored = store(value);
  return {
      linalg::FillOp::create(*this, ValueRange{stored}, ValueRange{out.value})
          .getResult(0),
      value.elementType};
}

Tensor Emitter::generate(ArrayRef<OpFoldResult> sizes, Type elementType,
                         function_ref<Scalar(ArrayRef<Value>)> body) {
  return map({}, sizes, elementType, [&](ArrayRef<Scalar>) {
    Indices indices;
    for (size_t i = 0; i < sizes.size(); ++i)
      indices.push_back(linalg::IndexOp::create(*this, i));
    return body(indices);
  });
}

Sizes Emitter::broadcastSizes(ArrayRef<Tensor> inputs) {
  Sizes result;
  Value one;
  for (Tensor input : inputs) {
    Sizes shape = sizes(input);
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(),
                    getIndexAttr(1));
    for (size_t i = 0; i < shape.size(); ++i) {
      OpFoldResult &out = result[result.size() - 1 - i];
      OpFoldResult in = shape[shape.size() - 1 - i];
      std::optional<int64_t> a = constant(out), b = constant(in);
      if (b == 1 || out == in || (a && a == b))
        continue;
      if (a == 1) {
        out = in;
        continue;
      }
      // At run time the sizes are equal, or one of them is 1.
      if (!one)
        one = index(1);
      Value x = asValue(out), y = asValue(in);
      Value equal = cmpIndex(arith::CmpIPredicate::eq, x, y);
      Value xIsOne = cmpIndex(arith::CmpIPredicate::eq, x, one);
      Value yIsOne = cmpIndex(arith::CmpIPredicate::eq, y, one);
      Value fits = createOrFold<arith::OrIOp>(
          equal, createOrFold<arith::OrIOp>(xIsOne, yIsOne));
      check(fits, "sizes of operands don't go together");
      if (a)
        continue;
      out = b ? in : OpFoldResult(createOrFold<arith::SelectOp>(xIsOne, y, x));
    }
  }
  return result;
}

/// How an input of a map is read: by an affine map, or, where it is open
/// whether a dimension broadcasts, by computed indices.
static std::optional<AffineMap> broadcastMap(Emitter &e, Tensor input,
                                             ArrayRef<OpFoldResult> sizes) {
  SmallVector<AffineExpr> exprs;
  int64_t offset = static_cast<int64_t>(sizes.size()) - input.rank();
  for (int64_t i = 0; i < input.rank(); ++i) {
    int64_t in = input.shape()[i];
    OpFoldResult out = sizes[offset + i];
    std::optional<int64_t> known = e.constant(out);
    if (ShapedType::isDynamic(in)) {
      // The size that the result was given by this very input.
      auto dim = dyn_cast_or_null<tensor::DimOp>(
          dyn_cast_if_present<Value>(out) ? cast<Value>(out).getDefiningOp()
                                          : nullptr);
      if (!dim || dim.getSource() != input.value || dim.getConstantIndex() != i)
        return std::nullopt;
    } else if (in == 1 && known != 1) {
      exprs.push_back(e.getAffineConstantExpr(0));
      continue;
    } else if (!known) {
      return std::nullopt;
    }
    exprs.push_back(e.getAffineDimExpr(offset + i));
  }
  return AffineMap::get(sizes.size(), 0, exprs, e.getContext());
}

/// Checks that an input whose sizes are open has those of the result, or ones.
static void checkBroadcast(Emitter &e, Tensor input,
                           ArrayRef<OpFoldResult> sizes) {
  int64_t offset = static_cast<int64_t>(sizes.size()) - input.rank();
  for (int64_t i = 0; i < input.rank(); ++i) {
    OpFoldResult in = e.size(input, i), out = sizes[offset + i];
    if (e.constant(in) == 1 || in == out || (e.constant(in) && e.constant(out)))
      continue;
    Value x = e.asValue(in);
    Value isOne = e.cmpIndex(arith::CmpIPredicate::eq, x, e.index(1));
    Value isSame = e.cmpIndex(arith::CmpIPredicate::eq, x, e.asValue(out));
    e.check(e.createOrFold<arith::OrIOp>(isOne, isSame),
            "sizes of operands don't go together");
  }
}

/// Indices into an input that may broadcast at run time.
static Indices broadcastIndices(Emitter &e, Tensor input, size_t rank) {
  Indices indices;
  int64_t offset = static_cast<int64_t>(rank) - input.rank();
  for (int64_t i = 0; i < input.rank(); ++i) {
    Value position = linalg::IndexOp::create(e, offset + i);
    if (input.shape()[i] == 1) {
      position = e.index(0);
    } else if (ShapedType::isDynamic(input.shape()[i])) {
      Value size = e.asValue(e.size(input, i));
      Value isOne = e.cmpIndex(arith::CmpIPredicate::eq, size, e.index(1));
      position = e.createOrFold<arith::SelectOp>(isOne, e.index(0), position);
    }
    indices.push_back(position);
  }
  return indices;
}

Tensor Emitter::map(ArrayRef<Tensor> inputs, ArrayRef<OpFoldResult> sizes,
                    Type elementType,
                    function_ref<Scalar(ArrayRef<Scalar>)> body) {
  Tensor out = empty(sizes, elementType);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<int> position;
  for (Tensor input : inputs) {
    std::optional<AffineMap> affine = broadcastMap(*this, input, sizes);
    position.push_back(affine ? static_cast<int>(operands.size()) : -1);
    if (!affine) {
      checkBroadcast(*this, input, sizes);
      continue;
    }
    operands.push_back(input.value);
    maps.push_back(*affine);
  }
  maps.push_back(getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(*this, out.value.getType(), operands,
                                           out.value, maps, iterators);
  OpBuilder::InsertionGuard guard(*this);
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(
        llvm::cast<RankedTensorType>(operand.getType()).getElementType());
  types.push_back(storageType(elementType));
  Block *block = createBlock(&generic.getRegion(), {}, types,
                             SmallVector<Location>(types.size(), getLoc()));
  SmallVector<Scalar> scalars;
  for (auto [index, input] : llvm::enumerate(inputs))
    scalars.push_back(
        position[index] >= 0
            ? load(block->getArgument(position[index]), input.elementType)
            : read(input, broadcastIndices(*this, input, sizes.size())));
  Scalar result = body(scalars);
  linalg::YieldOp::create(*this, store(result));
  return {generic.getResult(0), elementType};
}

Tensor Emitter::reduce(Tensor input, ArrayRef<int64_t> axes, bool keepDims,
                       Scalar init, function_ref<Scalar(Scalar, Scalar)> body) {
  int64_t rank = input.rank();
  Sizes inputSizes = sizes(input), outSizes, keptSizes;
  // Elements of several last dimensions follow each other: reduce them as one.
  int64_t count = axes.size();
  if (count > 1 && axes.front() == rank - count && axes.back() == rank - 1) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t i = 0; i < rank - count; ++i) {
      groups.push_back({i});
      keptSizes.push_back(inputSizes[i]);
    }
    groups.push_back(ReassociationIndices(axes.begin(), axes.end()));
    keptSizes.append(count, getIndexAttr(1));
    Tensor merged = {
        tensor::CollapseShapeOp::create(*this, input.value, groups),
        input.elementType};
    Tensor reduced =
        reduce(merged, {rank - count}, /*keepDims=*/false, init, body);
    return keepDims ? reshape(reduced, keptSizes) : reduced;
  }
  SmallVector<AffineExpr> exprs;
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  for (int64_t i = 0; i < rank; ++i) {
    bool reduced = llvm::is_contained(axes, i);
    if (reduced) {
      iterators[i] = utils::IteratorType::reduction;
      keptSizes.push_back(getIndexAttr(1));
      continue;
    }
    exprs.push_back(getAffineDimExpr(i));
    outSizes.push_back(inputSizes[i]);
    keptSizes.push_back(inputSizes[i]);
  }
  Type elementType = init.elementType;
  Tensor out = filled(outSizes, init);
  SmallVector<AffineMap> maps = {getMultiDimIdentityMap(rank),
                                 AffineMap::get(rank, 0, exprs, getContext())};
  auto generic = linalg::GenericOp::create(
      *this, out.value.getType(), input.value, out.value, maps, iterators);
  {
    OpBuilder::InsertionGuard guard(*this);
    SmallVector<Type> types = {
        llvm::cast<RankedTensorType>(input.value.getType()).getElementType(),
        storageType(elementType)};
    Block *block =
        createBlock(&generic.getRegion(), {}, types, {getLoc(), getLoc()});
    Scalar result = body(load(block->getArgument(0), input.elementType),
                         load(block->getArgument(1), elementType));
    linalg::YieldOp::create(*this, store(result));
  }
  Tensor reduced = {generic.getResult(0), elementType};
  return keepDims && !axes.empty() ? reshape(reduced, keptSizes) : reduced;
}

/// Groups of dimensions that make one shape the collapsed form of the other.
static std::optional<SmallVector<ReassociationIndices>>
findReassociation(ArrayRef<int64_t> longer, ArrayRef<int64_t> shorter) {
  SmallVector<ReassociationIndices> groups;
  size_t next = 0;
  for (int64_t target : shorter) {
    ReassociationIndices group;
    int64_t product = 1;
    while (next < longer.size() && (group.empty() || product < target ||
                                    (longer[next] == 1 && product == target))) {
      product *= longer[next];
      group.push_back(next++);
    }
    if (product != target || group.empty())
      return std::nullopt;
    groups.push_back(group);
  }
  // What is left can only be ones, and joins the last group.
  for (; next < longer.size(); ++next) {
    if (longer[next] != 1 || groups.empty())
      return std::nullopt;
    groups.back().push_back(next);
  }
  return groups;
}

Tensor Emitter::reshape(Tensor tensor, ArrayRef<OpFoldResult> newSizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : newSizes)
    shape.push_back(constant(size).value_or(ShapedType::kDynamic));
  auto source = llvm::cast<RankedTensorType>(tensor.value.getType());
  auto target = RankedTensorType::get(shape, source.getElementType());
  if (source == target && source.hasStaticShape())
    return tensor;
  bool isStatic = source.hasStaticShape() && target.hasStaticShape() &&
                  !llvm::is_contained(source.getShape(), 0);
  if (isStatic && target.getRank() < source.getRank()) {
    if (target.getRank() == 0)
      return {tensor::CollapseShapeOp::create(*this, target, tensor.value,
                                              ArrayRef<ReassociationIndices>()),
              tensor.elementType};
    if (auto groups = findReassociation(source.getShape(), shape))
      return {
          tensor::CollapseShapeOp::create(*this, target, tensor.value, *groups),
          tensor.elementType};
  }
  if (isStatic && target.getRank() > source.getRank()) {
    if (source.getRank() == 0)
      return {tensor::ExpandShapeOp::create(*this, target, tensor.value,
                                            ArrayRef<ReassociationIndices>()),
              tensor.elementType};
    if (auto groups = findReassociation(shape, source.getShape()))
      return {
          tensor::ExpandShapeOp::create(*this, target, tensor.value, *groups),
          tensor.elementType};
  }
  if (isStatic && source.getRank() > 0 && target.getRank() > 0) {
    // Through one dimension: neither step copies.
    Tensor flat = reshape(tensor, {getIndexAttr(source.getNumElements())});
    if (source.getRank() != 1)
      return reshape(flat, newSizes);
  }
  SmallVector<Value> extents;
  for (OpFoldResult size : newSizes)
    extents.push_back(asValue(size));
  Value shapeTensor;
  if (extents.empty())
    shapeTensor =
        tensor::EmptyOp::create(*this, ArrayRef<int64_t>{0}, getIndexType());
  else
    shapeTensor = tensor::FromElementsOp::create(*this, extents);
  return {tensor::ReshapeOp::create(*this, target, tensor.value, shapeTensor),
          tensor.elementType};
}

Tensor Emitter::transpose(Tensor tensor, ArrayRef<int64_t> permutation) {
  Sizes from = sizes(tensor), to;
  for (int64_t axis : permutation)
    to.push_back(from[axis]);
  Tensor out = empty(to, tensor.elementType);
  auto transposed =
      linalg::TransposeOp::create(*this, tensor.value, out.value, permutation);
  return {transposed->getResult(0), tensor.elementType};
}

Tensor Emitter::write(Tensor tensor, ArrayRef<Value> indices, Scalar value) {
  return {tensor::InsertOp::create(*this, store(value), tensor.value, indices),
          tensor.elementType};
}

SmallVector<Value> Emitter::forEach(
    ArrayRef<OpFoldResult> sizes, ValueRange carried,
    function_ref<SmallVector<Value>(ArrayRef<Value>, ValueRange)> body) {
  Value zero = index(0), one = index(1);
  Indices indices;
  std::function<SmallVector<Value>(size_t, ValueRange)> nest =
      [&](size_t depth, ValueRange values) -> SmallVector<Value> {
    if (depth == sizes.size())
      return body(indices, values);
    auto loop =
        scf::ForOp::create(*this, zero, asValue(sizes[depth]), one, values);
    OpBuilder::InsertionGuard guard(*this);
    Block *block = loop.getBody();
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    setInsertionPointToEnd(block);
    indices.push_back(loop.getInductionVar());
    SmallVector<Value> results = nest(depth + 1, loop.getRegionIterArgs());
    indices.pop_back();
    setInsertionPointToEnd(block);
    scf::YieldOp::create(*this, results);
    return SmallVector<Value>(loop.getResults());
  };
  return nest(0, carried);
}

Tensor Emitter::constantTensor(ArrayRef<double> values, ArrayRef<int64_t> shape,
                               Type elementType) {
  Type storage = storageType(elementType);
  SmallVector<Attribute> attrs;
  for (double value : values)
    attrs.push_back(isa<FloatType>(storage)
                        ? Attribute(getFloatAttr(storage, value))
                        : getIntegerAttr(storage, static_cast<int64_t>(value)));
  auto type = RankedTensorType::get(shape, storage);
  return {arith::ConstantOp::create(*this, DenseElementsAttr::get(type, attrs)),
          elementType};
}
