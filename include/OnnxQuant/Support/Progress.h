// A progress bar and the phases of long work: on a terminal only.

#ifndef ONNXQUANT_SUPPORT_PROGRESS_H
#define ONNXQUANT_SUPPORT_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace onnxquant {

/// Told how much of the work is done, ten times a second at most; a total of 0
/// is not known.
using ProgressSink =
    std::function<void(const std::string &label, const std::string &unit,
                       int64_t done, int64_t total)>;

/// While it lives, work that this thread begins tells a sink of its progress
/// instead of showing it.
class ProgressScope {
public:
  explicit ProgressScope(ProgressSink sink);
  ~ProgressScope();
  ProgressScope(const ProgressScope &) = delete;
  ProgressScope &operator=(const ProgressScope &) = delete;

private:
  ProgressSink sink;
  const ProgressSink *outer;
};

/// Shows on standard error how much of the work is done, how fast it goes and
/// how long it will take. Shows nothing if that is no terminal, or if quiet.
class Progress {
public:
  Progress(std::string label, std::string unit, int64_t total,
           bool quiet = false);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// So much is done now.
  void update(int64_t done);
  /// Wipes the bar, so that other output can follow.
  void clear();

  /// The line for a state of the work; `columns` is the terminal's width.
  static std::string line(const std::string &label, const std::string &unit,
                          int64_t done, int64_t total, double seconds,
                          int columns);

  /// Wipes whatever bar or phase is shown, from any thread or from a signal's
  /// handler, so that other output can follow.
  static void leaveLine();

private:
  std::string label, unit;
  int64_t total;
  /// Of the scope that the work began in; null if there is none.
  const ProgressSink *sink;
  bool shown;
  bool visible = false;
  /// When the work began, and how long phases had taken by then.
  std::chrono::steady_clock::time_point start, last;
  double phasesBefore;
};

/// A part of the work whose end isn't known, such as compiling: its name and
/// its time so far, while it lasts. A phase within another one isn't shown, and
/// bars don't count the time of phases as that of samples.
class Phase {
public:
  explicit Phase(std::string label);
  ~Phase();
  Phase(const Phase &) = delete;
  Phase &operator=(const Phase &) = delete;

  /// Phases are shown from now on, if standard error is a terminal; or not.
  static void show(bool shown);
  /// Seconds that all phases took that have ended.
  static double seconds();
  /// The line for a phase that has lasted so long.
  static std::string line(const std::string &label, double seconds,
                          int columns);

private:
  struct Ticker;
  std::unique_ptr<Ticker> ticker;
  bool isOutermost;
  std::chrono::steady_clock::time_point start;
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_PROGRESS_H
