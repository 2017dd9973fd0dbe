// How a pass runs a piece of a model: it is given an executor and never knows
// how code is made.

#ifndef ONNXQUANT_SUPPORT_EXECUTOR_H
#define ONNXQUANT_SUPPORT_EXECUTOR_H

#include "OnnxQuant/Support/HostTensor.h"
#include "llvm/Support/LogicalResult.h"
#include <memory>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace onnxquant {

/// A compiled graph. Runs are independent of each other and may be concurrent.
class Program {
public:
  virtual ~Program() = default;
  /// Inputs are in the order of the entry function's arguments. Errors name the
  /// input, or the node that failed.
  virtual llvm::Expected<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs) const = 0;
  /// Takes back what a run gave, so that later runs use its memory: new memory
  /// costs time.
  virtual void reuse(std::vector<HostTensor> outputs) const {}
};

/// Makes programs of modules of the `onnx` dialect with one entry point.
class Executor {
public:
  virtual ~Executor() = default;
  /// Compiles a module, which is consumed. Errors are diagnostics.
  virtual llvm::FailureOr<std::unique_ptr<Program>>
  compile(mlir::ModuleOp module) = 0;
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_EXECUTOR_H
