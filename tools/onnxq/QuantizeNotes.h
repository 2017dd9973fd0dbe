// What a user should know of a quantized model before he runs it elsewhere.

#ifndef ONNXQUANT_TOOLS_ONNXQ_QUANTIZENOTES_H
#define ONNXQUANT_TOOLS_ONNXQ_QUANTIZENOTES_H

#include "OnnxQuant/Transforms/Quantize/Report.h"

namespace onnxquant::cli {

/// Where ONNX Runtime's kernels would saturate, and what to do; empty where
/// they don't. `runtime` is what the model is for, if that was said; otherwise
/// it is ONNX Runtime on this processor.
std::string saturationNote(const QuantizeReport &report,
                           llvm::StringRef runtime);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_QUANTIZENOTES_H
