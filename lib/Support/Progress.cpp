// A progress bar and phases for long work.

#include "OnnxQuant/Support/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace onnxquant;
using Clock = std::chrono::steady_clock;

static constexpr llvm::StringLiteral wipe = "\r\033[K";

/// Whether a bar or a phase stands in the terminal's last line.
static std::atomic<bool> lineIsUsed{false};

static int terminalColumns() {
  int columns = llvm::sys::Process::StandardErrColumns();
  return columns > 0 ? columns : 80;
}

/// One write, so that lines of other threads don't come between.
static void writeLine(const std::string &line) {
  std::string text = wipe.str() + line;
  lineIsUsed = true;
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

void Progress::leaveLine() {
  if (lineIsUsed.exchange(false))
    (void)!::write(STDERR_FILENO, wipe.data(), wipe.size());
}

static thread_local const ProgressSink *currentSink = nullptr;

ProgressScope::ProgressScope(ProgressSink sink)
    : sink(std::move(sink)), outer(currentSink) {
  currentSink = &this->sink;
}

ProgressScope::~ProgressScope() { currentSink = outer; }

Progress::Progress(std::string label, std::string unit, int64_t total,
                   bool quiet)
    : label(std::move(label)), unit(std::move(unit)), total(total),
      sink(currentSink),
      shown(!quiet && !sink && llvm::sys::Process::StandardErrIsDisplayed()),
      start(Clock::now()), last(start), phasesBefore(Phase::seconds()) {}

Progress::~Progress() { clear(); }

/// 59s, 4m05s, 2h30m.
static std::string duration(double seconds) {
  char text[32];
  auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 60)
    std::snprintf(text, sizeof(text), "%llds", static_cast<long long>(whole));
  else if (whole < 3600)
    std::snprintf(text, sizeof(text), "%lldm%02llds",
                  static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  else
    std::snprintf(text, sizeof(text), "%lldh%02lldm",
                  static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60));
  return text;
}

std::string Progress::line(const std::string &label, const std::string &unit,
                           int64_t done, int64_t total, double seconds,
                           int columns) {
  double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  char counts[128];
  std::snprintf(counts, sizeof(counts), " %lld/%lld",
                static_cast<long long>(done), static_cast<long long>(total));
  std::string tail = counts;
  // Nothing done says nothing of how fast it goes.
  std::snprintf(counts, sizeof(counts), ", %.3g %s/s", rate, unit.c_str());
  if (rate > 0)
    tail += counts;
  else
    tail += " " + unit;
  if (rate > 0 && done < total)
    tail += ", " + duration(static_cast<double>(total - done) / rate) + " left";
  int room = columns - 1 - static_cast<int>(label.size() + tail.size()) - 3;
  std::string bar;
  if (room >= 10 && total > 0) {
    int width = std::min(room, 40);
    auto full = static_cast<int>(static_cast<int64_t>(width) *
                                 std::min(done, total) / total);
    bar = " [" + std::string(full, '#') + std::string(width - full, '.') + "]";
  }
  return (label + bar + tail).substr(0, std::max(columns - 1, 1));
}

void Progress::update(int64_t done) {
  Clock::time_point now = Clock::now();
  if (sink) {
    if (done == 0 || done == total ||
        now - last >= std::chrono::milliseconds(100)) {
      last = now;
      (*sink)(label, unit, done, total);
    }
    return;
  }
  // Ten times a second is enough to look at.
  if (!shown ||
      (visible && done < total && now - last < std::chrono::milliseconds(100)))
    return;
  last = now;
  double seconds = std::chrono::duration<double>(now - start).count() -
                   (Phase::seconds() - phasesBefore);
  writeLine(line(label, unit, done, total, seconds, terminalColumns()));
  visible = true;
}

void Progress::clear() {
  if (visible)
    leaveLine();
  visible = false;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static std::atomic<bool> phasesAreShown{false};
static std::atomic<int> openPhases{0};
static std::atomic<int64_t> phaseNanoseconds{0};

/// Shows a phase as long as it lasts.
struct Phase::Ticker {
  explicit Ticker(std::string text)
      : label(std::move(text)), thread([this] { run(); }) {}
  ~Ticker() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isOver = true;
    }
    over.notify_all();
    thread.join();
    Progress::leaveLine();
  }

  void run() {
    // What is soon over isn't worth a line.
    auto start = Clock::now(), next = start + std::chrono::milliseconds(300);
    std::unique_lock<std::mutex> lock(mutex);
    while (!over.wait_until(lock, next, [this] { return isOver; })) {
      std::chrono::duration<double> seconds = Clock::now() - start;
      writeLine(Phase::line(label, seconds.count(), terminalColumns()));
      next = Clock::now() + std::chrono::milliseconds(500);
    }
  }

  std::string label;
  std::mutex mutex;
  std::condition_variable over;
  bool isOver = false;
  std::thread thread;
};

Phase::Phase(std::string label)
    : isOutermost(openPhases++ == 0), start(Clock::now()) {
  if (isOutermost && phasesAreShown)
    ticker = std::make_unique<Ticker>(std::move(label));
}

Phase::~Phase() {
  ticker.reset();
  --openPhases;
  if (isOutermost)
    phaseNanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(
                            Clock::now() - start)
                            .count();
}

void Phase::show(bool shown) {
  phasesAreShown = shown && llvm::sys::Process::StandardErrIsDisplayed();
}

double Phase::seconds() {
  return 1e-9 * static_cast<double>(phaseNanoseconds.load());
}

std::string Phase::line(const std::string &label, double seconds, int columns) {
  std::string text = label + " ... " + duration(std::floor(seconds));
  return text.substr(0, std::max(columns - 1, 1));
}
