// Preparing a float model: the steps, their order, and their names here and in
// other tools.

#ifndef ONNXQUANT_PIPELINES_PREPROCESS_H
#define ONNXQUANT_PIPELINES_PREPROCESS_H

#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

namespace onnxquant {

struct PreprocessOptions {
  /// Run the steps below; otherwise shapes only.
  bool optimize = true;
  /// Write inferred static shapes, and expressions over named dimensions. With
  /// neither, no shapes of inner tensors are written.
  bool staticShapes = true;
  bool symbolicShapes = true;
  /// Steps that are left out.
  std::vector<std::string> skip;
  /// These steps in this order, once each, instead of all of them.
  std::vector<std::string> passes;
  /// As the options of shape inference.
  std::vector<std::string> dims, inputShapes;
  bool autoMerge = false, guessOutputRank = false;
  /// Ends of slices from here on mean no end; 0 leaves them as they are.
  int64_t intMax = 0;
  /// The batch becomes a dimension of this name, if there is one.
  std::string dynamicBatch;
  /// No node is made that this opset doesn't have; 0 is any.
  int64_t maxOpset = 0;
  /// See the option of constant folding.
  int64_t maxConstantBytes = 1048576;
  /// What constant folding computes with; none follows shapes only.
  ExecutorFactory executor;
};

/// A step of preprocessing.
struct PreprocessStep {
  /// The pass's flag without `onnx-`.
  llvm::StringLiteral name;
  /// What else it is called, here or by other tools; see the page.
  llvm::SmallVector<llvm::StringLiteral, 2> aliases;
  std::unique_ptr<mlir::Pass> (*create)(const PreprocessOptions &options);
  /// Repeated until nothing changes, once after that, or if asked for.
  enum class Phase { Repeated, Last, OnRequest } phase;
};

/// All steps, in order.
llvm::ArrayRef<PreprocessStep> getPreprocessSteps();
/// The step of that name, with `-` or `_`, with or without `onnx-`.
const PreprocessStep *findPreprocessStep(llvm::StringRef name);

/// Shape inference, then the steps until nothing changes, then shape inference.
/// Fails on a name that no step has.
llvm::Error buildPreprocessPipeline(mlir::OpPassManager &pm,
                                    const PreprocessOptions &options);

/// What a pass did, and how often.
struct PreprocessCount {
  std::string pass, what;
  int64_t count;
};
/// Makes the passes count in a module what they do to it.
void requestReport(mlir::ModuleOp module);
/// What they counted, in the order of the steps. The module counts no longer.
std::vector<PreprocessCount> takeReport(mlir::ModuleOp module);

/// Registers `--onnx-preprocess`.
void registerPreprocessPipeline();

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_PREPROCESS_H
