// A progress bar for long work: on a terminal only.

#ifndef ONNXQUANT_SUPPORT_PROGRESS_H
#define ONNXQUANT_SUPPORT_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace onnxquant {

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

private:
  std::string label, unit;
  int64_t total;
  bool shown;
  bool visible = false;
  std::chrono::steady_clock::time_point start, last;
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_PROGRESS_H
