// Reads constants whatever form their elements have.

#include "PackedConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include <cstring>

using namespace mlir;
using namespace onnxquant;

/// Fills `bytes` with the elements, whose sizes in all it has.
static LogicalResult readBytes(ElementsAttr elements,
                               MutableArrayRef<char> bytes) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != bytes.size())
      return failure();
    std::memcpy(bytes.data(), blob->getData().data(), bytes.size());
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return failure();
  ArrayRef<char> raw = dense.getRawData();
  if (raw.empty() || (!dense.isSplat() && raw.size() != bytes.size()))
    return failure();
  for (size_t i = 0; i < bytes.size(); i += raw.size())
    std::memcpy(bytes.data() + i, raw.data(), raw.size());
  return success();
}

template <typename T>
std::optional<std::vector<T>> kernels::readConstant(Value value) {
  ElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) ||
      !elements.getElementType().isIntOrFloat() ||
      elements.getElementType().getIntOrFloatBitWidth() != 8 * sizeof(T))
    return std::nullopt;
  std::vector<T> values(elements.getNumElements());
  if (failed(readBytes(elements, {reinterpret_cast<char *>(values.data()),
                                  values.size() * sizeof(T)})))
    return std::nullopt;
  return values;
}

namespace onnxquant::kernels {
template std::optional<std::vector<int8_t>> readConstant(Value);
template std::optional<std::vector<int16_t>> readConstant(Value);
template std::optional<std::vector<int32_t>> readConstant(Value);
template std::optional<std::vector<float>> readConstant(Value);
} // namespace onnxquant::kernels

Value kernels::makePayload(ImplicitLocOpBuilder &b, Type element,
                           ArrayRef<char> bytes) {
  int64_t count = bytes.size() / (element.getIntOrFloatBitWidth() / 8);
  auto type = RankedTensorType::get(count, element);
  auto elements = DenseResourceElementsAttr::get(
      type, "packed", HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64));
  return arith::ConstantOp::create(b, elements);
}
