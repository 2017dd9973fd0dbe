// A model that is ready to run: compiled in this process, or a library.

#ifndef ONNXQUANT_PIPELINES_SESSION_H
#define ONNXQUANT_PIPELINES_SESSION_H

#include "OnnxQuant/Pipelines/Compile.h"
#include "OnnxQuant/Support/Executor.h"
#include "OnnxQuant/Support/HostTensor.h"

struct onnxq_library;

namespace onnxquant {

/// A library made by `onnxq compile`, loaded into this process.
class LoadedLibrary {
public:
  static llvm::Expected<std::unique_ptr<LoadedLibrary>>
  open(llvm::StringRef path);
  ~LoadedLibrary();

  const onnxq_model &model() const;

private:
  LoadedLibrary() = default;
  onnxq_library *library = nullptr;
};

/// A loaded library as a program.
std::unique_ptr<Program> makeProgram(std::unique_ptr<LoadedLibrary> library);

/// Checks inputs against what a model states and runs it. Inputs are in the
/// model's order. Errors name the input, or the node that failed. `outputs` may
/// be those of an earlier run, whose memory is used again.
llvm::Expected<std::vector<HostTensor>>
runModel(const onnxq_model &model, const std::vector<HostTensor> &inputs,
         void *workspace = nullptr, std::vector<HostTensor> outputs = {});

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_SESSION_H
