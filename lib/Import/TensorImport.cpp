// Tensors and types of the file format as attributes and types. Bytes are moved
// or mapped into resources; only small tensors are copied into dense
// attributes.

#include "TensorImport.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace onnxquant::import;
using onnxquant::onnx::Dim;
using onnxquant::onnx::Dims;

/// Tensors of at least this many bytes are resources.
static constexpr size_t resourceThreshold = 1024;
/// A sparse tensor may not grow beyond this when it is made dense.
static constexpr int64_t maxDenseBytes = int64_t(1) << 28;
static constexpr int maxRank = 64;

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Expected<Type> importElementType(int64_t dataType,
                                              MLIRContext *context) {
  if (dataType == 8)
    return fail("has string elements [category: strings]");
  if (Type type = onnxquant::onnx::elementTypeFromOnnx(dataType, context))
    return type;
  return fail("has unknown element type " + Twine(dataType));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

llvm::Expected<DeclaredType>
onnxquant::import::importType(const ::onnx_format::TypeProto &proto,
                              MLIRContext *context) {
  using Kind = ::onnx_format::TypeProto;
  switch (proto.value_case()) {
  case Kind::kTensorType:
    break;
  case Kind::kSequenceType:
    return fail("is a sequence [category: sequence]");
  case Kind::kOptionalType:
    return fail("is an optional [category: optional]");
  case Kind::kMapType:
    return fail("is a map [category: ml]");
  case Kind::kSparseTensorType:
    return fail("is a sparse tensor [category: sparse]");
  case Kind::kOpaqueType:
    return fail("has an opaque type [category: opaque]");
  case Kind::VALUE_NOT_SET:
    return DeclaredType();
  }
  const ::onnx_format::TypeProto::Tensor &tensor = proto.tensor_type();
  DeclaredType declared;
  Type element = onnxquant::onnx::UnknownType::get(context);
  if (tensor.elem_type() != 0) {
    llvm::Expected<Type> known = importElementType(tensor.elem_type(), context);
    if (!known)
      return known.takeError();
    element = *known;
  }
  if (!tensor.has_shape()) {
    declared.type = UnrankedTensorType::get(element);
    return declared;
  }
  if (tensor.shape().dim_size() > maxRank)
    return fail("has rank " + Twine(tensor.shape().dim_size()) +
                ", more than " + Twine(maxRank));
  SmallVector<int64_t> shape;
  int64_t elements = 1;
  for (const auto &dim : tensor.shape().dim()) {
    StringRef name = dim.dim_param();
    bool named = !name.empty() && name != "?";
    Dim parsed = named ? Dim::parse(name) : Dim::invalid(false);
    if (dim.has_dim_value())
      parsed = Dim(dim.dim_value());
    // Some models have -1 for a size that isn't known.
    if (!parsed.isConstant() || parsed.isConstant(-1)) {
      shape.push_back(ShapedType::kDynamic);
      declared.dims.push_back(parsed.isConstant() ? Dim::invalid(false)
                                                  : parsed);
      continue;
    }
    int64_t size = *parsed.getConstant();
    if (size < 0)
      return fail("has a negative dimension " + Twine(size));
    if (size != 0 && llvm::MulOverflow(elements, size, elements))
      return fail("has more elements than 64 bits can count");
    shape.push_back(size);
    declared.dims.push_back(Dim(size));
  }
  declared.type = RankedTensorType::get(shape, element);
  return declared;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// Bytes of a tensor in the raw form, and who owns them.
struct RawBytes {
  ArrayRef<char> bytes;
  std::shared_ptr<void> owner;
};
} // namespace

/// Bits of one element in the raw form.
static int64_t rawBits(Type element) {
  if (element.isInteger(1))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * complex.getElementType().getIntOrFloatBitWidth();
  return element.getIntOrFloatBitWidth();
}

template <typename Stored, typename Field>
static RawBytes packField(const Field &field) {
  auto values = std::make_shared<std::vector<Stored>>();
  values->reserve(field.size());
  for (auto value : field)
    values->push_back(static_cast<Stored>(value));
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values->data()),
                       values->size() * sizeof(Stored));
  return {bytes, values};
}

/// The raw form of a tensor that stores its elements in typed fields.
static RawBytes packTypedFields(const ::onnx_format::TensorProto &proto,
                                Type element) {
  if (element.isF32() || isa<ComplexType>(element)) {
    auto complex = dyn_cast<ComplexType>(element);
    if (complex && complex.getElementType().isF64())
      return packField<double>(proto.double_data());
    return packField<float>(proto.float_data());
  }
  if (element.isF64())
    return packField<double>(proto.double_data());
  if (element.isInteger(64))
    return element.isUnsignedInteger()
               ? packField<uint64_t>(proto.uint64_data())
               : packField<int64_t>(proto.int64_data());
  if (element.isUnsignedInteger(32))
    return packField<uint32_t>(proto.uint64_data());
  if (element.isInteger(32))
    return packField<int32_t>(proto.int32_data());
  if (rawBits(element) == 16)
    return packField<uint16_t>(proto.int32_data());
  return packField<uint8_t>(proto.int32_data());
}

static llvm::Expected<RawBytes>
readExternal(const ::onnx_format::TensorProto &proto, uint64_t size,
             ExternalData &externalData) {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto &entry : proto.external_data()) {
    StringRef value = entry.value();
    if (entry.key() == "location") {
      location = value;
    } else if (entry.key() == "offset") {
      if (value.getAsInteger(10, offset))
        return fail("has an external data offset that is no number: '" + value +
                    "'");
    } else if (entry.key() == "length") {
      uint64_t number;
      if (value.getAsInteger(10, number))
        return fail("has an external data length that is no number: '" + value +
                    "'");
      length = number;
    }
  }
  if (length && *length != size)
    return fail("needs " + Twine(size) +
                " bytes of external data, but states " + Twine(*length));
  llvm::Expected<MappedBytes> mapped = externalData.get(location, offset, size);
  if (!mapped)
    return mapped.takeError();
  return RawBytes{mapped->bytes, mapped->owner};
}

/// A dense attribute from the raw form; used for small tensors.
static ElementsAttr makeDense(RankedTensorType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  if (element.isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  if (!isa<ComplexType>(element) && element.getIntOrFloatBitWidth() == 4) {
    // Dense attributes have a byte per element.
    SmallVector<char> values;
    for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
      unsigned nibble =
          (static_cast<uint8_t>(bytes[i / 2]) >> (i % 2 * 4)) & 15;
      values.push_back(static_cast<char>(nibble));
    }
    return DenseElementsAttr::getFromRawBuffer(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

/// A resource over the bytes; they are copied only if they are not aligned.
static ElementsAttr makeResource(RankedTensorType type, RawBytes raw,
                                 StringRef name) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  size_t align = std::max<size_t>(1, rawBits(element) / 8);
  if (reinterpret_cast<uintptr_t>(raw.bytes.data()) % align != 0)
    return DenseResourceElementsAttr::get(
        type, name,
        HeapAsmResourceBlob::allocateAndCopyWithAlign(raw.bytes, 64));
  AsmResourceBlob blob(
      raw.bytes, align,
      [owner = raw.owner](void *, size_t, size_t) mutable { owner.reset(); },
      /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

static llvm::Expected<RankedTensorType>
importTensorType(const ::onnx_format::TensorProto &proto, uint64_t &size,
                 MLIRContext *context) {
  llvm::Expected<Type> element = importElementType(proto.data_type(), context);
  if (!element)
    return element.takeError();
  if (proto.has_segment())
    return fail("is stored in segments");
  if (proto.dims_size() > maxRank)
    return fail("has rank " + Twine(proto.dims_size()) + ", more than " +
                Twine(maxRank));
  int64_t elements = 1, bits;
  bool empty = false;
  for (int64_t dim : proto.dims()) {
    if (dim < 0)
      return fail("has a negative dimension " + Twine(dim));
    empty |= dim == 0;
    if (dim != 0 && llvm::MulOverflow(elements, dim, elements))
      return fail("has more elements than 64 bits can count");
  }
  if (llvm::MulOverflow(elements, rawBits(*element), bits))
    return fail("has more elements than 64 bits can count");
  size = empty ? 0 : (static_cast<uint64_t>(bits) + 7) / 8;
  SmallVector<int64_t> shape(proto.dims().begin(), proto.dims().end());
  return RankedTensorType::get(shape, *element);
}

llvm::Expected<ElementsAttr>
onnxquant::import::importTensor(::onnx_format::TensorProto &proto,
                                StringRef name, ExternalData &externalData,
                                MLIRContext *context) {
  uint64_t size;
  llvm::Expected<RankedTensorType> type =
      importTensorType(proto, size, context);
  if (!type)
    return type.takeError();
  RawBytes raw;
  if (proto.data_location() == ::onnx_format::TensorProto::EXTERNAL) {
    llvm::Expected<RawBytes> external = readExternal(proto, size, externalData);
    if (!external)
      return external.takeError();
    raw = std::move(*external);
  } else if (proto.has_raw_data()) {
    std::shared_ptr<std::string> owned(proto.release_raw_data());
    raw = {ArrayRef<char>(owned->data(), owned->size()), owned};
  } else {
    raw = packTypedFields(proto, type->getElementType());
    proto.clear_float_data();
    proto.clear_int32_data();
  }
  if (raw.bytes.size() != size)
    return fail("needs " + Twine(size) + " bytes of data, but has " +
                Twine(raw.bytes.size()));
  if (size < resourceThreshold)
    return makeDense(*type, raw.bytes);
  return makeResource(*type, std::move(raw), name);
}

llvm::Expected<ElementsAttr> onnxquant::import::importSparseTensor(
    ::onnx_format::SparseTensorProto &proto, StringRef name,
    ExternalData &externalData, MLIRContext *context) {
  // The dense tensor is written in the raw form, then read as any other.
  ::onnx_format::TensorProto dense;
  dense.set_data_type(proto.values().data_type());
  *dense.mutable_dims() = proto.dims();
  uint64_t size, valueBytes, indexBytes;
  auto type = importTensorType(dense, size, context);
  if (!type)
    return type.takeError();
  auto valuesType = importTensorType(proto.values(), valueBytes, context);
  if (!valuesType)
    return valuesType.takeError();
  auto indicesType = importTensorType(proto.indices(), indexBytes, context);
  if (!indicesType)
    return indicesType.takeError();
  int64_t bits = rawBits(type->getElementType());
  if (size > maxDenseBytes)
    return fail("is sparse with " + Twine(size) +
                " bytes when made dense, "
                "more than " +
                Twine(maxDenseBytes));
  if (bits % 8 != 0 || !indicesType->getElementType().isInteger(64))
    return fail("is sparse with element or index types that can't be read");
  int64_t count = valuesType->getNumElements(), rank = type->getRank();
  bool linear = indicesType->getRank() == 1;
  if (valuesType->getRank() != 1 ||
      indicesType->getNumElements() != count * (linear ? 1 : rank))
    return fail("is sparse with indices that don't go with its values");

  auto values =
      importTensor(*proto.mutable_values(), name, externalData, context);
  if (!values)
    return values.takeError();
  auto indices =
      importTensor(*proto.mutable_indices(), name, externalData, context);
  if (!indices)
    return indices.takeError();
  auto bytesOf = [](ElementsAttr attr) -> ArrayRef<char> {
    if (auto elements = dyn_cast<DenseElementsAttr>(attr))
      return elements.isSplat() ? ArrayRef<char>() : elements.getRawData();
    return cast<DenseResourceElementsAttr>(attr)
        .getRawHandle()
        .getBlob()
        ->getData();
  };
  std::string raw(size, '\0');
  size_t width = bits / 8;
  ArrayRef<char> valueData = bytesOf(*values);
  auto splat = dyn_cast<DenseElementsAttr>(*values);
  SmallVector<int64_t> index;
  if (auto elements = dyn_cast<DenseElementsAttr>(*indices))
    index.assign(elements.value_begin<int64_t>(),
                 elements.value_end<int64_t>());
  else
    for (size_t i = 0; i < indexBytes; i += 8)
      index.push_back(
          *reinterpret_cast<const int64_t *>(bytesOf(*indices).data() + i));
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int64_t d = 0; d < (linear ? 1 : rank); ++d) {
      int64_t at = index[linear ? i : i * rank + d];
      int64_t extent = linear ? type->getNumElements() : type->getDimSize(d);
      if (at < 0 || at >= extent)
        return fail("is sparse with index " + Twine(at) + " out of range");
      position = linear ? at : position * extent + at;
    }
    const char *source = valueData.empty() && splat
                             ? splat.getRawData().data()
                             : valueData.data() + i * width;
    std::copy_n(source, width, raw.data() + position * width);
  }
  dense.set_raw_data(std::move(raw));
  return importTensor(dense, name, externalData, context);
}
