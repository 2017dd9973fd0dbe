// Loads objects into this process with ORC.

#include "OnnxQuant/Target/Jit.h"
#include "OnnxQuant/Runtime/Observers.h"
#include "OnnxQuant/Target/Target.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using namespace onnxquant;

struct LoadedObject::Engine {
  std::unique_ptr<orc::LLJIT> jit;
};

LoadedObject::LoadedObject() = default;
LoadedObject::~LoadedObject() = default;

/// A linker that puts all objects near each other: code reaches constants by
/// distances of 32 bits.
static Expected<std::unique_ptr<orc::LLJIT>> createJit(uint64_t bytes) {
  constexpr uint64_t page = 1 << 16;
  uint64_t room = alignTo(2 * bytes, page) + 64 * page;
  return orc::LLJITBuilder()
      .setObjectLinkingLayerCreator(
          [room](orc::ExecutionSession &session)
              -> Expected<std::unique_ptr<orc::ObjectLayer>> {
            auto memory = orc::MapperJITLinkMemoryManager::CreateWithMapper<
                orc::InProcessMemoryMapper>(room);
            if (!memory)
              return memory.takeError();
            return std::make_unique<orc::ObjectLinkingLayer>(
                session, std::move(*memory));
          })
      .create();
}

/// Lets code find OpenMP's library, which stays loaded.
static Error addOpenMP(orc::LLJIT &jit) {
  for (const std::string &name : getOpenMPLibraries()) {
    auto library = orc::DynamicLibrarySearchGenerator::Load(
        name.c_str(), jit.getDataLayout().getGlobalPrefix());
    if (!library) {
      consumeError(library.takeError());
      continue;
    }
    jit.getMainJITDylib().addGenerator(std::move(*library));
    return Error::success();
  }
  return createStringError(inconvertibleErrorCode(),
                           "code of several threads needs libomp, which isn't "
                           "there");
}

/// Lets instrumented code find observers.
static Error addObservers(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  for (const ObserverSymbol *each = getObserverSymbols(); each->name; ++each)
    symbols[jit.mangleAndIntern(each->name)] = {
        orc::ExecutorAddr::fromPtr(each->address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols)));
}

/// The bytes that an object takes in memory, about: also those that its file
/// doesn't have.
static Expected<uint64_t> countBytes(MemoryBufferRef buffer) {
  auto object = object::ObjectFile::createObjectFile(buffer);
  if (!object)
    return object.takeError();
  uint64_t bytes = buffer.getBufferSize();
  for (const object::SectionRef &section : (*object)->sections())
    if (section.isBSS())
      bytes += section.getSize();
  return bytes;
}

/// A symbol that need not be there; null if it isn't.
static Expected<orc::ExecutorAddr> findSymbol(orc::LLJIT &jit,
                                              const Twine &name) {
  auto found = jit.getExecutionSession().lookup(
      orc::makeJITDylibSearchOrder(&jit.getMainJITDylib(),
                                   orc::JITDylibLookupFlags::MatchAllSymbols),
      orc::SymbolLookupSet(jit.mangleAndIntern(name.str()),
                           orc::SymbolLookupFlags::WeaklyReferencedSymbol));
  if (!found)
    return found.takeError();
  for (const auto &[symbol, definition] : *found)
    return definition.getAddress();
  return orc::ExecutorAddr();
}

/// Does what a system's loader does with constructors, if there are any.
static Error runLoadFunction(orc::LLJIT &jit, const Twine &name) {
  auto found = findSymbol(jit, name);
  if (!found)
    return found.takeError();
  if (*found)
    found->toPtr<void (*)()>()();
  return Error::success();
}

Expected<std::unique_ptr<LoadedObject>>
LoadedObject::load(std::vector<std::unique_ptr<MemoryBuffer>> objects,
                   StringRef name, bool usesOpenMP) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  uint64_t bytes = 0;
  for (const auto &object : objects) {
    auto size = countBytes(*object);
    if (!size)
      return size.takeError();
    bytes += *size;
  }
  auto jit = createJit(bytes);
  if (!jit)
    return jit.takeError();
  // libc and libm come from this process.
  auto generator = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*generator));
  if (Error error = addObservers(**jit))
    return error;
  if (usesOpenMP)
    if (Error error = addOpenMP(**jit))
      return error;
  for (auto &object : objects)
    if (Error error = (*jit)->addObjectFile(std::move(object)))
      return error;
  auto symbol = (*jit)->lookup((name + "_model").str());
  if (!symbol)
    return symbol.takeError();
  if (Error error = runLoadFunction(**jit, name + "_onnxq_load"))
    return error;
  auto profile = findSymbol(**jit, "onnxq_profile");
  if (!profile)
    return profile.takeError();
  std::unique_ptr<LoadedObject> loaded(new LoadedObject());
  loaded->engine = std::make_unique<Engine>();
  loaded->engine->jit = std::move(*jit);
  loaded->description = symbol->toPtr<const onnxq_model *>();
  loaded->measured = profile->toPtr<const onnxq_profile_data *>();
  return loaded;
}
