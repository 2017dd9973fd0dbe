// onnx-load-calibration: a saved table's ranges on the module.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOADCALIBRATION
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

namespace {

struct LoadCalibration
    : public onnxquant::impl::LoadCalibrationBase<LoadCalibration> {
  using LoadCalibrationBase::LoadCalibrationBase;
  LoadCalibration(LoadCalibrationOptions options, TensorChoice choice)
      : LoadCalibrationBase(std::move(options)), choice(std::move(choice)) {}
  LoadCalibration(const LoadCalibration &other)
      : LoadCalibrationBase(other), choice(other.choice) {}

  void runOnOperation() override {
    if (failed(load()))
      signalPassFailure();
  }

private:
#define GEN_OPTIONS_OF_LOADCALIBRATION
#include "OnnxQuant/Transforms/Calibrate/Options.h.inc"
  LogicalResult load();
  LogicalResult annotateFrom(const CalibrationTable &file);
  /// Compares the table's names with those of the model.
  LogicalResult checkFit(const std::set<std::string> &given);

  TensorChoice choice;
};

} // namespace

LogicalResult LoadCalibration::checkFit(const std::set<std::string> &given) {
  ModuleOp module = getOperation();
  auto wanted = namesToObserve(module, InstrumentSpec());
  if (failed(wanted))
    return failure();
  if (choice) {
    auto chosen = choice(module);
    if (failed(chosen))
      return failure();
    for (auto at = wanted->begin(); at != wanted->end();)
      at = chosen->count(*at) ? std::next(at) : wanted->erase(at);
  }
  // Tensors that only the table has are no harm: it may be of the model before
  // it was prepared.
  std::vector<std::string> missing;
  for (const std::string &name : *wanted)
    if (!given.count(name))
      missing.push_back(name);
  if (missing.empty())
    return success();
  InFlightDiagnostic report =
      partial ? module.emitWarning() : module.emitError();
  report << "the table " << table << " doesn't fit the model: it has no range "
         << "for " << missing.size() << " of " << wanted->size() << " tensors ("
         << listNames(missing)
         << "); calibrate the same model, prepared and specialized alike";
  LogicalResult result = report;
  return partial ? success() : result;
}

LogicalResult LoadCalibration::annotateFrom(const CalibrationTable &file) {
  ModuleOp module = getOperation();
  auto fail = [&](llvm::Error error) {
    return module.emitError() << llvm::toString(std::move(error));
  };
  if (const auto *statistics = std::get_if<StatisticsTable>(&file)) {
    MethodOptions options;
    if (llvm::Error error =
            readMethodOptions(readOptions(), statistics->method, options))
      return fail(std::move(error));
    return annotate(module, *statistics, options, perChannel);
  }
  if (!method.empty())
    return module.emitError() << table << ": holds ranges, from which method "
                              << method << " can't be computed";
  ir::Calibration calibration;
  for (const auto &[name, range] : std::get<RangeTable>(file)) {
    double top = std::max(std::abs(range.min), std::abs(range.max));
    calibration[name].min = symmetric ? -top : range.min;
    calibration[name].max = symmetric ? top : range.max;
  }
  ir::setCalibration(module, calibration);
  return success();
}

LogicalResult LoadCalibration::load() {
  ModuleOp module = getOperation();
  if (table.empty())
    return module.emitError("onnx-load-calibration expects table=FILE");
  auto file = readTable(table);
  if (!file)
    return module.emitError() << llvm::toString(file.takeError());
  nameTensors(module);
  std::set<std::string> names;
  std::visit(
      [&](const auto &tables) {
        if constexpr (std::is_same_v<std::decay_t<decltype(tables)>,
                                     RangeTable>)
          for (const auto &[name, range] : tables)
            names.insert(name);
        else
          for (const auto &[name, range] : tables.tensors)
            names.insert(name);
      },
      *file);
  if (failed(checkFit(names)) || failed(annotateFrom(*file)))
    return failure();
  numRanges = ir::getCalibration(module).size();
  return success();
}

std::unique_ptr<Pass>
onnxquant::createLoadCalibration(LoadCalibrationOptions options,
                                 TensorChoice choice) {
  return std::make_unique<LoadCalibration>(std::move(options),
                                           std::move(choice));
}
