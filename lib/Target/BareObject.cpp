// What objects for microcontrollers take and need, and libraries of them.

#include "OnnxQuant/Target/BareObject.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/LEB128.h"
#include <set>

using namespace llvm;
using namespace onnxquant;

/// What every C compiler brings along for its chip (libgcc, compiler-rt):
/// floats without a unit for them, and integers of 64 bits.
static constexpr StringLiteral compilerFunctions[] = {
    "__addsf3",    "__subsf3",      "__mulsf3",    "__divsf3",  "__fixsfsi",
    "__fixsfdi",   "__fixunssfsi",  "__floatsisf", "__eqsf2",   "__nesf2",
    "__floatdisf", "__floatunsisf", "__ltsf2",     "__lesf2",   "__gtsf2",
    "__gesf2",     "__unordsf2",    "__ashldi3",   "__ashrdi3", "__lshrdi3",
    "__muldi3",    "__divdi3",      "__moddi3",    "__udivdi3", "__umoddi3",
};
static constexpr StringLiteral memoryFunctions[] = {"memcpy", "memmove",
                                                    "memset"};

/// A run calls the graph, which calls a kernel.
static constexpr size_t deepestCalls = 3;

/// The sizes in a section of LLVM's: an address and a number for each function.
static void readStackSizes(StringRef bytes, std::vector<uint64_t> &frames) {
  DataExtractor extractor(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/4);
  uint64_t offset = 0;
  while (offset + 4 < bytes.size()) {
    offset += 4;
    frames.push_back(extractor.getULEB128(&offset));
  }
}

static Error measure(const object::ELFObjectFileBase &object, BareUse &use,
                     std::vector<uint64_t> &frames,
                     std::set<std::string> &calls) {
  for (const object::ELFSectionRef section : object.sections()) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if (*name == ".stack_sizes") {
      auto contents = section.getContents();
      if (!contents)
        return contents.takeError();
      readStackSizes(*contents, frames);
    }
    uint64_t flags = section.getFlags();
    if (!(flags & ELF::SHF_ALLOC))
      continue;
    uint64_t &bytes = flags & ELF::SHF_EXECINSTR ? use.codeBytes
                      : flags & ELF::SHF_WRITE   ? use.dataBytes
                                                 : use.constantBytes;
    bytes += section.getSize();
  }
  for (const object::ELFSymbolRef symbol : object.symbols()) {
    auto flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    auto name = symbol.getName();
    if (!name)
      return name.takeError();
    if ((*flags & object::SymbolRef::SF_Undefined) && !name->empty())
      calls.insert(name->str());
  }
  return Error::success();
}

Expected<BareUse> onnxquant::measureObject(const MemoryBuffer &file) {
  BareUse use;
  std::vector<uint64_t> frames;
  std::set<std::string> calls;
  auto binary = object::createBinary(file.getMemBufferRef());
  if (!binary)
    return binary.takeError();
  auto add = [&](object::Binary &part) -> Error {
    auto *object = dyn_cast<object::ELFObjectFileBase>(&part);
    if (!object)
      return createStringError("isn't an object");
    return measure(*object, use, frames, calls);
  };
  if (auto *archive = dyn_cast<object::Archive>(binary->get())) {
    Error error = Error::success();
    for (const object::Archive::Child &child : archive->children(error)) {
      auto part = child.getAsBinary();
      if (!part)
        return part.takeError();
      if (Error failed = add(**part))
        return failed;
    }
    if (error)
      return error;
  } else if (Error error = add(**binary)) {
    return error;
  }
  sort(frames, std::greater<uint64_t>());
  frames.resize(std::min(frames.size(), deepestCalls));
  for (uint64_t frame : frames)
    use.stackBytes += frame;
  use.calls.assign(calls.begin(), calls.end());
  return use;
}

Error onnxquant::checkCalls(const BareUse &use) {
  for (const std::string &name : use.calls)
    if (!is_contained(compilerFunctions, name) &&
        !is_contained(memoryFunctions, name))
      return createStringError(
          "the code calls '" + name +
          "', which a microcontroller doesn't have without a C library");
  return Error::success();
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::makeArchive(const MemoryBuffer &object, StringRef name) {
  NewArchiveMember member(object.getMemBufferRef());
  std::string file = (name + ".o").str();
  member.MemberName = file;
  return writeArchiveToBuffer(member, SymtabWritingMode::NormalSymtab,
                              object::Archive::K_GNU, /*Deterministic=*/true,
                              /*Thin=*/false);
}
