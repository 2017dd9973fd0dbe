// The time that each node of a model takes, as 'onnxq bench --profile' measures
// it.

#ifndef ONNXQUANT_TOOLS_ONNXQ_PROFILERUN_H
#define ONNXQUANT_TOOLS_ONNXQ_PROFILERUN_H

#include "OnnxQuant/Support/HostTensor.h"
#include "Profile.h"

namespace onnxquant::cli {

/// Compiles a module (which is consumed) for inputs of the sizes given and runs
/// it on them for some seconds, in a process of its own.
llvm::Expected<Profile> profileModule(mlir::ModuleOp module,
                                      const std::vector<HostTensor> &inputs,
                                      double seconds);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_PROFILERUN_H
