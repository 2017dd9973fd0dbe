// Tensors in files of ONNX's format, for runs.

#include "OnnxQuant/Import/TensorFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "TensorImport.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

using namespace mlir;
using namespace onnxquant;

/// The bytes of a constant as runs have them.
static std::vector<char> bytesOf(ElementsAttr elements) {
  std::vector<char> bytes;
  Type element = elements.getElementType();
  bool narrow = element.getIntOrFloatBitWidth() == 4;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    if (!narrow)
      return std::vector<char>(data.begin(), data.end());
    bool isSigned = !element.isUnsignedInteger() && isa<IntegerType>(element);
    for (int64_t i = 0, e = elements.getNumElements(); i < e; ++i) {
      int nibble = (static_cast<uint8_t>(data[i / 2]) >> (i % 2 * 4)) & 15;
      bytes.push_back(isSigned && nibble >= 8 ? nibble - 16 : nibble);
    }
    return bytes;
  }
  auto dense = cast<DenseElementsAttr>(elements);
  if (element.isInteger(1)) {
    for (bool value : dense.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  if (narrow && isa<IntegerType>(element)) {
    for (APInt value : dense.getValues<APInt>())
      bytes.push_back(static_cast<char>(element.isUnsignedInteger()
                                            ? value.getZExtValue()
                                            : value.getSExtValue()));
    return bytes;
  }
  ArrayRef<char> data = dense.getRawData();
  for (int64_t i = 0, e = dense.isSplat() ? dense.getNumElements() : 1; i < e;
       ++i)
    bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

llvm::Expected<HostTensor> onnxquant::readTensorProto(StringRef path) {
  auto fail = [&](const Twine &reason) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   path + ": " + reason);
  };
  auto file = openInput(path, FileLimits::model);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  ::onnx_format::TensorProto proto;
  if (!proto.ParseFromArray((*file)->getBufferStart(),
                            (*file)->getBufferSize()))
    return fail("is no tensor of ONNX's format");
  MLIRContext context;
  context.loadDialect<onnxquant::onnx::ONNXDialect>();
  import::ExternalData externalData(llvm::sys::path::parent_path(path));
  HostTensor tensor;
  tensor.name = proto.name();
  tensor.type = proto.data_type();
  tensor.dims.assign(proto.dims().begin(), proto.dims().end());
  auto elements = import::importTensor(proto, "data", externalData, &context);
  if (!elements)
    return fail(llvm::toString(elements.takeError()));
  if (elementBytes(tensor.type) == 0)
    return fail("has elements of " + typeName(tensor.type) +
                ", which can't be computed with");
  tensor.data = bytesOf(*elements);
  return tensor;
}

std::optional<TensorPlace> onnxquant::locateTensorProto(StringRef path) {
  namespace io = ::google::protobuf::io;
  using ::google::protobuf::internal::WireFormatLite;
  // Mapped, so that only what is read here takes memory.
  auto file = openInput(path, INT32_MAX);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>((*file)->getBufferStart()),
      static_cast<int>((*file)->getBufferSize()));
  TensorPlace place;
  std::optional<uint64_t> bytes;
  while (uint32_t tag = stream.ReadTag()) {
    uint64_t number;
    uint32_t length;
    switch (tag) {
    case ::onnx_format::TensorProto::kDimsFieldNumber << 3:
      if (!stream.ReadVarint64(&number))
        return std::nullopt;
      place.tensor.dims.push_back(static_cast<int64_t>(number));
      break;
    case ::onnx_format::TensorProto::kDimsFieldNumber << 3 | 2: {
      if (!stream.ReadVarint32(&length))
        return std::nullopt;
      auto limit = stream.PushLimit(static_cast<int>(length));
      while (stream.BytesUntilLimit() > 0) {
        if (!stream.ReadVarint64(&number))
          return std::nullopt;
        place.tensor.dims.push_back(static_cast<int64_t>(number));
      }
      stream.PopLimit(limit);
      break;
    }
    case ::onnx_format::TensorProto::kDataTypeFieldNumber << 3:
      if (!stream.ReadVarint64(&number))
        return std::nullopt;
      place.tensor.type = static_cast<int32_t>(number);
      break;
    case ::onnx_format::TensorProto::kNameFieldNumber << 3 | 2:
      if (!stream.ReadVarint32(&length) ||
          !stream.ReadString(&place.tensor.name, static_cast<int>(length)))
        return std::nullopt;
      break;
    case ::onnx_format::TensorProto::kRawDataFieldNumber << 3 | 2:
      if (!stream.ReadVarint32(&length))
        return std::nullopt;
      place.offset = stream.CurrentPosition();
      bytes = length;
      if (!stream.Skip(static_cast<int>(length)))
        return std::nullopt;
      break;
    case ::onnx_format::TensorProto::kDocStringFieldNumber << 3 | 2:
      if (!WireFormatLite::SkipField(&stream, tag))
        return std::nullopt;
      break;
    default:
      // Elements in a field of their own type, in parts or in another file.
      return std::nullopt;
    }
  }
  unsigned each = elementBytes(place.tensor.type);
  int32_t type = place.tensor.type;
  int64_t needed = each;
  bool fits = llvm::all_of(place.tensor.dims, [&](int64_t dim) {
    return dim >= 0 && !llvm::MulOverflow(needed, dim, needed);
  });
  // Types of 4 bits, from UINT4 on, are stored in pairs.
  bool isNarrow = type >= 21;
  if (!bytes || each == 0 || isNarrow || !stream.ConsumedEntireMessage() ||
      !fits || static_cast<uint64_t>(needed) != *bytes)
    return std::nullopt;
  return place;
}
