// A crash in words for users. What is said is composed ahead: a handler of a
// signal can do nothing but write.

#include "OnnxQuant/Support/Crash.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

using namespace llvm;
using namespace onnxquant;

namespace {
struct Fault {
  int number;
  StringLiteral text;
};
} // namespace

static constexpr Fault faults[] = {
    {SIGSEGV, "an access to memory that isn't there (SIGSEGV)"},
    {SIGBUS, "an access to memory that isn't there (SIGBUS)"},
    {SIGILL, "an instruction that this processor doesn't have (SIGILL)"},
    {SIGFPE, "a division by zero (SIGFPE)"},
    {SIGTRAP, "a check of its own that failed (SIGTRAP)"},
    {SIGABRT, "a check of its own that failed (SIGABRT)"},
    {SIGSYS, "a call that the system refused (SIGSYS)"}};

/// Never destroyed: other threads may still crash.
static std::string &subject = *new std::string("onnxq");
static std::string &advice = *new std::string();

static void say(StringRef text) {
  while (!text.empty()) {
    ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0)
      return;
    text = text.drop_front(written);
  }
}

/// The signal that this process ends by; 0 for an exit status of 1.
static volatile std::sig_atomic_t lastSignal = 0;

static void end(int) {
  if (int number = lastSignal) {
    std::signal(number, SIG_DFL);
    std::raise(number);
    ::_exit(128 + number);
  }
  ::_exit(1);
}

/// The thread that ends this process.
static std::atomic<pid_t> leaving = 0;

/// Lets one thread end this process, in two seconds at most: what is removed
/// then could wait for a lock that a crash left behind. Where memory is short,
/// several threads fail at once.
static void beginToLeave() {
  pid_t self = static_cast<pid_t>(::syscall(SYS_gettid)), other = 0;
  if (leaving.compare_exchange_strong(other, self)) {
    std::signal(SIGALRM, end);
    ::alarm(2);
    return;
  }
  if (other == self)
    end(0);
  while (true)
    ::pause();
}

/// Whether the system gives no more memory: where a stack can't grow any more,
/// there is a fault instead of an error.
static bool isMemoryShort() {
  constexpr size_t little = 8 << 20;
  void *memory = ::mmap(nullptr, little, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  ::munmap(memory, little);
  return false;
}

static void onFault(int number) {
  beginToLeave();
  bool isShort = (number == SIGSEGV || number == SIGBUS) && isMemoryShort();
  lastSignal = isShort ? 0 : number;
  Progress::leaveLine();
  say("error: ");
  say(subject);
  say(isShort ? ": not enough memory" : ": stopped by ");
  for (const Fault &fault : faults)
    if (fault.number == number && !isShort)
      say(fault.text);
  say("\n");
  if (!isShort)
    say(advice);
  removeTemporaries(/*crashed=*/true);
  end(0);
}

/// Memory for the last words.
static std::unique_ptr<char[]> reserve;
static constexpr size_t reserveBytes = 256 * 1024;

/// Takes no memory for what is said: a heap that is full would end it without a
/// word.
[[noreturn]] static void leave(const Twine &message, bool isFault) {
  beginToLeave();
  reserve.reset();
  Progress::leaveLine();
  SmallString<512> text;
  say("error: ");
  say(subject);
  say(": ");
  say(message.toStringRef(text));
  say("\n");
  if (isFault)
    say(advice);
  removeTemporaries();
  ::_exit(1);
}

static void onFatalError(void *, const char *text, bool) {
  StringRef reason = text;
  StringRef system = reason;
  if (system.consume_front("IO failure on output stream"))
    leave("standard output cannot be written" + system, /*isFault=*/false);
  if (reason.contains_insensitive("out of memory") ||
      reason.contains("Unable to allocate"))
    leave("not enough memory", /*isFault=*/false);
  if (reason.contains("pthread_create failed"))
    leave("not enough memory for another thread", /*isFault=*/false);
  leave("LLVM can't go on: " + reason, /*isFault=*/true);
}

/// Before an exception is thrown, which a thread may keep to itself.
static void onFullHeap() {
  std::set_new_handler(nullptr);
  leave("not enough memory", /*isFault=*/false);
}

static void onNoMemory(void *, const char *, bool) { onFullHeap(); }

static void onTerminate() {
  if (std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
      leave("not enough memory", /*isFault=*/false);
    } catch (const std::system_error &error) {
      // A thread that the system refuses.
      leave(error.what(), /*isFault=*/false);
    } catch (const std::exception &exception) {
      leave(exception.what(), /*isFault=*/true);
    } catch (...) {
    }
  }
  leave("stopped without a reason", /*isFault=*/true);
}

/// "onnxq run model.onnx": the program, the verb and the file, without options.
static std::string describe(int argc, const char *const *argv) {
  std::string text =
      argc > 0 ? sys::path::filename(argv[0]).str() : std::string("onnxq");
  int plain = 0;
  for (int i = 1; i < argc && plain < 2; ++i) {
    StringRef argument = argv[i];
    if (argument.starts_with("-") || argument.size() > 256)
      continue;
    text += " " + argument.str();
    ++plain;
  }
  return text;
}

void onnxquant::installCrashHandler(int argc, const char *const *argv,
                                    StringRef version) {
  subject = describe(argc, argv);
  advice =
      ("note: this is a fault of OnnxQuant, whatever its input was. Please "
       "report it to its maintainers\n"
       "note: with the whole command, the input if you can share it, and "
       "the version: " +
       version + "\n")
          .str();
  install_fatal_error_handler(onFatalError, nullptr);
  install_bad_alloc_error_handler(onNoMemory, nullptr);
  std::set_terminate(onTerminate);
  reserve = std::make_unique<char[]>(reserveBytes);
  std::set_new_handler(onFullHeap);
#if LLVM_ADDRESS_SANITIZER_BUILD
  // The sanitizer says more.
  return;
#endif
  // A stack of its own, for when the usual one is full.
  static constexpr size_t stackBytes = 64 * 1024;
  stack_t stack = {};
  stack.ss_sp = new char[stackBytes];
  stack.ss_size = stackBytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = onFault;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const Fault &fault : faults)
    sigaction(fault.number, &action, nullptr);
}
