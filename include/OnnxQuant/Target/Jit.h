// Compiled models in this process.

#ifndef ONNXQUANT_TARGET_JIT_H
#define ONNXQUANT_TARGET_JIT_H

#include "onnxquant-c/model.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace onnxquant {

/// An object of the host's architecture, loaded and ready to run.
class LoadedObject {
public:
  /// `name` is the prefix of the object's symbols.
  static llvm::Expected<std::unique_ptr<LoadedObject>>
  load(std::unique_ptr<llvm::MemoryBuffer> object, llvm::StringRef name);
  ~LoadedObject();

  const onnxq_model &model() const { return *description; }

private:
  LoadedObject();
  struct Engine;
  std::unique_ptr<Engine> engine;
  const onnxq_model *description = nullptr;
};

} // namespace onnxquant

#endif // ONNXQUANT_TARGET_JIT_H
