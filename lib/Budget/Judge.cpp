// Quantizes, compiles and runs candidates.

#include "Judge.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "mlir/Pass/PassManager.h"
#include <chrono>
#include <functional>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::budget;

/// Outputs of the float model that are kept, in bytes.
static constexpr size_t mostKept = 512 << 20;

/// The diagnostics have said why.
static llvm::Error told() { return llvm::createStringError(""); }

llvm::Expected<OwningOpRef<ModuleOp>>
Judge::makeCopy(const QuantizeOptions *options) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  PassManager pm(module.getContext());
  if (options)
    pm.addPass(createQuantize(*options, nullptr));
  if (failed(pm.run(*copy)))
    return told();
  return copy;
}

/// Compiles a copy for a sample's sizes, or for all of them.
static llvm::Expected<std::unique_ptr<Program>>
compile(ModuleOp module, const Tensors &sample, bool isOpen, bool keepFirst,
        Executor &executor) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (failed(graph))
    return told();
  if (!isOpen)
    specializeInputs(*graph, sample, keepFirst);
  auto program = executor.compile(*copy);
  if (failed(program))
    return told();
  return std::move(*program);
}

namespace {
/// Runs through a function, so that outputs can come from elsewhere.
struct FunctionProgram : Program {
  using Run = std::function<llvm::Expected<std::vector<HostTensor>>(
      const std::vector<HostTensor> &)>;
  explicit FunctionProgram(Run function) : function(std::move(function)) {}
  llvm::Expected<std::vector<HostTensor>>
  run(const std::vector<HostTensor> &inputs) const override {
    return function(inputs);
  }
  Run function;
};
} // namespace

llvm::Expected<Score> Judge::judge(const QuantizeOptions &options) {
  auto quantized = makeCopy(&options);
  if (!quantized)
    return quantized.takeError();
  auto inputs = graphInputs(module);
  if (failed(inputs))
    return told();
  // Numbers are the same however long code was compiled.
  std::unique_ptr<Executor> executor = createCalibrationExecutor();
  bool keepFirst = request.collect.data.batch > 1;
  ModelSource model, reference;
  model.name = "the quantized model";
  reference.name = "the float model";
  model.inputs = reference.inputs = *inputs;
  model.make = [&](const Tensors &sample, bool isOpen) {
    return compile(**quantized, sample, isOpen, keepFirst, *executor);
  };
  // The float model runs once for each sample.
  seen->next = 0;
  reference.make =
      [&](const Tensors &sample,
          bool isOpen) -> llvm::Expected<std::unique_ptr<Program>> {
    if (seen->isComplete)
      return std::make_unique<FunctionProgram>(
          [seen = seen](const std::vector<HostTensor> &) {
            return seen->outputs[seen->next++];
          });
    auto program = compile(module, sample, isOpen, keepFirst, *executor);
    if (!program)
      return program.takeError();
    std::shared_ptr<Program> shared = std::move(*program);
    return std::make_unique<FunctionProgram>(
        [seen = seen, shared](const std::vector<HostTensor> &inputs)
            -> llvm::Expected<std::vector<HostTensor>> {
          auto outputs = shared->run(inputs);
          if (outputs && seen->bytes <= mostKept) {
            for (const HostTensor &output : *outputs)
              seen->bytes += output.data.size();
            seen->outputs.push_back(*outputs);
          }
          return outputs;
        });
  };
  EvaluationOptions evaluation;
  evaluation.metrics = request.bounds.metrics();
  evaluation.data = request.collect.data;
  evaluation.data.part = DataOptions::Part::HeldBack;
  evaluation.data.note = nullptr;
  evaluation.labels = request.bounds.labels;
  if (request.bounds.boxes)
    evaluation.boxes.format = *request.bounds.boxes;
  evaluation.quiet = request.collect.quiet;
  evaluation.interrupted = request.collect.interrupted;
  auto result = evaluateModel(model, &reference, evaluation);
  if (!result) {
    *seen = Seen();
    return result.takeError();
  }
  if (!seen->isComplete && seen->bytes <= mostKept)
    seen->isComplete = true;
  else if (!seen->isComplete)
    *seen = Seen();
  return readScore(*result, request.bounds);
}

llvm::Expected<std::vector<double>>
Judge::time(ArrayRef<const QuantizeOptions *> forms, const Tensors &sample) {
  using Clock = std::chrono::steady_clock;
  constexpr double seconds = 0.5;
  constexpr int64_t fewest = 10;
  std::unique_ptr<Executor> executor = createJitExecutor();
  std::vector<std::unique_ptr<Program>> programs;
  for (const QuantizeOptions *options : forms) {
    auto copy = makeCopy(options);
    if (!copy)
      return copy.takeError();
    auto program = compile(**copy, sample, /*isOpen=*/false,
                           /*keepFirst=*/false, *executor);
    if (!program)
      return program.takeError();
    programs.push_back(std::move(*program));
  }
  std::vector<double> least(forms.size(),
                            std::numeric_limits<double>::infinity());
  Clock::time_point end =
      Clock::now() +
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
          seconds * static_cast<double>(forms.size())));
  for (int64_t round = 0; round < fewest || Clock::now() < end; ++round) {
    if (request.collect.interrupted && request.collect.interrupted())
      return llvm::createStringError("interrupted");
    for (auto [program, place] : llvm::zip(programs, least)) {
      Clock::time_point start = Clock::now();
      auto outputs = program->run(sample);
      std::chrono::duration<double, std::milli> took = Clock::now() - start;
      if (!outputs)
        return outputs.takeError();
      program->reuse(std::move(*outputs));
      place = std::min(place, took.count());
    }
  }
  return least;
}
