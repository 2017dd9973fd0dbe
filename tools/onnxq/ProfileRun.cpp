// Compiles a model to be measured, and runs it.

#include "ProfileRun.h"
#include "OnnxQuant/Pipelines/Artifact.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "Runner.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;

llvm::Expected<Profile> onnxquant::cli::profileModule(
    ModuleOp module, const std::vector<HostTensor> &inputs, double seconds) {
  auto target = parseTarget("native", "", "");
  if (!target)
    return target.takeError();
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return llvm::createStringError("there is no graph");
  specializeInputs(*graph, inputs, /*keepFirst=*/false);
  llvm::SmallString<128> folder;
  if (std::error_code failed =
          llvm::sys::fs::createUniqueDirectory("onnxq-profile", folder))
    return llvm::errorCodeToError(failed);
  llvm::scope_exit cleanUp([&] { llvm::sys::fs::remove_directories(folder); });
  ProfiledNodes nodes = collectNodes(module);
  CompileOptions options;
  options.target = *target;
  options.profile = true;
  std::string library = (folder + "/model.so").str(),
              bundle = (folder + "/inputs").str();
  if (failed(writeArtifact(module, library, options)))
    return llvm::createStringError("it can't be compiled");
  auto runner = findRunner();
  if (!runner)
    return runner.takeError();
  if (llvm::Error error = writeBundle(inputs, bundle))
    return error;
  auto said = startRunner(
      {*runner, "profile", library, bundle, std::to_string(seconds)}, folder,
      static_cast<unsigned>(seconds) + 600);
  if (!said)
    return said.takeError();
  return readProfile(*said, nodes, options.target);
}
