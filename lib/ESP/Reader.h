// From a FlatBuffer to a model.

#ifndef ONNXQUANT_LIB_ESP_READER_H
#define ONNXQUANT_LIB_ESP_READER_H

#include "OnnxQuant/ESP/Model.h"
#include "llvm/Support/Error.h"

namespace onnxquant::esp {

/// How tensors' bytes are counted: one by one (EDL1) or in blocks of 16.
enum class RawForm { Bytes, Blocks };

llvm::Expected<Model> readFlatBuffer(llvm::ArrayRef<char> bytes, RawForm form);

} // namespace onnxquant::esp

#endif // ONNXQUANT_LIB_ESP_READER_H
