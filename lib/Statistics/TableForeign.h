// Calibration tables as other tools write them.

#ifndef ONNXQUANT_LIB_STATISTICS_TABLEFOREIGN_H
#define ONNXQUANT_LIB_STATISTICS_TABLEFOREIGN_H

#include "OnnxQuant/Statistics/Table.h"
#include "llvm/Support/JSON.h"

namespace onnxquant {

/// The tensors of a table that ONNX Runtime's present tool wrote; null if it
/// isn't one.
const llvm::json::Object *tensorsOfOnnxRuntime(const llvm::json::Object &root);
/// The range of each of them; errors name the tensor.
llvm::Expected<RangeTable>
rangesFromOnnxRuntime(const llvm::json::Object &tensors);

/// Whether a text begins as TensorRT's calibration caches do.
bool isTensorRTCache(llvm::StringRef text);
/// The ranges of such a cache; errors name the line.
llvm::Expected<RangeTable> rangesFromTensorRT(llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_STATISTICS_TABLEFOREIGN_H
