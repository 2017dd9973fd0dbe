// Computes nodes of constants without a compiler: weights that are filled,
// reshaped, transposed, broadcast, widened or scaled. Models have them by the
// hundred, and each is a loop that takes longer to compile than to run.

#include "HostFolding.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::preprocess;

/// Bytes of an element in memory; 0 for elements that are packed or no numbers.
static int64_t elementSize(Type element) {
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return 0;
  return element.getIntOrFloatBitWidth() / 8;
}

static std::optional<std::vector<char>> bytesOf(ElementsAttr elements) {
  int64_t size = elementSize(elements.getElementType());
  if (size == 0)
    return std::nullopt;
  size_t total = elements.getNumElements() * size;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != total)
      return std::nullopt;
    return std::vector<char>(blob->getData().begin(), blob->getData().end());
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  ArrayRef<char> raw = dense.getRawData();
  std::vector<char> bytes;
  bytes.reserve(total);
  for (int64_t i = 0, e = dense.isSplat() ? dense.getNumElements() : 1; i < e;
       ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  if (bytes.size() != total)
    return std::nullopt;
  return bytes;
}

/// The same elements under another shape; nothing is copied.
static ElementsAttr reshaped(ElementsAttr elements, RankedTensorType type) {
  if (elements.getNumElements() != type.getNumElements() ||
      elements.getElementType() != type.getElementType())
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  return dense ? dense.reshape(type) : ElementsAttr();
}

/// How many elements lie between neighbours along each dimension.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// Strides by which a tensor is read as if it had the shape of the result: 0
/// where it is broadcast.
static SmallVector<int64_t> broadcastStrides(ArrayRef<int64_t> shape,
                                             size_t rank) {
  SmallVector<int64_t> strides(rank, 0);
  SmallVector<int64_t> own = stridesOf(shape);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      strides[rank - shape.size() + i] = own[i];
  return strides;
}

/// Visits all places of `shape` in order, with the offset that each list of
/// strides gives it.
template <size_t n>
static void forEach(ArrayRef<int64_t> shape,
                    const std::array<SmallVector<int64_t>, n> &strides,
                    function_ref<void(const std::array<int64_t, n> &)> visit) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  SmallVector<int64_t> index(shape.size(), 0);
  std::array<int64_t, n> offsets = {};
  for (int64_t i = 0; i < count; ++i) {
    visit(offsets);
    for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
      bool wraps = ++index[d] == shape[d];
      for (size_t k = 0; k < n; ++k)
        offsets[k] += wraps ? -strides[k][d] * (shape[d] - 1) : strides[k][d];
      if (!wraps)
        break;
      index[d] = 0;
    }
  }
}

/// Elements read by strides, one after another.
static ElementsAttr gathered(ElementsAttr elements, RankedTensorType type,
                             SmallVector<int64_t> strides, StringRef name) {
  std::optional<std::vector<char>> from = bytesOf(elements);
  if (!from || elements.getElementType() != type.getElementType())
    return {};
  int64_t size = elementSize(type.getElementType());
  std::vector<char> bytes(type.getNumElements() * size);
  char *to = bytes.data();
  forEach<1>(type.getShape(), {std::move(strides)},
             [&](const std::array<int64_t, 1> &at) {
               std::memcpy(to, from->data() + at[0] * size, size);
               to += size;
             });
  return makeElements(type, bytes, name);
}

static ElementsAttr transposed(TransposeOp op, ElementsAttr elements,
                               RankedTensorType type, StringRef name) {
  ArrayRef<int64_t> shape = elements.getShapedType().getShape();
  SmallVector<int64_t> order;
  if (std::optional<ArrayAttr> perm = op.getPerm())
    for (auto axis : perm->getAsRange<IntegerAttr>())
      order.push_back(axis.getInt());
  else
    for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i)
      order.push_back(i);
  SmallVector<int64_t> own = stridesOf(shape), strides;
  for (int64_t axis : order)
    strides.push_back(own[axis]);
  return gathered(elements, type, strides, name);
}

static ElementsAttr filled(ConstantOfShapeOp op, RankedTensorType type,
                           StringRef name) {
  int64_t size = elementSize(type.getElementType());
  if (size == 0)
    return {};
  std::vector<char> one(size, 0);
  if (ElementsAttr value = op.getValueAttr()) {
    std::optional<std::vector<char>> bytes = bytesOf(value);
    if (!bytes || value.getElementType() != type.getElementType() ||
        bytes->size() != one.size())
      return {};
    one = *bytes;
  }
  std::vector<char> bytes;
  bytes.reserve(type.getNumElements() * size);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    bytes.insert(bytes.end(), one.begin(), one.end());
  return makeElements(type, bytes, name);
}

/// A wider float type has every number of a narrower one.
static ElementsAttr widened(ElementsAttr elements, RankedTensorType type,
                            StringRef name) {
  auto from = dyn_cast<FloatType>(elements.getElementType());
  if (!from || from.getWidth() != 16 || !type.getElementType().isF32())
    return {};
  std::optional<std::vector<char>> bytes = bytesOf(elements);
  if (!bytes)
    return {};
  std::vector<char> wide(type.getNumElements() * sizeof(float));
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes->data() + i * sizeof(bits), sizeof(bits));
    APFloat number(from.getFloatSemantics(), APInt(16, bits));
    bool losesInfo;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    float value = number.convertToFloat();
    std::memcpy(wide.data() + i * sizeof(float), &value, sizeof(float));
  }
  return makeElements(type, wide, name);
}

static ElementsAttr combined(ElementsAttr a, ElementsAttr b,
                             RankedTensorType type, StringRef name,
                             function_ref<float(float, float)> combine) {
  if (!type.getElementType().isF32() || !a.getElementType().isF32() ||
      !b.getElementType().isF32())
    return {};
  std::optional<std::vector<char>> left = bytesOf(a), right = bytesOf(b);
  if (!left || !right)
    return {};
  size_t rank = type.getRank();
  std::vector<char> bytes(type.getNumElements() * sizeof(float));
  char *to = bytes.data();
  auto read = [](const std::vector<char> &from, int64_t at) {
    float value;
    std::memcpy(&value, from.data() + at * sizeof(float), sizeof(float));
    return value;
  };
  forEach<2>(type.getShape(),
             {broadcastStrides(a.getShapedType().getShape(), rank),
              broadcastStrides(b.getShapedType().getShape(), rank)},
             [&](const std::array<int64_t, 2> &at) {
               float value = combine(read(*left, at[0]), read(*right, at[1]));
               std::memcpy(to, &value, sizeof(float));
               to += sizeof(float);
             });
  return makeElements(type, bytes, name);
}

ElementsAttr preprocess::computeOnHost(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
    return {};
  SmallVector<ElementsAttr> values;
  for (Value operand : op->getOperands()) {
    values.push_back(isLeftOut(operand) ? ElementsAttr()
                                        : getConstant(operand));
    if (!values.back() && !isLeftOut(operand))
      return {};
  }
  if (!values[0])
    return {};
  StringRef name = getTensorName(op->getResult(0));
  if (isa<IdentityOp, ReshapeOp, FlattenOp, SqueezeOp, UnsqueezeOp>(op))
    return reshaped(values[0], type);
  if (auto fill = dyn_cast<ConstantOfShapeOp>(op))
    return filled(fill, type, name);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transposed(transpose, values[0], type, name);
  if (isa<ExpandOp>(op))
    return gathered(
        values[0], type,
        broadcastStrides(values[0].getShapedType().getShape(), type.getRank()),
        name);
  if (isa<CastOp>(op))
    return widened(values[0], type, name);
  if (values.size() != 2 || !values[1])
    return {};
  if (isa<AddOp>(op))
    return combined(values[0], values[1], type, name,
                    [](float a, float b) { return a + b; });
  if (isa<SubOp>(op))
    return combined(values[0], values[1], type, name,
                    [](float a, float b) { return a - b; });
  if (isa<MulOp>(op))
    return combined(values[0], values[1], type, name,
                    [](float a, float b) { return a * b; });
  if (isa<DivOp>(op))
    return combined(values[0], values[1], type, name,
                    [](float a, float b) { return a / b; });
  return {};
}
