// Programs compiled and loaded in this process.

#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Session.h"

using namespace mlir;
using namespace onnxquant;

namespace {

class JitProgram : public Program {
public:
  explicit JitProgram(std::unique_ptr<LoadedObject> object)
      : object(std::move(object)) {}

  llvm::Expected<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs) const override {
    return runModel(object->model(), inputs);
  }

private:
  std::unique_ptr<LoadedObject> object;
};

class JitExecutor : public Executor {
public:
  explicit JitExecutor(CompileOptions options) : options(std::move(options)) {}

  FailureOr<std::unique_ptr<Program>> compile(ModuleOp module) override {
    if (options.target.triple.empty()) {
      auto target = parseTarget("native");
      if (!target)
        return module.emitError() << llvm::toString(target.takeError());
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

std::unique_ptr<Executor> onnxquant::createFoldingExecutor() {
  CompileOptions options;
  options.prepare = false;
  return createJitExecutor(std::move(options));
}
