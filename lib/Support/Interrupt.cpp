// A signal's handler only passes its number to a thread, which may do anything:
// wait, remove files, end programs.

#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/Temporaries.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace onnxquant;

static std::atomic<int> caught{0};
/// What work that asks for interrupts has left to end in; 0: none does.
static std::atomic<int> grace{0};
static int writeEnd = -1;
/// Of the words, and never given back once they are being said.
static std::mutex wordsMutex;
static std::function<void()> lastWords;

static void onSignal(int number) {
  int saved = errno;
  char byte = static_cast<char>(number);
  (void)!::write(writeEnd, &byte, 1);
  errno = saved;
}

[[noreturn]] static void leave(int number) {
  removeTemporaries();
  ::_exit(128 + number);
}

[[noreturn]] static void end(int number) {
  removeTemporaries();
  Progress::leaveLine();
  constexpr llvm::StringLiteral text = "error: interrupted\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(128 + number);
}

static void watch(int readEnd) {
  char byte;
  while (::read(readEnd, &byte, 1) != 1)
    if (errno != EINTR)
      return;
  pollfd next = {readEnd, POLLIN, 0};
  wordsMutex.lock();
  caught = byte;
  if (lastWords) {
    std::thread([byte] {
      lastWords();
      leave(byte);
    }).detach();
    constexpr int most = 900;
    ::poll(&next, 1, most);
    end(byte);
  }
  wordsMutex.unlock();
  if (grace > 0)
    ::poll(&next, 1, grace);
  end(byte);
}

static constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

void onnxquant::installInterrupts() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return;
  writeEnd = ends[1];
  // The watcher takes no signals: a read of it would only begin again.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(watch, ends[0]).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (int number : signals) {
    // What whoever started this program ignores stays ignored (nohup).
    struct sigaction old;
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(number, &action, nullptr);
  }
  // A forked process has no watcher: it ends as others do.
  ::pthread_atfork(nullptr, nullptr, [] {
    for (int number : signals)
      std::signal(number, SIG_DFL);
  });
}

std::function<bool()> onnxquant::pollInterrupts(int graceMilliseconds) {
  grace = graceMilliseconds;
  return [] { return caught != 0; };
}

LastWords::LastWords(std::function<void()> words) { change(std::move(words)); }

LastWords::~LastWords() { change(nullptr); }

void LastWords::change(std::function<void()> words) {
  {
    std::lock_guard<std::mutex> lock(wordsMutex);
    lastWords.swap(words);
  }
  // What the old ones held is given back without the lock.
}

int onnxquant::interruptedStatus(int status) {
  return caught == 0 ? status : 128 + caught;
}
