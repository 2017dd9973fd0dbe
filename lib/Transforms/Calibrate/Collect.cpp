// The loop of calibration.
//
// The instrumented copy is specialized to the samples' shapes if all have the
// same, which lets buffers be planned and loops be unrolled; otherwise one
// program with open dimensions runs them all. Records have the same form in
// both, so shards of one data set always go together.

#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/Progress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <cstring>

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;
using Clock = std::chrono::steady_clock;

/// How often a checkpoint is written.
static constexpr std::chrono::seconds checkpointPeriod(30);

FailureOr<std::vector<InputInfo>> onnxquant::graphInputs(ModuleOp module) {
  FailureOr<func::FuncOp> graph = findGraph(module);
  if (failed(graph))
    return failure();
  std::vector<InputInfo> inputs;
  for (BlockArgument argument : graph->getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = graph->getArgAttrOfType<StringAttr>(number, ir::argNameAttr);
    InputInfo info;
    info.name = name ? name.str() : "";
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    info.type =
        type ? ir::onnxFromElementType(type.getElementType()).value_or(0) : 0;
    if (info.type == 0)
      return module.emitError("input '")
             << info.name << "' expects a tensor of known rank, but got "
             << argument.getType();
    for (int64_t dim : type.getShape())
      info.dims.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
    inputs.push_back(std::move(info));
  }
  return inputs;
}

void onnxquant::specializeInputs(func::FuncOp graph, const Tensors &inputs,
                                 bool keepFirst) {
  SmallVector<Type> types(graph.getArgumentTypes());
  for (auto [index, tensor] : llvm::enumerate(inputs)) {
    auto type = cast<RankedTensorType>(types[index]);
    SmallVector<int64_t> shape(tensor.dims.begin(), tensor.dims.end());
    if (keepFirst && !shape.empty())
      shape[0] = type.getDimSize(0);
    types[index] = RankedTensorType::get(shape, type.getElementType());
    graph.getBody().front().getArgument(index).setType(types[index]);
  }
  graph.setFunctionType(
      FunctionType::get(graph.getContext(), types, graph.getResultTypes()));
}

namespace {

/// One calibration under way.
class Collector {
public:
  Collector(ModuleOp module, Executor &executor, const CollectOptions &options)
      : module(module), executor(executor), options(options) {}

  FailureOr<StatisticsTable> run();

private:
  LogicalResult fail(llvm::Error error) {
    return module.emitError() << llvm::toString(std::move(error));
  }
  LogicalResult open();
  LogicalResult resume();
  /// Reads up to a batch of samples from `next` on.
  LogicalResult readBatch(std::vector<Tensors> &samples);
  LogicalResult compile(const Tensors &first);
  LogicalResult runBatch(llvm::ArrayRef<Tensors> samples);
  LogicalResult saveCheckpoint();

  ModuleOp module;
  Executor &executor;
  const CollectOptions &options;
  std::optional<DataSet> data;
  OwningOpRef<ModuleOp> copy;
  Instrumented instrumented;
  std::unique_ptr<Program> program;
  StatisticsTable table;
  /// The next sample to read.
  int64_t next = 0;
  /// Seconds.
  double fastestRun = std::numeric_limits<double>::infinity();
};

} // namespace

LogicalResult Collector::open() {
  // In a pass it is there already.
  module.getContext()->getOrLoadDialect<onnxq::ONNXQDialect>();
  nameTensors(module);
  auto inputs = graphInputs(module);
  if (failed(inputs))
    return failure();
  if (options.data.batch > 1)
    for (const InputInfo &input : *inputs)
      if (input.dims.empty() || input.dims[0] >= 0)
        return module.emitError("batch expects the first dimension of input '")
               << input.name << "' to be open, but it is "
               << (input.dims.empty() ? "missing"
                                      : std::to_string(input.dims[0]));
  auto set = DataSet::open(options.data, *inputs);
  if (!set)
    return fail(set.takeError());
  data.emplace(std::move(*set));
  // A shard of a small data set may be empty; the whole must not.
  if (data->size() == 0 && options.data.shards == 1)
    return module.emitError("no samples are left to run");
  copy = OwningOpRef<ModuleOp>(cast<ModuleOp>(module->clone()));
  auto result = instrument(*copy, options.spec);
  if (failed(result))
    return failure();
  instrumented = std::move(*result);
  if (instrumented.observers.empty())
    return module.emitError("has no tensor to observe");
  table.method = methodName(options.method.method).str();
  for (const Observer &observer : instrumented.observers) {
    TensorStatistics statistics(observer.layout, observer.channelAxis);
    if (options.method.method == CalibrationMethod::MovingAverage)
      statistics.moving = MovingAverage{options.constant, 0, 0};
    table.tensors.emplace(observer.name, std::move(statistics));
  }
  return success();
}

LogicalResult Collector::resume() {
  if (options.checkpoint.empty() || !llvm::sys::fs::exists(options.checkpoint))
    return success();
  auto saved = readStatistics(options.checkpoint);
  if (!saved)
    return fail(saved.takeError());
  bool fits = saved->method == table.method &&
              saved->tensors.size() == table.tensors.size();
  for (const auto &[name, statistics] : saved->tensors) {
    auto mine = table.tensors.find(name);
    fits = fits && mine != table.tensors.end() &&
           mine->second.channels() == statistics.channels() &&
           mine->second.histogram.bins() == statistics.histogram.bins();
  }
  if (!fits || saved->next > data->size())
    return module.emitError()
           << options.checkpoint << ": is of another calibration";
  next = saved->next;
  table = std::move(*saved);
  return success();
}

LogicalResult Collector::readBatch(std::vector<Tensors> &samples) {
  samples.clear();
  while (next < data->size() &&
         static_cast<int64_t>(samples.size()) < options.data.batch) {
    auto sample = data->load(next++);
    if (sample) {
      samples.push_back(std::move(*sample));
      continue;
    }
    if (!options.data.skipBad)
      return fail(sample.takeError());
    ++table.skipped;
    std::string reason = llvm::toString(sample.takeError());
    if (!options.quiet)
      module.emitWarning() << "skipped: " << reason;
  }
  return success();
}

LogicalResult Collector::compile(const Tensors &first) {
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (failed(graph))
    return failure();
  if (data->isUniform())
    specializeInputs(*graph, first, /*keepFirst=*/options.data.batch > 1);
  Clock::time_point start = Clock::now();
  auto compiled = executor.compile(*copy);
  if (failed(compiled))
    return failure();
  program = std::move(*compiled);
  copy = {};
  std::chrono::duration<double> took = Clock::now() - start;
  if (options.verbose)
    llvm::errs() << "compiled " << instrumented.observers.size()
                 << " observers in " << llvm::format("%.3f s\n", took.count());
  return success();
}

LogicalResult Collector::runBatch(llvm::ArrayRef<Tensors> samples) {
  if (!program && failed(compile(samples[0])))
    return failure();
  Tensors inputs;
  if (samples.size() == 1) {
    inputs = samples[0];
  } else {
    auto stacked = stack(samples);
    if (!stacked)
      return fail(stacked.takeError());
    inputs = std::move(*stacked);
  }
  HostTensor number;
  number.type = 7;
  number.dims = {1};
  auto count = static_cast<int64_t>(samples.size());
  number.data.resize(sizeof(count));
  std::memcpy(number.data.data(), &count, sizeof(count));
  inputs.push_back(std::move(number));
  Clock::time_point start = Clock::now();
  auto outputs = program->run(inputs);
  if (!outputs)
    return fail(outputs.takeError());
  std::chrono::duration<double> took = Clock::now() - start;
  fastestRun = std::min(fastestRun, took.count());
  const HostTensor &words = outputs->back();
  llvm::ArrayRef<int64_t> all(
      reinterpret_cast<const int64_t *>(words.data.data()),
      words.data.size() / sizeof(int64_t));
  for (const Observer &observer : instrumented.observers)
    table.tensors.find(observer.name)
        ->second.addRecord(observer.layout,
                           all.slice(observer.offset, observer.layout.words()),
                           count);
  table.samples += count;
  return success();
}

LogicalResult Collector::saveCheckpoint() {
  table.next = next;
  llvm::Error error = writeTable(table, options.checkpoint,
                                 TableFormat::Statistics, options.method);
  table.next = 0;
  return error ? fail(std::move(error)) : success();
}

FailureOr<StatisticsTable> Collector::run() {
  if (failed(open()) || failed(resume()))
    return failure();
  Progress progress("calibrating", "samples", data->size(), options.quiet);
  Clock::time_point saved = Clock::now();
  std::vector<Tensors> samples;
  while (next < data->size()) {
    progress.update(next);
    if (options.interrupted && options.interrupted()) {
      progress.clear();
      if (options.checkpoint.empty())
        return module.emitError("interrupted; nothing is written");
      if (failed(saveCheckpoint()))
        return failure();
      return module.emitError("interrupted after ")
             << next << " of " << data->size() << " samples; "
             << options.checkpoint << " can be continued";
    }
    if (failed(readBatch(samples)))
      return failure();
    if (!samples.empty() && failed(runBatch(samples)))
      return failure();
    if (!options.checkpoint.empty() &&
        Clock::now() - saved >= checkpointPeriod) {
      if (failed(saveCheckpoint()))
        return failure();
      saved = Clock::now();
    }
  }
  progress.clear();
  if (table.samples == 0 && data->size() > 0)
    return module.emitError("no sample could be read: all ")
           << data->size() << " were skipped";
  if (options.verbose && table.samples > 0)
    llvm::errs() << "the fastest run took "
                 << llvm::format("%.3f ms\n", 1e3 * fastestRun);
  table.next = 0;
  if (!options.checkpoint.empty())
    (void)llvm::sys::fs::remove(options.checkpoint);
  return std::move(table);
}

FailureOr<StatisticsTable>
onnxquant::collectStatistics(ModuleOp module, Executor &executor,
                             const CollectOptions &options) {
  return Collector(module, executor, options).run();
}
