// What must not outlive this process.

#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <dirent.h>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace onnxquant;

namespace {
/// Lives as long as the process: a crash may come at its very end.
struct Registry {
  std::mutex mutex;
  std::vector<std::string> paths;
  std::vector<sys::procid_t> programs;
};
} // namespace

static Registry *current = nullptr;

static Registry &registry() {
  static std::once_flag once;
  std::call_once(once, [] {
    current = new Registry();
    // A forked process has nothing of its own yet, and no thread that could
    // give the lock back.
    ::pthread_atfork(nullptr, nullptr, [] { current = new Registry(); });
  });
  return *current;
}

void onnxquant::rememberTemporary(StringRef path) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().paths.push_back(path.str());
}

void onnxquant::forgetTemporary(StringRef path) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto &paths = registry().paths;
  auto found = find(paths, path);
  if (found != paths.end())
    paths.erase(found);
}

void onnxquant::rememberProgram(int id) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().programs.push_back(id);
}

void onnxquant::forgetProgram(int id) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto &programs = registry().programs;
  auto found = find(programs, id);
  if (found != programs.end())
    programs.erase(found);
}

/// A file, or a folder and the files in it. Other threads may still add files:
/// a second look finds them.
static void removePath(const std::string &path) {
  for (int look = 0; look < 2; ++look) {
    if (DIR *folder = ::opendir(path.c_str())) {
      while (const dirent *entry = ::readdir(folder))
        ::unlinkat(::dirfd(folder), entry->d_name, 0);
      ::closedir(folder);
      if (::rmdir(path.c_str()) == 0)
        return;
    } else if (::unlink(path.c_str()) == 0) {
      return;
    }
  }
}

void onnxquant::removeTemporaries(bool crashed) {
  Registry &all = registry();
  std::unique_lock<std::mutex> lock(all.mutex, std::defer_lock);
  // Whoever crashed may hold it.
  if (crashed && !lock.try_lock())
    return;
  if (!crashed)
    lock.lock();
  for (sys::procid_t program : all.programs)
    ::kill(program, SIGKILL);
  for (const std::string &path : all.paths)
    removePath(path);
  all.paths.clear();
}

Expected<TemporaryFolder> TemporaryFolder::create(StringRef prefix) {
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory(prefix, folder))
    return createStringError(code, "no temporary folder can be made: " +
                                       code.message());
  rememberTemporary(folder);
  return TemporaryFolder(folder.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  sys::fs::remove_directories(folder);
  forgetTemporary(folder);
}

int onnxquant::runProgram(StringRef program, ArrayRef<StringRef> arguments,
                          ArrayRef<std::optional<StringRef>> redirects,
                          unsigned seconds, std::string *message) {
  bool failed = false;
  sys::ProcessInfo process =
      sys::ExecuteNoWait(program, arguments, std::nullopt, redirects,
                         /*MemoryLimit=*/0, message, &failed);
  if (failed)
    return -1;
  rememberProgram(process.Pid);
  std::optional<unsigned> limit;
  if (seconds > 0)
    limit = seconds;
  sys::ProcessInfo ended = sys::Wait(process, limit, message);
  forgetProgram(process.Pid);
  return ended.ReturnCode;
}
