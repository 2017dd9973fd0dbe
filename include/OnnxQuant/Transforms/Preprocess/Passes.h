// Passes from the `onnx` dialect to itself that prepare a graph.

#ifndef ONNXQUANT_TRANSFORMS_PREPROCESS_PASSES_H
#define ONNXQUANT_TRANSFORMS_PREPROCESS_PASSES_H

#include "OnnxQuant/Support/Executor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"

/// Makes an executor for a pass that runs compiled pieces of a model.
using ExecutorFactory = std::function<std::unique_ptr<Executor>()>;

/// Constant folding that computes; without a factory it only follows shapes.
std::unique_ptr<mlir::Pass> createFoldConstants(ExecutorFactory factory);
std::unique_ptr<mlir::Pass> createFoldConstants(ExecutorFactory factory,
                                                FoldConstantsOptions options);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_PREPROCESS_PASSES_H
