// Moves outliers from activations into weights, as SmoothQuant does.
//
// An activation has one scale, and a channel that is ten times as wide as the
// others leaves them a tenth of the steps. Before products by constants,
// channel k is divided by
//   s_k = max|x_k|^alpha / max|w_k|^(1 - alpha)
// and row k of the weights is multiplied by it, which leaves the float model
// the same but for rounding. The division goes into the constants of what makes
// the tensor, or else into a product of its own.

#include "ChannelScaling.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

/// Products by constants that read one tensor.
using Readers = SmallVector<Operation *>;

class Smoother {
public:
  explicit Smoother(Plan &plan)
      : plan(plan), builder(plan.module.getContext()) {}
  void run();

private:
  bool isReader(OpOperand &use);
  std::optional<TensorRange> rangeOf(Value value, int64_t depth);
  void smooth(Value value, const Readers &readers);

  Plan &plan;
  OpBuilder builder;
  Calibration after;
};

} // namespace

static RankedTensorType weightType(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(1).getType());
}

bool Smoother::isReader(OpOperand &use) {
  Operation *op = use.getOwner();
  if (use.getOperandNumber() != 0 || !plan.isSelected(op) ||
      !isMatrixProduct(op))
    return false;
  Value weight = op->getOperand(1);
  return weight.hasOneUse() && !plan.overrides.count(tensorName(weight));
}

/// The ranges of a tensor's channels, none if they aren't known.
std::optional<TensorRange> Smoother::rangeOf(Value value, int64_t depth) {
  std::string name = tensorName(value);
  std::optional<TensorRange> range = getRange(plan.module, name);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto channels = static_cast<size_t>(depth);
  if (!range || !type || plan.overrides.count(name) ||
      range->channelAxis != type.getRank() - 1 ||
      range->channelMins.size() != channels ||
      range->channelMaxs.size() != channels)
    return std::nullopt;
  for (auto [min, max] : llvm::zip(range->channelMins, range->channelMaxs)) {
    min = std::clamp(min, range->min, range->max);
    max = std::clamp(max, range->min, range->max);
  }
  return range;
}

/// The largest magnitude of each channel's weights.
static SmallVector<double> weightSizes(const Readers &readers, int64_t depth) {
  SmallVector<double> sizes(depth, 0);
  for (Operation *op : readers) {
    SmallVector<double> numbers = *numbersOf(op->getOperand(1));
    int64_t inner = depthAxisOf(op) == 0 ? weightType(op).getDimSize(1) : 1;
    for (auto [i, number] : llvm::enumerate(numbers)) {
      double &size = sizes[static_cast<int64_t>(i) / inner % depth];
      size = std::max(size, std::fabs(number));
    }
  }
  return sizes;
}

/// Channels that are always zero, or whose weights are, stay as they are.
static SmallVector<double> chooseFactors(const TensorRange &range,
                                         ArrayRef<double> weights,
                                         double alpha) {
  SmallVector<double> factors;
  for (auto [min, max, weight] :
       llvm::zip(range.channelMins, range.channelMaxs, weights)) {
    double size = std::max(std::fabs(min), std::fabs(max));
    double factor = std::pow(size, alpha) / std::pow(weight, 1 - alpha);
    bool isUsable = size > 0 && weight > 0 && std::isnormal(factor) &&
                    std::isnormal(static_cast<float>(factor)) &&
                    std::isnormal(static_cast<float>(1 / factor));
    // As the model is going to hold it.
    factors.push_back(isUsable ? castScale(factor, ScaleType::F32) : 1);
  }
  return factors;
}

void Smoother::smooth(Value value, const Readers &readers) {
  int64_t depth =
      weightType(readers.front()).getDimSize(depthAxisOf(readers.front()));
  std::optional<TensorRange> range = rangeOf(value, depth);
  if (!range || !scaleTypeOf(value))
    return;
  SmallVector<double> factors = chooseFactors(
      *range, weightSizes(readers, depth), plan.settings.smoothAlpha);
  if (llvm::all_of(factors, [](double factor) { return factor == 1; }))
    return;
  for (Operation *op : readers) {
    Value weight = op->getOperand(1);
    RankedTensorType type = weightType(op);
    SmallVector<double> numbers = *numbersOf(weight);
    int64_t inner = depthAxisOf(op) == 0 ? type.getDimSize(1) : 1;
    for (auto [i, number] : llvm::enumerate(numbers))
      number *= factors[static_cast<int64_t>(i) / inner % depth];
    builder.setInsertionPoint(op);
    op->setOperand(1, createConstant(builder, weight.getLoc(),
                                     tensorName(weight) + "_smoothed", numbers,
                                     type.getShape(), type.getElementType()));
  }
  std::string name = tensorName(value);
  Value divided =
      divideChannels(value, factors, readers, plan.settings.smoothFolding);
  for (Operation *op : readers)
    op->setOperand(0, divided);
  // The numbers are others than those of the model, and so is the name.
  auto made = cast<OpResult>(divided);
  SmallVector<Attribute> names(made.getOwner()->getNumResults(),
                               builder.getStringAttr(""));
  if (auto known = made.getOwner()->getAttrOfType<ArrayAttr>(resultNamesAttr))
    llvm::copy(known, names.begin());
  names[made.getResultNumber()] = builder.getStringAttr(name + "_smoothed");
  made.getOwner()->setAttr(resultNamesAttr, builder.getArrayAttr(names));
  TensorRange &ranges = after[name + "_smoothed"] = *range;
  ranges.min = ranges.max = 0;
  for (auto [i, factor] : llvm::enumerate(factors)) {
    ranges.channelMins[i] /= factor;
    ranges.channelMaxs[i] /= factor;
    if (i < ranges.channelMeans.size())
      ranges.channelMeans[i] /= factor;
    ranges.min = std::min(ranges.min, ranges.channelMins[i]);
    ranges.max = std::max(ranges.max, ranges.channelMaxs[i]);
  }
}

void Smoother::run() {
  llvm::MapVector<Value, Readers> groups;
  for (Node &node : plan.nodes)
    if (node.op->getNumOperands() > 0 && isReader(node.op->getOpOperand(0)))
      groups[node.op->getOperand(0)].push_back(node.op);
  for (auto &[value, readers] : groups)
    smooth(value, readers);
  addCalibration(plan.module, after);
  plan.report.notes.push_back("channels of " + std::to_string(after.size()) +
                              " tensors are smoothed");
  if (after.empty())
    plan.module.emitWarning(
        "smooth-quant: no product by a constant reads a tensor whose channels "
        "have ranges; calibrate with per-channel statistics");
}

void quantize::smoothChannels(Plan &plan) { Smoother(plan).run(); }
