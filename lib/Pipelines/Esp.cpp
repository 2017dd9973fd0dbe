// ESP-DL's stages: a float model made ready, samples run, test values added.

#include "OnnxQuant/Pipelines/Esp.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/ESP/Layout.h"
#include "OnnxQuant/ESP/Legacy.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "OnnxQuant/Import/Import.h"
#include "OnnxQuant/Pipelines/JitExecutor.h"
#include "OnnxQuant/Pipelines/Preprocess.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::esp;

static LogicalResult fail(MLIRContext *context, llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  // An empty one is of what a diagnostic has said already.
  if (!text.empty())
    emitError(UnknownLoc::get(context), text);
  return failure();
}

//===----------------------------------------------------------------------===//
// The float model
//===----------------------------------------------------------------------===//

/// Gives open batches the size 1.
static LogicalResult closeBatches(ModuleOp module) {
  ShapeInferenceOptions shapes;
  for (const InputSpec &spec : describeInputs(module)) {
    if (!spec.dims || spec.dims->empty() || spec.dims->front() >= 0)
      continue;
    std::string text = spec.name + "=";
    for (auto [index, dim] : llvm::enumerate(*spec.dims))
      text += (index ? "x" : "") + std::to_string(index == 0 ? 1 : dim);
    if (StringRef(text).contains("-"))
      return module.emitError()
             << "input '" << spec.name
             << "' has open sizes; give them by --input-shape";
    shapes.inputShapes.push_back(text);
  }
  if (shapes.inputShapes.empty())
    return success();
  PassManager pm(module.getContext());
  pm.addPass(createShapeInference(shapes));
  return pm.run(module);
}

/// While it lives, Gemm nodes that a fusion makes are told from others, and get
/// the old toolkit's names at the end.
namespace {
class FusedGemms {
public:
  explicit FusedGemms(ModuleOp module) : module(module) {
    module.walk([&](onnx::GemmOp op) {
      auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr);
      if (name && !name.empty())
        given.insert(name.getValue());
    });
  }
  void rename() {
    int count = 0;
    module.walk([&](onnx::GemmOp op) {
      auto name = op->getAttrOfType<StringAttr>(onnx::nodeNameAttr);
      if (name && given.contains(name.getValue()))
        return;
      auto made = StringAttr::get(op.getContext(),
                                  "fused_gemm_" + std::to_string(count++));
      op->setAttr(onnx::nodeNameAttr, made);
      op->setLoc(NameLoc::get(made));
    });
  }

private:
  ModuleOp module;
  llvm::StringSet<> given;
};
} // namespace

LogicalResult esp::optimizeModule(ModuleOp module,
                                  const std::vector<std::string> &passes,
                                  StringRef batch) {
  FusedGemms gemms(module);
  PreprocessOptions options;
  options.executor = createFoldingExecutor;
  options.passes = passes;
  options.optimize = !passes.empty();
  options.dynamicBatch = batch.str();
  PassManager pm(module.getContext());
  if (llvm::Error error = buildPreprocessPipeline(pm, options))
    return fail(module.getContext(), std::move(error));
  if (failed(pm.run(module)))
    return failure();
  gemms.rename();
  return success();
}

llvm::FailureOr<Prepared> esp::prepareModule(ModuleOp module,
                                             const QuantizeOptions &options) {
  if (failed(closeBatches(module)))
    return failure();
  FusedGemms gemms(module);
  PreprocessOptions preprocess;
  preprocess.executor = createFoldingExecutor;
  preprocess.skip = {"recognize-hard-swish", "recognize-sigmoid", "split-gemm",
                     "div-to-mul"};
  // The runtime has no Erf, and a normalization in parts loses most of it.
  if (options.legacy)
    preprocess.skip.insert(preprocess.skip.end(),
                           {"recognize-gelu", "recognize-layer-norm"});
  PassManager pm(module.getContext());
  if (llvm::Error error = buildPreprocessPipeline(pm, preprocess))
    return fail(module.getContext(), std::move(error));
  if (failed(pm.run(module)))
    return failure();
  if (options.legacy)
    gemms.rename();
  auto imported = importFloat(module);
  if (!imported)
    return module.emitError() << llvm::toString(imported.takeError());
  Prepared prepared;
  prepared.model = std::move(*imported);
  Model &model = prepared.model;
  if (!options.legacy)
    replaceBatchNorms(model);
  prepared.reasons =
      options.legacy ? checkLegacyModel(model) : checkModel(model);
  if (!prepared.reasons.empty())
    return prepared;
  prepareFloat(model, options.legacy);
  llvm::StringSet<> names;
  for (const Node &node : model.nodes)
    names.insert(node.name);
  for (const auto &[name, bits] : options.nodeBits)
    if (!names.contains(name))
      return module.emitError()
             << "has no node '" << name << "' (--int16-nodes)";
  if (!options.legacy)
    prepared.reasons = checkPrepared(model, options);
  return prepared;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

static llvm::ArrayRef<float> floatsOf(const HostTensor &tensor) {
  return {reinterpret_cast<const float *>(tensor.data.data()),
          static_cast<size_t>(tensor.numElements())};
}

/// The bits that tensors are measured for: those of what computes them, and of
/// the first reader of an input.
static std::map<std::string, int> tensorBits(const Model &model,
                                             const QuantizeOptions &options) {
  std::map<std::string, int> bits;
  auto bitsOf = [&](const Node &node) {
    auto found = options.nodeBits.find(node.name);
    return found == options.nodeBits.end() ? options.bits : found->second;
  };
  for (const Node &node : llvm::reverse(model.nodes))
    for (const std::string &name : node.inputs)
      bits[name] = bitsOf(node);
  for (const Node &node : model.nodes)
    for (const std::string &name : node.outputs)
      bits[name] = bitsOf(node);
  return bits;
}

static std::vector<InputInfo> inputsOf(const Model &model) {
  std::vector<InputInfo> inputs;
  for (const esp::Value &value : model.inputs)
    inputs.push_back({value.name, value.type, value.dims});
  return inputs;
}

namespace {

/// Runs all samples of a data set through a program, as often as asked for.
class SampleRuns {
public:
  SampleRuns(const Program &program, const DataSet &data,
             const MeasureOptions &options)
      : program(program), data(data), options(options) {}
  /// `visit` gets a sample and what came of it. Where samples come one after
  /// the other they are kept for the next run.
  llvm::Error
  run(llvm::function_ref<void(const Tensors &, const std::vector<HostTensor> &)>
          visit);

private:
  llvm::Expected<Tensors> load(int64_t index);

  const Program &program;
  const DataSet &data;
  const MeasureOptions &options;
  std::vector<Tensors> kept;
};

llvm::Expected<Tensors> SampleRuns::load(int64_t index) {
  if (!data.isStream())
    return data.load(index);
  if (index < static_cast<int64_t>(kept.size()))
    return kept[index];
  auto sample = data.load(index);
  if (sample)
    kept.push_back(*sample);
  return sample;
}

llvm::Error SampleRuns::run(
    llvm::function_ref<void(const Tensors &, const std::vector<HostTensor> &)>
        visit) {
  bool wasRead = !kept.empty();
  auto has = [&](int64_t index) {
    return wasRead ? index < static_cast<int64_t>(kept.size())
                   : data.has(index);
  };
  Progress progress("calibrating", "samples", data.size());
  int64_t index = 0;
  for (; has(index); ++index) {
    auto sample = load(index);
    if (!sample)
      return sample.takeError();
    auto results = program.run(*sample);
    if (!results)
      return results.takeError();
    visit(*sample, *results);
    progress.update(index + 1);
    if (options.interrupted && options.interrupted())
      return llvm::createStringError("interrupted");
  }
  if (index == 0)
    return llvm::createStringError("there are no samples to calibrate with");
  return llvm::Error::success();
}

} // namespace

/// Sums per channel over samples.
namespace {
struct ChannelSums {
  std::vector<double> sums;
  double places = 0;

  void add(const HostTensor &tensor) {
    if (tensor.dims.size() < 2)
      return;
    int64_t outer = tensor.dims[0], channels = tensor.dims[1],
            inner =
                tensor.numElements() / std::max<int64_t>(outer * channels, 1);
    sums.resize(channels);
    llvm::ArrayRef<float> values = floatsOf(tensor);
    for (int64_t i = 0, e = values.size(); i < e; ++i)
      sums[i / inner % channels] += values[i];
    places += outer * inner;
  }
  std::vector<double> means() const {
    std::vector<double> result = sums;
    for (double &sum : result)
      sum /= std::max(places, 1.0);
    return result;
  }
};
} // namespace

llvm::FailureOr<Measured> esp::measure(const Model &model,
                                       const QuantizeOptions &options,
                                       const MeasureOptions &measure,
                                       MLIRContext *context) {
  std::vector<std::string> tensors;
  std::string bytes = writeCalibrationModel(model, options, tensors);
  OwningOpRef<ModuleOp> module = importModel(
      {bytes.data(), bytes.size()}, "the calibrated model", "", context);
  if (!module)
    return failure();
  std::vector<InputInfo> inputs = inputsOf(model);
  auto data = DataSet::open(measure.data, inputs);
  if (!data)
    return fail(context, data.takeError());
  auto program = createCalibrationExecutor()->compile(*module);
  if (failed(program))
    return failure();
  std::map<std::string, int> bits = tensorBits(model, options);
  std::map<std::string, Observer> observers;
  std::map<std::string, ChannelSums> sums;
  auto observer = [&](const std::string &name) -> Observer & {
    return observers.try_emplace(name, measure.method).first->second;
  };
  SampleRuns runs(**program, *data, measure);
  auto visitAll = [&](bool isSecond) {
    return runs.run([&](const Tensors &sample,
                        const std::vector<HostTensor> &results) {
      auto observe = [&](const std::string &name, const HostTensor &tensor) {
        if (tensor.type != Float)
          return;
        if (isSecond) {
          observer(name).observeHistogram(floatsOf(tensor), bits[name]);
          return;
        }
        observer(name).observeRange(floatsOf(tensor));
        sums[name].add(tensor);
      };
      for (auto [info, tensor] : llvm::zip(inputs, sample))
        observe(info.name, tensor);
      for (auto [name, tensor] : llvm::zip(tensors, results))
        observe(name, tensor);
    });
  };
  if (llvm::Error error = visitAll(false))
    return fail(context, std::move(error));
  if (Observer(measure.method).needsHistogram())
    if (llvm::Error error = visitAll(true))
      return fail(context, std::move(error));
  Measured result;
  for (const auto &[name, found] : observers) {
    int own = bits[name] ? bits[name] : options.bits;
    result.exponents[name] = found.exponent(own);
    result.wide[name] = fittingExponent(found.magnitude(), 16);
    result.means[name] = sums[name].means();
  }
  for (const InputInfo &info : inputs)
    if (info.type == Float && (options.legacy || measure.inputExponent))
      result.exponents[info.name] =
          measure.inputExponent
              ? *measure.inputExponent
              : legacyInputExponent(observer(info.name).magnitude(),
                                    options.bits);
  return result;
}

//===----------------------------------------------------------------------===//
// Tensors of the device
//===----------------------------------------------------------------------===//

HostTensor esp::toDevice(const HostTensor &real, const esp::Value &value,
                         Rounding rounding) {
  if (real.type != Float || (value.type != Int8 && value.type != Int16))
    return real;
  HostTensor quantized = real;
  quantized.type = value.type;
  quantized.data.clear();
  double limit = value.type == Int8 ? 127 : 32767;
  for (int64_t i = 0; i < real.numElements(); ++i) {
    double q = roundAs(rounding, std::ldexp(real.at(i), -value.exponent()));
    int16_t number = static_cast<int16_t>(
        std::isnan(q) ? 0 : std::clamp(q, -limit - 1, limit));
    appendElement(quantized.data, number, bytesOf(value.type));
  }
  return quantized;
}

HostTensor esp::toDeviceLayout(const HostTensor &sample,
                               const esp::Value &value, bool isLast) {
  HostTensor moved = sample;
  moved.dims = value.dims;
  if (isLast && sample.dims.size() > 2)
    moved.data = transposedBytes(sample.data, elementBytes(sample.type),
                                 sample.dims[0], sample.dims[1]);
  return moved;
}

HostTensor esp::toReal(const HostTensor &tensor, int64_t exponent) {
  HostTensor real = tensor;
  real.type = Float;
  real.data.resize(tensor.numElements() * sizeof(float));
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    float value = std::ldexp(static_cast<float>(tensor.at(i)), exponent);
    std::memcpy(real.data.data() + i * sizeof(float), &value, sizeof(float));
  }
  return real;
}

LogicalResult esp::addTestValues(const Model &floats, const DataOptions &given,
                                 const Chip &chip, MLIRContext *context,
                                 Model &device) {
  auto data = DataSet::open(given, inputsOf(floats));
  if (!data)
    return fail(context, data.takeError());
  auto sample = data->load(0);
  if (!sample)
    return fail(context, sample.takeError());
  std::vector<HostTensor> feed;
  std::set<std::string> last = channelsLastTensors(device, chip);
  for (auto [tensor, value] : llvm::zip(*sample, device.inputs)) {
    HostTensor host =
        toDevice(toDeviceLayout(tensor, value, last.count(value.name)), value,
                 chip.rounding);
    device.testInputs.push_back(
        {value.name, "", host.type, host.dims, host.data, value.exponents});
    feed.push_back(std::move(host));
  }
  SimulationOptions simulation;
  simulation.chip = &chip;
  OwningOpRef<ModuleOp> module =
      importSimulation(device, simulation, "the quantized model", context);
  if (!module)
    return failure();
  auto program = createCalibrationExecutor()->compile(*module);
  if (failed(program))
    return failure();
  auto results = (*program)->run(feed);
  if (!results)
    return fail(context, results.takeError());
  for (auto [result, value] : llvm::zip(*results, device.outputs))
    device.testOutputs.push_back({value.name, "", result.type, result.dims,
                                  result.data, value.exponents});
  return success();
}
