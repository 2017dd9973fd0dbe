// Compiled models on disk, found again by what they were compiled from.

#ifndef ONNXQUANT_PIPELINES_CODECACHE_H
#define ONNXQUANT_PIPELINES_CODECACHE_H

#include "OnnxQuant/Pipelines/Compile.h"

namespace onnxquant {

/// A compiled model before it is linked or loaded.
struct CompiledModel {
  Objects objects;
  /// The C header that goes with it; empty if there is none.
  std::string header;
  /// Which ops no vectorized kernel computes, in a line; empty if there is
  /// none.
  std::string withoutKernel;
  /// Whether it needs OpenMP's library.
  bool usesOpenMP = false;
};

/// A folder of compiled models. Entries appear whole or not at all, so any
/// number of processes can use it at the same time; one that was damaged, or
/// that isn't a file of this user's, is as good as none.
class CodeCache {
public:
  /// Without a folder, nothing is found and nothing is kept.
  explicit CodeCache(llvm::StringRef folder) : folder(folder) {}

  bool isOn() const { return !folder.empty(); }
  /// What a module of the `onnx` dialect is compiled to depends on nothing
  /// else: its contents, the options, `kind`, and this program.
  static std::string keyOf(mlir::ModuleOp module, const CompileOptions &options,
                           llvm::StringRef kind);
  std::optional<CompiledModel> find(llvm::StringRef key) const;
  /// Errors name the file; the model is compiled all the same.
  llvm::Error keep(llvm::StringRef key, const CompiledModel &model) const;

private:
  std::string pathOf(llvm::StringRef key) const;

  std::string folder;
};

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_CODECACHE_H
