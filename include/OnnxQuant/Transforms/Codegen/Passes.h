// Passes from linalg and buffers down to the LLVM dialect.

#ifndef ONNXQUANT_TRANSFORMS_CODEGEN_PASSES_H
#define ONNXQUANT_TRANSFORMS_CODEGEN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_CODEGEN_PASSES_H
