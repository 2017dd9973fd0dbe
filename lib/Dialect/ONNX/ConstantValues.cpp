// Reads numbers out of constant tensors. Dense elements are read through MLIR's
// iterators. A resource blob is decoded here, after its size was compared with
// its type: little-endian elements, a byte for a boolean, and two 4-bit
// elements per byte with the first in the low half.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::onnx;

/// The number of elements, if it is at most `limit`.
static std::optional<int64_t> countElements(ShapedType type, int64_t limit) {
  if (!type.hasStaticShape())
    return std::nullopt;
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  int64_t count = 1;
  for (int64_t dim : type.getShape())
    if (llvm::MulOverflow(count, dim, count) || count > limit)
      return std::nullopt;
  return count <= limit ? std::optional<int64_t>(count) : std::nullopt;
}

/// Bits of an element in a blob; none if it isn't a number of up to 64 bits.
static std::optional<unsigned> getStorageBits(Type elementType) {
  if (!elementType.isIntOrFloat())
    return std::nullopt;
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (width == 1)
    return 8;
  if (width == 2 || width == 4 || width == 8 || width == 16 || width == 32 ||
      width == 64)
    return width;
  return std::nullopt;
}

/// The elements of a resource as bit patterns, the lowest bits first.
static std::optional<SmallVector<uint64_t>>
readBlob(DenseResourceElementsAttr resource, int64_t count) {
  std::optional<unsigned> bits = getStorageBits(resource.getElementType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!bits || !blob)
    return std::nullopt;
  ArrayRef<char> data = blob->getData();
  // The count is below a caller's limit, but that may be anything.
  int64_t totalBits;
  if (llvm::MulOverflow<int64_t>(count, *bits, totalBits) ||
      data.size() != llvm::divideCeil(static_cast<uint64_t>(totalBits), 8))
    return std::nullopt;

  SmallVector<uint64_t> patterns;
  patterns.reserve(count);
  auto byteAt = [&](uint64_t i) -> uint64_t {
    return static_cast<unsigned char>(data[i]);
  };
  for (int64_t i = 0; i < count; ++i) {
    uint64_t position = static_cast<uint64_t>(i) * *bits;
    uint64_t pattern = 0;
    if (*bits < 8) {
      uint64_t mask = (uint64_t(1) << *bits) - 1;
      pattern = (byteAt(position / 8) >> (position % 8)) & mask;
    } else {
      for (unsigned byte = 0; byte < *bits / 8; ++byte)
        pattern |= byteAt(position / 8 + byte) << (8 * byte);
    }
    patterns.push_back(pattern);
  }
  return patterns;
}

static std::optional<int64_t> toInt(const APInt &value, bool isUnsigned) {
  if (value.getBitWidth() > 64)
    return std::nullopt;
  // A boolean is 0 or 1, not -1.
  if (!isUnsigned && value.getBitWidth() != 1)
    return value.getSExtValue();
  uint64_t wide = value.getZExtValue();
  if (wide > static_cast<uint64_t>(INT64_MAX))
    return std::nullopt;
  return static_cast<int64_t>(wide);
}

static double toDouble(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

std::optional<SmallVector<int64_t>>
onnxquant::onnx::readInts(ElementsAttr elements, int64_t limit) {
  if (!elements)
    return std::nullopt;
  Type type = elements.getElementType();
  std::optional<int64_t> count = countElements(elements.getShapedType(), limit);
  if (!count || !type.isIntOrIndex())
    return std::nullopt;

  SmallVector<int64_t> ints;
  bool isUnsigned = type.isUnsignedInteger();
  auto append = [&](const APInt &value) {
    std::optional<int64_t> number = toInt(value, isUnsigned);
    if (number)
      ints.push_back(*number);
    return number.has_value();
  };

  if (auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(elements)) {
    std::optional<SmallVector<uint64_t>> patterns = readBlob(resource, *count);
    if (!patterns)
      return std::nullopt;
    unsigned width = type.getIntOrFloatBitWidth();
    for (uint64_t pattern : *patterns) {
      APInt value = width == 1 ? APInt(1, pattern != 0)
                               : APInt(width, pattern, /*isSigned=*/false);
      if (!append(value))
        return std::nullopt;
    }
    return ints;
  }

  auto values = elements.tryGetValues<APInt>();
  if (!values)
    return std::nullopt;
  for (const APInt &value : *values)
    if (!append(value))
      return std::nullopt;
  return ints;
}

std::optional<SmallVector<double>>
onnxquant::onnx::readFloats(ElementsAttr elements, int64_t limit) {
  if (!elements)
    return std::nullopt;
  Type type = elements.getElementType();
  if (type.isIntOrIndex()) {
    std::optional<SmallVector<int64_t>> ints = readInts(elements, limit);
    if (!ints)
      return std::nullopt;
    return SmallVector<double>(ints->begin(), ints->end());
  }
  auto floatType = llvm::dyn_cast<FloatType>(type);
  std::optional<int64_t> count = countElements(elements.getShapedType(), limit);
  if (!count || !floatType)
    return std::nullopt;

  SmallVector<double> floats;
  if (auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(elements)) {
    std::optional<SmallVector<uint64_t>> patterns = readBlob(resource, *count);
    if (!patterns)
      return std::nullopt;
    for (uint64_t pattern : *patterns)
      floats.push_back(toDouble(APFloat(floatType.getFloatSemantics(),
                                        APInt(floatType.getWidth(), pattern))));
    return floats;
  }

  auto values = elements.tryGetValues<APFloat>();
  if (!values)
    return std::nullopt;
  for (const APFloat &value : *values)
    floats.push_back(toDouble(value));
  return floats;
}

ElementsAttr onnxquant::onnx::getConstant(Value value) {
  auto constant = value ? value.getDefiningOp<ConstantOp>() : ConstantOp();
  if (!constant)
    return {};
  if (auto elements = constant->getAttrOfType<ElementsAttr>("value"))
    return elements;

  Builder builder(constant.getContext());
  auto makeInts = [&](ArrayRef<int64_t> shape,
                      ArrayRef<Attribute> values) -> ElementsAttr {
    SmallVector<int64_t> ints;
    for (Attribute attribute : values) {
      auto number = llvm::dyn_cast<IntegerAttr>(attribute);
      if (!number || number.getValue().getBitWidth() > 64)
        return {};
      ints.push_back(number.getValue().getSExtValue());
    }
    return DenseElementsAttr::get(
        RankedTensorType::get(shape, builder.getI64Type()), ArrayRef(ints));
  };
  auto makeFloats = [&](ArrayRef<int64_t> shape,
                        ArrayRef<Attribute> values) -> ElementsAttr {
    for (Attribute attribute : values) {
      auto number = llvm::dyn_cast<FloatAttr>(attribute);
      if (!number || !number.getType().isF32())
        return {};
    }
    return DenseElementsAttr::get(
        RankedTensorType::get(shape, builder.getF32Type()), values);
  };

  if (Attribute number = constant->getAttr("value_int"))
    return makeInts({}, number);
  if (Attribute number = constant->getAttr("value_float"))
    return makeFloats({}, number);
  if (auto list = constant->getAttrOfType<ArrayAttr>("value_ints"))
    return makeInts(static_cast<int64_t>(list.size()), list.getValue());
  if (auto list = constant->getAttrOfType<ArrayAttr>("value_floats"))
    return makeFloats(static_cast<int64_t>(list.size()), list.getValue());
  return {};
}
