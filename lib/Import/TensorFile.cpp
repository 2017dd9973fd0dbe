// Tensors in files of ONNX's format, for runs.

#include "OnnxQuant/Import/TensorFile.h"
#include "TensorImport.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

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
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(file.getError().message());
  ::onnx::TensorProto proto;
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
