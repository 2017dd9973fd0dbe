// Runs a switchable model with one tensor, or one node's weights, quantized.

#include "Branches.h"
#include "OnnxQuant/Debugging/Sensitivity.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/Progress.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "SwitchedRuns.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;

namespace {

class SourceMeter {
public:
  SourceMeter(ModuleOp real, ModuleOp quant, Executor &executor,
              const SourceOptions &options)
      : real(real), quant(quant), executor(executor), options(options) {}

  FailureOr<SourceSensitivity> run();

private:
  LogicalResult fail(llvm::Error error) {
    return quant.emitError() << llvm::toString(std::move(error));
  }
  LogicalResult compile(const Tensors &sample);
  LogicalResult runSample(const Tensors &sample, ArrayRef<int64_t> samples);
  bool isInterrupted() const {
    return options.interrupted && options.interrupted();
  }

  ModuleOp real, quant;
  Executor &executor;
  const SourceOptions &options;
  std::optional<DataSet> data;
  std::unique_ptr<Program> program;
  SourceSensitivity result;
};

} // namespace

LogicalResult SourceMeter::compile(const Tensors &sample) {
  for (ModuleOp module : {real, quant})
    if (failed(debugging::fitModule(module, sample, data->isUniform(),
                                    /*keepFirst=*/options.data.batch > 1,
                                    executor)))
      return failure();
  auto switched = addSourceSwitches(real, quant);
  if (failed(switched))
    return failure();
  result.sources = std::move(*switched);
  size_t count = result.sources.size();
  if (result.noise.size() != count)
    result = {std::move(result.sources), 0, 0, 0, 0,
              std::vector<double>(count)};
  auto compiled = executor.compile(quant);
  if (failed(compiled))
    return failure();
  program = std::move(*compiled);
  return success();
}

LogicalResult SourceMeter::runSample(const Tensors &sample,
                                     ArrayRef<int64_t> samples) {
  size_t count = result.sources.size();
  std::vector<char> off(count, 0);
  auto right = runSwitched(*program, sample, off);
  auto explain = [&](llvm::Error error) {
    return quant.emitError()
           << data->explain(llvm::toString(std::move(error)), samples, sample);
  };
  if (!right)
    return explain(right.takeError());
  std::vector<OutputNoise> places(count + 1);
  std::vector<SwitchedRun> runs{{std::vector<char>(count, 1), &places[count]}};
  for (size_t source = 0; source < count; ++source) {
    runs.push_back({off, &places[source]});
    runs.back().flags[source] = 1;
  }
  auto done =
      runAll(*program, sample, *right, runs, [&] { return isInterrupted(); });
  if (!done)
    return explain(done.takeError());
  // A sample counts as a whole or not at all.
  if (*done < static_cast<int64_t>(runs.size()))
    return success();
  for (size_t source = 0; source < count; ++source)
    result.noise[source] += places[source].noise;
  result.signal += places[count].signal;
  result.all += places[count].noise;
  result.runs += *done + 1;
  result.samples += static_cast<int64_t>(samples.size());
  if (options.kept)
    options.kept(result);
  return success();
}

FailureOr<SourceSensitivity> SourceMeter::run() {
  auto inputs = graphInputs(quant);
  if (failed(inputs))
    return failure();
  auto set = DataSet::open(options.data, *inputs);
  if (!set)
    return fail(set.takeError());
  data.emplace(std::move(*set));
  int64_t most = data->size();
  if (options.most > 0)
    most = std::min(most, options.most);
  if (options.before)
    result = *options.before;
  Progress progress("measuring", "samples", most, options.quiet);
  BatchReader reader(*data, options.data);
  int64_t seen = 0;
  while (seen < most && !isInterrupted()) {
    progress.update(seen);
    auto batch = reader.next();
    if (!batch)
      return fail(batch.takeError());
    if (!*batch)
      break;
    ArrayRef<int64_t> samples = reader.indices();
    if (!program) {
      CompileContext context(*data, samples, **batch, quant.getContext());
      if (failed(compile(**batch)))
        return failure();
    }
    seen += static_cast<int64_t>(samples.size());
    if (seen <= result.samples)
      continue;
    if (failed(runSample(**batch, samples)))
      return failure();
  }
  progress.clear();
  if (result.samples == 0 && !isInterrupted())
    return quant.emitError("no samples are left to run");
  return std::move(result);
}

FailureOr<SourceSensitivity>
onnxquant::measureSources(ModuleOp real, ModuleOp quant, Executor &executor,
                          const SourceOptions &options) {
  return SourceMeter(real, quant, executor, options).run();
}
