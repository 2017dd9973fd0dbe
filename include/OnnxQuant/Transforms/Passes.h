// Passes from the `onnx` dialect to itself.

#ifndef ONNXQUANT_TRANSFORMS_PASSES_H
#define ONNXQUANT_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Passes.h.inc"

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_PASSES_H
