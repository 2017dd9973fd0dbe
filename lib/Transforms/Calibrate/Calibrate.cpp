// onnx-calibrate: data in, ranges on the module. How code is made and run is
// the executor's business.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"

namespace onnxquant {
#define GEN_PASS_DEF_CALIBRATE
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {

struct Calibrate : public onnxquant::impl::CalibrateBase<Calibrate> {
  using CalibrateBase::CalibrateBase;
  Calibrate(CalibrateOptions options, ExecutorFactory executor,
            TensorChoice choice)
      : CalibrateBase(std::move(options)), executor(std::move(executor)),
        choice(std::move(choice)) {}
  Calibrate(const Calibrate &other)
      : CalibrateBase(other), executor(other.executor), choice(other.choice) {}

  void runOnOperation() override {
    if (failed(calibrate()))
      signalPassFailure();
  }

private:
  LogicalResult calibrate();
  /// The pass's options as the collector has them.
  llvm::Error readOptions(CollectOptions &collect);

  ExecutorFactory executor;
  TensorChoice choice;
};

} // namespace

llvm::Error Calibrate::readOptions(CollectOptions &collect) {
  auto parsed = parseMethod(method);
  if (!parsed)
    return parsed.takeError();
  collect.method.method = *parsed;
  collect.method.quantizedBins = quantizedBins;
  collect.method.percentile = percentile;
  collect.method.symmetric = symmetric;
  if (llvm::Error error = checkOptions(collect.method))
    return error;
  collect.constant = constant;
  collect.spec.all = all;
  collect.spec.opTypes.assign(opTypes.begin(), opTypes.end());
  collect.spec.nodes.assign(nodes.begin(), nodes.end());
  collect.spec.bins = needsHistogram(*parsed) ? bins.getValue() : 0;
  collect.spec.batch = batch;
  collect.threads = std::max<int64_t>(threads, 0);
  DataOptions &source = collect.data;
  source.paths.assign(data.begin(), data.end());
  source.start = start;
  source.stride = stride;
  source.limit = limit;
  source.batch = batch;
  source.skipBad = skipBad;
  source.note = [module = getOperation()](const std::string &message) mutable {
    module.emitRemark() << message;
  };
  SampleOptions &image = source.preprocess;
  image.name = preprocess;
  image.size = size;
  image.crop = crop;
  image.filter = filter;
  image.layout = layout;
  image.channels = channels;
  image.letterbox = letterbox;
  image.multipleOf = multipleOf;
  image.padAt = padAt;
  for (auto [name, text, target] :
       {std::tuple("mean", mean.getValue(), &image.mean),
        std::tuple("scale", scale.getValue(), &image.scale),
        std::tuple("pad-color", padColor.getValue(), &image.padColor)}) {
    auto numbers = parseNumbers(name, text);
    if (!numbers)
      return numbers.takeError();
    *target = *numbers;
  }
  if (!preprocessPlugin.empty())
    return loadPreprocessPlugin(preprocessPlugin);
  return llvm::Error::success();
}

FailureOr<StatisticsTable>
onnxquant::calibrateModule(ModuleOp module, Executor &executor,
                           CollectOptions options, const TensorChoice &choice,
                           bool perChannel) {
  if (choice) {
    // Unnamed tensors can be chosen too.
    nameTensors(module);
    auto names = choice(module);
    if (failed(names))
      return failure();
    // A model that needs no range needs no run.
    if (names->empty())
      return StatisticsTable();
    options.spec.names = std::move(*names);
  }
  auto statistics = collectStatistics(module, executor, options);
  if (failed(statistics))
    return failure();
  reportOddities(module, *statistics);
  if (failed(annotate(module, *statistics, options.method, perChannel)))
    return failure();
  return statistics;
}

LogicalResult Calibrate::calibrate() {
  ModuleOp module = getOperation();
  auto fail = [&](llvm::Error error) {
    return module.emitError() << llvm::toString(std::move(error));
  };
  if (!executor)
    return module.emitError("calibration expects an executor, but got none");
  CollectOptions collect;
  if (llvm::Error error = readOptions(collect))
    return fail(std::move(error));
  std::unique_ptr<Executor> runner = executor();
  auto statistics =
      calibrateModule(module, *runner, collect, choice, perChannel);
  if (failed(statistics))
    return failure();
  numSamples = statistics->samples;
  for (const auto &[name, tensor] : statistics->tensors)
    ++(tensor.count > 0 ? numRanges : numSilent);
  if (table.empty())
    return success();
  auto format = tableFormat(table);
  if (!format)
    return fail(format.takeError());
  if (llvm::Error error =
          writeTable(*statistics, table, *format, collect.method))
    return fail(std::move(error));
  return success();
}

std::unique_ptr<Pass> onnxquant::createCalibrate(CalibrateOptions options,
                                                 ExecutorFactory executor,
                                                 TensorChoice choice) {
  return std::make_unique<Calibrate>(std::move(options), std::move(executor),
                                     std::move(choice));
}
