// Whether a model can take its first sample, before anything is compiled.

#ifndef ONNXQUANT_PIPELINES_FIRSTSAMPLE_H
#define ONNXQUANT_PIPELINES_FIRSTSAMPLE_H

#include "OnnxQuant/Data/DataSet.h"
#include "mlir/IR/BuiltinOps.h"

namespace onnxquant {

/// Infers the shapes of a prepared model with those of the first sample. An
/// error names the node and the sample. Samples of one shape need no such
/// look: what is compiled for them has it.
llvm::LogicalResult checkFirstSample(mlir::ModuleOp module, DataOptions data);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_FIRSTSAMPLE_H
