// What must not outlive this process.

#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace onnxquant;
using std::chrono::milliseconds;

namespace {
/// Lives as long as the process: a crash may come at its very end.
struct Registry {
  std::mutex mutex;
  std::vector<std::string> paths;
  /// Each leads a group of processes.
  std::vector<pid_t> programs;
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

namespace {
/// The registry, for one thread. No signal comes to it meanwhile: its handler
/// would wait for the thread that it interrupted.
class Held {
public:
  Held() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    registry().mutex.lock();
  }
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;
  ~Held() {
    registry().mutex.unlock();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  const sigset_t &signalsBefore() const { return before; }

private:
  sigset_t before;
};
} // namespace

template <typename T>
static void removeOne(std::vector<T> &list, const T &value) {
  auto found = find(list, value);
  if (found != list.end())
    list.erase(found);
}

void onnxquant::rememberTemporary(StringRef path) {
  Held held;
  registry().paths.push_back(path.str());
}

void onnxquant::forgetTemporary(StringRef path) {
  Held held;
  removeOne(registry().paths, path.str());
}

/// How long is waited for what other threads or programs still write.
static constexpr milliseconds patience(1500), retryInterval(2);

/// A file, or a folder and the files in it. Whoever still adds files to it
/// can't any more once it is gone: until then it is looked through again.
static void removePath(const std::string &path) {
  auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    DIR *folder = ::opendir(path.c_str());
    if (!folder) {
      ::unlink(path.c_str());
      return;
    }
    while (const dirent *entry = ::readdir(folder))
      ::unlinkat(::dirfd(folder), entry->d_name, 0);
    ::closedir(folder);
    if (::rmdir(path.c_str()) == 0 || std::chrono::steady_clock::now() > end)
      return;
    std::this_thread::sleep_for(retryInterval);
  }
}

void onnxquant::removeTemporaries(bool crashed) {
  Registry &all = registry();
  std::unique_lock<std::mutex> lock(all.mutex, std::defer_lock);
  if (!crashed)
    lock.lock();
  // Whoever crashed may hold it; others don't for long.
  auto end = std::chrono::steady_clock::now() + patience / 3;
  while (!lock.owns_lock() && !lock.try_lock()) {
    if (std::chrono::steady_clock::now() > end)
      return;
    std::this_thread::sleep_for(retryInterval);
  }
  for (pid_t program : all.programs)
    ::kill(-program, SIGKILL);
  for (const std::string &path : all.paths)
    removePath(path);
  all.paths.clear();
}

Expected<TemporaryFolder> TemporaryFolder::create(StringRef prefix) {
  SmallString<128> folder;
  Held held;
  if (std::error_code code = sys::fs::createUniqueDirectory(prefix, folder))
    return createStringError(code, "no temporary folder can be made: " +
                                       code.message());
  registry().paths.push_back(folder.str().str());
  return TemporaryFolder(folder.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  sys::fs::remove_directories(folder);
  forgetTemporary(folder);
}

/// This process's environment, with another folder for temporary files.
static std::vector<char *> environmentWith(std::string &folder) {
  std::vector<char *> variables;
  for (char **variable = environ; *variable; ++variable)
    if (folder.empty() || !StringRef(*variable).starts_with("TMPDIR="))
      variables.push_back(*variable);
  if (!folder.empty()) {
    folder = "TMPDIR=" + folder;
    variables.push_back(folder.data());
  }
  variables.push_back(nullptr);
  return variables;
}

/// Starts a program as the leader of a group; 0 or the error's number.
static int start(const Job &job, pid_t &id) {
  std::string program = job.program.str(), folder = job.folder.str();
  std::vector<std::string> words(job.arguments.begin(), job.arguments.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char *> environment = environmentWith(folder);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  int flags = O_WRONLY | O_CREAT | O_TRUNC;
  if (!job.out.empty())
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, job.out.c_str(),
                                     flags, 0666);
  if (!job.err.empty() && job.err == job.out)
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  else if (!job.err.empty())
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, job.err.c_str(),
                                     flags, 0666);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);

  int failure;
  {
    Held held;
    posix_spawnattr_setsigmask(&attributes, &held.signalsBefore());
    failure = ::posix_spawn(&id, program.c_str(), &files, &attributes,
                            arguments.data(), environment.data());
    if (failure == 0)
      registry().programs.push_back(id);
  }
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failure;
}

/// Waits for a program, without collecting it: its number stays its own. False
/// if it takes longer than `seconds`, unless that is 0.
static bool awaitEnd(pid_t id, unsigned seconds) {
  using std::chrono::steady_clock;
  auto end = steady_clock::now() + std::chrono::seconds(seconds);
  milliseconds wait(1);
  while (true) {
    siginfo_t info = {};
    int flags = WEXITED | WNOWAIT | (seconds > 0 ? WNOHANG : 0);
    int status = ::waitid(P_PID, id, &info, flags);
    if (status != 0 && errno != EINTR)
      return true;
    if (status == 0 && info.si_pid == id)
      return true;
    if (seconds > 0 && steady_clock::now() > end)
      return false;
    if (seconds > 0)
      std::this_thread::sleep_for(wait = std::min(wait * 2, milliseconds(20)));
  }
}

/// Collects a child that has ended, and ends what it started. Its status, as of
/// waitpid.
static int collect(pid_t id) {
  // A number that nobody has any more must not be remembered.
  Held held;
  ::kill(-id, SIGKILL);
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR)
    continue;
  removeOne(registry().programs, id);
  return status;
}

std::optional<int> onnxquant::runInChild(function_ref<void()> work) {
  pid_t id;
  {
    Held held;
    id = ::fork();
    if (id == 0) {
      ::setpgid(0, 0);
      ::pthread_sigmask(SIG_SETMASK, &held.signalsBefore(), nullptr);
      work();
      ::_exit(0);
    }
    if (id < 0)
      return std::nullopt;
    // Whichever of both comes first.
    ::setpgid(id, id);
    registry().programs.push_back(id);
  }
  awaitEnd(id, /*seconds=*/0);
  return collect(id);
}

int onnxquant::runProgram(const Job &job, std::string &message) {
  pid_t id = 0;
  if (int failure = start(job, id)) {
    message =
        job.program.str() + ": cannot be started: " + sys::StrError(failure);
    return -1;
  }
  bool inTime = awaitEnd(id, job.seconds);
  int status = collect(id);
  if (!inTime) {
    message = "it took longer than " + std::to_string(job.seconds) + " s";
    return -2;
  }
  if (WIFSIGNALED(status)) {
    message = ::strsignal(WTERMSIG(status));
    return -2;
  }
  return WEXITSTATUS(status);
}
