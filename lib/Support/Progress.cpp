// A progress bar for long work.

#include "OnnxQuant/Support/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace onnxquant;
using Clock = std::chrono::steady_clock;

Progress::Progress(std::string label, std::string unit, int64_t total,
                   bool quiet)
    : label(std::move(label)), unit(std::move(unit)), total(total),
      shown(!quiet && llvm::sys::Process::StandardErrIsDisplayed()),
      start(Clock::now()), last(start) {}

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
  std::snprintf(counts, sizeof(counts), " %lld/%lld, %.3g %s/s",
                static_cast<long long>(done), static_cast<long long>(total),
                rate, unit.c_str());
  std::string tail = counts;
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
  // Ten times a second is enough to look at.
  if (!shown ||
      (visible && done < total && now - last < std::chrono::milliseconds(100)))
    return;
  last = now;
  double seconds = std::chrono::duration<double>(now - start).count();
  int columns = llvm::sys::Process::StandardErrColumns();
  llvm::errs() << "\r\033[K"
               << line(label, unit, done, total, seconds,
                       columns > 0 ? columns : 80);
  visible = true;
}

void Progress::clear() {
  if (visible)
    llvm::errs() << "\r\033[K";
  visible = false;
}
