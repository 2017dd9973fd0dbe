// Passes that choose where and in which order a graph's tensors are kept: as
// bytes or floats, by tables, with which dimension last.

#ifndef ONNXQUANT_TRANSFORMS_LAYOUT_PASSES_H
#define ONNXQUANT_TRANSFORMS_LAYOUT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Layout/Passes.h.inc"

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_LAYOUT_PASSES_H
