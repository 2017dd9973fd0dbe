// Arithmetic of permutations, and tensors in another order.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

/// From this many bytes on, a constant's elements are a resource.
static constexpr size_t resourceThreshold = 1024;

Permutation onnxquant::onnx::getIdentity(size_t rank) {
  Permutation perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

bool onnxquant::onnx::isIdentity(PermutationRef perm) {
  return llvm::all_of(llvm::enumerate(perm), [](auto item) {
    return static_cast<int64_t>(item.index()) == item.value();
  });
}

Permutation onnxquant::onnx::invert(PermutationRef perm) {
  Permutation inverse(perm.size());
  for (auto [place, dim] : llvm::enumerate(perm))
    inverse[dim] = static_cast<int64_t>(place);
  return inverse;
}

Permutation onnxquant::onnx::compose(PermutationRef first,
                                     PermutationRef second) {
  Permutation both;
  for (int64_t place : second)
    both.push_back(first[place]);
  return both;
}

bool onnxquant::onnx::isSameOrder(Type type, PermutationRef a,
                                  PermutationRef b) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || a.empty() || b.empty())
    return a == b;
  auto isLong = [&](int64_t dim) { return tensor.getDimSize(dim) != 1; };
  return llvm::equal(llvm::make_filter_range(a, isLong),
                     llvm::make_filter_range(b, isLong));
}

bool onnxquant::onnx::keepsOrder(Type type, PermutationRef perm) {
  return isSameOrder(type, perm, getIdentity(perm.size()));
}

RankedTensorType onnxquant::onnx::permuteType(RankedTensorType type,
                                              PermutationRef perm) {
  if (perm.empty())
    return type;
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(type.getDimSize(dim));
  return RankedTensorType::get(shape, type.getElementType());
}

std::optional<Permutation> onnxquant::onnx::getTransposition(Operation *op) {
  auto transpose = dyn_cast_if_present<TransposeOp>(op);
  if (!transpose)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(transpose.getData().getType());
  if (!type || !isa<RankedTensorType>(transpose.getTransposed().getType()))
    return std::nullopt;
  if (!transpose.getPerm()) {
    Permutation perm = getIdentity(type.getRank());
    std::reverse(perm.begin(), perm.end());
    return perm;
  }
  Permutation perm;
  ArrayAttr dims = *transpose.getPerm();
  for (Attribute dim : dims)
    perm.push_back(cast<IntegerAttr>(dim).getInt());
  return perm;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The raw elements of a constant of whole bytes per element, one for a splat.
static std::optional<ArrayRef<char>> getRawElements(ElementsAttr elements) {
  Type element = elements.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    size_t size =
        elements.getNumElements() * element.getIntOrFloatBitWidth() / 8;
    if (!blob || blob->getData().size() != size)
      return std::nullopt;
    return blob->getData();
  }
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(elements))
    return dense.getRawData();
  return std::nullopt;
}

/// The bytes of elements in another order.
static std::vector<char> permuteBytes(ArrayRef<char> bytes, size_t size,
                                      ArrayRef<int64_t> shape,
                                      PermutationRef perm) {
  size_t rank = shape.size();
  SmallVector<int64_t> strides(rank, 1), counts(rank), steps(rank);
  for (size_t i = rank - 1; i > 0; --i)
    strides[i - 1] = strides[i] * shape[i];
  for (size_t i = 0; i < rank; ++i) {
    counts[i] = shape[perm[i]];
    steps[i] = strides[perm[i]];
  }
  std::vector<char> result(bytes.size());
  SmallVector<int64_t> index(rank, 0);
  int64_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += size) {
    std::memcpy(result.data() + to, bytes.data() + from * size, size);
    for (size_t i = rank; i-- > 0;) {
      from += steps[i];
      if (++index[i] < counts[i])
        break;
      from -= counts[i] * steps[i];
      index[i] = 0;
    }
  }
  return result;
}

Value onnxquant::onnx::layout::createConstant(OpBuilder &builder, Location loc,
                                              ElementsAttr elements) {
  OperationState state(loc, ConstantOp::getOperationName());
  state.addAttribute("value", elements);
  state.addTypes(elements.getShapedType());
  return builder.create(state)->getResult(0);
}

Value onnxquant::onnx::layout::createInts(OpBuilder &builder, Location loc,
                                          ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    builder.getI64Type());
  return createConstant(builder, loc, DenseElementsAttr::get(type, values));
}

/// A constant in another order; null if its elements can't be moved here.
static Value permuteConstant(OpBuilder &builder, Value value,
                             PermutationRef perm) {
  ElementsAttr elements = getConstant(value);
  if (!elements)
    return {};
  auto from = RankedTensorType::get(elements.getShapedType().getShape(),
                                    elements.getElementType());
  RankedTensorType type = permuteType(from, perm);
  Operation *op = value.getDefiningOp();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  if (auto dense = dyn_cast<DenseElementsAttr>(elements);
      dense && dense.isSplat())
    return createConstant(builder, loc, dense.resizeSplat(type));
  std::optional<ArrayRef<char>> raw = getRawElements(elements);
  if (!raw)
    return {};
  unsigned size = type.getElementTypeBitWidth() / 8;
  std::vector<char> bytes = permuteBytes(*raw, size, from.getShape(), perm);
  if (bytes.size() < resourceThreshold)
    return createConstant(builder, loc,
                          DenseElementsAttr::getFromRawBuffer(type, bytes));
  return createConstant(
      builder, loc,
      DenseResourceElementsAttr::get(
          type, "permuted",
          HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64)));
}

/// A constant under another shape; null for one that can't be given it here.
static Value reshapeConstant(OpBuilder &builder, Value value,
                             RankedTensorType type) {
  ElementsAttr elements = getConstant(value);
  if (!elements)
    return {};
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(value.getDefiningOp());
  Location loc = value.getLoc();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return createConstant(
        builder, loc,
        DenseResourceElementsAttr::get(type, resource.getRawHandle()));
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return createConstant(builder, loc, dense.reshape(type));
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The dimensions of size 1.
static SmallVector<int64_t> getShortDims(RankedTensorType type) {
  SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (size == 1)
      dims.push_back(static_cast<int64_t>(dim));
  return dims;
}

template <typename OpTy>
static Value createAlong(OpBuilder &builder, Location loc, Value value,
                         ArrayRef<int64_t> axes, RankedTensorType type) {
  OperationState state(loc, OpTy::getOperationName());
  state.addOperands({value, createInts(builder, loc, axes)});
  state.addTypes(type);
  return builder.create(state)->getResult(0);
}

/// The tensor before ops that only add or remove dimensions of size 1.
static Value skipOnes(Value value) {
  auto getLong = [](Value tensor) {
    SmallVector<int64_t> sizes;
    if (auto type = dyn_cast<RankedTensorType>(tensor.getType()))
      llvm::copy_if(type.getShape(), std::back_inserter(sizes),
                    [](int64_t size) { return size != 1; });
    return sizes;
  };
  SmallVector<int64_t> sizes = getLong(value);
  while (Operation *op = value.getDefiningOp()) {
    // A Reshape could turn open sizes into others.
    bool isPlain = isa<SqueezeOp, UnsqueezeOp>(op) ||
                   (isa<ReshapeOp>(op) && !ShapedType::isDynamicShape(sizes));
    if (!isPlain || !isa<RankedTensorType>(op->getOperand(0).getType()) ||
        getLong(op->getOperand(0)) != sizes)
      break;
    value = op->getOperand(0);
  }
  return value;
}

Value onnxquant::onnx::layout::reshapeTo(OpBuilder &builder, Location loc,
                                         Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  value = skipOnes(value);
  if (value.getType() == type)
    return value;
  if (Value constant = reshapeConstant(builder, value, type))
    return constant;
  if (type.hasStaticShape()) {
    OperationState state(loc, ReshapeOp::getOperationName());
    state.addOperands({value, createInts(builder, loc, type.getShape())});
    state.addTypes(type);
    return builder.create(state)->getResult(0);
  }
  // Dimensions of unknown size stay what they are between the two.
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> kept;
  llvm::copy_if(from.getShape(), std::back_inserter(kept),
                [](int64_t size) { return size != 1; });
  auto between = RankedTensorType::get(kept, from.getElementType());
  if (between != from)
    value = createAlong<SqueezeOp>(builder, loc, value, getShortDims(from),
                                   between);
  if (between != type)
    value =
        createAlong<UnsqueezeOp>(builder, loc, value, getShortDims(type), type);
  return value;
}

Value onnxquant::onnx::permuteValue(OpBuilder &builder, Location loc,
                                    Value value, PermutationRef perm) {
  if (perm.empty() || isIdentity(perm))
    return value;
  if (Value constant = permuteConstant(builder, value, perm))
    return constant;
  Permutation whole(perm);
  while (std::optional<Permutation> before =
             getTransposition(value.getDefiningOp())) {
    whole = compose(*before, whole);
    value = value.getDefiningOp()->getOperand(0);
  }
  if (isIdentity(whole))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType permuted = permuteType(type, whole);
  if (keepsOrder(type, whole))
    return reshapeTo(builder, loc, value, permuted);
  OperationState state(loc, TransposeOp::getOperationName());
  state.addOperands(value);
  state.addTypes(permuted);
  state.addAttribute("perm", builder.getI64ArrayAttr(whole));
  return builder.create(state)->getResult(0);
}
