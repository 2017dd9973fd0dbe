// Loads objects into this process with ORC.

#include "OnnxQuant/Target/Jit.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace onnxquant;

struct LoadedObject::Engine {
  std::unique_ptr<orc::LLJIT> jit;
};

LoadedObject::LoadedObject() = default;
LoadedObject::~LoadedObject() = default;

Expected<std::unique_ptr<LoadedObject>>
LoadedObject::load(std::unique_ptr<MemoryBuffer> object, StringRef name) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  // libc and libm come from this process.
  auto generator = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*generator));
  if (Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  auto symbol = (*jit)->lookup((name + "_model").str());
  if (!symbol)
    return symbol.takeError();
  std::unique_ptr<LoadedObject> loaded(new LoadedObject());
  loaded->engine = std::make_unique<Engine>();
  loaded->engine->jit = std::move(*jit);
  loaded->description = symbol->toPtr<const onnxq_model *>();
  return loaded;
}
