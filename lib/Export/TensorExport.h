// Attributes and types as tensors and types of the file format.

#ifndef ONNXQUANT_LIB_EXPORT_TENSOREXPORT_H
#define ONNXQUANT_LIB_EXPORT_TENSOREXPORT_H

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "onnx_format.pb.h"

namespace onnxquant::exporting {

/// The elements of a constant in the raw form: borrowed from a resource, or
/// made in `storage`.
struct RawTensor {
  llvm::ArrayRef<char> bytes;
  std::string storage;

  llvm::ArrayRef<char> data() const {
    return storage.empty()
               ? bytes
               : llvm::ArrayRef<char>(storage.data(), storage.size());
  }
};

/// How many bytes the raw form has.
int64_t rawSize(mlir::ShapedType type);

/// Reads a constant. Fails if a resource is missing or of the wrong size.
llvm::FailureOr<RawTensor> getRawTensor(mlir::ElementsAttr elements);

/// Writes the numbers one by one; false if they can't be, or are many.
bool exportTypedData(mlir::ElementsAttr elements,
                     ::onnx_format::TensorProto &proto);

/// Sets dims and element type; fails if ONNX has no such element type.
llvm::LogicalResult exportTensorType(mlir::ShapedType type,
                                     ::onnx_format::TensorProto &proto);

/// Sets a value's type with the names of its dynamic dimensions. Leaves the
/// type open if the element type is not known.
void exportType(mlir::Type type, llvm::StringRef dimParams,
                ::onnx_format::TypeProto &proto);

} // namespace onnxquant::exporting

#endif // ONNXQUANT_LIB_EXPORT_TENSOREXPORT_H
