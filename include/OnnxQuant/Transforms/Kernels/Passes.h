// Passes on kernels: epilogues, packed weights, loops over vectors.

#ifndef ONNXQUANT_TRANSFORMS_KERNELS_PASSES_H
#define ONNXQUANT_TRANSFORMS_KERNELS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_KERNELS_PASSES_H
