// Runs of a program with flags, on all processors: each set of flags gives the
// error of what it switches on.

#ifndef ONNXQUANT_LIB_DEBUGGING_SWITCHEDRUNS_H
#define ONNXQUANT_LIB_DEBUGGING_SWITCHEDRUNS_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/Executor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace onnxquant::debugging {

/// Energies of the outputs and of what differs.
struct OutputNoise {
  double signal = 0, noise = 0;
  bool isEmpty = true;

  void add(const std::vector<HostTensor> &right,
           const std::vector<HostTensor> &other);
  double decibels() const;
  std::optional<double> measured() const {
    return isEmpty ? std::nullopt : std::optional(decibels());
  }
};

/// Flags, and where the error with them is added.
struct SwitchedRun {
  std::vector<char> flags;
  OutputNoise *place;
};

/// Runs with the flags given as the last input.
llvm::Expected<std::vector<HostTensor>>
runSwitched(const Program &program, const Tensors &sample,
            const std::vector<char> &flags);

/// Runs a sample with each set of flags, several at once; the sums are the same
/// whatever the number of processors. Before each run `stop` is asked, by the
/// calling thread only. How many were run.
llvm::Expected<int64_t> runAll(const Program &program, const Tensors &sample,
                               const std::vector<HostTensor> &right,
                               llvm::ArrayRef<SwitchedRun> runs,
                               llvm::function_ref<bool()> stop);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_SWITCHEDRUNS_H
