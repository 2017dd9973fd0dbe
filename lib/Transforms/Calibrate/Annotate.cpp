// From statistics to ranges on a module, and what users should know of them.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Transforms/Calibrate/Collect.h"

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

void onnxquant::reportOddities(ModuleOp module, const StatisticsTable &table) {
  std::vector<std::string> never;
  for (const auto &[name, s] : table.tensors) {
    if (s.nans + s.infinities + s.sentinels > 0) {
      std::string parts;
      auto add = [&](int64_t count, StringRef what) {
        if (count > 0)
          parts +=
              (parts.empty() ? "" : ", ") + std::to_string(count) + what.str();
      };
      add(s.nans, " NaN");
      add(s.infinities, " infinite");
      add(s.sentinels, " of 1e38 or more");
      auto warning = module.emitWarning("tensor '");
      warning << name << "': left out of its range: " << parts << " of "
              << s.count + s.nans + s.infinities + s.sentinels << " values";
      if (auto odd = table.oddSamples.find(name); odd != table.oddSamples.end())
        warning << ", first in " << odd->second;
    }
    if (table.samples == 0)
      continue;
    if (s.executions == 0)
      never.push_back(name);
    else if (s.count == 0 && s.nans + s.infinities + s.sentinels == 0)
      module.emitWarning("tensor '") << name << "' is empty and has no range";
  }
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
