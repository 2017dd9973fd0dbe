// The parts of a result as JSON, for the file and for the page.

#ifndef ONNXQUANT_LIB_DEBUGGING_REPORTDATA_H
#define ONNXQUANT_LIB_DEBUGGING_REPORTDATA_H

#include "OnnxQuant/Debugging/Debugging.h"

namespace onnxquant::debugging {

/// Null where there is no finite number.
llvm::json::Value jsonNumber(std::optional<double> value);
/// `added` in decibels; none if nothing is added.
std::optional<double> addedError(const DebugTensor &tensor);

/// With what the result says of the tensor's node.
llvm::json::Object describeTensor(const DebugTensor &tensor,
                                  const DebugResult &result);
llvm::json::Object describeWeight(const DebugWeight &weight);
/// All but the tensors and weights.
llvm::json::Object describeResult(const DebugResult &result);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_REPORTDATA_H
