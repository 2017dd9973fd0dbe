// Links objects with the target's own linker.

#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "OnnxQuant/Target/Target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static bool isHost(const Triple &triple) {
  return triple.getArch() == Triple(sys::getDefaultTargetTriple()).getArch();
}

/// Programs that can link libraries for a system, the best first. A compiler
/// knows where its libraries are; a plain linker is told, or needs none.
static std::vector<std::string> linkersFor(const Triple &triple) {
  std::string arch = triple.getArchName().str();
  if (isHost(triple))
    return {"cc", "gcc", "clang-22", "clang", "ld.lld-22", "ld.lld"};
  return {arch + "-linux-gnu-gcc", "ld.lld-22", "ld.lld"};
}

/// Programs that can join objects for a system. The plain linker takes all
/// systems and is the fastest.
static std::vector<std::string> joinersFor(const Triple &triple) {
  std::vector<std::string> programs = {"ld.lld-22", "ld.lld"};
  for (const std::string &name : linkersFor(triple))
    if (!is_contained(programs, name))
      programs.push_back(name);
  return programs;
}

/// The file that holds this code: a program, whatever name it was started by,
/// or Python's module.
static std::string ownFile() {
  void *here = reinterpret_cast<void *>(&ownFile);
  Dl_info info;
  if (dladdr(here, &info) && StringRef(info.dli_fname).contains(".so"))
    return info.dli_fname;
  return sys::fs::getMainExecutable(nullptr, here);
}

/// Folders of programs that are installed with this code: that of its file, and
/// `bin` in it.
static std::vector<std::string> ownFolders() {
  std::string folder = sys::path::parent_path(ownFile()).str();
  return {folder, folder + "/bin"};
}

/// The first of the programs that there is; empty if there is none.
static std::string findProgram(ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  std::vector<std::string> own = ownFolders();
  std::vector<StringRef> folders(own.begin(), own.end());
  for (const std::string &name : names)
    if (ErrorOr<std::string> found = sys::findProgramByName(name, folders))
      return *found;
  return "";
}

/// The C library and its mathematics, as this process has loaded them.
static std::vector<std::string> loadedSystemLibraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *list) {
        StringRef name = sys::path::filename(info->dlpi_name);
        if (name.starts_with("libm.so.") || name.starts_with("libc.so."))
          static_cast<std::vector<std::string> *>(list)->push_back(
              info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

static bool isPlainLinker(StringRef program) {
  return sys::path::filename(program).starts_with("ld.");
}

/// Runs a linker, which keeps its files in `folder`; what it says first is the
/// reason of a failure.
static Error runLinker(StringRef program, ArrayRef<StringRef> arguments,
                       StringRef folder) {
  std::string said = (folder + "/said").str(), message;
  int status = runProgram({program, arguments, said, said, folder, 0}, message);
  if (status == 0)
    return Error::success();
  auto text = MemoryBuffer::getFile(said);
  if (message.empty() && text)
    message = (*text)->getBuffer().split('\n').first.str();
  return fail("linking with " + program + " failed" +
              (message.empty() ? "" : ": " + message));
}

static Error writeFile(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  os << bytes;
  os.close();
  if (!code)
    code = os.error();
  os.clear_error();
  if (code)
    return fail(path + ": cannot write: " + code.message());
  return Error::success();
}

/// Links objects in a temporary folder: `options` before the files, `libraries`
/// after them.
static Expected<std::unique_ptr<MemoryBuffer>>
link(StringRef program, const Objects &objects, ArrayRef<StringRef> options,
     ArrayRef<StringRef> libraries) {
  auto temporary = TemporaryFolder::create("onnxq");
  if (!temporary)
    return temporary.takeError();
  StringRef folder = temporary->path();
  std::string linked = (folder + "/linked").str();
  std::vector<std::string> files;
  for (auto [index, object] : enumerate(objects)) {
    files.push_back((folder + "/" + Twine(index) + ".o").str());
    if (Error error = writeFile(files.back(), object->getBuffer()))
      return error;
  }
  std::vector<StringRef> arguments = {program};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"-o", linked});
  arguments.insert(arguments.end(), files.begin(), files.end());
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  if (Error error = runLinker(program, arguments, folder))
    return error;
  auto result = MemoryBuffer::getFile(linked, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false,
                                      /*IsVolatile=*/true);
  if (!result)
    return fail(linked + ": " + result.getError().message());
  return std::move(*result);
}

/// Where a package brings libraries along: `lib` beside the file that this code
/// is part of, or beside its folder.
static std::vector<std::string> packagedFolders() {
  SmallString<128> file;
  if (sys::fs::real_path(ownFile(), file))
    return {};
  StringRef folder = sys::path::parent_path(file);
  return {(folder + "/lib").str(),
          (sys::path::parent_path(folder) + "/lib").str()};
}

std::vector<std::string> onnxquant::getOpenMPLibraries() {
  std::vector<std::string> paths = {ONNXQUANT_LLVM_LIBRARIES "/libomp.so.5"};
  for (const std::string &folder : packagedFolders())
    paths.push_back(folder + "/libomp.so.5");
  paths.insert(paths.end(), {"libomp.so.5", "libomp.so"});
  return paths;
}

/// OpenMP's library in LLVM's own folder or in ours, or where the linker finds
/// it. What only we have must be found again when the library is loaded.
static std::vector<std::string> findOpenMP(bool isPlain) {
  std::vector<std::string> paths = getOpenMPLibraries();
  for (const std::string &path : paths) {
    if (!sys::path::is_absolute(path) || !sys::fs::exists(path))
      continue;
    if (path == paths.front())
      return {path};
    std::string folder = sys::path::parent_path(path).str();
    return {path, (isPlain ? "-rpath=" : "-Wl,-rpath,") + folder};
  }
  return {"-lomp"};
}

Error onnxquant::linkSharedLibrary(const Objects &objects, StringRef output,
                                   const onnxquant::TargetOptions &options,
                                   bool usesOpenMP) {
  if (usesOpenMP && !isHost(Triple(options.triple)))
    return fail(output + ": cannot be linked for " + options.triple +
                ": there is no libomp for it here; compile to an object, and "
                "link that where there is");
  std::vector<std::string> candidates = linkersFor(Triple(options.triple));
  std::string program = findProgram(candidates);
  if (program.empty())
    return fail(output + ": cannot be linked for " + options.triple +
                ": none of " + join(candidates, ", ") + " is there");
  auto result = AtomicFile::create(output);
  if (!result)
    return result.takeError();
  std::vector<StringRef> libraries;
  std::vector<std::string> system;
  if (!isPlainLinker(program))
    libraries.push_back("-lm");
  else if (isHost(Triple(options.triple)))
    system = loadedSystemLibraries();
  libraries.insert(libraries.end(), system.begin(), system.end());
  std::vector<std::string> openMP = findOpenMP(isPlainLinker(program));
  if (usesOpenMP)
    libraries.insert(libraries.end(), openMP.begin(), openMP.end());
  auto library = link(program, objects, {"-shared"}, libraries);
  if (!library)
    return fail(output + ": " + toString(library.takeError()));
  (*result)->os() << (*library)->getBuffer();
  return (*result)->commit();
}

bool onnxquant::canJoinObjects(const onnxquant::TargetOptions &options) {
  return !findProgram(joinersFor(Triple(options.triple))).empty();
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::joinObjects(Objects objects,
                       const onnxquant::TargetOptions &options) {
  if (objects.size() == 1)
    return std::move(objects.front());
  std::string program = findProgram(joinersFor(Triple(options.triple)));
  if (isPlainLinker(program))
    return link(program, objects, {"-r"}, {});
  return link(program, objects, {"-r", "-nostdlib"}, {});
}
