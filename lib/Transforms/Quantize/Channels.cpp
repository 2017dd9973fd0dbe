// Brings the channels that depthwise convolutions read to similar ranges.
//
// An activation has one scale, but its channels often have very different
// ranges: those of the narrow ones are a few steps wide, and all that a
// depthwise convolution makes of such a channel is made of these steps. Its
// weights have a scale for each channel, though, so that a channel can be
// multiplied by a factor and its weights divided by it, which costs them
// nothing. Factors are powers of two: the float model stays the same to the
// bit. They go into the convolution before, if only a Relu stands between, or
// else into a product that is computed with the ops before it.
//
// Factors leave room: a channel may turn out wider than calibration has seen.

#include "ChannelScaling.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Transforms/Quantize/ChannelFactors.h"
#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// How much wider than calibrated a scaled channel can be within the range.
static constexpr double margin = 1.5;
/// The largest factor.
static constexpr double greatestFactor = 8.0;

namespace {

using Factors = SmallVector<double>;

class ChannelScaler {
public:
  explicit ChannelScaler(Plan &plan)
      : plan(plan), builder(plan.module.getContext()) {}
  void run();

private:
  bool isDepthwise(OpOperand &use, int64_t channels);
  std::optional<TensorRange> rangeOf(const Activation &activation);
  bool isScalable(const Activation &activation, int64_t channels);
  Operation *producerOf(const Activation &activation, int64_t channels);
  void scale(Activation activation, const TensorRange &range,
             const Factors &factors);

  Plan &plan;
  OpBuilder builder;
  Calibration scaled;
  std::vector<ScaledTensor> record;
};

} // namespace

/// Whether a use reads each channel by itself, with constant weights that
/// nothing else has a say in.
bool ChannelScaler::isDepthwise(OpOperand &use, int64_t channels) {
  auto op = dyn_cast<QuantizableOpInterface>(use.getOwner());
  if (!op || !op.isContraction() || !plan.isSelected(op))
    return false;
  SmallVector<unsigned> operands = op.getQuantizableOperands();
  if (operands.size() != 2 || use.getOperandNumber() != operands[0])
    return false;
  OpOperand &weight = op->getOpOperand(operands[1]);
  auto known = plan.weights.find(&weight);
  auto type = dyn_cast<RankedTensorType>(weight.get().getType());
  std::optional<int64_t> channel = op.getChannelAxis(operands[1]),
                         reduction = op.getReductionAxis(operands[1]);
  return known != plan.weights.end() && type && channel == 0 && reduction &&
         type.getDimSize(*reduction) == 1 &&
         type.getDimSize(0) % channels == 0 && weight.get().hasOneUse() &&
         !plan.overrides.count(known->second.name);
}

std::optional<TensorRange>
ChannelScaler::rangeOf(const Activation &activation) {
  std::optional<TensorRange> range = getRange(plan.module, activation.name);
  auto type = dyn_cast<RankedTensorType>(activation.value.getType());
  if (!range || !type || range->channelAxis != 1 || type.getRank() < 3 ||
      !type.getElementType().isF32())
    return std::nullopt;
  size_t channels = type.getDimSize(1);
  if (type.isDynamicDim(1) || range->channelMins.size() != channels ||
      range->channelMaxs.size() != channels)
    return std::nullopt;
  for (auto [min, max] : llvm::zip(range->channelMins, range->channelMaxs)) {
    min = std::clamp(min, std::min(range->min, 0.0), 0.0);
    max = std::clamp(max, 0.0, std::max(range->max, 0.0));
  }
  return range;
}

/// Data that is moved has the parameters of what it is moved from. What a
/// product makes, perhaps clamped, is quantized there: a factor between them
/// would have runtimes compute the product in float.
bool ChannelScaler::isScalable(const Activation &activation, int64_t channels) {
  auto maker = activation.value.getDefiningOp<QuantizableOpInterface>();
  Node *node = maker ? plan.find(maker) : nullptr;
  bool shares = node && node->quantized && maker.sharesParameters();
  bool joined = maker && (maker.isContraction() || maker.getClamp());
  return !shares && (!joined || producerOf(activation, channels)) &&
         !activation.dynamic && !activation.uses.empty() &&
         !plan.overrides.count(activation.name) &&
         llvm::all_of(activation.uses, [&](OpOperand *use) {
           return isDepthwise(*use, channels);
         });
}

/// The powers of two that bring channels to the range of the widest.
static Factors chooseFactors(const TensorRange &range) {
  double least = 0, greatest = 0;
  for (auto [min, max] : llvm::zip(range.channelMins, range.channelMaxs)) {
    least = std::min(least, min);
    greatest = std::max(greatest, max);
  }
  Factors factors;
  for (auto [min, max] : llvm::zip(range.channelMins, range.channelMaxs)) {
    double width = (max - min) * margin, factor = 1;
    while (width > 0 && factor < greatestFactor &&
           width * factor * 2 <= greatest - least)
      factor *= 2;
    factors.push_back(factor);
  }
  return factors;
}

/// The convolution that makes a tensor, perhaps with a Relu behind, if nothing
/// else reads what it makes and its numbers are constant; null if there is
/// none.
Operation *ChannelScaler::producerOf(const Activation &activation,
                                     int64_t channels) {
  Value value = activation.value;
  auto reads = [](Value value) {
    return static_cast<size_t>(
        std::distance(value.use_begin(), value.use_end()));
  };
  if (reads(value) != activation.uses.size() || isGraphOutput(value))
    return nullptr;
  if (auto relu = value.getDefiningOp<ReluOp>()) {
    value = relu->getOperand(0);
    if (!value.hasOneUse() || plan.activations.count(value))
      return nullptr;
  }
  auto conv = value.getDefiningOp<ConvOp>();
  if (!conv ||
      value.getParentBlock() != Value(activation.value).getParentBlock())
    return nullptr;
  auto constant = [&](unsigned operand) {
    Value number = conv->getOperand(operand);
    return constantOf(number) && number.hasOneUse() &&
           !plan.overrides.count(tensorName(number));
  };
  auto type = dyn_cast<RankedTensorType>(conv->getOperand(1).getType());
  bool hasBias = !isa<NoneType>(conv->getOperand(2).getType());
  if (!type || type.getDimSize(0) != channels || !constant(1) ||
      (hasBias && !constant(2)))
    return nullptr;
  return conv;
}

void ChannelScaler::scale(Activation activation, const TensorRange &range,
                          const Factors &factors) {
  ScaledTensor tensor;
  tensor.name = activation.name;
  for (double factor : factors)
    tensor.exponents.push_back(std::ilogb(factor));
  for (OpOperand *use : activation.uses) {
    auto op = cast<QuantizableOpInterface>(use->getOwner());
    tensor.readers.push_back(nodeName(op));
    scaleConstant(builder, op->getOpOperand(op.getQuantizableOperands()[1]),
                  inverseOf(factors));
  }
  Value value = activation.value;
  Operation *producer = producerOf(activation, factors.size());
  tensor.isProduct = producer == nullptr;
  record.push_back(std::move(tensor));
  if (producer) {
    scaleProducer(builder, producer, value, factors);
  } else {
    value = insertProduct(builder, value, factors);
    // What is said of the product is said of the node that it belongs to.
    if (auto it = plan.nodeIndex.find(activation.value.getDefiningOp());
        it != plan.nodeIndex.end())
      plan.nodeIndex[value.getDefiningOp()] = it->second;
    for (OpOperand *use : activation.uses)
      use->set(value);
    plan.activations.erase(activation.value);
  }
  activation.value = value;
  activation.name = tensorName(value);
  plan.activations[value] = activation;
  TensorRange &after = scaled[activation.name] = range;
  after.min = after.max = 0;
  for (auto [i, factor] : llvm::enumerate(factors)) {
    after.channelMins[i] *= factor;
    after.channelMaxs[i] *= factor;
    if (i < after.channelMeans.size())
      after.channelMeans[i] *= factor;
    after.min = std::min(after.min, after.channelMins[i]);
    after.max = std::max(after.max, after.channelMaxs[i]);
  }
}

void ChannelScaler::run() {
  SmallVector<Value> values;
  for (const auto &[value, activation] : plan.activations)
    values.push_back(value);
  for (Value value : values) {
    const Activation &activation = plan.activations[value];
    std::optional<TensorRange> range = rangeOf(activation);
    if (!range || !isScalable(activation, range->channelMins.size()))
      continue;
    Factors factors = chooseFactors(*range);
    if (llvm::any_of(factors, [](double factor) { return factor > 1; }))
      scale(activation, *range, factors);
  }
  if (scaled.empty())
    return;
  addCalibration(plan.module, scaled);
  recordScaledTensors(plan.module, record);
  plan.report.notes.push_back(
      "channels before depthwise convolutions are scaled in " +
      std::to_string(scaled.size()) + " tensors");
}

void quantize::scaleChannels(Plan &plan) { ChannelScaler(plan).run(); }
