// Brings the channels that depthwise convolutions and products of matrices read
// to similar ranges.
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
//
// Products of matrices read all channels at once, and what one channel gains is
// lost in the steps of weights. ProductFactors.cpp weighs both.

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
  bool isMatrix(OpOperand &use, int64_t channels);
  std::optional<TensorRange> rangeOf(const Activation &activation, bool isLast);
  bool isFree(const Activation &activation);
  bool isScalable(const Activation &activation, int64_t channels);
  void scaleDepthwise(const Activation &activation);
  void scaleMatrices(const Activation &activation);
  Operation *producerOf(const Activation &activation, int64_t channels);
  void scale(Activation activation, const TensorRange &range,
             const Factors &factors);

  Plan &plan;
  OpBuilder builder;
  Calibration scaled;
  std::vector<ScaledTensor> record;
  unsigned depthwise = 0, matrices = 0;
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

/// Whether a use reads all channels at once, with a constant matrix that
/// nothing else has a say in.
bool ChannelScaler::isMatrix(OpOperand &use, int64_t channels) {
  Operation *op = use.getOwner();
  if (use.getOperandNumber() != 0 || !plan.isSelected(op) ||
      !isMatrixProduct(op))
    return false;
  OpOperand &weight = op->getOpOperand(1);
  auto known = plan.weights.find(&weight);
  auto type = cast<RankedTensorType>(weight.get().getType());
  return known != plan.weights.end() && weight.get().hasOneUse() &&
         type.getDimSize(depthAxisOf(op)) == channels &&
         !plan.overrides.count(known->second.name);
}

/// The ranges of the channels, the second axis or the last; none if they aren't
/// known.
std::optional<TensorRange> ChannelScaler::rangeOf(const Activation &activation,
                                                  bool isLast) {
  std::optional<TensorRange> range = getRange(plan.module, activation.name);
  auto type = dyn_cast<RankedTensorType>(activation.value.getType());
  if (!range || !type || type.getRank() < (isLast ? 2 : 3) ||
      !type.getElementType().isF32())
    return std::nullopt;
  int64_t axis = isLast ? type.getRank() - 1 : 1;
  size_t channels = type.getDimSize(axis);
  if (range->channelAxis != axis || type.isDynamicDim(axis) || channels == 0 ||
      range->channelMins.size() != channels ||
      range->channelMaxs.size() != channels)
    return std::nullopt;
  for (auto [min, max] : llvm::zip(range->channelMins, range->channelMaxs)) {
    min = std::clamp(min, std::min(range->min, 0.0), 0.0);
    max = std::clamp(max, 0.0, std::max(range->max, 0.0));
  }
  return range;
}

/// What a product makes, perhaps clamped, is quantized there: a factor between
/// them would have runtimes compute the product in float.
static bool isJoined(const Activation &activation) {
  auto maker = activation.value.getDefiningOp<QuantizableOpInterface>();
  return maker && (maker.isContraction() || maker.getClamp());
}

/// Data that is moved has the parameters of what it is moved from.
bool ChannelScaler::isFree(const Activation &activation) {
  auto maker = activation.value.getDefiningOp<QuantizableOpInterface>();
  Node *node = maker ? plan.find(maker) : nullptr;
  bool shares = node && node->quantized && maker.sharesParameters();
  return !shares && !activation.dynamic && !activation.uses.empty() &&
         !plan.overrides.count(activation.name);
}

bool ChannelScaler::isScalable(const Activation &activation, int64_t channels) {
  return isFree(activation) &&
         (!isJoined(activation) || producerOf(activation, channels)) &&
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
  bool isLast = isMatrixProduct(activation.uses.front()->getOwner());
  ScaledTensor tensor;
  tensor.name = activation.name;
  for (double factor : factors)
    tensor.exponents.push_back(std::ilogb(factor));
  for (OpOperand *use : activation.uses) {
    auto op = cast<QuantizableOpInterface>(use->getOwner());
    tensor.readers.push_back(nodeName(op));
    scaleConstant(builder, op->getOpOperand(op.getQuantizableOperands()[1]),
                  inverseOf(factors), isLast ? depthAxisOf(op) : 0);
  }
  Value value = activation.value;
  Operation *producer =
      isLast ? nullptr : producerOf(activation, factors.size());
  tensor.isProduct = producer == nullptr;
  record.push_back(std::move(tensor));
  if (producer) {
    scaleProducer(builder, producer, value, factors);
  } else {
    value = insertProduct(builder, value, factors, *range.channelAxis);
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

static bool changeSomething(const Factors &factors) {
  return llvm::any_of(factors, [](double factor) { return factor > 1; });
}

void ChannelScaler::scaleDepthwise(const Activation &activation) {
  std::optional<TensorRange> range = rangeOf(activation, /*isLast=*/false);
  if (!range || !isScalable(activation, range->channelMins.size()))
    return;
  Factors factors = chooseFactors(*range);
  if (!changeSomething(factors))
    return;
  scale(activation, *range, factors);
  ++depthwise;
}

/// Vectors are left alone: they have too few numbers to tell channels apart.
void ChannelScaler::scaleMatrices(const Activation &activation) {
  std::optional<TensorRange> range = rangeOf(activation, /*isLast=*/true);
  if (!range || !isFree(activation) || isJoined(activation) ||
      isVector(activation.value))
    return;
  auto channels = static_cast<int64_t>(range->channelMins.size());
  SmallVector<Operation *> readers;
  for (OpOperand *use : activation.uses) {
    if (!isMatrix(*use, channels))
      return;
    readers.push_back(use->getOwner());
  }
  Factors factors = chooseProductFactors(*range, readers);
  if (!changeSomething(factors))
    return;
  scale(activation, *range, factors);
  ++matrices;
}

void ChannelScaler::run() {
  SmallVector<Value> values;
  for (const auto &[value, activation] : plan.activations)
    values.push_back(value);
  for (Value value : values) {
    // What is scaled has another value then.
    if (plan.settings.scaleChannels)
      scaleDepthwise(plan.activations[value]);
    if (plan.settings.scaleProducts && plan.activations.count(value))
      scaleMatrices(plan.activations[value]);
  }
  if (scaled.empty())
    return;
  addCalibration(plan.module, scaled);
  recordScaledTensors(plan.module, record);
  auto tell = [&](StringRef readers, unsigned tensors) {
    if (tensors > 0)
      plan.report.notes.push_back(
          ("channels before " + readers + " are scaled in ").str() +
          std::to_string(tensors) + " tensors");
  };
  tell("depthwise convolutions", depthwise);
  tell("products of matrices", matrices);
}

void quantize::scaleChannels(Plan &plan) { ChannelScaler(plan).run(); }
