// Passes that find the ranges of a model's tensors.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_H
#define ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_H

#include "OnnxQuant/Support/Executor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"

using ExecutorFactory = std::function<std::unique_ptr<Executor>()>;

/// `onnx-calibrate` with what compiles and runs the instrumented graph.
std::unique_ptr<mlir::Pass> createCalibrate(CalibrateOptions options,
                                            ExecutorFactory executor);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_H
