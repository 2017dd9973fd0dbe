// Runs a switchable model with one layer on, and with one layer off.

#include "OnnxQuant/Debugging/Sensitivity.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Support/Quantization.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;

namespace {

/// Energies of the outputs and of what differs.
struct OutputNoise {
  double signal = 0, noise = 0;
  void add(const std::vector<HostTensor> &right,
           const std::vector<HostTensor> &other);
  double decibels() const {
    return signalToNoise(std::sqrt(signal), std::sqrt(noise));
  }
};

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
  LogicalResult runSample(const Tensors &sample);
  /// Runs with the flags given.
  llvm::Expected<std::vector<HostTensor>> runWith(const Tensors &sample,
                                                  const std::vector<char> &on);

  ModuleOp real, quant;
  Executor &executor;
  const SensitivityOptions &options;
  std::optional<DataSet> data;
  std::vector<SwitchedLayer> layers;
  std::unique_ptr<Program> program;
  OutputNoise all;
  std::vector<OutputNoise> only, without;
  SensitivityResult result;
};

} // namespace

void OutputNoise::add(const std::vector<HostTensor> &right,
                      const std::vector<HostTensor> &other) {
  for (auto [reference, changed] : llvm::zip(right, other))
    for (int64_t i = 0; i < reference.numElements(); ++i) {
      double x = reference.at(i), error = x - changed.at(i);
      if (!std::isfinite(x) || !std::isfinite(error))
        continue;
      signal += x * x;
      noise += error * error;
    }
}

LogicalResult SensitivityMeter::compile(const Tensors &sample) {
  if (data->isUniform()) {
    FailureOr<func::FuncOp> graph = findGraph(quant);
    if (failed(graph))
      return failure();
    specializeInputs(*graph, sample, /*keepFirst=*/options.data.batch > 1);
  }
  auto switched = addSwitches(real, quant);
  if (failed(switched))
    return failure();
  layers = std::move(*switched);
  only.resize(layers.size());
  without.resize(layers.size());
  auto compiled = executor.compile(quant);
  if (failed(compiled))
    return failure();
  program = std::move(*compiled);
  return success();
}

llvm::Expected<std::vector<HostTensor>>
SensitivityMeter::runWith(const Tensors &sample, const std::vector<char> &on) {
  constexpr int32_t boolean = 9;
  Tensors inputs = sample;
  HostTensor flags;
  flags.name = "onnxq.flags";
  flags.type = boolean;
  flags.dims = {static_cast<int64_t>(on.size())};
  flags.data = on;
  inputs.push_back(std::move(flags));
  ++result.runs;
  return program->run(inputs);
}

LogicalResult SensitivityMeter::runSample(const Tensors &sample) {
  if (!program && failed(compile(sample)))
    return failure();
  std::vector<char> off(layers.size(), 0), on(layers.size(), 1);
  auto right = runWith(sample, off);
  if (!right)
    return fail(right.takeError());
  auto add = [&](const std::vector<char> &flags, OutputNoise &place) {
    auto outputs = runWith(sample, flags);
    if (!outputs)
      return fail(outputs.takeError());
    place.add(*right, *outputs);
    return success();
  };
  if (failed(add(on, all)))
    return failure();
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    off[layer] = 1;
    on[layer] = 0;
    if (failed(add(off, only[layer])) || failed(add(on, without[layer])))
      return failure();
    off[layer] = 0;
    on[layer] = 1;
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
  Progress progress("measuring", "samples", data->size(), options.quiet);
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
    if (failed(runSample(**batch)))
      return failure();
    result.samples += static_cast<int64_t>(reader.indices().size());
  }
  progress.clear();
  if (result.samples == 0)
    return quant.emitError("no samples are left to run");
  result.all = all.decibels();
  for (size_t layer = 0; layer < layers.size(); ++layer)
    result.layers.push_back(
        {layers[layer], only[layer].decibels(), without[layer].decibels()});
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
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return layers[a].only < layers[b].only;
  });
  return order;
}

llvm::json::Value SensitivityResult::toJson() const {
  llvm::json::Array list;
  for (size_t index : ranking()) {
    const LayerSensitivity &each = layers[index];
    list.push_back(llvm::json::Object{{"node", each.layer.node},
                                      {"op", each.layer.opType},
                                      {"operands", each.layer.operands},
                                      {"only_err", each.only},
                                      {"without_err", each.without},
                                      {"gain", each.without - all}});
  }
  return llvm::json::Object{{"samples", samples},
                            {"runs", runs},
                            {"all_err", all},
                            {"layers", std::move(list)}};
}

void SensitivityResult::print(llvm::raw_ostream &os, int64_t limit) const {
  os << samples << " samples, " << runs << " runs of one program\n"
     << "all layers quantized: " << llvm::format("%.1f dB", all) << "\n\n"
     << llvm::left_justify("layer", 34) << llvm::left_justify("operator", 16)
     << llvm::right_justify("only it", 9)
     << llvm::right_justify("all but it", 12) << llvm::right_justify("gain", 8)
     << "\n";
  for (auto [position, index] : llvm::enumerate(ranking())) {
    if (limit > 0 && static_cast<int64_t>(position) >= limit) {
      os << "... " << layers.size() - position << " more\n";
      break;
    }
    const LayerSensitivity &each = layers[index];
    os << llvm::left_justify(llvm::StringRef(each.layer.node).take_back(33), 34)
       << llvm::left_justify(each.layer.opType, 16)
       << llvm::format("%9.1f%12.1f%8.1f", each.only, each.without,
                       each.without - all)
       << "\n";
  }
}
