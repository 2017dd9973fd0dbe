// Tensors in files of ONNX's format.

#ifndef ONNXQUANT_IMPORT_TENSORFILE_H
#define ONNXQUANT_IMPORT_TENSORFILE_H

#include "OnnxQuant/Support/HostTensor.h"
#include <optional>

namespace onnxquant {

/// Reads one TensorProto (`.pb`). Strings, sequences and optionals are refused
/// with their category.
llvm::Expected<HostTensor> readTensorProto(llvm::StringRef path);

/// A tensor of a file without its data, and where that begins in the file.
struct TensorPlace {
  HostTensor tensor;
  uint64_t offset = 0;
};
/// Where a TensorProto keeps its elements as plain bytes; none if it keeps them
/// otherwise, or the file isn't as it should be.
std::optional<TensorPlace> locateTensorProto(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_IMPORT_TENSORFILE_H
