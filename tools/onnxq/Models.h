// What the verbs that compile have in common: how a model is read and
// specialized, and what code is made for it.

#ifndef ONNXQUANT_TOOLS_ONNXQ_MODELS_H
#define ONNXQUANT_TOOLS_ONNXQ_MODELS_H

#include "Arguments.h"
#include "OnnxQuant/Pipelines/Compile.h"
#include "OnnxQuant/Pipelines/ModelIO.h"
#include "OnnxQuant/Support/Progress.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant::cli {

/// A context with all dialects.
class ModelContext {
public:
  ModelContext();
  mlir::MLIRContext &get() { return *context; }

private:
  std::unique_ptr<mlir::MLIRContext> context;
};

/// `--dim`, `--input-shape` and `--trust-bytecode`.
struct ModelOptions {
  std::vector<std::string> dims, inputShapes;
  bool trustBytecode = false;

  bool specializes() const { return !dims.empty() || !inputShapes.empty(); }
  void declare(Arguments &arguments);
  /// Gives a model's inputs the sizes asked for. Errors are diagnostics.
  llvm::LogicalResult apply(mlir::ModuleOp module) const;
  /// Reads a model and gives its inputs the sizes asked for. Errors are
  /// diagnostics.
  mlir::OwningOpRef<mlir::ModuleOp>
  read(llvm::StringRef path, mlir::MLIRContext &context,
       EspForm form = EspForm::Device,
       const ImportOptions &importing = {}) const;
};

/// `--target`, `--cpu`, `--features`, `--threads`, `--max-iterations`,
/// `--cache`, `--check-bounds`, `--no-winograd` and `--verbose`.
struct CodeOptions {
  std::string target = "native", cpu, features, cache;
  int64_t threads = 1, maxIterations = 0;
  bool checkBounds = false, noWinograd = false, verbose = false;

  void declare(Arguments &arguments);
  /// Checks the options; an exit code says that they are wrong.
  std::optional<int> read(const Arguments &arguments,
                          CompileOptions &options) const;
};

/// `--max-memory` and `--max-iterations` of the verbs that run models in this
/// process.
struct LimitOptions {
  std::string memory, iterations;

  void declare(Arguments &arguments);
  bool isGiven() const { return !memory.empty() || !iterations.empty(); }
  /// Sets the limits of this process; an exit code says that they are wrong.
  std::optional<int> apply(const Arguments &arguments) const;
};

/// The folder of compiled models: `--cache`, or what ONNXQUANT_CODE_CACHE says;
/// empty for none.
std::string findCache(const std::string &option);
/// Shows what the passes of a manager do, but for those that have a bar of
/// their own, until the result is gone.
class PassPhases {
public:
  explicit PassPhases(mlir::PassManager &pm);
  ~PassPhases();

private:
  std::shared_ptr<std::unique_ptr<Phase>> current;
};

/// Such as "3.5 MB".
std::string sizeText(uint64_t bytes);
/// `-o` of the verbs that write a model: an exit code says that nothing could
/// be written there.
std::optional<int> checkModelOutput(const Arguments &arguments,
                                    llvm::StringRef path);
/// The same of any file: its folder is there.
std::optional<int> checkOutput(llvm::StringRef path);
/// Options that only a model has use for: an exit code says that one of them
/// was given beside a library, which is compiled already.
std::optional<int> refuseForLibrary(const Arguments &arguments,
                                    llvm::ArrayRef<llvm::StringRef> names);
/// `--threads` of every verb: an exit code says that it is wrong.
std::optional<int> checkThreads(const Arguments &arguments, int64_t threads);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_MODELS_H
