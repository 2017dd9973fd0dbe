// From a model to code that runs: the stages in order, and the way through
// them.

#ifndef ONNXQUANT_PIPELINES_COMPILE_H
#define ONNXQUANT_PIPELINES_COMPILE_H

#include "OnnxQuant/Target/Jit.h"
#include "OnnxQuant/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace onnxquant {

/// What is told of nodes that no vectorized kernel computes.
enum class KernelReport {
  None,
  /// A remark with their number and ops.
  Count,
  /// That, and a remark per node with the reason.
  Nodes
};

struct CompileOptions {
  TargetOptions target;
  /// Further targets of a file with compiled code: the best that the processor
  /// has runs. All are for the same machine.
  std::vector<TargetOptions> otherTargets;
  /// Prefix of the emitted symbols.
  std::string name = "model";
  /// Check at run time that every access to a buffer is in its bounds.
  bool checkBounds = false;
  /// Prepare the graph first: fold constants and normalizations, fuse sums,
  /// products and paddings into contractions.
  bool prepare = true;
  /// Iterations after which a Loop fails; 0 lets it run on.
  int64_t maxIterations = 0;
  /// Bytes that a run's tensors may take; 0 for any number.
  int64_t maxMemory = 0;
  /// Compute 3x3 convolutions by fewer products where that is faster.
  bool winograd = true;
  /// Threads that a run uses.
  int64_t threads = 1;
  /// Measure at run time how long each kernel takes.
  bool profile = false;
  /// Where compiled models are kept and found again; empty for nowhere.
  std::string cacheFolder;
  /// Write the plan of the memory to the graph.
  bool reportMemory = false;
  /// Tell by remarks of nodes without a kernel.
  KernelReport kernelReport = KernelReport::None;
};

/// The most threads that a run can use.
inline constexpr int64_t mostThreads = 256;

/// The `onnx` dialect to calls of kernels on buffers that have places.
void buildONNXToKernelsPipeline(mlir::OpPassManager &pm,
                                const CompileOptions &options);
/// The `onnx` dialect to loops over buffers.
void buildONNXToLoopsPipeline(mlir::OpPassManager &pm,
                              const CompileOptions &options);
/// The whole way to the LLVM dialect.
void buildONNXToLLVMPipeline(mlir::OpPassManager &pm,
                             const CompileOptions &options);
/// Registers `--onnx-to-llvm`.
void registerCompilePipelines();

/// Lowers a module to the LLVM dialect, with its target written on it. Errors
/// are diagnostics.
llvm::LogicalResult lowerToLLVM(mlir::ModuleOp module,
                                const CompileOptions &options);

/// Compiles a module (which is consumed) and loads it into this process, whose
/// limits hold for its runs where the options have none.
llvm::FailureOr<std::unique_ptr<LoadedObject>>
compileAndLoad(mlir::ModuleOp module, const CompileOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_COMPILE_H
