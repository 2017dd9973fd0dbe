// The runner: a program without the compiler that runs compiled libraries.

#ifndef ONNXQUANT_TOOLS_ONNXQ_RUNNER_H
#define ONNXQUANT_TOOLS_ONNXQ_RUNNER_H

#include "OnnxQuant/Support/HostTensor.h"
#include "OnnxQuant/Target/Target.h"

namespace onnxquant::cli {

/// Whether this machine's processors are of the target's kind.
bool isHostTarget(const TargetOptions &target);

/// Where `onnxq-runner` is: beside this program.
llvm::Expected<std::string> findRunner();

/// Tensors one after the other, as the runner reads and writes them.
llvm::Error writeBundle(const std::vector<HostTensor> &tensors,
                        llvm::StringRef path);
llvm::Expected<std::vector<HostTensor>> readBundle(llvm::StringRef path);

/// Starts a command, waits for it and gives what it printed. What it says in
/// failing is the error. `folder` is for files of it.
llvm::Expected<std::string> startRunner(const std::vector<std::string> &command,
                                        llvm::StringRef folder,
                                        unsigned seconds);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_RUNNER_H
