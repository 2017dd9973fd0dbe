// Constants read, brought into another order and made.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "Patterns.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// From this many bytes on, elements are a resource.
static constexpr size_t resourceThreshold = 1024;

static std::optional<std::vector<char>> readBytes(ElementsAttr elements) {
  size_t size = elements.getElementType().getIntOrFloatBitWidth() / 8;
  size_t count = elements.getNumElements();
  if (size == 0)
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != size * count)
      return std::nullopt;
    return std::vector<char>(blob->getData().begin(), blob->getData().end());
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat())
    return std::vector<char>(raw.begin(), raw.end());
  std::vector<char> bytes;
  bytes.reserve(size * count);
  for (size_t i = 0; i < count; ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.begin() + size);
  return bytes;
}

static std::vector<char> widen(FloatType type, ArrayRef<char> bytes) {
  std::vector<char> wide(bytes.size() * 2);
  for (size_t i = 0; i < bytes.size() / 2; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    APFloat value(type.getFloatSemantics(), APInt(16, bits));
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    float single = value.convertToFloat();
    std::memcpy(wide.data() + 4 * i, &single, 4);
  }
  return wide;
}

/// Integers of four bits, a byte each.
static std::optional<RawElements> readHalves(ElementsAttr elements) {
  auto values = onnx::readInts(elements, elements.getNumElements());
  if (!values)
    return std::nullopt;
  Type element = elements.getElementType();
  Type byte =
      IntegerType::get(element.getContext(), 8,
                       element.isUnsignedInteger() ? IntegerType::Unsigned
                                                   : IntegerType::Signless);
  return RawElements{
      RankedTensorType::get(elements.getShapedType().getShape(), byte),
      std::vector<char>(values->begin(), values->end())};
}

std::optional<RawElements> kernels::readElements(Value constant) {
  ElementsAttr elements = onnx::getConstant(constant);
  if (!elements || !elements.getElementType().isIntOrFloat())
    return std::nullopt;
  if (elements.getElementType().isInteger(4))
    return readHalves(elements);
  auto bytes = readBytes(elements);
  if (!bytes)
    return std::nullopt;
  auto type = RankedTensorType::get(elements.getShapedType().getShape(),
                                    elements.getElementType());
  if (type.getElementType().isF16() || type.getElementType().isBF16())
    return RawElements{type.clone(Float32Type::get(type.getContext())),
                       widen(cast<FloatType>(type.getElementType()), *bytes)};
  return RawElements{type, std::move(*bytes)};
}

Value kernels::makeConstant(ImplicitLocOpBuilder &b, RankedTensorType type,
                            ArrayRef<char> bytes, StringRef name) {
  ElementsAttr elements;
  if (bytes.size() < resourceThreshold)
    elements = DenseElementsAttr::getFromRawBuffer(type, bytes);
  else
    elements = DenseResourceElementsAttr::get(
        type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  OperationState state(b.getLoc(), onnx::ConstantOp::getOperationName());
  state.addAttribute("value", elements);
  state.addTypes(type);
  return b.create(state)->getResult(0);
}

/// Copies the elements of dimensions `order` from the `depth`-th on.
static void copyPermuted(const char *from, char *&to, size_t size,
                         ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> order) {
  int64_t count = shape[order[0]], stride = strides[order[0]];
  for (int64_t i = 0; i < count; ++i, from += stride * size) {
    if (order.size() > 1) {
      copyPermuted(from, to, size, shape, strides, order.drop_front());
      continue;
    }
    std::memcpy(to, from, size);
    to += size;
  }
}

std::vector<char> kernels::permuteElements(const RawElements &raw,
                                           ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> order) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  std::vector<char> bytes(raw.bytes.size());
  char *to = bytes.data();
  if (!bytes.empty())
    copyPermuted(raw.bytes.data(), to,
                 raw.type.getElementType().getIntOrFloatBitWidth() / 8, shape,
                 strides, order);
  return bytes;
}

bool kernels::isAbsent(Value value) {
  return !value || isa<NoneType>(value.getType());
}

bool kernels::isSingle(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

std::optional<int64_t> kernels::readInteger(Value value) {
  ElementsAttr elements = onnx::getConstant(value);
  if (!elements)
    return std::nullopt;
  auto known = onnx::readInts(elements, 1);
  if (!known || known->size() != 1)
    return std::nullopt;
  return known->front();
}
