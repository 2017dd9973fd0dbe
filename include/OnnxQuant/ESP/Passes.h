// The pass that quantizes a float model as ESP-DL's kernels compute.

#ifndef ONNXQUANT_ESP_PASSES_H
#define ONNXQUANT_ESP_PASSES_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/ESP/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/ESP/Passes.h.inc"

} // namespace onnxquant

#endif // ONNXQUANT_ESP_PASSES_H
