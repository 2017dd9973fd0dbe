// Ranges of tensors on a module, read and written.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;

static constexpr llvm::StringLiteral minAttr = "min", maxAttr = "max",
                                     axisAttr = "channel_axis",
                                     minsAttr = "channel_mins",
                                     maxsAttr = "channel_maxs",
                                     meansAttr = "channel_means";

static SmallVector<double> listOf(DictionaryAttr entry, StringRef name) {
  auto list = entry.getAs<DenseF64ArrayAttr>(name);
  return list ? SmallVector<double>(list.asArrayRef()) : SmallVector<double>();
}

static std::optional<TensorRange> readEntry(Attribute attribute) {
  auto entry = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto min = entry ? entry.getAs<FloatAttr>(minAttr) : FloatAttr();
  auto max = entry ? entry.getAs<FloatAttr>(maxAttr) : FloatAttr();
  if (!min || !max)
    return std::nullopt;
  TensorRange range;
  range.min = min.getValueAsDouble();
  range.max = max.getValueAsDouble();
  if (!std::isfinite(range.min) || !std::isfinite(range.max) ||
      range.min > range.max)
    return std::nullopt;
  auto axis = entry.getAs<IntegerAttr>(axisAttr);
  if (!axis)
    return range;
  range.channelAxis = axis.getInt();
  range.channelMins = listOf(entry, minsAttr);
  range.channelMaxs = listOf(entry, maxsAttr);
  range.channelMeans = listOf(entry, meansAttr);
  return range;
}

static Attribute writeEntry(const TensorRange &range, Builder &b) {
  NamedAttrList entry;
  entry.set(minAttr, b.getF64FloatAttr(range.min));
  entry.set(maxAttr, b.getF64FloatAttr(range.max));
  if (range.channelAxis) {
    entry.set(axisAttr, b.getI64IntegerAttr(*range.channelAxis));
    auto set = [&](StringRef name, ArrayRef<double> list) {
      if (!list.empty())
        entry.set(name, b.getDenseF64ArrayAttr(list));
    };
    set(minsAttr, range.channelMins);
    set(maxsAttr, range.channelMaxs);
    set(meansAttr, range.channelMeans);
  }
  return entry.getDictionary(b.getContext());
}

bool onnxquant::onnx::hasCalibration(ModuleOp module) {
  return static_cast<bool>(
      module->getAttrOfType<DictionaryAttr>(calibrationAttr));
}

std::optional<TensorRange> onnxquant::onnx::getRange(ModuleOp module,
                                                     StringRef tensor) {
  auto all = module->getAttrOfType<DictionaryAttr>(calibrationAttr);
  if (!all || tensor.empty())
    return std::nullopt;
  return readEntry(all.get(tensor));
}

std::optional<TensorRange> onnxquant::onnx::getRange(Value value) {
  Operation *parent = value.getParentRegion()->getParentOp();
  auto module = parent->getParentOfType<ModuleOp>();
  return module ? getRange(module, getTensorName(value)) : std::nullopt;
}

Calibration onnxquant::onnx::getCalibration(ModuleOp module) {
  Calibration calibration;
  auto all = module->getAttrOfType<DictionaryAttr>(calibrationAttr);
  if (!all)
    return calibration;
  for (NamedAttribute entry : all)
    if (std::optional<TensorRange> range = readEntry(entry.getValue()))
      calibration[entry.getName().str()] = *range;
  return calibration;
}

void onnxquant::onnx::setCalibration(ModuleOp module,
                                     const Calibration &calibration) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> entries;
  for (const auto &[name, range] : calibration)
    if (!name.empty())
      entries.push_back(b.getNamedAttr(name, writeEntry(range, b)));
  module->setAttr(calibrationAttr, b.getDictionaryAttr(entries));
}

void onnxquant::onnx::addCalibration(ModuleOp module,
                                     const Calibration &calibration) {
  Builder b(module.getContext());
  NamedAttrList entries(module->getAttrOfType<DictionaryAttr>(calibrationAttr));
  for (const auto &[name, range] : calibration)
    entries.set(name, writeEntry(range, b));
  module->setAttr(calibrationAttr, entries.getDictionary(b.getContext()));
}

/// The name that the graph of a Loop or Scan gives to one of its inputs.
static StringRef inputNameOf(BlockArgument argument) {
  Region *region = argument.getOwner()->getParent();
  auto graphs =
      region->getParentOp()->getAttrOfType<ArrayAttr>("onnx_subgraphs");
  if (!graphs || region->getRegionNumber() >= graphs.size())
    return "";
  auto graph = dyn_cast<DictionaryAttr>(graphs[region->getRegionNumber()]);
  auto names =
      graph ? dyn_cast_or_null<ArrayAttr>(graph.get("inputs")) : ArrayAttr();
  if (!names || argument.getArgNumber() >= names.size())
    return "";
  auto name = dyn_cast<StringAttr>(names[argument.getArgNumber()]);
  return name ? name.getValue() : "";
}

StringRef onnxquant::onnx::getTensorName(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    auto names = result.getOwner()->getAttrOfType<ArrayAttr>(resultNamesAttr);
    if (!names || result.getResultNumber() >= names.size())
      return "";
    auto name = dyn_cast<StringAttr>(names[result.getResultNumber()]);
    return name ? name.getValue() : "";
  }
  auto argument = cast<BlockArgument>(value);
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!argument.getOwner()->isEntryBlock())
    return "";
  if (!function)
    return inputNameOf(argument);
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    argNameAttr);
  return name ? name.getValue() : "";
}
