// Attributes and types as tensors and types of the file format.

#include "TensorExport.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace onnxquant::exporting;
using onnxquant::onnx::Dim;
using onnxquant::onnx::Dims;

static int64_t rawBits(Type element) {
  if (element.isInteger(1))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

int64_t onnxquant::exporting::rawSize(ShapedType type) {
  return (type.getNumElements() * rawBits(type.getElementType()) + 7) / 8;
}

/// Whole-byte elements come from the attribute's own buffer.
static void copyBytes(DenseElementsAttr dense, std::string &raw) {
  ArrayRef<char> data = dense.getRawData();
  if (!dense.isSplat()) {
    raw.assign(data.begin(), data.end());
    return;
  }
  raw.reserve(data.size() * dense.getNumElements());
  for (int64_t i = 0, e = dense.getNumElements(); i < e; ++i)
    raw.append(data.begin(), data.end());
}

FailureOr<RawTensor> onnxquant::exporting::getRawTensor(ElementsAttr elements) {
  RawTensor raw;
  int64_t size = rawSize(elements.getShapedType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != size)
      return failure();
    raw.bytes = blob->getData();
    return raw;
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return failure();
  Type element = dense.getElementType();
  if (element.isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      raw.storage.push_back(value ? 1 : 0);
  } else if (rawBits(element) == 4) {
    // Two elements per byte, the first in the low half.
    raw.storage.assign(size, '\0');
    int64_t index = 0;
    auto put = [&](const APInt &bits) {
      raw.storage[index / 2] |=
          static_cast<char>((bits.getZExtValue() & 15) << (index % 2 * 4));
      ++index;
    };
    if (isa<FloatType>(element))
      for (APFloat value : dense.getValues<APFloat>())
        put(value.bitcastToAPInt());
    else
      for (APInt value : dense.getValues<APInt>())
        put(value);
  } else {
    copyBytes(dense, raw.storage);
  }
  if (static_cast<int64_t>(raw.storage.size()) != size)
    return failure();
  return raw;
}

bool onnxquant::exporting::exportTypedData(ElementsAttr elements,
                                           ::onnx_format::TensorProto &proto) {
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  Type element = elements.getElementType();
  if (dense && element.isF32()) {
    for (float value : dense.getValues<float>())
      proto.add_float_data(value);
    return true;
  }
  // Half a byte each: pairs, as they lie in raw data.
  if (dense && element.isIntOrFloat() && rawBits(element) == 4) {
    FailureOr<RawTensor> raw = getRawTensor(elements);
    if (failed(raw))
      return false;
    for (char byte : raw->data())
      proto.add_int32_data(static_cast<uint8_t>(byte));
    return true;
  }
  if (dense && element.isF16()) {
    for (APFloat value : dense.getValues<APFloat>())
      proto.add_int32_data(
          static_cast<int32_t>(value.bitcastToAPInt().getZExtValue()));
    return true;
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (!dense || !integer || integer.getWidth() < 8 || integer.getWidth() > 32 ||
      (integer.getWidth() == 32 && integer.isUnsigned()))
    return false;
  for (APInt value : dense.getValues<APInt>())
    proto.add_int32_data(static_cast<int32_t>(
        integer.isUnsigned() ? value.getZExtValue() : value.getSExtValue()));
  return true;
}

LogicalResult
onnxquant::exporting::exportTensorType(ShapedType type,
                                       ::onnx_format::TensorProto &proto) {
  std::optional<int64_t> code =
      onnxquant::onnx::onnxFromElementType(type.getElementType());
  if (!code)
    return failure();
  proto.set_data_type(*code);
  for (int64_t dim : type.getShape())
    proto.add_dims(dim);
  return success();
}

void onnxquant::exporting::exportType(Type type, StringRef dimParams,
                                      ::onnx_format::TypeProto &proto) {
  auto tensor = dyn_cast<TensorType>(type);
  std::optional<int64_t> code;
  if (tensor)
    code = onnxquant::onnx::onnxFromElementType(tensor.getElementType());
  if (!code)
    return;
  proto.mutable_tensor_type()->set_elem_type(*code);
  auto ranked = dyn_cast<RankedTensorType>(type);
  if (!ranked)
    return;
  Dims dims;
  for (int64_t size : ranked.getShape())
    dims.push_back(ShapedType::isDynamic(size) ? Dim::invalid(false)
                                               : Dim(size));
  onnxquant::onnx::applyDimParams(dimParams, dims);
  auto *shape = proto.mutable_tensor_type()->mutable_shape();
  for (const Dim &dim : dims) {
    auto *out = shape->add_dim();
    if (std::optional<int64_t> size = dim.getConstant())
      out->set_dim_value(*size);
    else if (!dim.isAnonymous())
      out->set_dim_param(dim.str());
  }
}
