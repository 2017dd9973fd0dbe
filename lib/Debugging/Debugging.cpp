// Runs both models on samples and compares their tensors.
//
// Where samples take different branches of an If, there is a pair of programs
// for each way through the model; what they show is added up.

#include "OnnxQuant/Debugging/Debugging.h"
#include "Comparison.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "Weights.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>
#include <deque>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

/// Ways through a model, at most: each is compiled.
static constexpr size_t mostPaths = 8;

namespace {

/// Both models for samples that take the same branches.
struct Path {
  std::vector<TensorPlan> tensors;
  std::unique_ptr<Program> realProgram, quantProgram;
  /// The conditions, and what they are here.
  std::vector<Probe> realConditions, quantConditions;
  std::vector<bool> realChoices, quantChoices;
};

/// What a run of both gave.
struct Outputs {
  std::vector<HostTensor> real, quant;
};

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
  LogicalResult specialize(ModuleOp module, const Tensors &sample);
  /// Compiles both models for samples that take the branches of this one.
  FailureOr<Path *> addPath(const Tensors &sample);
  void describe(func::FuncOp realGraph, func::FuncOp quantGraph,
                const GraphMatch &match);
  void adopt(Path &path);
  FailureOr<Outputs> runPath(const Path &path, const Tensors &inputs,
                             ArrayRef<int64_t> samples);
  LogicalResult runBatch(const Tensors &inputs, ArrayRef<int64_t> samples);
  LogicalResult add(Path &path, const Tensors &inputs, const Outputs &outputs,
                    ArrayRef<int64_t> samples);
  double largestCorrection(const DebugWeight &bias, size_t channel) const;
  void judgeBiases();
  void finish();

  ModuleOp real, prepared, quant;
  Executor &executor;
  const DebugOptions &options;
  std::optional<DataSet> data;
  std::deque<Path> paths;
  Path *last = nullptr;
  /// The sums of tensors, which paths share by name.
  std::deque<DebugTensor> sums;
  int64_t beyondPaths = 0;
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

LogicalResult Debugger::specialize(ModuleOp module, const Tensors &sample) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  if (data->isUniform())
    specializeInputs(*graph, sample, /*keepFirst=*/options.data.batch > 1);
  return success();
}

/// How well two graphs go together: weights that are alike, and how much is
/// known.
static double fit(func::FuncOp quant, const GraphMatch &match) {
  double sum = 0.01 * static_cast<double>(match.size());
  for (const DebugWeight &weight : compareWeights(quant, match))
    sum += std::max(weight.errors.cosine(), 0.0);
  return sum;
}

/// What is told of the graphs themselves.
void Debugger::describe(func::FuncOp realGraph, func::FuncOp quantGraph,
                        const GraphMatch &match) {
  llvm::StringMap<bool> seen;
  for (const DebugWeight &weight : result.weights)
    seen[weight.node + "\n" + weight.name] = true;
  for (DebugWeight &weight : compareWeights(quantGraph, match))
    if (seen.try_emplace(weight.node + "\n" + weight.name, true).second)
      result.weights.push_back(std::move(weight));
  for (Operation *op : nodesOf(quantGraph)) {
    if (!isa<ir::NodeOpInterface>(op) || op->getNumResults() == 0)
      continue;
    Operation *found = match.real(op);
    if (!found)
      if (Value value = match.real(op->getResult(0)))
        found = value.getDefiningOp();
    if (found)
      result.standsFor.try_emplace(nameOfNode(op), nameOfNode(found));
  }
  // The first way through the model is the one that is drawn.
  if (result.graph.empty())
    result.graph = describeGraph(realGraph);
  for (const std::string &name : branchesLeft(quantGraph))
    result.notes.push_back("If '" + name +
                           "' is in the body of a loop: its branches are not "
                           "looked into");
}

FailureOr<Path *> Debugger::addPath(const Tensors &sample) {
  // The modules stay as they are, for other paths.
  auto copyOf = [](ModuleOp module) {
    return OwningOpRef<ModuleOp>(module ? cast<ModuleOp>(module->clone())
                                        : ModuleOp());
  };
  OwningOpRef<ModuleOp> copies[] = {copyOf(real), copyOf(prepared),
                                    copyOf(quant)};
  std::vector<TakenBranch> branches[3];
  for (auto [copy, taken] : llvm::zip(copies, branches)) {
    if (!copy)
      continue;
    if (failed(specialize(*copy, sample)))
      return failure();
    auto found = takeBranches(*copy, sample, executor);
    if (failed(found))
      return failure();
    taken = std::move(*found);
  }
  func::FuncOp quantGraph = *findGraph(*copies[2]),
               realGraph = *findGraph(*copies[0]);
  std::optional<GraphMatch> match;
  match.emplace(realGraph, quantGraph);
  size_t chosen = 0;
  if (copies[1]) {
    func::FuncOp preparedGraph = *findGraph(*copies[1]);
    GraphMatch other(preparedGraph, quantGraph);
    if (fit(quantGraph, other) >= fit(quantGraph, *match)) {
      match.emplace(std::move(other));
      realGraph = preparedGraph;
      result.prepared = true;
      chosen = 1;
    }
  }
  describe(realGraph, quantGraph, *match);
  ComparisonPlan comparison(realGraph, quantGraph, *match, branches[chosen],
                            branches[2]);
  Path path;
  path.tensors = std::move(comparison.tensors);
  for (std::string &name : comparison.unmatched)
    if (!llvm::is_contained(result.unmatched, name))
      result.unmatched.push_back(std::move(name));
  if (path.tensors.empty())
    return quant.emitError("has no tensor in common with the float model");
  path.realConditions = std::move(comparison.realConditions);
  path.quantConditions = std::move(comparison.quantConditions);
  for (const TakenBranch &branch : branches[chosen])
    path.realChoices.push_back(branch.isThen);
  for (const TakenBranch &branch : branches[2])
    path.quantChoices.push_back(branch.isThen);
  auto compiledReal = executor.compile(*copies[chosen]);
  if (failed(compiledReal))
    return failure();
  auto compiledQuant = executor.compile(*copies[2]);
  if (failed(compiledQuant))
    return failure();
  path.realProgram = std::move(*compiledReal);
  path.quantProgram = std::move(*compiledQuant);
  adopt(path);
  paths.push_back(std::move(path));
  return &paths.back();
}

/// Gives the tensors of a path their sums.
void Debugger::adopt(Path &path) {
  for (TensorPlan &plan : path.tensors) {
    auto found = llvm::find_if(sums, [&](const DebugTensor &known) {
      return known.name == plan.tensor.name && known.node == plan.tensor.node;
    });
    if (found == sums.end()) {
      sums.push_back(std::move(plan.tensor));
      plan.sums = &sums.back();
    } else {
      plan.sums = &*found;
      if (plan.tensor.local && !found->local)
        found->local.emplace();
    }
  }
}

/// Whether conditions are what they are on a path.
static bool holds(ArrayRef<Probe> probes, const std::vector<bool> &choices,
                  const std::vector<HostTensor> &inputs,
                  const std::vector<HostTensor> &outputs) {
  for (auto [probe, choice] : llvm::zip(probes, choices)) {
    const HostTensor &value = probe.get(inputs, outputs);
    if ((value.numElements() > 0 && value.at(0) != 0) != choice)
      return false;
  }
  return true;
}

FailureOr<Outputs> Debugger::runPath(const Path &path, const Tensors &inputs,
                                     ArrayRef<int64_t> samples) {
  auto explain = [&](llvm::Error error) -> LogicalResult {
    return quant.emitError()
           << data->explain(llvm::toString(std::move(error)), samples, inputs);
  };
  auto first = path.realProgram->run(inputs);
  if (!first)
    return explain(first.takeError());
  auto second = path.quantProgram->run(inputs);
  if (!second)
    return explain(second.takeError());
  return Outputs{std::move(*first), std::move(*second)};
}

LogicalResult Debugger::runBatch(const Tensors &inputs,
                                 ArrayRef<int64_t> samples) {
  // The path of the sample before is the most likely one.
  SmallVector<Path *> order;
  if (last)
    order.push_back(last);
  for (Path &path : paths)
    if (&path != last)
      order.push_back(&path);
  for (Path *path : order) {
    bool isOnly = path->realChoices.empty() && path->quantChoices.empty();
    std::optional<Outputs> outputs;
    {
      // On a path that isn't the sample's, anything may fail.
      std::optional<ScopedDiagnosticHandler> silence;
      if (!isOnly)
        silence.emplace(quant.getContext(),
                        [](Diagnostic &) { return success(); });
      auto run = runPath(*path, inputs, samples);
      if (failed(run) && isOnly)
        return failure();
      if (succeeded(run))
        outputs = std::move(*run);
    }
    if (outputs &&
        holds(path->realConditions, path->realChoices, inputs, outputs->real) &&
        holds(path->quantConditions, path->quantChoices, inputs,
              outputs->quant)) {
      last = path;
      return add(*path, inputs, *outputs, samples);
    }
  }
  if (paths.size() >= mostPaths) {
    beyondPaths += static_cast<int64_t>(samples.size());
    return success();
  }
  FailureOr<Path *> path = failure();
  {
    CompileContext context(*data, samples, inputs, quant.getContext());
    path = addPath(inputs);
  }
  if (failed(path))
    return failure();
  last = *path;
  auto outputs = runPath(**path, inputs, samples);
  if (failed(outputs))
    return failure();
  return add(**path, inputs, *outputs, samples);
}

/// Adds the part of an output that belongs to one of several samples.
static void addPart(const HostTensor &right, const HostTensor &other,
                    int64_t place, int64_t count, DebugSample &sample) {
  bool isSplit =
      count > 1 && !right.dims.empty() && right.dims.front() == count;
  int64_t all = right.numElements();
  int64_t each = isSplit ? all / count : all;
  int64_t start = isSplit ? place * each : 0;
  for (int64_t i = start; i < start + each; ++i) {
    double x = right.at(i), error = x - other.at(i);
    if (!std::isfinite(x) || !std::isfinite(error) ||
        std::fabs(x) >= sentinelMagnitude)
      continue;
    sample.signal += x * x;
    sample.noise += error * error;
  }
}

LogicalResult Debugger::add(Path &path, const Tensors &inputs,
                            const Outputs &outputs, ArrayRef<int64_t> samples) {
  std::vector<DebugSample> shown(samples.size());
  for (auto [sample, index] : llvm::zip(shown, samples)) {
    sample.index = data->position(index);
    sample.file = data->placeOf(index);
  }
  for (TensorPlan &plan : path.tensors) {
    const HostTensor &right = plan.real.get(inputs, outputs.real),
                     &other = plan.quant.get(inputs, outputs.quant);
    if (right.dims != other.dims)
      return quant.emitError("tensor '")
             << plan.sums->name
             << "' has another shape than in the float model";
    int64_t cut = plan.sums->saturated, count = plan.sums->own.count;
    addRun(plan, inputs, outputs.real, outputs.quant);
    cut = plan.sums->saturated - cut;
    count = plan.sums->own.count - count;
    double share =
        count > 0 ? static_cast<double>(cut) / static_cast<double>(count) : 0;
    for (auto [place, sample] : llvm::enumerate(shown)) {
      if (share > sample.cutShare) {
        sample.cutShare = share;
        sample.cutTensor = plan.sums->name;
      }
      if (plan.sums->isOutput)
        addPart(right, other, static_cast<int64_t>(place),
                static_cast<int64_t>(samples.size()), sample);
    }
  }
  for (DebugSample &sample : shown)
    result.perSample.push_back(std::move(sample));
  return success();
}

/// The largest correction of a channel's bias that the error of its weights can
/// ask for: |dw| |x|, twice that for other data than calibration's. 0 if it
/// isn't known.
double Debugger::largestCorrection(const DebugWeight &bias,
                                   size_t channel) const {
  auto weights = llvm::find_if(result.weights, [&](const DebugWeight &each) {
    return each.kind == "weight" && each.node == bias.node &&
           each.errors.channels.size() == bias.errors.channels.size();
  });
  if (weights == result.weights.end())
    return 0;
  auto input = llvm::find_if(sums, [&](const DebugTensor &tensor) {
    return tensor.name == weights->input;
  });
  if (input == sums.end() || input->errors.count == 0)
    return 0;
  const ChannelErrors &errors = weights->errors.channels[channel];
  double energy =
      input->errors.signal / static_cast<double>(input->errors.count);
  return 2 *
         std::sqrt(errors.noise * static_cast<double>(errors.count) * energy);
}

/// A bias differs on purpose if the means of what the node gives are closer to
/// the right ones with the difference than they would be without, or if the
/// weights' error can ask for the difference: these samples are not those that
/// it was computed with.
void Debugger::judgeBiases() {
  for (DebugWeight &weight : result.weights) {
    if (weight.kind != "bias" || weight.saturated > 0 || weight.node.empty())
      continue;
    auto found = llvm::find_if(sums, [&](const DebugTensor &tensor) {
      return tensor.node == weight.node && tensor.local &&
             tensor.local->channels.size() == weight.errors.channels.size();
    });
    if (found == sums.end())
      continue;
    double with = 0, without = 0, largest = 0, step = 0;
    bool isAsked = true;
    for (double scale : weight.stored.scales)
      step = std::max(step, std::fabs(scale));
    for (size_t i = 0; i < weight.errors.channels.size(); ++i) {
      const ChannelErrors &bias = weight.errors.channels[i],
                          &gave = found->local->channels[i];
      double moved = double(bias.otherMin) - double(bias.min);
      double mean = gave.meanDifference();
      with += mean * mean;
      without += (mean + moved) * (mean + moved);
      largest = std::max(largest, std::fabs(moved));
      isAsked &= std::fabs(moved) <= step + largestCorrection(weight, i);
    }
    weight.corrected = largest > step && (with < without || isAsked);
  }
}

void Debugger::finish() {
  judgeBiases();
  for (DebugTensor &tensor : sums)
    result.tensors.push_back(std::move(tensor));
  llvm::stable_sort(result.tensors,
                    [](const DebugTensor &a, const DebugTensor &b) {
                      return a.order < b.order;
                    });
  bool isMismatch = llvm::any_of(result.tensors, [](const DebugTensor &tensor) {
    return tensor.isMismatch();
  });
  for (DebugTensor &tensor : result.tensors) {
    // Behind data of another kind every layer looks bad.
    if (isMismatch)
      break;
    SmallVector<const DebugWeight *> weights;
    for (const DebugWeight &weight : result.weights)
      if (!weight.node.empty() && weight.node == tensor.node && tensor.local)
        weights.push_back(&weight);
    tensor.advice = adviseOn(tensor, weights);
  }
  if (paths.size() > 1)
    result.notes.push_back("the samples take " + std::to_string(paths.size()) +
                           " ways through the model's branches");
  if (beyondPaths > 0)
    result.notes.push_back(std::to_string(beyondPaths) +
                           " samples take further ways, and were left out");
}

FailureOr<DebugResult> Debugger::run() {
  if (failed(checkInputs()))
    return failure();
  Progress progress("comparing", "samples", data->size(), options.quiet);
  BatchReader reader(*data, options.data);
  while (true) {
    progress.update(reader.position());
    if (options.interrupted && options.interrupted()) {
      progress.clear();
      return quant.emitError("interrupted after ")
             << result.samples << " of " << data->size() << " samples";
    }
    auto batch = reader.next();
    if (!batch)
      return fail(batch.takeError());
    if (!*batch)
      break;
    if (failed(runBatch(**batch, reader.indices())))
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
