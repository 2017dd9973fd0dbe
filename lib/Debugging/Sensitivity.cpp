// Runs a switchable model with one layer on, and with one layer off.

#include "OnnxQuant/Debugging/Sensitivity.h"
#include "Branches.h"
#include "OnnxQuant/Analysis/ModelInfo.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "SwitchedRuns.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;

/// Decibels that are worth a word, and the part of what can be gained that is
/// enough.
static constexpr double leastGain = 0.3, enoughGain = 0.8;

namespace {

class SensitivityMeter {
public:
  SensitivityMeter(ModuleOp real, ModuleOp quant, Executor &executor,
                   const SensitivityOptions &options)
      : real(real), quant(quant), executor(executor), options(options) {}

  FailureOr<SensitivityResult> run();

private:
  LogicalResult fail(llvm::Error error) {
    return quant.emitError() << llvm::toString(std::move(error));
  }
  LogicalResult compile(const Tensors &sample);
  /// Counts the layers' multiply-adds for a sample's shapes.
  void countWork(const Tensors &sample);
  LogicalResult runSample(const Tensors &sample, ArrayRef<int64_t> samples);
  /// Runs a sample in several ways, until the time is up where it `ends`.
  LogicalResult runAll(const Tensors &sample,
                       const std::vector<HostTensor> &right,
                       ArrayRef<SwitchedRun> runs, ArrayRef<int64_t> samples,
                       bool ends);
  LogicalResult explain(llvm::Error error, ArrayRef<int64_t> samples,
                        const Tensors &sample);
  /// Calls for samples, at most so many.
  template <typename Function>
  LogicalResult forEachSample(StringRef label, int64_t most, Function function);
  LogicalResult suggest();
  /// Whether the time is up.
  bool isOver() const;
  /// The outputs of a sample without any quantization.
  FailureOr<std::vector<HostTensor>> runRight(const Tensors &sample,
                                              ArrayRef<int64_t> samples);

  ModuleOp real, quant;
  Executor &executor;
  const SensitivityOptions &options;
  std::optional<DataSet> data;
  std::vector<SwitchedLayer> layers;
  std::unique_ptr<Program> program;
  OutputNoise all;
  std::vector<OutputNoise> only, without;
  std::chrono::steady_clock::time_point start;
  SensitivityResult result;
};

} // namespace

LogicalResult SensitivityMeter::compile(const Tensors &sample) {
  for (ModuleOp module : {real, quant})
    if (failed(debugging::fitModule(module, sample, data->isUniform(),
                                    /*keepFirst=*/options.data.batch > 1,
                                    executor)))
      return failure();
  auto switched = addSwitches(real, quant);
  if (failed(switched))
    return failure();
  layers = std::move(*switched);
  countWork(sample);
  only.resize(layers.size());
  without.resize(layers.size());
  auto compiled = executor.compile(quant);
  if (failed(compiled))
    return failure();
  program = std::move(*compiled);
  start = std::chrono::steady_clock::now();
  return success();
}

void SensitivityMeter::countWork(const Tensors &sample) {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(real->clone()));
  // What can't be counted is said to be unknown.
  ScopedDiagnosticHandler quiet(real.getContext(),
                                [](Diagnostic &) { return success(); });
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  PassManager pm(real.getContext());
  pm.addPass(createShapeInference());
  if (failed(graph))
    return;
  specializeInputs(*graph, sample, /*keepFirst=*/false);
  if (failed(pm.run(*copy)))
    return;
  llvm::StringMap<int64_t> byNode;
  result.macs = 0;
  copy->walk([&](Operation *op) {
    if (!isContraction(op))
      return;
    std::optional<int64_t> macs = countMacs(op);
    if (!macs || !result.macs) {
      result.macs.reset();
      return;
    }
    *result.macs += *macs;
    if (auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr))
      byNode[name.getValue()] += *macs;
  });
  if (result.macs)
    for (SwitchedLayer &layer : layers)
      layer.macs = byNode.lookup(layer.node);
}

bool SensitivityMeter::isOver() const {
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - start;
  return options.seconds > 0 && program && spent.count() > options.seconds;
}

LogicalResult SensitivityMeter::explain(llvm::Error error,
                                        ArrayRef<int64_t> samples,
                                        const Tensors &sample) {
  return quant.emitError() << data->explain(llvm::toString(std::move(error)),
                                            samples, sample);
}

FailureOr<std::vector<HostTensor>>
SensitivityMeter::runRight(const Tensors &sample, ArrayRef<int64_t> samples) {
  ++result.runs;
  auto right =
      runSwitched(*program, sample, std::vector<char>(layers.size(), 0));
  if (!right)
    return explain(right.takeError(), samples, sample);
  return std::move(*right);
}

LogicalResult SensitivityMeter::runAll(const Tensors &sample,
                                       const std::vector<HostTensor> &right,
                                       ArrayRef<SwitchedRun> runs,
                                       ArrayRef<int64_t> samples, bool ends) {
  bool interrupted = false;
  auto done = debugging::runAll(*program, sample, right, runs, [&] {
    interrupted = options.interrupted && options.interrupted();
    return interrupted || (ends && isOver());
  });
  if (!done)
    return explain(done.takeError(), samples, sample);
  result.runs += *done;
  if (interrupted)
    return quant.emitError("interrupted after ")
           << result.samples << " of " << data->size() << " samples";
  return success();
}

LogicalResult SensitivityMeter::runSample(const Tensors &sample,
                                          ArrayRef<int64_t> samples) {
  if (!program) {
    CompileContext context(*data, samples, sample, quant.getContext());
    if (failed(compile(sample)))
      return failure();
  }
  auto right = runRight(sample, samples);
  if (failed(right))
    return failure();
  std::vector<char> off(layers.size(), 0), on(layers.size(), 1);
  if (failed(runAll(sample, *right, SwitchedRun{on, &all}, samples,
                    /*ends=*/false)))
    return failure();
  // A layer that has been measured on fewer samples than another is compared
  // all the same; one that hasn't been measured is not.
  std::vector<SwitchedRun> runs;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    runs.push_back({off, &only[layer]});
    runs.back().flags[layer] = 1;
  }
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    runs.push_back({on, &without[layer]});
    runs.back().flags[layer] = 0;
  }
  return runAll(sample, *right, runs, samples, /*ends=*/true);
}

template <typename Function>
LogicalResult SensitivityMeter::forEachSample(StringRef label, int64_t most,
                                              Function function) {
  Progress progress(label.str(), "samples", most, options.quiet);
  BatchReader reader(*data, options.data);
  int64_t done = 0;
  while (done < most) {
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
    done += static_cast<int64_t>(reader.indices().size());
    if (failed(function(**batch, reader.indices())))
      return failure();
  }
  return success();
}

/// Leaves the layers that cost most out together, more and more of them, and
/// looks how far that gets.
LogicalResult SensitivityMeter::suggest() {
  std::vector<size_t> order;
  for (size_t index : result.ranking()) {
    const LayerSensitivity &each = result.layers[index];
    // What has no node can't be named.
    if (each.only && !each.layer.node.empty() && each.layer.node != "outputs")
      order.push_back(index);
  }
  SmallVector<size_t> counts;
  for (size_t count : {1, 2, 3, 4, 6, 8})
    if (count <= order.size() && count < result.layers.size())
      counts.push_back(count);
  if (counts.empty())
    return success();
  std::vector<OutputNoise> together(counts.size());
  OutputNoise same;
  auto measure = [&](const Tensors &sample, ArrayRef<int64_t> samples) {
    auto right = runRight(sample, samples);
    if (failed(right))
      return failure();
    std::vector<char> flags(layers.size(), 1);
    std::vector<SwitchedRun> runs{{flags, &same}};
    size_t next = 0;
    for (auto [count, noise] : llvm::zip(counts, together)) {
      while (next < count)
        flags[order[next++]] = 0;
      runs.push_back({flags, &noise});
    }
    return runAll(sample, *right, runs, samples, /*ends=*/false);
  };
  if (failed(forEachSample("choosing", result.samples, measure)))
    return failure();
  double before = same.decibels(), best = before;
  for (const OutputNoise &noise : together)
    best = std::max(best, noise.decibels());
  if (best < before + leastGain)
    return success();
  for (auto [count, noise] : llvm::zip(counts, together)) {
    if (noise.decibels() < before + enoughGain * (best - before))
      continue;
    result.suggestion.emplace();
    int64_t left = 0;
    for (size_t index : ArrayRef(order).take_front(count)) {
      result.suggestion->nodes.push_back(result.layers[index].layer.node);
      left += result.layers[index].layer.macs;
    }
    result.suggestion->decibels = noise.decibels();
    if (result.macs && *result.macs > 0)
      result.suggestion->share =
          static_cast<double>(left) / static_cast<double>(*result.macs);
    break;
  }
  return success();
}

FailureOr<SensitivityResult> SensitivityMeter::run() {
  auto inputs = graphInputs(quant);
  if (failed(inputs))
    return failure();
  auto set = DataSet::open(options.data, *inputs);
  if (!set)
    return fail(set.takeError());
  data.emplace(std::move(*set));
  auto measure = [&](const Tensors &sample, ArrayRef<int64_t> samples) {
    if (result.samples > 0 && isOver())
      return success();
    if (failed(runSample(sample, samples)))
      return failure();
    result.samples += static_cast<int64_t>(samples.size());
    return success();
  };
  if (failed(forEachSample("measuring", data->size(), measure)))
    return failure();
  if (result.samples == 0)
    return quant.emitError("no samples are left to run");
  result.all = all.decibels();
  for (size_t layer = 0; layer < layers.size(); ++layer)
    result.layers.push_back(
        {layers[layer], only[layer].measured(), without[layer].measured()});
  if (failed(suggest()))
    return failure();
  return std::move(result);
}

FailureOr<SensitivityResult>
onnxquant::measureSensitivity(ModuleOp real, ModuleOp quant, Executor &executor,
                              const SensitivityOptions &options) {
  return SensitivityMeter(real, quant, executor, options).run();
}

std::vector<size_t> SensitivityResult::ranking() const {
  std::vector<size_t> order(layers.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto key = [&](size_t index) {
    return layers[index].only.value_or(INFINITY);
  };
  llvm::stable_sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
  return order;
}

static llvm::json::Value numberOrNull(std::optional<double> value) {
  return value ? llvm::json::Value(*value) : llvm::json::Value(nullptr);
}

llvm::json::Value SensitivityResult::toJson() const {
  llvm::json::Array list;
  for (size_t index : ranking()) {
    const LayerSensitivity &each = layers[index];
    std::optional<double> gain;
    if (each.without)
      gain = *each.without - all;
    list.push_back(
        llvm::json::Object{{"node", each.layer.node},
                           {"op", each.layer.opType},
                           {"operands", each.layer.operands},
                           {"macs", each.layer.macs},
                           {"only_err", numberOrNull(each.only)},
                           {"without_err", numberOrNull(each.without)},
                           {"gain", numberOrNull(gain)}});
  }
  llvm::json::Object root{{"samples", samples},
                          {"runs", runs},
                          {"all_err", all},
                          {"layers", std::move(list)}};
  if (suggestion)
    root["suggestion"] =
        llvm::json::Object{{"nodes", llvm::json::Array(suggestion->nodes)},
                           {"err", suggestion->decibels},
                           {"float_share", numberOrNull(suggestion->share)},
                           {"command", command}};
  return root;
}

void SensitivityResult::print(llvm::raw_ostream &os, int64_t limit) const {
  os << samples << (samples == 1 ? " sample, " : " samples, ") << runs
     << " runs of one program\n"
     << "all layers quantized: " << llvm::format("%.1f dB", all) << "\n\n"
     << llvm::left_justify("", 50)
     << "SQNR at the outputs in dB (higher is better)\n"
     << llvm::left_justify("layer", 34) << llvm::left_justify("operator", 16)
     << llvm::right_justify("only it", 9)
     << llvm::right_justify("all but it", 12) << llvm::right_justify("gain", 8)
     << "\n";
  auto text = [](std::optional<double> value) {
    std::string result = "-";
    if (value) {
      result.clear();
      llvm::raw_string_ostream(result) << llvm::format("%.1f", *value);
    }
    return result;
  };
  for (auto [position, index] : llvm::enumerate(ranking())) {
    if (limit > 0 && static_cast<int64_t>(position) >= limit) {
      os << "... " << layers.size() - position << " more\n";
      break;
    }
    const LayerSensitivity &each = layers[index];
    std::optional<double> gain;
    if (each.without)
      gain = *each.without - all;
    os << llvm::left_justify(llvm::StringRef(each.layer.node).take_back(33), 34)
       << llvm::left_justify(each.layer.opType, 16)
       << llvm::right_justify(text(each.only), 9)
       << llvm::right_justify(text(each.without), 12)
       << llvm::right_justify(text(gain), 8) << "\n";
  }
  if (!suggestion) {
    os << (layers.size() < 2
               ? "\nthere is no other layer: without it, all would be float\n"
               : "\nno few layers stand out: leaving up to eight of them in "
                 "float gains next to nothing\n");
    return;
  }
  os << "\nwith "
     << (suggestion->nodes.size() == 1
             ? "the first of them"
             : std::to_string(suggestion->nodes.size()) + " of them")
     << " in float: " << llvm::format("%.1f dB", suggestion->decibels)
     << ", measured on these samples";
  if (suggestion->share)
    os << "; "
       << llvm::format("%.1f %% of the multiply-adds leave int8",
                       100 * *suggestion->share);
  os << "\n";
  if (!command.empty())
    os << "  " << command << "\n";
}
