// What runs inside this process may take.

#ifndef ONNXQUANT_SUPPORT_RUNLIMITS_H
#define ONNXQUANT_SUPPORT_RUNLIMITS_H

#include <cstdint>

namespace onnxquant {

/// Limits of the runs of compiled models in this process: those that users ask
/// for, and those that compute constants. Set once, before anything runs.
struct RunLimits {
  /// Bytes of a run's tensors; 0 for any number. What the machine, or the group
  /// that this process belongs to, has.
  int64_t memory;
  /// Iterations after which a Loop fails; 0 lets it run on.
  int64_t iterations = 10'000'000;

  static RunLimits &get();

private:
  RunLimits();
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_RUNLIMITS_H
