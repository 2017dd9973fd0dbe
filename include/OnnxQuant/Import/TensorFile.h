// Tensors in files of ONNX's format.

#ifndef ONNXQUANT_IMPORT_TENSORFILE_H
#define ONNXQUANT_IMPORT_TENSORFILE_H

#include "OnnxQuant/Support/HostTensor.h"

namespace onnxquant {

/// Reads one TensorProto (`.pb`). Strings, sequences and optionals are refused
/// with their category.
llvm::Expected<HostTensor> readTensorProto(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_IMPORT_TENSORFILE_H
