// Takes over the quantizers that a model was trained with: fake quantizers
// become pairs, constants are really quantized, equal pairs are merged, data is
// moved as integers, and biases become integers.

#include "Fold.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

class TakeOver {
public:
  explicit TakeOver(Plan &plan)
      : plan(plan), builder(plan.module.getContext()) {}
  LogicalResult run();

private:
  LogicalResult expandFakeQuantizers();
  LogicalResult expand(CustomOp op);
  LogicalResult quantizeConstants();
  LogicalResult quantizeConstant(QuantizeLinearOp op);
  void clipConstants();
  void merge();
  void quantizeWeights();
  void removeClamps();
  void removeClamp(Node &node, QuantizableOpInterface op);
  void quantizeBiases();
  void quantizeBias(Node &node, QuantizableOpInterface op);
  std::optional<Parameters> parametersOf(const QuantizedOperand &operand,
                                         int64_t axis);

  Plan &plan;
  OpBuilder builder;
};

} // namespace

/// A fake quantizer takes a tensor, its scale and its zero point; quant_min and
/// quant_max are those of the type.
LogicalResult TakeOver::expand(CustomOp op) {
  if (op->getNumOperands() < 3 || op->getNumResults() < 1)
    return op.emitError("expects a fake quantizer with a tensor, a scale and "
                        "a zero point");
  Value input = op->getOperand(0);
  std::optional<SmallVector<double>> scales = numbersOf(op->getOperand(1)),
                                     zeros = numbersOf(op->getOperand(2));
  if (!scales || !zeros || scales->size() != 1 || zeros->size() != 1 ||
      !scaleTypeOf(input))
    return op.emitError("expects a fake quantizer of float32 or float16 with "
                        "one constant scale and zero point");
  auto integer = [&](StringRef name, int64_t otherwise) {
    auto value = op->getAttrOfType<IntegerAttr>(name);
    return value ? value.getValue().getSExtValue() : otherwise;
  };
  int64_t least = integer("quant_min", 0), greatest = integer("quant_max", 255);
  std::optional<QuantType> type;
  for (QuantType candidate : {QuantType{8, false}, QuantType{8, true},
                              QuantType{16, false}, QuantType{16, true}})
    if (!type && least >= candidate.min() && greatest <= candidate.max())
      type = candidate;
  double scale = (*scales)[0], zero = (*zeros)[0];
  if (!type || !(scale > 0) || !std::isfinite(scale) || zero < least ||
      zero > greatest || zero != std::floor(zero))
    return op.emitError("expects a positive scale and a zero point between ")
           << least << " and " << greatest;
  builder.setInsertionPoint(op);
  std::string name = tensorName(input);
  Type floatType = cast<TensorType>(input.getType()).getElementType();
  Type narrow = irType(op.getContext(), *type);
  Value scaleValue = createConstant(builder, op.getLoc(), name + "_scale",
                                    ArrayRef<double>{scale}, {}, floatType);
  Value zeroValue =
      createConstant(builder, op.getLoc(), name + "_zero_point",
                     ArrayRef<int64_t>{static_cast<int64_t>(zero)}, {}, narrow);
  auto ranked = dyn_cast<RankedTensorType>(input.getType());
  Type narrowType = ranked
                        ? Type(RankedTensorType::get(ranked.getShape(), narrow))
                        : Type(UnrankedTensorType::get(narrow));
  OperationState quantizer(op.getLoc(), QuantizeLinearOp::getOperationName());
  quantizer.addOperands({input, scaleValue, zeroValue});
  quantizer.addTypes(narrowType);
  Operation *first = builder.create(quantizer);
  setNames(first, nodeName(op) + "_QuantizeLinear",
           name + "_QuantizeLinear_Output");
  OperationState dequantizer(op.getLoc(),
                             DequantizeLinearOp::getOperationName());
  dequantizer.addOperands({first->getResult(0), scaleValue, zeroValue});
  dequantizer.addTypes(input.getType());
  Operation *second = builder.create(dequantizer);
  setNames(second, nodeName(op) + "_DequantizeLinear",
           tensorName(op->getResult(0)));
  for (Value other : op->getResults().drop_front())
    if (!other.use_empty())
      return op.emitError("expects nobody to read the mask of a fake "
                          "quantizer");
  op->getResult(0).replaceAllUsesWith(second->getResult(0));
  if (Node *node = plan.find(op)) {
    node->quantized = true;
    node->reason = "became a quantizer and a dequantizer";
    node->op = nullptr;
  }
  op.erase();
  return success();
}

LogicalResult TakeOver::expandFakeQuantizers() {
  SmallVector<CustomOp> ops;
  plan.module.walk([&](CustomOp op) {
    if (op.getFunctionName() == "FakeQuant" ||
        op.getFunctionName() == "FakeQuantize")
      ops.push_back(op);
  });
  for (CustomOp op : ops)
    if (failed(expand(op)))
      return failure();
  return success();
}

std::optional<Parameters>
TakeOver::parametersOf(const QuantizedOperand &operand, int64_t axis) {
  Parameters parameters;
  std::optional<SmallVector<double>> scales = numbersOf(operand.scale),
                                     zeros = numbersOf(operand.zeroPoint);
  auto type = quantTypeOf(
      cast<TensorType>(operand.zeroPoint.getType()).getElementType());
  if (!scales || !zeros || !type || scales->size() != zeros->size())
    return std::nullopt;
  parameters.type = *type;
  parameters.scaleType = scaleTypeOf(operand.scale).value_or(ScaleType::F32);
  for (auto [scale, zero] : llvm::zip(*scales, *zeros))
    parameters.values.push_back({scale, static_cast<int64_t>(zero)});
  if (scales->size() > 1) {
    parameters.axis = axis;
    parameters.shape = {static_cast<int64_t>(scales->size())};
  }
  return parameters;
}

LogicalResult TakeOver::quantizeConstant(QuantizeLinearOp op) {
  Value value = op.getX();
  auto type = cast<RankedTensorType>(value.getType());
  int64_t axis =
      op.getAxis() < 0 ? op.getAxis() + type.getRank() : op.getAxis();
  if (isa<NoneType>(op.getYZeroPoint().getType()))
    return success();
  std::optional<Parameters> parameters =
      parametersOf({Value(), op.getYScale(), op.getYZeroPoint()}, axis);
  std::optional<SmallVector<double>> numbers = numbersOf(value);
  if (!parameters || !numbers || op.getBlockSize() != 0)
    return success();
  for (const ScaleAndZeroPoint &pair : parameters->values)
    if (!(pair.scale > 0) || !std::isfinite(pair.scale))
      return op.emitError("expects a finite scale greater than zero, but got ")
             << pair.scale;
  ParameterIndex index(type.getShape(), *parameters);
  SmallVector<int64_t> quantized;
  for (auto [i, number] : llvm::enumerate(*numbers))
    quantized.push_back(quantizeValue(number, parameters->values[index[i]],
                                      parameters->type, parameters->scaleType));
  builder.setInsertionPoint(op);
  Value result = createConstant(
      builder, op.getLoc(), tensorName(value) + "_quantized", quantized,
      type.getShape(), irType(op.getContext(), parameters->type));
  op.getY().replaceAllUsesWith(result);
  if (Node *node = plan.find(op)) {
    node->quantized = true;
    node->reason = "its constant is quantized";
    node->op = nullptr;
  }
  op.erase();
  ++plan.report.weights;
  return success();
}

LogicalResult TakeOver::quantizeConstants() {
  SmallVector<QuantizeLinearOp> ops;
  plan.module.walk([&](QuantizeLinearOp op) {
    if (constantOf(op.getX()))
      ops.push_back(op);
  });
  for (QuantizeLinearOp op : ops)
    if (failed(quantizeConstant(op)))
      return failure();
  clipConstants();
  return success();
}

/// Some exporters clip weights to a symmetric range between the pair.
void TakeOver::clipConstants() {
  SmallVector<ClipOp> ops;
  plan.module.walk([&](ClipOp op) { ops.push_back(op); });
  for (ClipOp op : ops) {
    auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
    ElementsAttr constant = constantOf(op.getInput());
    if (!constant || !type || !quantTypeOf(type.getElementType()))
      continue;
    auto bound = [&](Value value, int64_t otherwise) -> std::optional<int64_t> {
      if (isa<NoneType>(value.getType()))
        return otherwise;
      ElementsAttr number = constantOf(value);
      auto numbers = number ? readInts(number, 1) : std::nullopt;
      if (!numbers || numbers->empty())
        return std::nullopt;
      return (*numbers)[0];
    };
    QuantType narrow = *quantTypeOf(type.getElementType());
    std::optional<int64_t> min = bound(op.getMin(), narrow.min()),
                           max = bound(op.getMax(), narrow.max());
    auto numbers = readInts(constant, std::numeric_limits<int64_t>::max());
    if (!min || !max || !numbers || *min > *max)
      continue;
    for (int64_t &number : *numbers)
      number = std::clamp(number, *min, *max);
    builder.setInsertionPoint(op);
    op.getOutput().replaceAllUsesWith(
        createConstant(builder, op.getLoc(), tensorName(op.getOutput()),
                       *numbers, type.getShape(), type.getElementType()));
    if (Node *node = plan.find(op)) {
      node->quantized = true;
      node->reason = "its constant is clipped";
      node->op = nullptr;
    }
    op.erase();
  }
}

/// Equal quantizers of one tensor become one, and so do equal dequantizers; a
/// dequantizer followed by an equal quantizer is nothing.
void TakeOver::merge() {
  auto drop = [&](Operation *op, Value by) {
    op->getResult(0).replaceAllUsesWith(by);
    if (Node *node = plan.find(op)) {
      node->quantized = true;
      node->reason = "merged with an equal one";
      node->op = nullptr;
    }
    op->erase();
  };
  SmallVector<Operation *> ops;
  plan.module.walk([&](Operation *op) {
    if (isa<QuantizeLinearOp, DequantizeLinearOp>(op))
      ops.push_back(op);
  });
  llvm::DenseMap<Value, SmallVector<Operation *>> readers;
  for (Operation *op : ops) {
    Value input = op->getOperand(0);
    if (isa<QuantizeLinearOp>(op)) {
      QuantizedOperand source = dequantizedBy(input);
      if (source.value &&
          source.value.getType() == op->getResult(0).getType() &&
          haveEqualParameters(
              source, {Value(), op->getOperand(1), op->getOperand(2)})) {
        drop(op, source.value);
        continue;
      }
    }
    auto same = llvm::find_if(readers[input], [&](Operation *other) {
      return other->getName() == op->getName() &&
             other->getBlock() == op->getBlock() &&
             areEqual(other->getOperand(1), op->getOperand(1)) &&
             areEqual(other->getOperand(2), op->getOperand(2)) &&
             other->getAttr("axis") == op->getAttr("axis") &&
             other->getAttr("block_size") == op->getAttr("block_size");
    });
    if (same != readers[input].end())
      drop(op, (*same)->getResult(0));
    else
      readers[input].push_back(op);
  }
}

/// Whether a bias has 32 bits and, but for their rounding, these scales: then
/// its integers are what integer operators add.
static bool hasScales(Value bias, ArrayRef<double> scales) {
  QuantizedOperand source = dequantizedBy(bias);
  std::optional<SmallVector<double>> own =
      source.value ? numbersOf(source.scale) : std::nullopt;
  if (!own || !getElementTypeOrSelf(source.value).isInteger(32))
    return false;
  auto nearly = [](double a, double b) {
    return std::fabs(a - b) <= 1e-6 * std::fabs(b);
  };
  size_t count = std::max(own->size(), scales.size());
  for (size_t i = 0; i < count; ++i)
    if (!nearly((*own)[own->size() == 1 ? 0 : i],
                scales[scales.size() == 1 ? 0 : i]))
      return false;
  return own->size() == scales.size();
}

/// A contraction whose input is quantized gets an integer bias.
void TakeOver::quantizeBias(Node &node, QuantizableOpInterface op) {
  SmallVector<unsigned> products = op.getQuantizableOperands();
  std::optional<unsigned> index = op.getBiasOperand();
  if (!index || products.size() != 2 || !plan.settings.quantizeBias)
    return;
  Value bias = op->getOperand(*index);
  QuantizedOperand input = dequantizedBy(op->getOperand(products[0])),
                   weight = dequantizedBy(op->getOperand(products[1]));
  auto type = dyn_cast<RankedTensorType>(bias.getType());
  if (!type || !type.getElementType().isF32() || !input.value || !weight.value)
    return;
  // What the model dequantizes is left as it is where it may be.
  if (!constantOf(bias) && plan.settings.form != Mode::QLinear)
    return;
  std::optional<SmallVector<double>> numbers = dequantizedNumbers(bias),
                                     inputs = numbersOf(input.scale),
                                     weights = numbersOf(weight.scale);
  if (!numbers || !inputs || !weights || inputs->size() != 1)
    return;
  SmallVector<double> scales;
  for (double scale : *weights)
    scales.push_back(
        castScale((*inputs)[0] * scale * op.getBiasFactor(), ScaleType::F32));
  bool several = scales.size() > 1;
  if ((several && scales.size() != numbers->size()) || hasScales(bias, scales))
    return;
  SmallVector<int64_t> quantized;
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    double scale = scales[several ? i : 0];
    if (!(scale > 0) || std::fabs(number) / scale >= 2147483647.0) {
      node.reason = "its bias stays float: it doesn't fit 32 bits";
      return;
    }
    quantized.push_back(onnxquant::quantizeBias(number, scale));
  }
  builder.setInsertionPoint(op);
  std::string name = tensorName(bias);
  SmallVector<int64_t> shape;
  if (several)
    shape = {static_cast<int64_t>(scales.size())};
  SmallVector<int64_t> zeros(scales.size(), 0);
  Type i32 = builder.getI32Type();
  OperationState state(op->getLoc(), DequantizeLinearOp::getOperationName());
  state.addOperands(
      {createConstant(builder, op->getLoc(), name + "_quantized", quantized,
                      type.getShape(), i32),
       createConstant(builder, op->getLoc(), name + "_quantized_scale", scales,
                      shape, type.getElementType()),
       createConstant(builder, op->getLoc(), name + "_quantized_zero_point",
                      zeros, shape, i32)});
  state.addTypes(type);
  if (several)
    state.addAttribute("axis",
                       builder.getIntegerAttr(builder.getIntegerType(64, true),
                                              type.getRank() - 1));
  Operation *dequantizer = builder.create(state);
  setNames(dequantizer, name + "_DequantizeLinear",
           name + "_DequantizeLinear_Output");
  op->setOperand(*index, dequantizer->getResult(0));
}

/// Weights that were trained without quantizers get parameters of their own.
void TakeOver::quantizeWeights() {
  for (Node &node : plan.nodes) {
    auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
    if (!op || !op.isContraction() || op.takesWeightsOnly())
      continue;
    SmallVector<unsigned> products = op.getQuantizableOperands();
    bool any = llvm::any_of(products, [&](unsigned index) {
      return dequantizedBy(op->getOperand(index)).value != nullptr;
    });
    for (unsigned index : products) {
      OpOperand &operand = op->getOpOperand(index);
      if (!any || !constantOf(operand.get()) || !scaleTypeOf(operand.get()))
        continue;
      Weight &weight = plan.weights[&operand];
      weight.use = &operand;
      weight.name = tensorName(operand.get());
      weight.contracted = true;
    }
  }
}

void TakeOver::quantizeBiases() {
  for (Node &node : plan.nodes) {
    auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
    if (!op || !op.isContraction())
      continue;
    node.quantized =
        llvm::all_of(op.getQuantizableOperands(), [&](unsigned index) {
          return dequantizedBy(op->getOperand(index)).value != nullptr;
        });
    if (!node.quantized) {
      node.reason = "the model has no quantizers for all of its operands";
      continue;
    }
    if (plan.settings.form != Mode::Integer)
      quantizeBias(node, op);
  }
}

/// A Relu or Clip between a product and quantizers that saturate within its
/// bounds changes nothing, and would keep the product from its QLinear form.
void TakeOver::removeClamp(Node &node, QuantizableOpInterface op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  std::optional<RealRange> clamp = op.getClamp();
  if (!clamp || !input.hasOneUse() || !input.getDefiningOp() ||
      result.use_empty())
    return;
  for (OpOperand &use : result.getUses()) {
    auto quantizer = dyn_cast<QuantizeLinearOp>(use.getOwner());
    if (!quantizer || use.getOperandNumber() != 0 ||
        quantizer.getBlockSize() != 0 ||
        isa<NoneType>(quantizer.getYZeroPoint().getType()))
      return;
    std::optional<Parameters> parameters = parametersOf(
        {Value(), quantizer.getYScale(), quantizer.getYZeroPoint()}, 0);
    if (!parameters || !saturatesWithin(*parameters, *clamp))
      return;
  }
  result.replaceAllUsesWith(input);
  node.quantized = true;
  node.reason = "removed: saturation does the same";
  node.op = nullptr;
  op->erase();
}

void TakeOver::removeClamps() {
  for (Node &node : plan.nodes)
    if (auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op))
      removeClamp(node, op);
}

LogicalResult TakeOver::run() {
  bool any = false;
  plan.module.walk([&](Operation *op) {
    any |= isa<QuantizeLinearOp, microsoft::QuantizeLinearOp>(op) ||
           (isa<CustomOp>(op) && opTypeOf(op).starts_with("FakeQuant"));
  });
  if (!any)
    return plan.module.emitError(
        "mode=qat expects a model with quantizers, but got none");
  if (failed(expandFakeQuantizers()) || failed(quantizeConstants()))
    return failure();
  merge();
  foldTrained(plan);
  quantizeWeights();
  if (failed(collectWeights(plan)))
    return failure();
  insertQuantizers(plan);
  // Dequantizers go down through ops that move data, to where they are needed.
  for (Node &node : plan.nodes) {
    auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
    if (op && moveIntegers(builder, op, /*sink=*/true))
      node.quantized = true;
  }
  merge();
  if (plan.settings.form == Mode::QLinear)
    removeClamps();
  quantizeBiases();
  plan.module.walk([&](QuantizeLinearOp) { ++plan.report.activations; });
  for (Node &node : plan.nodes) {
    if (!node.op || node.quantized)
      continue;
    if (isa<QuantizeLinearOp, DequantizeLinearOp, microsoft::QuantizeLinearOp,
            microsoft::DequantizeLinearOp>(node.op)) {
      node.quantized = true;
      node.reason = "taken over";
      // Steps that follow may remove it.
      node.op = nullptr;
    } else if (node.reason.empty()) {
      node.reason = "between quantizers, or float in the model";
      auto op = dyn_cast<QuantizableOpInterface>(node.op);
      node.quantized = op && quantizedOperands(op).has_value() &&
                       !op.getQuantizableOperands().empty();
    }
  }
  return success();
}

LogicalResult quantize::takeOverQuantizers(Plan &plan) {
  return TakeOver(plan).run();
}
