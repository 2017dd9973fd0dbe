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
  Calibrate(CalibrationRun given, ExecutorFactory executor)
      : executor(std::move(executor)), run(std::move(given)) {}
  Calibrate(const Calibrate &other)
      : CalibrateBase(other), executor(other.executor), choice(other.choice),
        run(other.run) {}

  void runOnOperation() override {
    if (failed(calibrate()))
      signalPassFailure();
  }

private:
  LogicalResult calibrate();
  FailureOr<CalibrationRun> readRun();
#define GEN_OPTIONS_OF_CALIBRATE
#include "OnnxQuant/Transforms/Calibrate/Options.h.inc"

  ExecutorFactory executor;
  TensorChoice choice;
  /// Given instead of options.
  std::optional<CalibrationRun> run;
};

} // namespace

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

/// What the pass was given, or what its options say.
FailureOr<CalibrationRun> Calibrate::readRun() {
  if (run)
    return *run;
  ModuleOp module = getOperation();
  CalibrationRun read;
  if (llvm::Error error = readCollectOptions(readOptions(), read.collect))
    return module.emitError() << llvm::toString(std::move(error));
  read.collect.data.note = [module](const std::string &message) mutable {
    module.emitRemark() << message;
  };
  read.choice = choice;
  return read;
}

LogicalResult Calibrate::calibrate() {
  ModuleOp module = getOperation();
  if (!executor)
    return module.emitError("calibration expects an executor, but got none");
  FailureOr<CalibrationRun> given = readRun();
  if (failed(given))
    return failure();
  const CollectOptions &collect = given->collect;
  std::unique_ptr<Executor> runner = executor();
  FailureOr<StatisticsTable> statistics =
      given->annotate
          ? calibrateModule(module, *runner, collect, given->choice, perChannel)
          : collectStatistics(module, *runner, collect);
  if (failed(statistics))
    return failure();
  if (given->done)
    given->done(*statistics);
  numSamples = statistics->samples;
  for (const auto &[name, tensor] : statistics->tensors)
    ++(tensor.count > 0 ? numRanges : numSilent);
  if (table.empty())
    return success();
  auto fail = [&](llvm::Error error) {
    return module.emitError() << llvm::toString(std::move(error));
  };
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

std::unique_ptr<Pass> onnxquant::createCalibrate(CalibrationRun run,
                                                 ExecutorFactory executor) {
  return std::make_unique<Calibrate>(std::move(run), std::move(executor));
}
