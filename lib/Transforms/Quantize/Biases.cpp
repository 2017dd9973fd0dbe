// Biases: their mean error is corrected, and they are made to fit 32 bits.
//
// Quantized weights differ from the model's, so that a product is off by
// (Wq - W) * x. The mean of that over the calibration data is a constant per
// channel and moves into the bias. Only the layer's own error is corrected, in
// float, which cannot diverge from layer to layer.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

/// A contraction with one weight and one activation.
struct Layer {
  QuantizableOpInterface op;
  Weight *weight;
  unsigned weightOperand, inputOperand;
  /// The other operand; null where it stays float.
  Activation *input;
  int64_t channels = 0, channelAxis = 0, reductionAxis = 0;
};

class BiasAdjuster {
public:
  explicit BiasAdjuster(Plan &plan) : plan(plan), settings(plan.settings) {}
  void adjust(Node &node);
  void adjustPlain(Node &node) {
    adjustByScales(node, plainBiasOf(node.op), plainWeightOf(node.op));
  }
  unsigned withoutMeans = 0;

private:
  std::optional<Layer> layerOf(QuantizableOpInterface op);
  bool findBias(Layer &layer, Bias &bias);
  std::optional<SmallVector<double>> meansOf(Layer &layer);
  void makeSafe(Layer &layer, const Bias &bias);
  void makeSafeAtRunTime(Layer &layer, const Bias &bias);
  void correct(Layer &layer, Bias &bias);
  void chooseScales(Layer &layer, Bias &bias);
  double productScale(Layer &layer, int64_t channel);
  std::optional<double> singleScale(OpOperand &operand);
  void adjustByScales(Node &node, std::optional<unsigned> biasOperand,
                      std::optional<unsigned> weightOperand);

  Plan &plan;
  const Settings &settings;
};

} // namespace

std::optional<Layer> BiasAdjuster::layerOf(QuantizableOpInterface op) {
  SmallVector<unsigned> operands = op.getQuantizableOperands();
  if (operands.size() != 2 || op.takesWeightsOnly())
    return std::nullopt;
  Layer layer;
  layer.op = op;
  layer.weightOperand = operands[1];
  layer.inputOperand = operands[0];
  auto weight = plan.weights.find(&op->getOpOperand(layer.weightOperand));
  auto input = plan.activations.find(op->getOperand(layer.inputOperand));
  bool isFloat = plan.find(op)->weightsOnly;
  std::optional<int64_t> channel = op.getChannelAxis(layer.weightOperand),
                         reduction = op.getReductionAxis(layer.weightOperand);
  if (weight == plan.weights.end() ||
      (!isFloat && input == plan.activations.end()) || !channel || !reduction)
    return std::nullopt;
  layer.weight = &weight->second;
  layer.input = isFloat ? nullptr : &input->second;
  layer.channelAxis = *channel;
  layer.reductionAxis = *reduction;
  layer.channels =
      cast<RankedTensorType>(op->getOperand(layer.weightOperand).getType())
          .getDimSize(*channel);
  return layer;
}

/// Finds the bias, or where one could be. False if there is no place for it.
bool BiasAdjuster::findBias(Layer &layer, Bias &bias) {
  std::optional<unsigned> operand = layer.op.getBiasOperand();
  if (operand) {
    bias.use = &layer.op->getOpOperand(*operand);
  } else {
    // An Add of a constant to the last axis, which nothing else reads before.
    Value result = layer.op->getResult(0);
    auto add =
        result.hasOneUse() ? dyn_cast<AddOp>(*result.user_begin()) : AddOp();
    if (!add || layer.op.isElementwise() || !plan.find(add))
      return false;
    bias.use = &add->getOpOperand(add.getA() == result ? 1 : 0);
    auto type = dyn_cast<RankedTensorType>(bias.use->get().getType());
    if (plan.weights.count(bias.use) || !constantOf(bias.use->get()) || !type ||
        type.getRank() == 0 || type.getNumElements() != layer.channels ||
        type.getShape().back() != layer.channels)
      return false;
  }
  Value value = bias.use->get();
  if (isa<NoneType>(value.getType())) {
    bias.name = nodeName(layer.op) + "_bias";
    bias.shape = {layer.channels};
    return true;
  }
  bias.name = tensorName(value);
  std::optional<SmallVector<double>> numbers = numbersOf(value);
  if (!numbers || static_cast<int64_t>(numbers->size()) != layer.channels)
    return false;
  bias.numbers = *numbers;
  bias.shape =
      llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
  return true;
}

/// The scale of a channel's products, as the bias has it.
double BiasAdjuster::productScale(Layer &layer, int64_t channel) {
  const Parameters &weight = layer.weight->parameters;
  const ScaleAndZeroPoint &scale =
      weight.values[weight.values.size() == 1 ? 0 : channel];
  const Parameters &input = layer.input->parametersFor(layer.op);
  return input.values[0].scale * scale.scale * layer.op.getBiasFactor();
}

/// Enlarges the scales of channels whose bias would leave 32 bits.
void BiasAdjuster::makeSafe(Layer &layer, const Bias &bias) {
  Parameters &weight = layer.weight->parameters;
  if (layer.weight->given || bias.numbers.empty() || !settings.adjustWeights)
    return;
  for (auto [channel, number] : llvm::enumerate(bias.numbers)) {
    double least = leastBiasScale(std::fabs(number));
    double scale = productScale(layer, channel);
    if (scale >= least || scale <= 0)
      continue;
    ScaleAndZeroPoint &values =
        weight.values[weight.values.size() == 1 ? 0 : channel];
    values.scale = castScale(values.scale * (least / scale), weight.scaleType);
  }
}

/// The same for a bias that is made an integer at run time, by a scale that may
/// turn out smaller than that of the calibrated range. Channels that are nearly
/// zero have tiny scales, which no bias fits.
void BiasAdjuster::makeSafeAtRunTime(Layer &layer, const Bias &bias) {
  constexpr double smaller = 256, greatest = 1 << 30;
  Parameters &weight = layer.weight->parameters;
  std::optional<TensorRange> range = getRange(plan.module, layer.input->name);
  if (layer.weight->given || bias.numbers.empty() || !range)
    return;
  double input =
      computeScale(range->min, range->max, ScaleRule{{8, false}}).scale /
      smaller;
  for (auto [channel, number] : llvm::enumerate(bias.numbers)) {
    double &scale =
        weight.values[weight.values.size() == 1 ? 0 : channel].scale;
    double least = std::fabs(number) / (input * greatest);
    if (scale < least)
      scale = castScale(least, weight.scaleType);
  }
}

std::optional<SmallVector<double>> BiasAdjuster::meansOf(Layer &layer) {
  std::optional<TensorRange> range = getRange(
      plan.module, tensorName(layer.op->getOperand(layer.inputOperand)));
  std::optional<int64_t> wanted = layer.op.getReductionAxis(layer.inputOperand);
  if (!range || range->channelMeans.empty() || range->channelAxis != wanted)
    return std::nullopt;
  return range->channelMeans;
}

void BiasAdjuster::correct(Layer &layer, Bias &bias) {
  Value value = layer.weight->use->get();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  std::optional<SmallVector<double>> means = meansOf(layer);
  int64_t depth = shape[layer.reductionAxis];
  if (!means || depth == 0 || means->size() % depth != 0) {
    ++withoutMeans;
    return;
  }
  // Groups of a convolution read their own share of the channels.
  int64_t groups = means->size() / depth;
  if (layer.channels % groups != 0 || layer.op.getBiasFactor() == 0)
    return;
  SmallVector<double> numbers = *numbersOf(value);
  const Parameters &parameters = layer.weight->parameters;
  auto innerOf = [&](int64_t axis) {
    int64_t inner = 1;
    for (int64_t dim : shape.drop_front(axis + 1))
      inner *= dim;
    return inner;
  };
  int64_t channelInner = innerOf(layer.channelAxis),
          depthInner = innerOf(layer.reductionAxis);
  ParameterIndex index(shape, parameters);
  SmallVector<int64_t> quantized = roundWeight(settings, *layer.weight);
  SmallVector<double> error(layer.channels, 0.0);
  for (auto [i, number] : llvm::enumerate(numbers)) {
    int64_t element = static_cast<int64_t>(i);
    int64_t channel = element / channelInner % layer.channels;
    int64_t group = channel / (layer.channels / groups);
    int64_t input = group * depth + element / depthInner % depth;
    const ScaleAndZeroPoint &scale = parameters.values[index[element]];
    error[channel] +=
        (dequantizeValue(quantized[i], scale, parameters.type) - number) *
        (*means)[input];
  }
  // A weight of higher rank sums over its batches too, which share one bias.
  double batches = 1;
  for (auto [axis, dim] : llvm::enumerate(shape))
    if (!layer.op.getBiasOperand() &&
        static_cast<int64_t>(axis) != layer.channelAxis &&
        static_cast<int64_t>(axis) != layer.reductionAxis)
      batches *= static_cast<double>(dim);
  double factor = layer.op.getProductFactor() * layer.op.getShareOfTaps() /
                  layer.op.getBiasFactor() / batches;
  if (bias.numbers.empty())
    bias.numbers.assign(layer.channels, 0.0);
  double sum = 0;
  for (auto [number, off] : llvm::zip(bias.numbers, error)) {
    number -= off * factor;
    sum += off * factor * off * factor;
  }
  bias.changed = true;
  bias.correction = std::sqrt(sum / std::max<int64_t>(1, layer.channels));
}

/// Scales of a bias that is stored in 32 bits.
void BiasAdjuster::chooseScales(Layer &layer, Bias &bias) {
  const Parameters &weight = layer.weight->parameters;
  bool several = weight.values.size() > 1;
  SmallVector<double> scales;
  for (int64_t i = 0; i < (several ? layer.channels : 1); ++i) {
    double scale = castScale(productScale(layer, i), weight.scaleType);
    if (!(scale > 0) || !std::isnormal(scale))
      return;
    scales.push_back(scale);
  }
  bool fits = llvm::all_of(llvm::enumerate(bias.numbers), [&](auto entry) {
    double scale = scales[several ? entry.index() : 0];
    return std::fabs(entry.value()) / scale < 2147483647.0;
  });
  if (fits)
    bias.scales = scales;
}

/// ONNX Runtime's tool stores biases of float16 as integers, too.
static bool isCompatiblePair(const Settings &settings) {
  return settings.isCompatible() && settings.form == Mode::QDQ;
}

void BiasAdjuster::adjust(Node &node) {
  auto op = cast<QuantizableOpInterface>(node.op);
  std::optional<Layer> layer = layerOf(op);
  Bias bias;
  if (!layer && isCompatiblePair(settings) &&
      op.getQuantizableOperands() == SmallVector<unsigned>{0, 1} &&
      op.getBiasFactor() == 1.0) {
    adjustByScales(node, op.getBiasOperand(), 1);
    return;
  }
  if (!layer || !findBias(*layer, bias) || plan.weights.count(bias.use))
    return;
  const Parameters &weight = layer->weight->parameters;
  bool own = bias.use->getOwner() == op.getOperation();
  bool integers =
      own && settings.quantizeBias && layer->input && !layer->input->dynamic &&
      settings.form != Mode::Integer && weight.blockSize == 0 &&
      (weight.scaleType == ScaleType::F32 || isCompatiblePair(settings)) &&
      (weight.values.size() == 1 || weight.axis == layer->channelAxis);
  if (integers)
    makeSafe(*layer, bias);
  if (own && settings.form == Mode::QLinear && layer->input &&
      layer->input->dynamic)
    makeSafeAtRunTime(*layer, bias);
  if (settings.correctBias)
    correct(*layer, bias);
  if (bias.numbers.empty())
    return;
  if (integers)
    chooseScales(*layer, bias);
  if (integers && bias.scales.empty())
    node.reason = "its bias stays float: no scale fits it in 32 bits";
  if (bias.changed || !bias.scales.empty())
    plan.biases[op] = bias;
}

/// The one scale that an operand has: as a weight, as an activation, or by a
/// dequantizer of the model.
std::optional<double> BiasAdjuster::singleScale(OpOperand &operand) {
  const Parameters *parameters = nullptr;
  auto weight = plan.weights.find(&operand);
  auto activation = plan.activations.find(operand.get());
  if (weight != plan.weights.end())
    parameters = &weight->second.parameters;
  else if (activation != plan.activations.end() && !activation->second.dynamic)
    parameters = &activation->second.parametersFor(operand.getOwner());
  if (parameters)
    return parameters->values.size() == 1 &&
                   (parameters->scaleType == ScaleType::F32 ||
                    isCompatiblePair(settings))
               ? std::optional<double>(parameters->values[0].scale)
               : std::nullopt;
  auto op = operand.get().getDefiningOp<DequantizeLinearOp>();
  std::optional<SmallVector<double>> scales = op && constantOf(op.getXScale())
                                                  ? numbersOf(op.getXScale())
                                                  : std::nullopt;
  if (!scales || scales->size() != 1 ||
      (scaleTypeOf(op.getXScale()) != ScaleType::F32 &&
       !isCompatiblePair(settings)))
    return std::nullopt;
  return (*scales)[0];
}

/// A bias whose scale is that of the input by that of the weight, whatever
/// these are.
void BiasAdjuster::adjustByScales(Node &node,
                                  std::optional<unsigned> biasOperand,
                                  std::optional<unsigned> weightOperand) {
  if (!biasOperand || !weightOperand || !settings.quantizeBias)
    return;
  Value value = node.op->getOperand(*biasOperand);
  std::optional<double> input = singleScale(node.op->getOpOperand(0)),
                        weight =
                            singleScale(node.op->getOpOperand(*weightOperand));
  std::optional<SmallVector<double>> numbers =
      constantOf(value) ? numbersOf(value) : std::nullopt;
  if (!numbers || !input || !weight || !scaleTypeOf(value) ||
      plan.weights.count(&node.op->getOpOperand(*biasOperand)))
    return;
  double scale = castScale(*input * *weight, *scaleTypeOf(value));
  bool fits = std::isnormal(scale) && llvm::all_of(*numbers, [&](double one) {
                return std::fabs(one) / scale < 2147483647.0;
              });
  if (!fits) {
    node.reason = "its bias stays float: no scale fits it in 32 bits";
    return;
  }
  Bias &bias = plan.biases[node.op];
  bias.use = &node.op->getOpOperand(*biasOperand);
  bias.name = tensorName(value);
  bias.numbers = *numbers;
  bias.scales = {scale};
  bias.shape =
      llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
}

LogicalResult quantize::adjustBiases(Plan &plan) {
  BiasAdjuster adjuster(plan);
  for (Node &node : plan.nodes)
    if (node.quantized && node.plain)
      adjuster.adjustPlain(node);
    else if (node.quantized &&
             cast<QuantizableOpInterface>(node.op).isContraction())
      adjuster.adjust(node);
  if (adjuster.withoutMeans > 0)
    plan.report.notes.push_back(
        "the biases of " + std::to_string(adjuster.withoutMeans) +
        " nodes are not corrected: no means are known of their inputs");
  return success();
}
