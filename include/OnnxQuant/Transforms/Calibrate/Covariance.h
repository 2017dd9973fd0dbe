// How the channels of tensors go together, over samples.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_COVARIANCE_H
#define ONNXQUANT_TRANSFORMS_CALIBRATE_COVARIANCE_H

#include "OnnxQuant/Support/Covariance.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"

namespace onnxquant {

/// Runs samples through a module, and adds up the products of the channels of
/// the tensors of these names. The products are part of the graph, so that one
/// sample's tensors are all that is held beside the sums. `samples` is set to
/// how many were run. Errors are diagnostics.
llvm::FailureOr<Covariances>
collectCovariances(mlir::ModuleOp module, const std::set<std::string> &names,
                   Executor &executor, const CollectOptions &options,
                   int64_t *samples = nullptr);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_CALIBRATE_COVARIANCE_H
