// Compiled models in this process.

#ifndef ONNXQUANT_TARGET_JIT_H
#define ONNXQUANT_TARGET_JIT_H

#include "onnxquant-c/model.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <vector>

namespace onnxquant {

/// Objects of the host's architecture, loaded and ready to run.
class LoadedObject {
public:
  /// `name` is the prefix of the objects' symbols. Code of several threads
  /// needs OpenMP's library.
  static llvm::Expected<std::unique_ptr<LoadedObject>>
  load(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects,
       llvm::StringRef name, bool usesOpenMP = false);
  ~LoadedObject();

  const onnxq_model &model() const { return *description; }
  /// What was measured, of code that was compiled to be; null of other code.
  const onnxq_profile_data *profile() const { return measured; }

private:
  LoadedObject();
  struct Engine;
  std::unique_ptr<Engine> engine;
  const onnxq_model *description = nullptr;
  const onnxq_profile_data *measured = nullptr;
};

} // namespace onnxquant

#endif // ONNXQUANT_TARGET_JIT_H
