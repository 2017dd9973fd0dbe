// Puts quantizers and dequantizers into the graph: pairs behind activations,
// integer constants with dequantizers in place of weights and biases.

#include "OnnxQuant/Dialect/ONNX/TypedData.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

class Inserter {
public:
  explicit Inserter(Plan &plan)
      : plan(plan), settings(plan.settings), builder(plan.module.getContext()) {
  }
  void insertDynamic(Activation &activation, Type floatType);
  void insertActivation(Activation &activation);
  void insertWeight(Weight &weight);
  void insertBias(Bias &bias);
  void castBias(QuantizableOpInterface op);
  void removeClamps();

private:
  void renameClamped(Operation *clamp, Activation &activation);
  void reportActivation(const Activation &activation);
  void reportWeight(const Weight &weight);
  struct Pair {
    Value scale, zeroPoint;
  };
  void insertConverted(Activation &activation, Pair first);
  Pair pairOf(const Activation &activation, Type floatType);
  Pair createParameters(Location loc, StringRef name,
                        const Parameters &parameters, Type floatType,
                        StringRef suffix = "");
  Value createQuantize(Location loc, StringRef name, Value value, Pair pair,
                       const Parameters &parameters);
  Value createDequantize(Location loc, StringRef name, Value value, Pair pair,
                         const Parameters &parameters, Type type);
  Value createCast(Location loc, const Twine &name, Value value, Type type);
  Value createReshape(Location loc, StringRef name, Value value,
                      RankedTensorType type);
  StringRef opName(StringRef standard, StringRef contrib,
                   const Parameters &parameters) const;
  Value quantizeConstant(Weight &weight, Pair pair,
                         const Parameters &parameters, ArrayRef<int64_t> shape);

  Plan &plan;
  const Settings &settings;
  OpBuilder builder;
  /// Parameters of activations, and of what second quantizers make of them.
  llvm::DenseMap<Value, Pair> pairs, converted;
  /// Integer constants that were made, by the constant they stand for.
  llvm::DenseMap<Value, SmallVector<std::pair<Parameters, Value>>> made;
};

} // namespace

static Type withElement(Type like, Type element) {
  if (auto ranked = dyn_cast<RankedTensorType>(like))
    return RankedTensorType::get(ranked.getShape(), element);
  return UnrankedTensorType::get(element);
}

StringRef Inserter::opName(StringRef standard, StringRef contrib,
                           const Parameters &parameters) const {
  bool wide = parameters.type.bits != 8 || parameters.blockSize > 0;
  bool half = parameters.scaleType == ScaleType::F16;
  // ONNX Runtime's tool takes all quantizers from one domain.
  wide |= settings.isCompatible();
  return (settings.contribQdq && wide) || (settings.contribHalf && half)
             ? contrib
             : standard;
}

Inserter::Pair Inserter::createParameters(Location loc, StringRef name,
                                          const Parameters &parameters,
                                          Type floatType, StringRef suffix) {
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  for (const ScaleAndZeroPoint &value : parameters.values) {
    scales.push_back(value.scale);
    zeroPoints.push_back(value.zeroPoint);
  }
  Pair pair = {createConstant(builder, loc, (name + "_scale" + suffix).str(),
                              scales, parameters.shape, floatType),
               createConstant(builder, loc,
                              (name + "_zero_point" + suffix).str(), zeroPoints,
                              parameters.shape,
                              irType(builder.getContext(), parameters.type))};
  // As ONNX Runtime's tool writes them.
  if (settings.isCompatible())
    for (Value value : {pair.scale, pair.zeroPoint})
      value.getDefiningOp()->setAttr(typedDataAttr, builder.getUnitAttr());
  return pair;
}

static void addAxis(OperationState &state, OpBuilder &builder,
                    const Parameters &parameters) {
  auto integer = [&](int64_t value) {
    return builder.getIntegerAttr(builder.getIntegerType(64, true), value);
  };
  if (parameters.axis)
    state.addAttribute("axis", integer(*parameters.axis));
  if (parameters.blockSize > 0)
    state.addAttribute("block_size", integer(parameters.blockSize));
}

Value Inserter::createQuantize(Location loc, StringRef name, Value value,
                               Pair pair, const Parameters &parameters) {
  OperationState state(
      loc, opName(QuantizeLinearOp::getOperationName(),
                  microsoft::QuantizeLinearOp::getOperationName(), parameters));
  state.addOperands({value, pair.scale, pair.zeroPoint});
  state.addTypes(withElement(value.getType(),
                             irType(builder.getContext(), parameters.type)));
  addAxis(state, builder, parameters);
  Operation *op = builder.create(state);
  setNames(op, (name + "_QuantizeLinear").str(),
           (name + "_QuantizeLinear_Output").str());
  return op->getResult(0);
}

Value Inserter::createDequantize(Location loc, StringRef name, Value value,
                                 Pair pair, const Parameters &parameters,
                                 Type type) {
  OperationState state(loc,
                       opName(DequantizeLinearOp::getOperationName(),
                              microsoft::DequantizeLinearOp::getOperationName(),
                              parameters));
  state.addOperands({value, pair.scale, pair.zeroPoint});
  state.addTypes(type);
  addAxis(state, builder, parameters);
  Operation *op = builder.create(state);
  setNames(op, (name + "_DequantizeLinear").str(),
           (name + "_DequantizeLinear_Output").str());
  return op->getResult(0);
}

Value Inserter::createReshape(Location loc, StringRef name, Value value,
                              RankedTensorType type) {
  Value shape =
      createConstant(builder, loc, (name + "_shape").str(), type.getShape(),
                     {type.getRank()}, builder.getI64Type());
  OperationState state(loc, ReshapeOp::getOperationName());
  state.addOperands({value, shape});
  state.addTypes(type);
  Operation *op = builder.create(state);
  setNames(op, (name + "_Reshape").str(), (name + "_Reshape_Output").str());
  return op->getResult(0);
}

Value Inserter::createCast(Location loc, const Twine &name, Value value,
                           Type type) {
  OperationState state(loc, CastOp::getOperationName());
  state.addOperands(value);
  state.addTypes(type);
  state.addAttribute("to",
                     TypeAttr::get(cast<TensorType>(type).getElementType()));
  Operation *op = builder.create(state);
  setNames(op, (name + "_Cast").str(), (name + "_Cast_Output").str());
  return op->getResult(0);
}

static TensorReport describe(StringRef name, StringRef kind,
                             const Parameters &parameters) {
  TensorReport report;
  report.name = name.str();
  report.kind = kind.str();
  report.type = parameters.type.str();
  report.axis = parameters.axis;
  report.blockSize = parameters.blockSize;
  for (const ScaleAndZeroPoint &value : parameters.values) {
    report.scales.push_back(value.scale);
    report.zeroPoints.push_back(value.zeroPoint);
  }
  return report;
}

/// The report of an activation goes to the node that makes it and to those that
/// use it.
void Inserter::reportActivation(const Activation &activation) {
  TensorReport report =
      describe(activation.name, "activation", activation.parameters);
  report.dynamic = activation.dynamic;
  if (Operation *producer = activation.value.getDefiningOp())
    if (Node *node = plan.find(producer))
      node->report.outputs.push_back(report);
  for (OpOperand *use : activation.uses)
    if (Node *node = plan.find(use->getOwner()); node && node->quantized)
      node->report.inputs.push_back(
          activation.isConvertedFor(use->getOwner())
              ? describe(activation.name, "activation", *activation.converted)
              : report);
  ++plan.report.activations;
}

/// Scale and zero point of an activation. For ONNX Runtime's tool what is moved
/// has those of what it was moved from.
Inserter::Pair Inserter::pairOf(const Activation &activation, Type floatType) {
  auto source = plan.activations.find(activation.source);
  if (settings.isCompatible() && source != plan.activations.end()) {
    Operation *mover = activation.value.getDefiningOp();
    auto &known =
        mover && source->second.isConvertedFor(mover) ? converted : pairs;
    // Where a clamp is gone, this is what it read.
    auto pair = known.find(source->second.value);
    if (pair != known.end() &&
        source->second.parametersFor(mover) == activation.parameters)
      return pairs[activation.value] = pair->second;
  }
  return pairs[activation.value] =
             createParameters(activation.value.getLoc(), activation.name,
                              activation.parameters, floatType);
}

/// Quantizes with the range that a run finds. DynamicQuantizeLinear takes
/// float32 only.
void Inserter::insertDynamic(Activation &activation, Type floatType) {
  Value value = activation.value, wide = value;
  Location loc = value.getLoc();
  const std::string &name = activation.name;
  Type f32 = builder.getF32Type();
  if (floatType != f32)
    wide = createCast(loc, name, value, withElement(value.getType(), f32));
  OperationState state(loc, DynamicQuantizeLinearOp::getOperationName());
  state.addOperands(wide);
  Type byte = irType(builder.getContext(), {8, false});
  state.addTypes({withElement(value.getType(), byte),
                  RankedTensorType::get({}, f32),
                  RankedTensorType::get({}, byte)});
  Operation *op = builder.create(state);
  op->setAttr(nodeNameAttr,
              builder.getStringAttr(name + (settings.isCompatible()
                                                ? "_QuantizeLinear"
                                                : "_DynamicQuantizeLinear")));
  op->setAttr(resultNamesAttr,
              builder.getStrArrayAttr({name + "_quantized", name + "_scale",
                                       name + "_zero_point"}));
  Value scale = op->getResult(1);
  if (floatType != f32)
    scale = createCast(loc, name + "_scale", scale,
                       RankedTensorType::get({}, floatType));
  Value result =
      createDequantize(loc, name, op->getResult(0), {scale, op->getResult(2)},
                       activation.parameters, value.getType());
  for (OpOperand *use : activation.uses)
    use->set(result);
}

void Inserter::insertActivation(Activation &activation) {
  if (activation.uses.empty())
    return;
  reportActivation(activation);
  Value value = activation.value;
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Type floatType = cast<TensorType>(value.getType()).getElementType();
  std::string name = activation.name;
  if (activation.dynamic)
    return insertDynamic(activation, floatType);
  const Parameters &parameters = activation.parameters;
  Pair pair = pairOf(activation, floatType);
  bool output = llvm::any_of(activation.uses, [](OpOperand *use) {
    return isa<ReturnOp, func::ReturnOp>(use->getOwner());
  });
  // The graph's output keeps its name; what it was made from gets another.
  if (output)
    if (auto result = dyn_cast<OpResult>(value);
        result && result.getOwner()->getNumResults() == 1)
      result.getOwner()->setAttr(
          resultNamesAttr,
          builder.getStrArrayAttr({name + "_QuantizeLinear_Input"}));
  auto insert = [&](const Twine &suffix) {
    std::string text = name + suffix.str();
    Value quantized = createQuantize(loc, text, value, pair, parameters);
    return createDequantize(loc, text, quantized, pair, parameters,
                            value.getType());
  };
  if (activation.converted) {
    insertConverted(activation, pair);
    return;
  }
  if (!settings.dedicatedPair) {
    Value result = insert("");
    for (OpOperand *use : activation.uses)
      use->set(result);
    return;
  }
  // ONNX Runtime's tool counts at the very end of names.
  auto insertFor = [&](OpOperand *use, const std::string &number) {
    Value result = insert(settings.isCompatible() ? "" : number);
    if (settings.isCompatible())
      for (Operation *op :
           {result.getDefiningOp()->getOperand(0).getDefiningOp(),
            result.getDefiningOp()})
        setNames(op, nodeName(op) + number,
                 tensorName(op->getResult(0)) + number);
    use->set(result);
  };
  for (auto [i, use] : llvm::enumerate(activation.uses))
    insertFor(use,
              activation.uses.size() > 1 ? "_" + std::to_string(i + 1) : "");
}

/// Two quantizers: some read what the first makes, others what the second does.
/// The second has a dequantizer of its own where both are read.
void Inserter::insertConverted(Activation &activation, Pair first) {
  Value value = activation.value;
  Location loc = value.getLoc();
  const std::string &name = activation.name;
  auto isConverted = [&](OpOperand *use) {
    return activation.isConvertedFor(use->getOwner());
  };
  bool all = llvm::all_of(activation.uses, isConverted);
  Value quantized =
      createQuantize(loc, name, value, first, activation.parameters);
  Value original = createDequantize(loc, name, quantized, first,
                                    activation.parameters, value.getType());
  Value clone = original;
  if (!all) {
    clone = createDequantize(loc, name + "_convert_clone", quantized, first,
                             activation.parameters, value.getType());
    setNames(clone.getDefiningOp(), name + "_convert_clone_DequantizeLinear",
             name + "_convert_QuantizeLinear_Input");
  }
  const Parameters &parameters = *activation.converted;
  Pair second = createParameters(
      loc, name, parameters, cast<TensorType>(value.getType()).getElementType(),
      "_convert");
  converted[value] = second;
  Value again =
      createQuantize(loc, name + "_convert", clone, second, parameters);
  Value result = createDequantize(loc, name + "_convert", again, second,
                                  parameters, value.getType());
  SmallVector<bool> choices;
  for (OpOperand *use : activation.uses)
    choices.push_back(isConverted(use));
  for (auto [use, choice] : llvm::zip(activation.uses, choices))
    use->set(choice ? result : original);
}

/// The quantized numbers of a weight, stored in another shape of as many
/// elements with the parameters that go with it.
Value Inserter::quantizeConstant(Weight &weight, Pair pair,
                                 const Parameters &parameters,
                                 ArrayRef<int64_t> shape) {
  Value value = weight.use->get();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<double> numbers = *numbersOf(value);
  SmallVector<int64_t> quantized = roundWeight(settings, weight);
  ParameterIndex index(shape, parameters);
  double signal = 0, noise = 0;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    const ScaleAndZeroPoint &scale = parameters.values[index[i]];
    double error =
        dequantizeValue(quantized[i], scale, parameters.type) - number;
    signal += number * number;
    noise += error * error;
  }
  weight.sqnr = signalToNoise(std::sqrt(signal), std::sqrt(noise));
  if (settings.weightPair && shape != type.getShape())
    value = createConstant(builder, value.getLoc(), weight.name + "_matrix",
                           numbers, shape, type.getElementType());
  if (settings.weightPair)
    return createQuantize(value.getLoc(), weight.name, value, pair, parameters);
  return createConstant(builder, value.getLoc(), weight.name + "_quantized",
                        quantized, shape,
                        irType(builder.getContext(), parameters.type));
}

/// Whether a weight is a stack of matrices with a scale for each column. ONNX
/// Runtime joins such a dequantizer with the product and then fails, but not if
/// a Reshape stands between them.
static bool isStack(const Parameters &parameters, ArrayRef<int64_t> shape) {
  int64_t rank = shape.size();
  return rank > 2 && parameters.blockSize == 0 && parameters.axis == rank - 1;
}

void Inserter::reportWeight(const Weight &weight) {
  TensorReport report = describe(weight.name, "weight", weight.parameters);
  report.sqnr = weight.sqnr;
  if (Node *node = plan.find(weight.use->getOwner()))
    node->report.inputs.push_back(report);
}

void Inserter::insertWeight(Weight &weight) {
  Value value = weight.use->get();
  // Users with equal parameters share one constant; others get their own.
  auto &known = made[value];
  for (auto &[parameters, result] : known)
    if (parameters == weight.parameters && !settings.dedicatedPair) {
      // The sum of squares is that of the first user.
      for (auto &[use, other] : plan.weights)
        if (other.use->get() == result && other.name == weight.name)
          weight.sqnr = other.sqnr;
      weight.use->set(result);
      reportWeight(weight);
      return;
    }
  builder.setInsertionPointAfterValue(value);
  Type floatType = cast<TensorType>(value.getType()).getElementType();
  std::string name = weight.name;
  if (!known.empty())
    name += "_" + std::to_string(known.size() + 1);
  Pair pair =
      createParameters(value.getLoc(), name, weight.parameters, floatType);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  Parameters parameters = weight.parameters;
  bool stack = settings.form == Mode::QDQ && isStack(parameters, shape);
  if (stack) {
    shape = {type.getNumElements() / shape.back(), shape.back()};
    parameters.axis = 1;
  }
  Value quantized = quantizeConstant(weight, pair, parameters, shape);
  Value result =
      createDequantize(value.getLoc(), name, quantized, pair, parameters,
                       RankedTensorType::get(shape, floatType));
  if (stack)
    result = createReshape(value.getLoc(), name, result, type);
  known.push_back({weight.parameters, result});
  weight.use->set(result);
  ++plan.report.weights;
  reportWeight(weight);
}

void Inserter::insertBias(Bias &bias) {
  Operation *owner = bias.use->getOwner();
  if (Node *node = plan.find(owner)) {
    node->report.biasCorrection = bias.correction;
    if (!bias.scales.empty()) {
      TensorReport report;
      report.name = bias.name;
      report.kind = "bias";
      report.type = "s32";
      report.scales.assign(bias.scales.begin(), bias.scales.end());
      report.zeroPoints.assign(bias.scales.size(), 0);
      node->report.inputs.push_back(report);
    }
  }
  Location loc = owner->getLoc();
  builder.setInsertionPoint(owner);
  Type floatType =
      cast<TensorType>(owner->getResult(0).getType()).getElementType();
  if (bias.scales.empty()) {
    bias.use->set(createConstant(builder, loc, bias.name + "_corrected",
                                 bias.numbers, bias.shape, floatType));
    return;
  }
  bool several = bias.scales.size() > 1;
  SmallVector<int64_t> numbers;
  for (auto [i, number] : llvm::enumerate(bias.numbers))
    numbers.push_back(quantizeBias(number, bias.scales[several ? i : 0]));
  Type i32 = builder.getI32Type();
  Parameters parameters;
  SmallVector<int64_t> shape, zeros(bias.scales.size(), 0);
  if (several) {
    shape = {static_cast<int64_t>(bias.scales.size())};
    parameters.axis = static_cast<int64_t>(bias.shape.size()) - 1;
  }
  Value quantized = createConstant(builder, loc, bias.name + "_quantized",
                                   numbers, bias.shape, i32);
  // ONNX Runtime's tool gives a single scale a dimension.
  SmallVector<int64_t> scaleShape = shape;
  if (settings.isCompatible() && !several)
    scaleShape = {1};
  Pair pair{createConstant(builder, loc, bias.name + "_quantized_scale",
                           bias.scales, scaleShape, floatType),
            createConstant(builder, loc, bias.name + "_quantized_zero_point",
                           zeros, shape, i32)};
  if (settings.isCompatible() && !several)
    pair.zeroPoint.getDefiningOp()->setAttr(typedDataAttr,
                                            builder.getUnitAttr());
  Value old = bias.use->get();
  Value real = createDequantize(loc, bias.name, quantized, pair, parameters,
                                RankedTensorType::get(bias.shape, floatType));
  bias.use->set(real);
  // In pairs of ONNX Runtime's tool the bias keeps its name.
  if (settings.isCompatible() && settings.form == Mode::QDQ && old.use_empty())
    setNames(real.getDefiningOp(), nodeName(real.getDefiningOp()), bias.name);
}

/// Products of float8 have a float bias, which ONNX Runtime's tool casts.
void Inserter::castBias(QuantizableOpInterface op) {
  std::optional<unsigned> index = op.getBiasOperand();
  if (!index || !constantOf(op->getOperand(*index)))
    return;
  Value bias = op->getOperand(*index);
  std::string name = tensorName(bias);
  builder.setInsertionPoint(op);
  Value stored = createConstant(
      builder, bias.getLoc(), name + "_quantized", *numbersOf(bias),
      cast<RankedTensorType>(bias.getType()).getShape(),
      getElementTypeOrSelf(bias.getType()));
  Value cast = createCast(op->getLoc(), name, stored, bias.getType());
  setNames(cast.getDefiningOp(), name + "_DequantizeLinear",
           name + "_DequantizeLinear_Output");
  op->setOperand(*index, cast);
}

/// A clamp before a quantizer that saturates at the same bounds does nothing.
void Inserter::removeClamps() {
  for (auto &[value, activation] : plan.activations) {
    auto op = value.getDefiningOp<QuantizableOpInterface>();
    std::optional<RealRange> clamp =
        op && plan.isSelected(op) ? op.getClamp() : std::nullopt;
    if (!clamp || activation.dynamic || activation.uses.empty() ||
        static_cast<size_t>(std::distance(
            value.use_begin(), value.use_end())) != activation.uses.size())
      continue;
    Value input = op->getOperand(0);
    const Parameters &parameters = activation.parameters;
    bool implied = saturatesWithin(parameters, *clamp);
    auto before = plan.activations.find(input);
    bool marked = before != plan.activations.end();
    bool differs = marked && !(before->second.parameters == parameters);
    // ONNX Runtime's tool lets any asymmetric quantizer stand for a clamp.
    if (settings.isCompatible()) {
      implied =
          marked && !settings.symmetricActivations && !parameters.type.isFloat;
      differs = false;
    }
    if (marked && before->second.converted)
      continue;
    if (!implied || !input.hasOneUse() || isa<BlockArgument>(input) || differs)
      continue;
    if (settings.isCompatible())
      renameClamped(op, activation);
    // What the clamp read is quantized as its result would have been.
    if (marked)
      before->second.uses.clear();
    activation.value = input;
    for (OpOperand *use : activation.uses)
      use->set(input);
    Node *node = plan.find(op);
    node->quantized = true;
    node->reason = "removed: saturation does the same";
    plan.nodeIndex.erase(op);
    node->op = nullptr;
    op->erase();
  }
}

/// What a removed clamp has read gets its name, or in QOperator form gives it
/// its own.
void Inserter::renameClamped(Operation *clamp, Activation &activation) {
  Operation *producer = clamp->getOperand(0).getDefiningOp();
  if (settings.form == Mode::QLinear)
    activation.name = tensorName(clamp->getOperand(0));
  else if (producer->getNumResults() == 1)
    producer->setAttr(resultNamesAttr,
                      builder.getStrArrayAttr({activation.name}));
}

void quantize::insertQuantizers(Plan &plan) {
  Inserter inserter(plan);
  if (!plan.settings.keepActivations)
    inserter.removeClamps();
  for (auto &[value, activation] : plan.activations)
    inserter.insertActivation(activation);
  for (auto &[use, weight] : plan.weights)
    inserter.insertWeight(weight);
  for (auto &[op, bias] : plan.biases)
    inserter.insertBias(bias);
  if (plan.settings.isCompatible() && plan.settings.weight.isFloat)
    for (Node &node : plan.nodes)
      if (auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
          op && node.quantized && op.isContraction())
        inserter.castBias(op);
}
