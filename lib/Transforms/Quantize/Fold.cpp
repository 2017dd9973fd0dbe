// Looking through quantizers and dequantizers.

#include "Fold.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

QuantizedOperand quantize::dequantizedBy(Value value) {
  auto op = value.getDefiningOp<DequantizeLinearOp>();
  if (!op || op.getBlockSize() != 0 ||
      isa<NoneType>(op.getXZeroPoint().getType()))
    return {};
  return {op.getX(), op.getXScale(), op.getXZeroPoint()};
}

/// As a dequantizer computes them, in float32.
std::optional<SmallVector<double>> quantize::dequantizedNumbers(Value value) {
  if (constantOf(value))
    return numbersOf(value);
  QuantizedOperand source = dequantizedBy(value);
  auto type = source.value ? dyn_cast<RankedTensorType>(source.value.getType())
                           : RankedTensorType();
  std::optional<SmallVector<double>> numbers, scales, zeros;
  if (type && constantOf(source.value)) {
    numbers = numbersOf(source.value);
    scales = numbersOf(source.scale);
    zeros = numbersOf(source.zeroPoint);
  }
  if (!numbers || !scales || !zeros || scales->size() != zeros->size())
    return std::nullopt;
  int64_t axis = value.getDefiningOp<DequantizeLinearOp>().getAxis();
  Parameters parameters;
  if (scales->size() > 1)
    parameters.axis = axis < 0 ? axis + type.getRank() : axis;
  for (auto [scale, zero] : llvm::zip(*scales, *zeros))
    parameters.values.push_back({scale, static_cast<int64_t>(zero)});
  ParameterIndex index(type.getShape(), parameters);
  for (auto [i, number] : llvm::enumerate(*numbers)) {
    const ScaleAndZeroPoint &own = parameters.values[index[i]];
    number = static_cast<float>(
        static_cast<float>(number - static_cast<double>(own.zeroPoint)) *
        static_cast<float>(own.scale));
  }
  return numbers;
}

std::optional<SmallVector<QuantizedOperand>>
quantize::quantizedOperands(QuantizableOpInterface op) {
  SmallVector<QuantizedOperand> operands(op->getNumOperands());
  for (unsigned index : op.getQuantizableOperands()) {
    operands[index] = dequantizedBy(op->getOperand(index));
    if (!operands[index].value)
      return std::nullopt;
  }
  return operands;
}

QuantizeLinearOp quantize::onlyQuantizer(Value value) {
  if (!value.hasOneUse())
    return {};
  auto op = dyn_cast<QuantizeLinearOp>(*value.user_begin());
  if (!op || op.getX() != value || op.getBlockSize() != 0 ||
      isa<NoneType>(op.getYZeroPoint().getType()))
    return {};
  return op;
}

bool quantize::areEqual(Value a, Value b) {
  if (a == b)
    return true;
  ElementsAttr left = constantOf(a), right = constantOf(b);
  return left && right && left == right;
}

bool quantize::haveEqualParameters(const QuantizedOperand &a,
                                   const QuantizedOperand &b) {
  return areEqual(a.scale, b.scale) && areEqual(a.zeroPoint, b.zeroPoint);
}

static bool isSingle(Value parameter) {
  auto type = dyn_cast<RankedTensorType>(parameter.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

static Type withElement(Type like, Type element) {
  if (auto ranked = dyn_cast<RankedTensorType>(like))
    return RankedTensorType::get(ranked.getShape(), element);
  return UnrankedTensorType::get(element);
}

/// The parameters that all quantizable operands have in common, if they do.
static std::optional<QuantizedOperand>
commonParameters(QuantizableOpInterface op,
                 ArrayRef<QuantizedOperand> operands) {
  SmallVector<unsigned> indices = op.getQuantizableOperands();
  if (indices.empty())
    return std::nullopt;
  const QuantizedOperand &first = operands[indices[0]];
  // Moved, channels would no longer be where their scales are.
  if (!isSingle(first.scale))
    return std::nullopt;
  for (unsigned index : indices)
    if (!haveEqualParameters(first, operands[index]))
      return std::nullopt;
  return first;
}

static bool padsConstant(Operation *op) {
  auto pad = dyn_cast<PadOp>(op);
  return pad && pad.getMode() == "constant";
}

/// The integer that a Pad fills with: that of its number, or of zero.
static Value integerFill(OpBuilder &builder, PadOp pad,
                         const QuantizedOperand &parameters) {
  Value number = pad.getConstantValue();
  if (isa<NoneType>(number.getType()))
    return constantOf(parameters.zeroPoint) ? parameters.zeroPoint : Value();
  Type element = getElementTypeOrSelf(parameters.value.getType());
  std::optional<QuantType> type = quantTypeOf(element);
  std::optional<ScaleType> scaleType = scaleTypeOf(parameters.scale);
  if (!constantOf(number) || !constantOf(parameters.scale) ||
      !constantOf(parameters.zeroPoint) || !type || !scaleType)
    return {};
  auto numbers = numbersOf(number), scales = numbersOf(parameters.scale),
       zeros = numbersOf(parameters.zeroPoint);
  if (!numbers || numbers->size() != 1 || !scales || !zeros)
    return {};
  ScaleAndZeroPoint pair{(*scales)[0], static_cast<int64_t>((*zeros)[0])};
  builder.setInsertionPoint(pad);
  return createConstant(
      builder, pad.getLoc(), tensorName(number) + "_quantized",
      ArrayRef<int64_t>{quantizeValue((*numbers)[0], pair, *type, *scaleType)},
      cast<RankedTensorType>(number.getType()).getShape(), element);
}

bool quantize::moveIntegers(OpBuilder &builder, QuantizableOpInterface op,
                            bool sink) {
  std::optional<SmallVector<QuantizedOperand>> operands = quantizedOperands(op);
  bool fills = !sink && padsConstant(op);
  if (!(op.movesData() || fills) || !operands)
    return false;
  std::optional<QuantizedOperand> common = commonParameters(op, *operands);
  if (!common)
    return false;
  SmallVector<unsigned> moved = op.getQuantizableResults();
  SmallVector<QuantizeLinearOp> quantizers;
  for (unsigned index : moved) {
    Value result = op->getResult(index);
    if (sink || isa<NoneType>(result.getType()) || result.use_empty())
      continue;
    QuantizeLinearOp quantizer = onlyQuantizer(result);
    if (!quantizer ||
        !haveEqualParameters(*common, {Value(), quantizer.getYScale(),
                                       quantizer.getYZeroPoint()}))
      return false;
    quantizers.push_back(quantizer);
  }
  if (fills) {
    auto pad = cast<PadOp>(op.getOperation());
    Value fill = integerFill(builder, pad, *common);
    if (!fill)
      return false;
    pad.getConstantValueMutable().assign(fill);
  }
  for (unsigned index : op.getQuantizableOperands())
    op->setOperand(index, (*operands)[index].value);
  Type element = cast<TensorType>(common->value.getType()).getElementType();
  for (unsigned index : moved) {
    Value result = op->getResult(index);
    if (isa<NoneType>(result.getType()))
      continue;
    Type floatType = result.getType();
    result.setType(withElement(floatType, element));
    if (!sink || result.use_empty())
      continue;
    builder.setInsertionPointAfter(op);
    OperationState state(op->getLoc(), DequantizeLinearOp::getOperationName());
    state.addOperands({result, common->scale, common->zeroPoint});
    state.addTypes(floatType);
    Operation *dequantizer = builder.create(state);
    std::string name = tensorName(result);
    setNames(dequantizer, name + "_DequantizeLinear",
             name + "_DequantizeLinear_Output");
    result.replaceAllUsesExcept(dequantizer->getResult(0), dequantizer);
  }
  for (QuantizeLinearOp quantizer : quantizers) {
    // Integers have the quantizer's name, not that of the real numbers.
    if (op->getNumResults() == 1)
      setNames(op, nodeName(op), tensorName(quantizer.getY()));
    quantizer.getY().replaceAllUsesWith(quantizer.getX());
    quantizer.erase();
  }
  return true;
}
