// What memory the runs of a model need.

#ifndef ONNXQUANT_TOOLS_ONNXQ_MEMORY_H
#define ONNXQUANT_TOOLS_ONNXQ_MEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace onnxquant::cli {

/// A buffer of a run.
struct PlannedBuffer {
  std::string node;
  int64_t bytes = 0, offset = 0;
};

/// The plan of a run's memory.
struct MemoryPlan {
  int64_t workspaceBytes = 0;
  /// What the buffers would take without sharing memory.
  int64_t bufferBytes = 0;
  /// Buffers whose size is known at run time only.
  int64_t numOpen = 0;
  /// Weights that are expanded when the code is loaded.
  int64_t loadBytes = 0;
  /// Largest first.
  std::vector<PlannedBuffer> buffers;
};

/// Lowers a module (which is consumed) as far as its memory is planned. Errors
/// are diagnostics.
llvm::FailureOr<MemoryPlan> planMemory(mlir::ModuleOp module);

void printMemory(const MemoryPlan &plan);
llvm::json::Object toJson(const MemoryPlan &plan);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_MEMORY_H
