// Runs both models on samples and compares their tensors.

#include "OnnxQuant/Debugging/Debugging.h"
#include "Comparison.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Passes.h"
#include "Weights.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;

namespace {

class Debugger {
public:
  Debugger(ModuleOp real, ModuleOp prepared, ModuleOp quant, Executor &executor,
           const DebugOptions &options)
      : real(real), prepared(prepared), quant(quant), executor(executor),
        options(options) {}

  FailureOr<DebugResult> run();

private:
  LogicalResult fail(llvm::Error error) {
    return quant.emitError() << llvm::toString(std::move(error));
  }
  LogicalResult checkInputs();
  LogicalResult inferShapes(ModuleOp module, const Tensors &sample);
  LogicalResult plan(const Tensors &sample);
  LogicalResult runBatch(const Tensors &inputs);
  void finish();

  ModuleOp real, prepared, quant;
  Executor &executor;
  const DebugOptions &options;
  std::optional<DataSet> data;
  std::vector<TensorPlan> tensors;
  std::unique_ptr<Program> realProgram, quantProgram;
  DebugResult result;
};

} // namespace

/// Both models must take the same inputs.
LogicalResult Debugger::checkInputs() {
  auto ours = graphInputs(quant), theirs = graphInputs(real);
  if (failed(ours) || failed(theirs))
    return failure();
  if (ours->size() != theirs->size())
    return quant.emitError("has ")
           << ours->size() << " inputs, but the float model has "
           << theirs->size();
  for (auto [mine, other] : llvm::zip(*ours, *theirs))
    if (mine.name != other.name || mine.type != other.type)
      return quant.emitError("expects input '")
             << other.name << "' of the float model, but has '" << mine.name
             << "'" << (mine.name == other.name ? " of another type" : "");
  if (options.data.batch > 1)
    for (const InputInfo &input : *ours)
      if (input.dims.empty() || input.dims[0] >= 0)
        return quant.emitError("batch expects the first dimension of input '")
               << input.name << "' to be open";
  auto set = DataSet::open(options.data, *ours);
  if (!set)
    return fail(set.takeError());
  data.emplace(std::move(*set));
  if (data->size() == 0)
    return quant.emitError("no samples are left to run");
  return success();
}

LogicalResult Debugger::inferShapes(ModuleOp module, const Tensors &sample) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  if (data->isUniform())
    specializeInputs(*graph, sample, /*keepFirst=*/options.data.batch > 1);
  PassManager pm(module.getContext());
  pm.addPass(createShapeInference());
  return pm.run(module);
}

/// How well two graphs go together: weights that are alike, and how much is
/// known.
static double fit(func::FuncOp quant, const GraphMatch &match) {
  double sum = 0.01 * static_cast<double>(match.size());
  for (const DebugWeight &weight : compareWeights(quant, match))
    sum += std::max(weight.errors.cosine(), 0.0);
  return sum;
}

LogicalResult Debugger::plan(const Tensors &sample) {
  for (ModuleOp module : {real, prepared, quant})
    if (module && failed(inferShapes(module, sample)))
      return failure();
  func::FuncOp quantGraph = *findGraph(quant), realGraph = *findGraph(real);
  std::optional<GraphMatch> match;
  match.emplace(realGraph, quantGraph);
  if (prepared) {
    func::FuncOp preparedGraph = *findGraph(prepared);
    GraphMatch other(preparedGraph, quantGraph);
    if (fit(quantGraph, other) >= fit(quantGraph, *match)) {
      match.emplace(std::move(other));
      realGraph = preparedGraph;
      result.prepared = true;
    }
  }
  result.weights = compareWeights(quantGraph, *match);
  ComparisonPlan comparison(realGraph, quantGraph, *match);
  tensors = std::move(comparison.tensors);
  result.unmatched = std::move(comparison.unmatched);
  if (tensors.empty())
    return quant.emitError("has no tensor in common with the float model");
  auto compiledReal = executor.compile(result.prepared ? prepared : real);
  if (failed(compiledReal))
    return failure();
  auto compiledQuant = executor.compile(quant);
  if (failed(compiledQuant))
    return failure();
  realProgram = std::move(*compiledReal);
  quantProgram = std::move(*compiledQuant);
  return success();
}

LogicalResult Debugger::runBatch(const Tensors &inputs) {
  if (!realProgram && failed(plan(inputs)))
    return failure();
  auto realOutputs = realProgram->run(inputs);
  if (!realOutputs)
    return fail(realOutputs.takeError());
  auto quantOutputs = quantProgram->run(inputs);
  if (!quantOutputs)
    return fail(quantOutputs.takeError());
  for (TensorPlan &plan : tensors) {
    const HostTensor &right = plan.real.get(inputs, *realOutputs),
                     &other = plan.quant.get(inputs, *quantOutputs);
    if (right.dims != other.dims)
      return quant.emitError("tensor '")
             << plan.tensor.name
             << "' has another shape than in the float model";
    addRun(plan, inputs, *realOutputs, *quantOutputs);
  }
  return success();
}

void Debugger::finish() {
  for (TensorPlan &plan : tensors) {
    DebugTensor &tensor = plan.tensor;
    SmallVector<const DebugWeight *> weights;
    for (const DebugWeight &weight : result.weights)
      if (!weight.node.empty() && weight.node == tensor.node && tensor.local)
        weights.push_back(&weight);
    tensor.advice = adviseOn(tensor, weights);
    result.tensors.push_back(std::move(tensor));
  }
}

FailureOr<DebugResult> Debugger::run() {
  if (failed(checkInputs()))
    return failure();
  Progress progress("comparing", "samples", data->size(), options.quiet);
  BatchReader reader(*data, options.data);
  while (true) {
    progress.update(reader.position());
    auto batch = reader.next();
    if (!batch)
      return fail(batch.takeError());
    if (!*batch)
      break;
    if (failed(runBatch(**batch)))
      return failure();
    result.samples += static_cast<int64_t>(reader.indices().size());
  }
  progress.clear();
  result.skipped = static_cast<int64_t>(reader.skipped().size());
  if (result.samples == 0)
    return quant.emitError("no sample could be read: ")
           << reader.skipped().front();
  finish();
  return std::move(result);
}

FailureOr<DebugResult> onnxquant::debugModels(ModuleOp real, ModuleOp prepared,
                                              ModuleOp quant,
                                              Executor &executor,
                                              const DebugOptions &options) {
  return Debugger(real, prepared, quant, executor, options).run();
}
