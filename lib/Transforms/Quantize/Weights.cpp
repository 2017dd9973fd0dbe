// Gives constant operands their parameters: per channel, per block or one for
// all. Constants that share numbers with activations take theirs.

#include "Plan.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

class WeightCollector {
public:
  explicit WeightCollector(Plan &plan) : plan(plan), settings(plan.settings) {}
  LogicalResult collect(Weight &weight);

private:
  std::optional<Parameters> shared(Weight &weight);
  QuantType typeOf(const Weight &weight, const TensorOverride &override);
  LogicalResult chooseShape(Weight &weight, const TensorOverride &override,
                            ArrayRef<int64_t> shape);
  LogicalResult readGiven(Weight &weight, const TensorOverride &override,
                          ArrayRef<int64_t> shape);
  ScaleAndZeroPoint scaleOf(RealRange range, const ScaleRule &rule,
                            ArrayRef<double> numbers);
  LogicalResult useBounds(Weight &weight, const TensorOverride &override,
                          MutableArrayRef<RealRange> ranges);

  Plan &plan;
  const Settings &settings;
};

} // namespace

/// The parameters of the tensors that a constant is moved together with.
std::optional<Parameters> WeightCollector::shared(Weight &weight) {
  auto op = dyn_cast<QuantizableOpInterface>(weight.use->getOwner());
  if (!op || !sharesParameters(settings, op) ||
      !llvm::is_contained(op.getQuantizableOperands(),
                          weight.use->getOperandNumber()))
    return std::nullopt;
  for (unsigned index : op.getQuantizableResults()) {
    auto it = plan.activations.find(op->getResult(index));
    if (it != plan.activations.end() && !it->second.dynamic)
      return it->second.parameters;
  }
  return std::nullopt;
}

QuantType WeightCollector::typeOf(const Weight &weight,
                                  const TensorOverride &override) {
  if (override.type)
    return *override.type;
  if (!weight.contracted)
    return settings.activation;
  auto op = dyn_cast<QuantizableOpInterface>(weight.use->getOwner());
  // ONNX Runtime's QLinearConv has no channels of unsigned filters.
  if (settings.isCompatible() && settings.form == Mode::QLinear &&
      settings.perChannel && isa<ConvOp>(weight.use->getOwner()))
    return {8, true};
  bool free = op && settings.form != Mode::QDQ && !settings.weightGiven &&
              !settings.activation.isSigned;
  // On the left, products of mixed signs have no kernels either.
  if (free && (weight.use->getOperandNumber() == 0 ||
               (settings.form == Mode::Integer && op.takesUnsignedIntegers())))
    return {8, false};
  return settings.weight;
}

/// Axis and blocks of the scales.
LogicalResult WeightCollector::chooseShape(Weight &weight,
                                           const TensorOverride &override,
                                           ArrayRef<int64_t> shape) {
  Parameters &parameters = weight.parameters;
  auto op = dyn_cast<QuantizableOpInterface>(weight.use->getOwner());
  unsigned operand = weight.use->getOperandNumber();
  if (override.axis) {
    int64_t rank = shape.size(), axis = *override.axis;
    if (axis < -rank || axis >= rank)
      return plan.module.emitError("tensor '")
             << weight.name << "' expects an axis within its rank " << rank
             << ", but got " << axis;
    parameters.axis = axis < 0 ? axis + rank : axis;
    parameters.shape = {shape[*parameters.axis]};
    return success();
  }
  if (!weight.contracted || override.scales.size() == 1 || !op)
    return success();
  if (settings.blockSize > 0) {
    if (std::optional<int64_t> axis = op.getReductionAxis(operand)) {
      parameters.axis = axis;
      parameters.blockSize = settings.blockSize;
      parameters.shape.assign(shape.begin(), shape.end());
      int64_t &dim = parameters.shape[*axis];
      dim = (dim + settings.blockSize - 1) / settings.blockSize;
      return success();
    }
  }
  // Integer products have one scale on the left, also where a runtime makes
  // them of quantizers.
  if (!settings.perChannel || operand == 0 || op.getBiasOperand() == operand)
    return success();
  std::optional<int64_t> axis = op.getChannelAxis(operand);
  auto chosen = settings.channelAxes.find(opTypeOf(op));
  if (chosen != settings.channelAxes.end()) {
    int64_t rank = shape.size(), given = chosen->second;
    if (given < -rank || given >= rank)
      return plan.module.emitError("channel-axes: tensor '")
             << weight.name << "' expects an axis within its rank " << rank
             << ", but got " << given;
    axis = given < 0 ? given + rank : given;
  }
  if (axis) {
    parameters.axis = axis;
    parameters.shape = {shape[*axis]};
  }
  return success();
}

LogicalResult WeightCollector::readGiven(Weight &weight,
                                         const TensorOverride &override,
                                         ArrayRef<int64_t> shape) {
  Parameters &parameters = weight.parameters;
  weight.given = true;
  size_t wanted = parameters.axis ? shape[*parameters.axis] : 1;
  if (override.scales.size() != wanted)
    return plan.module.emitError("tensor '")
           << weight.name << "' expects " << wanted << " scales, but got "
           << override.scales.size();
  for (auto [i, scale] : llvm::enumerate(override.scales)) {
    int64_t zeroPoint =
        override.zeroPoints.empty()
            ? 0
            : override.zeroPoints[override.zeroPoints.size() == 1 ? 0 : i];
    if (zeroPoint < parameters.type.min() || zeroPoint > parameters.type.max())
      return plan.module.emitError("tensor '")
             << weight.name << "' expects a zero point of type "
             << parameters.type.str() << ", but got " << zeroPoint;
    parameters.values.push_back(
        {castScale(scale, parameters.scaleType), zeroPoint});
  }
  return success();
}

/// The user's ranges: one for all channels, or one for each.
LogicalResult WeightCollector::useBounds(Weight &weight,
                                         const TensorOverride &override,
                                         MutableArrayRef<RealRange> ranges) {
  size_t count = override.mins.size();
  if (count > 1 && count != ranges.size())
    return plan.module.emitError("tensor '")
           << weight.name << "' expects " << ranges.size()
           << " ranges, but got " << count;
  for (auto [i, range] : llvm::enumerate(ranges)) {
    size_t own = count > 1 ? i : 0;
    if (count > 0 && !std::isnan(override.mins[own]))
      range = {override.mins[own], override.maxs[own]};
  }
  return success();
}

/// ONNX Runtime's tool lets float8 weights deviate as all float8 numbers do.
ScaleAndZeroPoint WeightCollector::scaleOf(RealRange range,
                                           const ScaleRule &rule,
                                           ArrayRef<double> numbers) {
  if (!rule.type.isFloat || !settings.isCompatible())
    return computeScale(range.min, range.max, rule);
  auto count = static_cast<double>(numbers.size());
  double mean = 0, squares = 0;
  for (double number : numbers)
    mean += number / count;
  for (double number : numbers)
    squares += (number - mean) * (number - mean) / count;
  double top = std::sqrt(squares) * float8Greatest / float8Deviation;
  return computeScale(-top, top, rule);
}

LogicalResult WeightCollector::collect(Weight &weight) {
  Value value = weight.use->get();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  TensorOverride override = plan.overrides.lookup(weight.name);
  if (override.convert)
    return plan.module.emitError("tensor '")
           << weight.name << "' is a constant, and convert is for activations";
  Parameters &parameters = weight.parameters;
  parameters.scaleType = *scaleTypeOf(value);
  if (override.scales.empty())
    if (std::optional<Parameters> same = shared(weight)) {
      parameters = *same;
      return success();
    }
  parameters.type = typeOf(weight, override);
  if (failed(chooseShape(weight, override, shape)))
    return failure();
  if (!override.scales.empty())
    return readGiven(weight, override, shape);

  std::optional<SmallVector<double>> numbers = numbersOf(value);
  if (!numbers)
    return plan.module.emitError("the numbers of tensor '")
           << weight.name << "' cannot be read";
  bool several = parameters.axis.has_value();
  bool shifted = settings.shiftedWeights && weight.contracted &&
                 !override.type && parameters.type == QuantType{8, false};
  QuantType type = shifted ? QuantType{8, true} : parameters.type;
  bool symmetric = override.symmetric.value_or(
      weight.contracted ? settings.isSymmetric(type, several)
                        : settings.symmetricActivations);
  ScaleRule rule{
      type, symmetric,
      override.reduceRange.value_or(settings.reduceRange && weight.contracted),
      settings.minimumRealRange, parameters.scaleType};
  int64_t count = 1;
  for (int64_t dim : parameters.shape)
    count *= dim;
  SmallVector<RealRange> ranges(count, RealRange{0, 0});
  parameters.values.resize(count);
  ParameterIndex index(shape, parameters);
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    if (!std::isfinite(number))
      return plan.module.emitError("tensor '")
             << weight.name << "' has a number that is not finite";
    RealRange &range = ranges[index[i]];
    range.min = std::min(range.min, number);
    range.max = std::max(range.max, number);
  }
  if (failed(useBounds(weight, override, ranges)))
    return failure();
  for (auto [range, result] : llvm::zip(ranges, parameters.values))
    if (result = scaleOf(range, rule, *numbers); !std::isfinite(result.scale))
      return plan.module.emitError("the range of tensor '")
             << weight.name << "' is too wide for a finite scale";
  // A channel of zeros has no scale of its own; symmetric channels keep one
  // zero point, since integer products run with one only.
  if (symmetric && several)
    for (ScaleAndZeroPoint &value : parameters.values)
      value.zeroPoint = computeScale(-1, 1, rule).zeroPoint;
  // The same real numbers, stored without a sign.
  if (shifted)
    for (ScaleAndZeroPoint &value : parameters.values)
      value.zeroPoint -= type.min();
  return success();
}

LogicalResult quantize::collectWeights(Plan &plan) {
  WeightCollector collector(plan);
  for (auto &[use, weight] : plan.weights)
    if (failed(collector.collect(weight)))
      return failure();
  return success();
}
