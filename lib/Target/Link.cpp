// Links objects to shared libraries with the target's own linker.

#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Target/Target.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Programs that can link for a system, the best first. A compiler knows where
/// its libraries are; a plain linker needs none.
static std::vector<std::string> linkersFor(const Triple &triple) {
  std::string arch = triple.getArchName().str();
  if (triple.getArch() == Triple(sys::getDefaultTargetTriple()).getArch())
    return {"cc", "gcc", "clang-22", "clang"};
  return {arch + "-linux-gnu-gcc", "ld.lld-22", "ld.lld"};
}

/// Runs a linker; what it says first is the reason of a failure.
static Error runLinker(StringRef program, ArrayRef<StringRef> arguments,
                       StringRef said) {
  std::optional<StringRef> redirects[] = {StringRef(), said, said};
  std::string message;
  int status = sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                   0, 0, &message);
  if (status == 0)
    return Error::success();
  auto text = MemoryBuffer::getFile(said);
  if (message.empty() && text)
    message = (*text)->getBuffer().split('\n').first.str();
  return fail("linking with " + program + " failed" +
              (message.empty() ? "" : ": " + message));
}

Error onnxquant::linkSharedLibrary(MemoryBufferRef object, StringRef output,
                                   const onnxquant::TargetOptions &options) {
  std::string program;
  std::vector<std::string> candidates = linkersFor(Triple(options.triple));
  for (const std::string &name : candidates)
    if (ErrorOr<std::string> found = sys::findProgramByName(name);
        found && program.empty())
      program = *found;
  if (program.empty())
    return fail(output + ": cannot be linked for " + options.triple +
                ": none of " + join(candidates, ", ") + " is there");
  auto result = AtomicFile::create(output);
  if (!result)
    return result.takeError();
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("onnxq", folder))
    return fail("no temporary folder can be made: " + code.message());
  std::string input = (folder + "/model.o").str(),
              linked = (folder + "/model.so").str(),
              said = (folder + "/said").str();
  scope_exit cleanUp([&]() { sys::fs::remove_directories(folder); });
  {
    std::error_code code;
    raw_fd_ostream os(input, code);
    os << object.getBuffer();
    os.close();
    if (!code)
      code = os.error();
    os.clear_error();
    if (code)
      return fail(input + ": cannot write: " + code.message());
  }
  std::vector<StringRef> arguments = {program, "-shared", "-o", linked, input};
  if (!StringRef(program).contains("ld."))
    arguments.push_back("-lm");
  if (Error error = runLinker(program, arguments, said))
    return fail(output + ": " + toString(std::move(error)));
  auto library = MemoryBuffer::getFile(linked, /*IsText=*/false,
                                       /*RequiresNullTerminator=*/false);
  if (!library)
    return fail(linked + ": " + library.getError().message());
  (*result)->os() << (*library)->getBuffer();
  return (*result)->commit();
}
