// The loop of calibration.
//
// The instrumented copy is specialized to the samples' shapes if all have the
// same, which lets buffers be planned and loops be unrolled; otherwise one
// program with open dimensions runs them all. Records have the same form in
// both, so shards of one data set always go together.
//
// Several samples run at once, each in a thread of its own. What they give is
// added to the table in the samples' order, so that moving averages, warnings
// and checkpoints are those of a single thread too.
//
// A stream is read by the thread that called, since it may be someone's code
// that expects it; others run what was read. It is compiled for the shapes of
// the first sample; one of another shape makes a program with open dimensions.

#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Support/Progress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;
using Clock = std::chrono::steady_clock;

/// The most runs at once unless told otherwise: each has memory of its own.
static constexpr int64_t mostWorkers = 8;
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

CompileContext::CompileContext(const DataSet &data,
                               llvm::ArrayRef<int64_t> samples,
                               const Tensors &inputs, MLIRContext *context)
    : handler(context, [text = data.explain("compiled for this sample", samples,
                                            inputs)](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          diagnostic.attachNote(
              UnknownLoc::get(diagnostic.getLocation().getContext()))
              << text;
        // Others print it.
        return failure();
      }) {}

namespace {

/// Samples that run together, and what became of them.
struct Batch {
  std::vector<Tensors> samples;
  /// Their numbers in the data set.
  std::vector<int64_t> indices;
  /// Why samples were left out.
  std::vector<std::string> skipped;
  /// The sample behind the last.
  int64_t end = 0;
  /// Why the work ends here; empty if it doesn't.
  std::string failure;
  /// Of the run; the last are the observers' words.
  Tensors outputs;
  double seconds = 0;
  /// What entered, where that is asked for.
  bool keepsInputs = false;
  Tensors inputs;
  std::vector<SeenInput> seen;
  /// What runs it.
  const Program *program = nullptr;
  int64_t ticket = 0;
};

/// Batches on their way from the reader to those who run them.
class BatchQueue {
public:
  explicit BatchQueue(size_t room) : room(room) {}
  /// False if there is no room for a while.
  bool put(Batch &batch) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!changed.wait_for(lock, std::chrono::milliseconds(50),
                          [&]() { return batches.size() < room; }))
      return false;
    batches.push_back(std::move(batch));
    changed.notify_all();
    return true;
  }
  /// Nothing if no more come.
  std::optional<Batch> take() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&]() { return isClosed || !batches.empty(); });
    if (batches.empty())
      return std::nullopt;
    Batch batch = std::move(batches.front());
    batches.pop_front();
    changed.notify_all();
    return batch;
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex);
    isClosed = true;
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Batch> batches;
  size_t room;
  bool isClosed = false;
};

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
  Batch readBatch();
  LogicalResult compile(const Batch &first);
  /// May run in several threads at once.
  void runBatch(Batch &batch);
  /// Adds what a run gave to the table.
  LogicalResult keep(const Batch &batch);
  void keepSeen(const Batch &batch);
  void addRecords(llvm::ArrayRef<int64_t> words, const Batch &batch);
  /// Says where a tensor first had values that don't count.
  void keepOdd(const std::string &tensor, const ObserverRecord &record,
               const Batch &batch);
  LogicalResult saveCheckpoint();
  /// Reads and runs batches until there are no more.
  void work(Progress &progress);
  /// Reads a stream and lets others run what it gives.
  void feed(Progress &progress);
  /// Chooses what runs a batch of a stream.
  LogicalResult chooseProgram(Batch &batch);
  /// Keeps what a run gave when it is its turn.
  void keepInTurn(Batch &batch, Progress &progress);
  bool shouldStop();
  int64_t countWorkers() const;

  ModuleOp module;
  Executor &executor;
  const CollectOptions &options;
  std::optional<DataSet> data;
  OwningOpRef<ModuleOp> copy, openCopy;
  Instrumented instrumented;
  std::unique_ptr<Program> program, openProgram;
  /// What `program` was compiled for, of a stream.
  std::vector<std::vector<int64_t>> shapes;
  StatisticsTable table;
  /// Seconds.
  double fastestRun = std::numeric_limits<double>::infinity();
  Clock::time_point saved;

  /// Sources are read by one thread at a time. The next sample to read, the
  /// batch that was read already, and the number of batches so far.
  std::mutex reading;
  int64_t next = 0;
  std::optional<Batch> first;
  int64_t tickets = 0;
  /// The table is written by one thread at a time, batch after batch: which is
  /// next, and how many samples it holds or leaves out.
  std::mutex keeping;
  std::condition_variable turn;
  int64_t served = 0, kept = 0;
  std::atomic<bool> hasFailed = false, wasInterrupted = false;
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
  if (options.seen) {
    const SampleOptions &image = options.data.preprocess;
    options.seen->hasImages = data->imagePlan();
    options.seen->isNormalized =
        !image.mean.empty() || !image.scale.empty() || !image.name.empty();
  }
  // A shard of a small data set may be empty; the whole must not.
  if (data->size() == 0 && !data->isStream() && options.data.shards == 1)
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
  if (!fits || (!data->isStream() && saved->next > data->size()))
    return module.emitError()
           << options.checkpoint << ": is of another calibration";
  next = saved->next;
  table = std::move(*saved);
  return success();
}

Batch Collector::readBatch() {
  Batch batch;
  while (static_cast<int64_t>(batch.samples.size()) < options.data.batch &&
         data->has(next)) {
    auto sample = data->load(next++);
    if (sample) {
      batch.samples.push_back(std::move(*sample));
      batch.indices.push_back(next - 1);
      continue;
    }
    std::string reason = llvm::toString(sample.takeError());
    if (!options.data.skipBad) {
      batch.failure = reason;
      break;
    }
    batch.skipped.push_back(reason);
  }
  batch.end = next;
  return batch;
}

LogicalResult Collector::compile(const Batch &first) {
  FailureOr<func::FuncOp> graph = findGraph(*copy);
  if (failed(graph))
    return failure();
  if (data->isStream()) {
    openCopy = OwningOpRef<ModuleOp>(cast<ModuleOp>((*copy)->clone()));
    for (const HostTensor &tensor : first.samples[0])
      shapes.push_back(tensor.dims);
  }
  // What doesn't fit a sample's shape is found here already.
  std::optional<CompileContext> context;
  if (data->isUniform() || data->isStream()) {
    specializeInputs(*graph, first.samples[0],
                     /*keepFirst=*/options.data.batch > 1);
    context.emplace(*data, first.indices, first.samples[0],
                    module.getContext());
  }
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

void Collector::runBatch(Batch &batch) {
  Tensors inputs;
  auto count = static_cast<int64_t>(batch.samples.size());
  if (count == 1) {
    inputs = std::move(batch.samples[0]);
  } else {
    auto stacked = stack(batch.samples);
    if (!stacked) {
      batch.failure = data->explain(llvm::toString(stacked.takeError()),
                                    batch.indices, batch.samples[0]);
      return;
    }
    inputs = std::move(*stacked);
  }
  if (options.seen)
    for (const HostTensor &input : inputs)
      batch.seen.emplace_back().add(input);
  if (batch.keepsInputs)
    batch.inputs = inputs;
  HostTensor number;
  number.type = 7;
  number.dims = {1};
  number.data.resize(sizeof(count));
  std::memcpy(number.data.data(), &count, sizeof(count));
  inputs.push_back(std::move(number));
  Clock::time_point start = Clock::now();
  auto outputs = (batch.program ? *batch.program : *program).run(inputs);
  std::chrono::duration<double> took = Clock::now() - start;
  if (!outputs) {
    batch.failure = data->explain(llvm::toString(outputs.takeError()),
                                  batch.indices, inputs);
    return;
  }
  batch.seconds = took.count();
  batch.outputs = std::move(*outputs);
}

void Collector::keepOdd(const std::string &tensor, const ObserverRecord &record,
                        const Batch &batch) {
  constexpr size_t most = 4;
  if (record.nans + record.infinities + record.sentinels == 0 ||
      table.oddSamples.count(tensor))
    return;
  std::string &text = table.oddSamples[tensor];
  for (int64_t index : llvm::ArrayRef(batch.indices).take_front(most))
    text += (text.empty() ? "" : ", ") + data->placeOf(index);
  if (batch.indices.size() > most)
    text += " and " + std::to_string(batch.indices.size() - most) + " more";
}

void Collector::addRecords(llvm::ArrayRef<int64_t> words, const Batch &batch) {
  auto count = static_cast<int64_t>(batch.samples.size());
  for (const Observer &observer : instrumented.observers) {
    llvm::ArrayRef<int64_t> own =
        words.slice(observer.offset, observer.layout.words());
    table.tensors.find(observer.name)
        ->second.addRecord(observer.layout, own, count);
    keepOdd(observer.name, *observer.layout.record(own.data()), batch);
  }
}

void SeenInput::add(const HostTensor &tensor) {
  name = tensor.name;
  type = tensor.type;
  dims = tensor.dims;
  auto look = [&](double value) {
    if (!std::isfinite(value))
      return;
    min = std::min(min, value);
    max = std::max(max, value);
    isWhole = isWhole && value == std::nearbyint(value);
  };
  int64_t count = tensor.numElements();
  if (type != 1) {
    for (int64_t i = 0; i < count; ++i)
      look(tensor.at(i));
    return;
  }
  const auto *values = reinterpret_cast<const float *>(tensor.data.data());
  for (int64_t i = 0; i < count; ++i)
    look(values[i]);
}

void SeenInput::add(const SeenInput &other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  isWhole &= other.isWhole;
}

void Collector::keepSeen(const Batch &batch) {
  SeenRuns &seen = *options.seen;
  if (seen.inputs.empty())
    seen.inputs = batch.seen;
  else
    for (auto [all, one] : llvm::zip(seen.inputs, batch.seen))
      all.add(one);
  if (batch.inputs.empty() ||
      static_cast<int64_t>(seen.samples.size()) >= seen.wanted)
    return;
  if (!seen.samples.empty())
    for (auto [mine, theirs] : llvm::zip(batch.inputs, seen.samples[0]))
      if (mine.dims != theirs.dims)
        return;
  seen.samples.push_back(batch.inputs);
  seen.outputs.emplace_back(batch.outputs.begin(),
                            std::prev(batch.outputs.end()));
}

LogicalResult Collector::keep(const Batch &batch) {
  table.skipped += batch.skipped.size();
  if (!options.quiet)
    for (const std::string &reason : batch.skipped)
      module.emitWarning() << "skipped: " << reason;
  if (!batch.failure.empty())
    return module.emitError() << batch.failure;
  kept = batch.end;
  if (options.seen)
    keepSeen(batch);
  auto count = static_cast<int64_t>(batch.samples.size());
  if (count > 0) {
    fastestRun = std::min(fastestRun, batch.seconds);
    const std::vector<char> &words = batch.outputs.back().data;
    addRecords({reinterpret_cast<const int64_t *>(words.data()),
                words.size() / sizeof(int64_t)},
               batch);
    table.samples += count;
  }
  if (!options.checkpoint.empty() && Clock::now() - saved >= checkpointPeriod) {
    if (failed(saveCheckpoint()))
      return failure();
    saved = Clock::now();
  }
  return success();
}

LogicalResult Collector::saveCheckpoint() {
  table.next = kept;
  llvm::Error error = writeTable(table, options.checkpoint,
                                 TableFormat::Statistics, options.method);
  table.next = 0;
  return error ? fail(std::move(error)) : success();
}

bool Collector::shouldStop() {
  if (options.interrupted && options.interrupted())
    wasInterrupted = true;
  return wasInterrupted || hasFailed;
}

/// Batches are kept in their order, whoever ran them.
void Collector::keepInTurn(Batch &batch, Progress &progress) {
  std::unique_lock<std::mutex> lock(keeping);
  turn.wait(lock, [&]() { return batch.ticket == served; });
  if (!hasFailed && failed(keep(batch)))
    hasFailed = true;
  progress.update(kept);
  ++served;
  turn.notify_all();
  if (!batch.outputs.empty() && (!batch.program || batch.program == &*program))
    program->reuse(std::move(batch.outputs));
}

void Collector::work(Progress &progress) {
  while (true) {
    Batch batch;
    {
      std::lock_guard<std::mutex> lock(reading);
      if (shouldStop() || (!first && !data->has(next)))
        return;
      int64_t ticket = tickets++;
      batch = first ? std::move(*first) : readBatch();
      batch.ticket = ticket;
      first.reset();
      // A few more, since some may have other shapes.
      batch.keepsInputs = options.seen && ticket < 4 * options.seen->wanted;
    }
    if (batch.failure.empty() && !batch.samples.empty())
      runBatch(batch);
    keepInTurn(batch, progress);
  }
}

LogicalResult Collector::chooseProgram(Batch &batch) {
  batch.program = program.get();
  bool same = true;
  for (const Tensors &sample : batch.samples)
    for (auto [tensor, shape] : llvm::zip(sample, shapes))
      same = same && tensor.dims == shape;
  if (same)
    return success();
  if (!openProgram) {
    auto compiled = executor.compile(*openCopy);
    if (failed(compiled))
      return failure();
    openProgram = std::move(*compiled);
    openCopy = {};
  }
  batch.program = openProgram.get();
  return success();
}

void Collector::feed(Progress &progress) {
  int64_t count = countWorkers();
  BatchQueue queue(count);
  std::vector<std::thread> helpers;
  for (int64_t i = 0; i < count; ++i)
    helpers.emplace_back([&]() {
      while (std::optional<Batch> batch = queue.take()) {
        if (batch->failure.empty() && !batch->samples.empty() && !hasFailed)
          runBatch(*batch);
        keepInTurn(*batch, progress);
      }
    });
  while (!shouldStop() && (first || data->has(next))) {
    Batch batch = first ? std::move(*first) : readBatch();
    first.reset();
    if (batch.failure.empty() && failed(chooseProgram(batch))) {
      hasFailed = true;
      break;
    }
    batch.ticket = tickets++;
    bool isLast = !batch.failure.empty();
    while (!queue.put(batch))
      shouldStop();
    if (isLast)
      break;
  }
  queue.close();
  for (std::thread &helper : helpers)
    helper.join();
}

int64_t Collector::countWorkers() const {
  int64_t wanted = options.threads;
  if (wanted == 0)
    wanted = std::min<int64_t>(
        llvm::hardware_concurrency().compute_thread_count(), mostWorkers);
  if (data->isStream())
    return std::max<int64_t>(wanted, 1);
  int64_t left = data->size() - next + options.data.batch;
  return std::clamp<int64_t>(left / options.data.batch, 1, wanted);
}

FailureOr<StatisticsTable> Collector::run() {
  if (failed(open()) || failed(resume()))
    return failure();
  Progress progress("calibrating", "samples", data->size(), options.quiet);
  progress.update(next);
  saved = Clock::now();
  kept = next;
  // The first samples say what to compile for.
  while (!first && data->has(next)) {
    Batch batch = readBatch();
    if (!batch.failure.empty() || !batch.samples.empty())
      first = std::move(batch);
    else if (failed(keep(batch)))
      return failure();
  }
  if (first && first->failure.empty() && failed(compile(*first)))
    return failure();
  if (data->isStream() && program) {
    feed(progress);
  } else {
    std::vector<std::thread> helpers;
    for (int64_t i = 1, e = data->isStream() ? 1 : countWorkers(); i < e; ++i)
      helpers.emplace_back([&]() { work(progress); });
    work(progress);
    for (std::thread &helper : helpers)
      helper.join();
  }
  progress.clear();
  if (hasFailed)
    return failure();
  if (wasInterrupted) {
    if (options.checkpoint.empty())
      return module.emitError("interrupted; nothing is written");
    if (failed(saveCheckpoint()))
      return failure();
    std::string of =
        data->size() > 0 ? " of " + std::to_string(data->size()) : "";
    return module.emitError("interrupted after ")
           << kept << of << " samples; " << options.checkpoint
           << " can be continued";
  }
  if (table.samples == 0 && data->isStream() && table.skipped == 0 &&
      options.data.shards == 1)
    return module.emitError("no samples are left to run");
  if (table.samples == 0 && table.skipped > 0)
    return module.emitError("no sample could be read: all ")
           << table.skipped << " were skipped";
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
