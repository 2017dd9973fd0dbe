// Programs compiled and loaded in this process.

#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/RunLimits.h"
#include "onnxquant-c/runtime.h"
#include <mutex>

using namespace mlir;
using namespace onnxquant;

namespace {

class JitProgram : public Program {
public:
  explicit JitProgram(std::unique_ptr<LoadedObject> object)
      : object(std::move(object)) {}

  llvm::Expected<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs) const override {
    void *workspace = takeWorkspace();
    auto outputs = runModel(object->model(), inputs, workspace, takeOutputs());
    std::lock_guard<std::mutex> lock(mutex);
    if (workspace)
      spare.emplace_back(workspace);
    return outputs;
  }
  void reuse(std::vector<HostTensor> outputs) const override {
    std::lock_guard<std::mutex> lock(mutex);
    spareOutputs.push_back(std::move(outputs));
  }

private:
  struct Free {
    void operator()(void *workspace) const { onnxq_free_workspace(workspace); }
  };

  /// One that no other run uses; null if there is no memory for it.
  void *takeWorkspace() const {
    std::lock_guard<std::mutex> lock(mutex);
    if (spare.empty())
      return onnxq_make_workspace(&object->model());
    return spare.pop_back_val().release();
  }

  /// Those of an earlier run, if there are some that no one needs.
  std::vector<HostTensor> takeOutputs() const {
    std::lock_guard<std::mutex> lock(mutex);
    return spareOutputs.empty() ? std::vector<HostTensor>()
                                : spareOutputs.pop_back_val();
  }

  std::unique_ptr<LoadedObject> object;
  /// Workspaces are kept from run to run: new memory costs time.
  mutable std::mutex mutex;
  mutable llvm::SmallVector<std::unique_ptr<void, Free>> spare;
  mutable llvm::SmallVector<std::vector<HostTensor>> spareOutputs;
};

class JitExecutor : public Executor {
public:
  explicit JitExecutor(CompileOptions options) : options(std::move(options)) {}

  FailureOr<std::unique_ptr<Program>> compile(ModuleOp module) override {
    if (options.target.triple.empty()) {
      auto target = parseTarget("native");
      if (!target)
        return module.emitError() << llvm::toString(target.takeError());
      target->isBrief = options.target.isBrief;
      options.target = *target;
    }
    auto object = compileAndLoad(module, options);
    if (failed(object))
      return failure();
    return std::unique_ptr<Program>(
        std::make_unique<JitProgram>(std::move(*object)));
  }

private:
  CompileOptions options;
};

} // namespace

std::unique_ptr<Executor> onnxquant::createJitExecutor(CompileOptions options) {
  return std::make_unique<JitExecutor>(std::move(options));
}

std::unique_ptr<Executor>
onnxquant::createCalibrationExecutor(TargetOptions target) {
  CompileOptions options;
  options.target = std::move(target);
  options.target.isBrief = true;
  return createJitExecutor(std::move(options));
}

std::unique_ptr<Executor> onnxquant::createFoldingExecutor() {
  CompileOptions options;
  options.target.isBrief = true;
  options.prepare = false;
  // Constants that take longer are computed at run time.
  constexpr int64_t mostIterations = 1'000'000;
  int64_t limit = RunLimits::get().iterations;
  options.maxIterations =
      limit > 0 ? std::min(limit, mostIterations) : mostIterations;
  return createJitExecutor(std::move(options));
}
