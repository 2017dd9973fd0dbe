// Replaces float products of dequantized numbers by exact integer products:
//   y = float(integer product) * (scale of x * scale of w) + bias
// Static scales are multiplied here, dynamic ones in the graph.

#include "Fold.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

namespace {

class IntegerFolder {
public:
  explicit IntegerFolder(Plan &plan)
      : plan(plan), builder(plan.module.getContext()) {}
  std::string fold(QuantizableOpInterface op);

private:
  Value create(StringRef opName, ValueRange operands, Type type,
               const Twine &name);
  Value toFloat(Value numbers, Type type, StringRef name);
  Value spread(Value parameter, int64_t trailing, StringRef name);
  Value scaleOf(QuantizableOpInterface op, ArrayRef<QuantizedOperand> operands,
                StringRef node);
  Value plainScaleOf(QuantizableOpInterface op,
                     ArrayRef<QuantizedOperand> operands);
  Value reshapeBias(Value bias, int64_t rank, StringRef tensor);
  Value singleZeroPoint(Value zeroPoint, StringRef name);
  Value shifted(Value numbers, StringRef name);
  bool makeUnsigned(QuantizedOperand &operand, StringRef name);

  Plan &plan;
  OpBuilder builder;
  Location loc = UnknownLoc::get(plan.module.getContext());
  /// What stands for zero points of channels that are equal.
  llvm::DenseMap<Value, Value> singles;
};

} // namespace

Value IntegerFolder::create(StringRef opName, ValueRange operands, Type type,
                            const Twine &name) {
  OperationState state(loc, opName);
  state.addOperands(operands);
  state.addTypes(type);
  Operation *op = builder.create(state);
  setNames(op, name.str(), (name + "_output").str());
  return op->getResult(0);
}

Value IntegerFolder::toFloat(Value numbers, Type type, StringRef name) {
  OperationState state(loc, CastOp::getOperationName());
  state.addOperands(numbers);
  state.addTypes(type);
  state.addAttribute("to",
                     TypeAttr::get(cast<TensorType>(type).getElementType()));
  Operation *op = builder.create(state);
  setNames(op, (name + "_cast").str(), (name + "_cast_output").str());
  return op->getResult(0);
}

/// One number for all channels is what runtimes take; equal ones are one.
Value IntegerFolder::singleZeroPoint(Value zeroPoint, StringRef name) {
  ElementsAttr constant = constantOf(zeroPoint);
  auto numbers = constant ? numbersOf(zeroPoint) : std::nullopt;
  if (!numbers || numbers->size() <= 1 || !llvm::all_equal(*numbers))
    return zeroPoint;
  auto create = [&](StringRef text) {
    return createConstant(
        builder, loc, text,
        ArrayRef<int64_t>{static_cast<int64_t>((*numbers)[0])}, {},
        constant.getElementType());
  };
  if (!plan.settings.isCompatible())
    return create((name + "_zero_point").str());
  // It takes the other's place.
  Value &single = singles[zeroPoint];
  if (!single) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(zeroPoint);
    single = create(tensorName(zeroPoint));
  }
  return single;
}

/// Signed constants as unsigned ones, 128 more.
Value IntegerFolder::shifted(Value numbers, StringRef name) {
  std::optional<SmallVector<double>> values = numbersOf(numbers);
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  if (!values || !type)
    return {};
  SmallVector<int64_t> result;
  for (double value : *values)
    result.push_back(static_cast<int64_t>(value) + 128);
  return createConstant(builder, loc, name, result, type.getShape(),
                        irType(builder.getContext(), {8, false}));
}

/// Signed numbers become unsigned, with a zero point that is 128 more: the same
/// differences, for kernels that take nothing else. Weights are constants,
/// activations come from a quantizer.
bool IntegerFolder::makeUnsigned(QuantizedOperand &operand, StringRef name) {
  Type element = getElementTypeOrSelf(operand.value);
  if (!element.isSignlessInteger(8))
    return true;
  Value zeroPoint =
      shifted(operand.zeroPoint, (name + "_unsigned_zero_point").str());
  if (!zeroPoint)
    return false;
  Value value;
  if (constantOf(operand.value)) {
    value = shifted(operand.value, (name + "_unsigned").str());
  } else if (auto op = operand.value.getDefiningOp<QuantizeLinearOp>();
             op && areEqual(op.getYZeroPoint(), operand.zeroPoint) &&
             op.getOutputDtype() == 0) {
    OperationState state(loc, QuantizeLinearOp::getOperationName());
    state.addOperands({op.getX(), op.getYScale(), zeroPoint});
    state.addTypes(cast<TensorType>(operand.value.getType())
                       .clone(irType(builder.getContext(), {8, false})));
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    Operation *made = builder.create(state);
    setNames(made, (name + "_unsigned_QuantizeLinear").str(),
             (name + "_unsigned").str());
    value = made->getResult(0);
  }
  if (!value)
    return false;
  operand.value = value;
  operand.zeroPoint = zeroPoint;
  return true;
}

/// A vector of numbers per channel, shaped to run along the result's channel.
Value IntegerFolder::spread(Value parameter, int64_t trailing, StringRef name) {
  auto type = cast<RankedTensorType>(parameter.getType());
  if (type.getNumElements() == 1 || trailing == 0)
    return parameter;
  SmallVector<int64_t> shape{type.getNumElements()};
  shape.append(trailing, 1);
  return createConstant(builder, loc, name, *numbersOf(parameter), shape,
                        type.getElementType());
}

/// A bias of channels as ONNX Runtime's tool writes it for a convolution.
Value IntegerFolder::reshapeBias(Value bias, int64_t rank, StringRef tensor) {
  auto type = cast<RankedTensorType>(bias.getType());
  SmallVector<int64_t> shape(rank, 1), dims(rank, 1);
  dims[1] = -1;
  shape[1] = type.getNumElements();
  Value constant =
      createConstant(builder, loc, (tensor + "_bias_reshape_shape").str(), dims,
                     {rank}, builder.getI64Type());
  OperationState state(loc, ReshapeOp::getOperationName());
  state.addOperands({bias, constant});
  state.addTypes(RankedTensorType::get(shape, type.getElementType()));
  Operation *op = builder.create(state);
  setNames(op, "", (tensor + "_bias_reshape_output").str());
  return op->getResult(0);
}

/// The product of the two scales as they are; null if they don't suit.
Value IntegerFolder::plainScaleOf(QuantizableOpInterface op,
                                  ArrayRef<QuantizedOperand> operands) {
  SmallVector<unsigned> products = op.getQuantizableOperands();
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (products.size() != 2 || op.getProductFactor() != 1.0)
    return {};
  Type type = RankedTensorType::get({}, builder.getF32Type());
  SmallVector<Value> scales;
  for (unsigned index : products) {
    Value scale = operands[index].scale;
    auto own = dyn_cast<RankedTensorType>(scale.getType());
    if (!own || !own.hasStaticShape() || !own.getElementType().isF32())
      return {};
    scales.push_back(scale);
    std::optional<int64_t> axis = op.getResultChannelAxis(index);
    if (own.getNumElements() > 1 &&
        (!axis || !result || *axis != result.getRank() - 1))
      return {};
    if (own.getRank() > 0)
      type = own;
  }
  return create(MulOp::getOperationName(), scales, type, "");
}

/// The product of all scales, shaped for the result.
Value IntegerFolder::scaleOf(QuantizableOpInterface op,
                             ArrayRef<QuantizedOperand> operands,
                             StringRef node) {
  std::string own = (node + "_quant_scales_mul").str();
  if (plan.settings.isCompatible())
    if (Value product = plainScaleOf(op, operands)) {
      setNames(product.getDefiningOp(), own, own + ":0");
      return product;
    }
  std::string name = nodeName(op) + "_scales";
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  // Sums of integers leave the range of float16: all is float32 up to here.
  Type element = builder.getF32Type();
  std::optional<Value> dynamic;
  SmallVector<double> numbers{op.getProductFactor()};
  SmallVector<int64_t> shape;
  for (unsigned index : op.getQuantizableOperands()) {
    Value scale = operands[index].scale;
    // A scale of the graph's own numbers is a narrowed one.
    if (auto narrowed = scale.getDefiningOp<CastOp>())
      scale = narrowed.getInput();
    std::optional<SmallVector<double>> values = numbersOf(scale);
    if (!values) {
      dynamic = dynamic ? create(MulOp::getOperationName(), {*dynamic, scale},
                                 scale.getType(), name + "_inputs")
                        : scale;
      continue;
    }
    if (values->size() > 1) {
      std::optional<int64_t> axis = op.getResultChannelAxis(index);
      if (!axis || !result || numbers.size() > 1)
        return {};
      numbers.assign(values->size(), numbers[0]);
      shape = {static_cast<int64_t>(values->size())};
      shape.append(result.getRank() - 1 - *axis, 1);
    }
    for (auto [i, number] : llvm::enumerate(numbers))
      number *= (*values)[values->size() == 1 ? 0 : i];
  }
  Value fixed = createConstant(builder, loc, name, numbers, shape, element);
  if (!dynamic)
    return fixed;
  Value product = create(MulOp::getOperationName(), {*dynamic, fixed},
                         fixed.getType(), name + "_product");
  if (plan.settings.isCompatible())
    setNames(product.getDefiningOp(), own, own + ":0");
  return product;
}

std::string IntegerFolder::fold(QuantizableOpInterface op) {
  std::optional<SmallVector<QuantizedOperand>> operands = quantizedOperands(op);
  if (!operands)
    return "an operand is float: quantizers around it";
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  std::string name = nodeName(op), tensor = tensorName(op->getResult(0));
  bool compatible = plan.settings.isCompatible();
  // ONNX Runtime's tool makes a product and a sum of a Gemm first.
  bool splits = compatible && isa<GemmOp>(op);
  std::string node = splits ? name + "_MatMul" : name;
  std::optional<unsigned> biasIndex = op.getBiasOperand();
  Value bias;
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<unsigned> products = op.getQuantizableOperands();
  if (biasIndex && !isa<NoneType>(op->getOperand(*biasIndex).getType())) {
    bias = op->getOperand(*biasIndex);
    // A bias of integers is added in float.
    if (std::optional<SmallVector<double>> numbers = dequantizedNumbers(bias);
        numbers && !constantOf(bias))
      bias = createConstant(builder, loc, tensorName(bias) + "_float", *numbers,
                            cast<RankedTensorType>(bias.getType()).getShape(),
                            getElementTypeOrSelf(bias));
    std::optional<int64_t> axis = products.size() > 1
                                      ? op.getResultChannelAxis(products[1])
                                      : std::nullopt;
    if (!result || !axis || op.getBiasFactor() != 1.0 ||
        (result.getRank() - 1 - *axis > 0 && !constantOf(bias)))
      return "its bias doesn't suit integer products: quantizers around it";
    int64_t trailing = result.getRank() - 1 - *axis;
    bias = compatible && trailing > 0 && *axis == 1
               ? reshapeBias(bias, result.getRank(), tensor)
               : spread(bias, trailing, name + "_bias");
  } else if (!biasIndex && op->getNumOperands() > products.size()) {
    return "it adds a matrix: quantizers around it";
  }
  for (unsigned index : products) {
    QuantizedOperand &operand = (*operands)[index];
    std::string own = name + "_" + std::to_string(index);
    if (plan.settings.mode == Mode::QAT && op.takesUnsignedIntegers() &&
        !makeUnsigned(operand, own))
      return "its signed integers have no kernel: quantizers around it";
    operand.zeroPoint = singleZeroPoint(operand.zeroPoint, own);
  }
  Value scale = scaleOf(op, *operands, node);
  if (!scale)
    return "its scales don't suit integer products: quantizers around it";
  FailureOr<Value> sums = op.buildInteger(builder, *operands);
  if (failed(sums))
    return "no integer form: quantizers around it";
  std::string scaled = splits && bias ? tensor + "_MatMul" : tensor,
              integers = compatible ? scaled + "_output_quantized" : name;
  setNames(sums->getDefiningOp(), node + "_quant",
           compatible ? integers : name + "_quant_output");
  auto type = cast<TensorType>(op->getResult(0).getType());
  TensorType wide = type.clone(builder.getF32Type());
  Value product = create(
      MulOp::getOperationName(), {toFloat(*sums, wide, integers), scale}, wide,
      node + (compatible ? "_quant_output_scale_mul" : "_rescale"));
  if (wide != type)
    product = toFloat(product, type, name + "_rescale");
  if (bias) {
    if (compatible)
      setNames(product.getDefiningOp(), nodeName(product.getDefiningOp()),
               splits ? scaled : tensor + "quant_scaled_output");
    product = create(AddOp::getOperationName(), {product, bias}, type,
                     splits       ? name + "_Add"
                     : compatible ? tensor + "_bias_add"
                                  : name + "_add_bias");
  }
  // The result keeps its name.
  setNames(product.getDefiningOp(), nodeName(product.getDefiningOp()),
           tensorName(op->getResult(0)));
  op->getResult(0).replaceAllUsesWith(product);
  op->erase();
  return "";
}

void quantize::foldToInteger(Plan &plan) {
  IntegerFolder folder(plan);
  for (Node &node : plan.nodes) {
    auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
    if (!op || !node.quantized || !op.isContraction() || op.takesWeightsOnly())
      continue;
    std::string reason = folder.fold(op);
    if (reason.empty())
      node.op = nullptr;
    else
      node.reason = reason;
  }
}

void quantize::foldToDynamic(Plan &plan) {
  OpBuilder builder(plan.module.getContext());
  for (Node &node : plan.nodes) {
    auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
    bool hasDynamicForm =
        op && (op.takesWeightsOnly() || isa<microsoft::AttentionOp>(node.op));
    if (!hasDynamicForm || !node.quantized)
      continue;
    std::optional<SmallVector<QuantizedOperand>> operands =
        quantizedOperands(op);
    builder.setInsertionPoint(op);
    FailureOr<Operation *> built = operands
                                       ? op.buildDynamic(builder, *operands)
                                       : FailureOr<Operation *>(failure());
    if (failed(built)) {
      node.reason = "only its weights are quantized";
      continue;
    }
    node.reason.clear();
    (*built)->setAttr(nodeNameAttr,
                      builder.getStringAttr(nodeName(op) + "_quant"));
    if (Attribute names = op->getAttr(resultNamesAttr))
      (*built)->setAttr(resultNamesAttr, names);
    op->replaceAllUsesWith(*built);
    op->erase();
    node.op = nullptr;
  }
}
