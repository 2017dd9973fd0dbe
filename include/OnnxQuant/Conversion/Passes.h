// Passes from the `onnx` dialect to kernels and to linalg.

#ifndef ONNXQUANT_CONVERSION_PASSES_H
#define ONNXQUANT_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Conversion/Passes.h.inc"

} // namespace onnxquant

#endif // ONNXQUANT_CONVERSION_PASSES_H
