// From statistics to ranges on a module, and what users should know of them.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

/// A branch that no sample took has many tensors, and is one thing to know.
static void reportNeverComputed(ModuleOp module, ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  if (names.empty())
    return;
  auto warning = module.emitWarning(names.size() > 1 ? "tensors " : "tensor ");
  for (size_t i = 0; i < std::min(shown, names.size()); ++i)
    warning << (i ? ", '" : "'") << names[i] << "'";
  if (names.size() > shown)
    warning << " and " << names.size() - shown << " more";
  warning << (names.size() > 1 ? " were never computed and have no range"
                               : " was never computed and has no range")
          << (names.size() > 1 ? ": no sample took their branch"
                               : ": no sample took its branch");
}

/// Tensors by when a run computes them: inputs first.
static llvm::StringMap<size_t> computedOrder(ModuleOp module) {
  llvm::StringMap<size_t> order;
  auto add = [&](Attribute name) {
    if (auto text = dyn_cast_if_present<StringAttr>(name))
      order.try_emplace(text.getValue(), order.size());
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        add(function.getArgAttr(i, ir::argNameAttr));
    if (auto names = op->getAttrOfType<ArrayAttr>(ir::resultNamesAttr))
      for (Attribute name : names)
        add(name);
  });
  return order;
}

static int64_t countOdd(const TensorStatistics &s) {
  return s.nans + s.infinities + s.sentinels;
}

static void reportOdd(ModuleOp module, const StatisticsTable &table,
                      const std::string &name) {
  const TensorStatistics &s = table.tensors.find(name)->second;
  std::string parts;
  auto add = [&](int64_t count, StringRef what) {
    if (count > 0)
      parts += (parts.empty() ? "" : ", ") + std::to_string(count) + what.str();
  };
  add(s.nans, " NaN");
  add(s.infinities, " infinite");
  add(s.sentinels, " of 1e38 or more");
  auto warning = module.emitWarning("tensor '");
  warning << name << "': left out of its range: " << parts << " of "
          << s.count + countOdd(s) << " values";
  if (auto odd = table.oddSamples.find(name); odd != table.oddSamples.end())
    warning << ", first in " << odd->second;
}

/// Such values spread: what is computed first tells where they are from.
static void reportFirst(ModuleOp module, const StatisticsTable &table,
                        std::vector<std::string> names) {
  constexpr size_t shown = 5;
  if (names.size() > shown) {
    llvm::StringMap<size_t> order = computedOrder(module);
    auto position = [&](const std::string &name) {
      auto found = order.find(name);
      return found == order.end() ? order.size() : found->second;
    };
    llvm::stable_sort(names, [&](const std::string &a, const std::string &b) {
      return position(a) < position(b);
    });
  }
  for (const std::string &name : ArrayRef(names).take_front(shown))
    reportOdd(module, table, name);
  if (names.size() > shown)
    module.emitWarning() << names.size() - shown
                         << " more tensors, which are computed later, hold "
                            "such values";
}

void onnxquant::reportOddities(ModuleOp module, const StatisticsTable &table) {
  std::vector<std::string> never, odd;
  for (const auto &[name, s] : table.tensors) {
    if (countOdd(s) > 0)
      odd.push_back(name);
    if (table.samples == 0)
      continue;
    if (s.executions == 0)
      never.push_back(name);
    else if (s.count == 0 && countOdd(s) == 0)
      module.emitWarning("tensor '") << name << "' is empty and has no range";
  }
  reportFirst(module, table, std::move(odd));
  reportNeverComputed(module, never);
}

LogicalResult onnxquant::annotate(ModuleOp module, const StatisticsTable &table,
                                  const MethodOptions &options,
                                  bool perChannel) {
  auto ranges = computeRanges(table, options);
  if (!ranges)
    return module.emitError() << llvm::toString(ranges.takeError());
  ir::Calibration calibration;
  for (const auto &[name, range] : *ranges) {
    ir::TensorRange &entry = calibration[name];
    entry.min = range.min;
    entry.max = range.max;
    const TensorStatistics &s = table.tensors.find(name)->second;
    if (!perChannel || s.channelAxis < 0)
      continue;
    entry.channelAxis = s.channelAxis;
    entry.channelMins.assign(s.channelMins.begin(), s.channelMins.end());
    entry.channelMaxs.assign(s.channelMaxs.begin(), s.channelMaxs.end());
    for (int64_t c = 0; c < s.channels(); ++c)
      entry.channelMeans.push_back(s.channelMean(c));
  }
  ir::setCalibration(module, calibration);
  return success();
}
