// Which nodes get 16 bits: the model runs as the chip runs it, tensors are
// compared with the float model's, and nodes that add most noise come first.

#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Pipelines/Esp.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::esp;

/// Samples that choices are tried with.
static constexpr int64_t mostSamples = 8;
/// Parts that all nodes are divided into for choosing.
static constexpr int64_t parts = 8;

namespace {

/// Noise and signal of each tensor.
using Noise = std::map<std::string, std::pair<double, double>>;

class WideSearch {
public:
  WideSearch(const Model &model, QuantizeOptions &options, Measured &measured,
             MLIRContext *context)
      : model(model), options(options), measured(measured), context(context) {}
  LogicalResult prepare(const MeasureOptions &measure);
  llvm::FailureOr<Mixed> run(const MixedOptions &mixed);

private:
  LogicalResult fail(llvm::Error error) const {
    return emitError(UnknownLoc::get(context),
                     llvm::toString(std::move(error)));
  }
  /// Tensors of the device next to the float model's.
  llvm::FailureOr<Noise> compare() const;
  double sqnrOf(const Noise &noise) const;
  std::vector<const Node *> byNoise(const Noise &noise) const;
  double multiplications(const Node &node) const;
  void widen(const Node &node);

  const Model &model;
  QuantizeOptions &options;
  Measured &measured;
  MLIRContext *context;
  std::vector<Tensors> samples;
  /// Of each sample, what the float model computes.
  std::vector<std::map<std::string, HostTensor>> expected;
};

LogicalResult WideSearch::prepare(const MeasureOptions &measure) {
  QuantizeOptions plain = options;
  plain.legacy = true;
  std::vector<std::string> tensors;
  std::string bytes = writeCalibrationModel(model, plain, tensors);
  OwningOpRef<ModuleOp> module =
      importModel({bytes.data(), bytes.size()}, "the float model", "", context);
  if (!module)
    return failure();
  auto program = createCalibrationExecutor()->compile(*module);
  if (failed(program))
    return failure();
  std::vector<InputInfo> inputs;
  for (const esp::Value &value : model.inputs)
    inputs.push_back({value.name, value.type, value.dims});
  auto data = DataSet::open(measure.data, inputs);
  if (!data)
    return fail(data.takeError());
  for (int64_t i = 0; i < mostSamples && data->has(i); ++i) {
    auto sample = data->load(i);
    if (!sample)
      return fail(sample.takeError());
    auto results = (*program)->run(*sample);
    if (!results)
      return fail(results.takeError());
    auto &named = expected.emplace_back();
    for (auto [name, tensor] : llvm::zip(tensors, *results))
      named[name] = tensor;
    samples.push_back(std::move(*sample));
  }
  return success();
}

llvm::FailureOr<Noise> WideSearch::compare() const {
  auto device = quantizeModel(model, measured.exponents, options);
  if (!device)
    return fail(device.takeError());
  std::set<std::string> last = channelsLastTensors(*device, *options.chip);
  SimulationOptions simulation;
  simulation.chip = options.chip;
  for (const Node &node : model.nodes)
    if (!node.outputs.empty() && device->findValue(node.outputs[0]))
      simulation.outputs.push_back(node.outputs[0]);
  OwningOpRef<ModuleOp> module =
      importSimulation(*device, simulation, "the quantized model", context);
  if (!module)
    return failure();
  auto program = createCalibrationExecutor()->compile(*module);
  if (failed(program))
    return failure();
  Noise noise;
  for (auto [sample, floats] : llvm::zip(samples, expected)) {
    std::vector<HostTensor> feed;
    for (auto [tensor, value] : llvm::zip(sample, device->inputs))
      feed.push_back(
          toDevice(toDeviceLayout(tensor, value, last.count(value.name)), value,
                   options.chip->rounding));
    auto results = (*program)->run(feed);
    if (!results)
      return fail(results.takeError());
    for (auto [name, got] : llvm::zip(simulation.outputs, *results)) {
      auto found = floats.find(name);
      if (found == floats.end() ||
          found->second.numElements() != got.numElements())
        continue;
      const esp::Value &value = *device->findValue(name);
      HostTensor real = toDeviceLayout(found->second, value, last.count(name));
      double scale = got.type == Float ? 1 : std::ldexp(1.0, value.exponent());
      auto &[error, signal] = noise[name];
      for (int64_t i = 0, e = got.numElements(); i < e; ++i) {
        double x = real.at(i), apart = got.at(i) * scale - x;
        error += apart * apart;
        signal += x * x;
      }
    }
  }
  return noise;
}

static double ratio(const Noise &noise, const std::string &name) {
  auto found = noise.find(name);
  if (found == noise.end() || found->second.second <= 0)
    return 0;
  return found->second.first / found->second.second;
}

/// The least of the outputs.
double WideSearch::sqnrOf(const Noise &noise) const {
  double worst = 1e-20;
  for (const esp::Value &value : model.outputs)
    worst = std::max(worst, ratio(noise, value.name));
  return -10 * std::log10(worst);
}

double WideSearch::multiplications(const Node &node) const {
  const Tensor *w = model.findInitializer(node.input(1));
  const esp::Value *y = model.findValue(node.outputs[0]);
  bool isProduct = node.opType == "Conv" || node.opType == "Gemm" ||
                   node.opType == "MatMul" || node.opType == "ConvTranspose";
  if (!isProduct || !w || !y || y->dims.empty())
    return 0;
  double places = 1;
  for (size_t i = 2; i < y->dims.size(); ++i)
    places *= y->dims[i];
  return places * w->numElements();
}

/// Nodes of 8 bits that add noise, the noisiest first.
std::vector<const Node *> WideSearch::byNoise(const Noise &noise) const {
  std::vector<std::pair<double, const Node *>> list;
  for (const Node &node : model.nodes) {
    if (options.nodeBits.count(node.name) || node.outputs.empty() ||
        node.opType == "Resize")
      continue;
    double before = 0;
    for (const std::string &name : node.inputs)
      before = std::max(before, ratio(noise, name));
    double added = ratio(noise, node.outputs[0]) - before;
    if (added > 0)
      list.push_back({added, &node});
  }
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<const Node *> nodes;
  for (const auto &[added, node] : list)
    nodes.push_back(node);
  return nodes;
}

void WideSearch::widen(const Node &node) {
  options.nodeBits[node.name] = 16;
  for (const std::string &name : node.outputs)
    if (auto wide = measured.wide.find(name); wide != measured.wide.end())
      measured.exponents[name] = wide->second;
  // An input of the model has the bits of its first reader.
  for (const esp::Value &value : model.inputs)
    for (const Node &reader : model.nodes) {
      if (!llvm::is_contained(reader.inputs, value.name))
        continue;
      if (reader.name == node.name && measured.wide.count(value.name))
        measured.exponents[value.name] = measured.wide[value.name];
      break;
    }
}

llvm::FailureOr<Mixed> WideSearch::run(const MixedOptions &mixed) {
  double all = 0, wide = 0;
  for (const Node &node : model.nodes)
    all += multiplications(node);
  Mixed result;
  for (bool isFirst = true;; isFirst = false) {
    auto noise = compare();
    if (failed(noise))
      return failure();
    result.sqnr = sqnrOf(*noise);
    if (isFirst)
      result.sqnrBefore = result.sqnr;
    if (result.sqnr >= mixed.minSqnr)
      break;
    int64_t count =
        std::max<int64_t>(1, static_cast<int64_t>(model.nodes.size()) / parts);
    bool changed = false;
    for (const Node *node : byNoise(*noise)) {
      double own = multiplications(*node);
      if (wide + own > mixed.maxShare * all)
        continue;
      widen(*node);
      wide += own;
      result.nodes.push_back(node->name);
      changed = true;
      if (--count == 0)
        break;
    }
    if (!changed)
      break;
  }
  result.share = all > 0 ? wide / all : 0;
  return result;
}

} // namespace

llvm::FailureOr<Mixed>
esp::chooseWideNodes(const Model &model, QuantizeOptions &options,
                     Measured &measured, const MeasureOptions &measure,
                     const MixedOptions &mixed, MLIRContext *context) {
  WideSearch search(model, options, measured, context);
  if (failed(search.prepare(measure)))
    return failure();
  return search.run(mixed);
}
