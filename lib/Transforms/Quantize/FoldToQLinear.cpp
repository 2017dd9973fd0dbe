// Replaces a float op between dequantizers and a quantizer by its quantized
// form, and lets data be moved as integers. What has no such form keeps its
// quantizers and dequantizers.

#include "Fold.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

static Value createNode(OpBuilder &builder, Location loc, StringRef opName,
                        ValueRange operands, Type type, const Twine &name) {
  OperationState state(loc, opName);
  state.addOperands(operands);
  state.addTypes(type);
  Operation *op = builder.create(state);
  setNames(op, name.str(), (name + "_output").str());
  return op->getResult(0);
}

/// Integer biases that are computed at run time stay below this, so that the
/// products added to them fit 32 bits too.
static constexpr double greatestBias = 1 << 30;

/// A float bias by scales that are known at run time only: round(b / (xs * ws))
/// as 32-bit integers, in the graph.
static Value quantizeInGraph(OpBuilder &builder, QuantizableOpInterface op,
                             const QuantizedOperand &input,
                             const QuantizedOperand &weight, Value bias) {
  Location loc = op->getLoc();
  std::string name = nodeName(op) + "_bias";
  auto type = cast<RankedTensorType>(bias.getType());
  Value scale = createNode(builder, loc, MulOp::getOperationName(),
                           {input.scale, weight.scale}, weight.scale.getType(),
                           name + "_scale");
  Value quotient = createNode(builder, loc, DivOp::getOperationName(),
                              {bias, scale}, type, name + "_quotient");
  Value rounded = createNode(builder, loc, RoundOp::getOperationName(),
                             {quotient}, type, name + "_rounded");
  auto bound = [&](double number, StringRef suffix) {
    return createConstant(builder, loc, name + suffix.str(),
                          ArrayRef<double>{number}, {}, type.getElementType());
  };
  Value clipped = createNode(
      builder, loc, ClipOp::getOperationName(),
      {rounded, bound(-greatestBias, "_least"), bound(greatestBias, "_most")},
      type, name + "_clipped");
  OperationState state(loc, CastOp::getOperationName());
  state.addOperands(clipped);
  state.addTypes(RankedTensorType::get(type.getShape(), builder.getI32Type()));
  state.addAttribute("to", TypeAttr::get(builder.getI32Type()));
  Operation *cast = builder.create(state);
  setNames(cast, name + "_cast", name + "_quantized");
  return cast->getResult(0);
}

/// The bias as integers: null if there is none, failure if it can't be one.
static FailureOr<Value> integerBias(OpBuilder &builder,
                                    QuantizableOpInterface op,
                                    ArrayRef<QuantizedOperand> operands) {
  std::optional<unsigned> index = op.getBiasOperand();
  if (!index)
    return Value();
  Value bias = op->getOperand(*index);
  if (isa<NoneType>(bias.getType()))
    return Value();
  if (QuantizedOperand quantized = dequantizedBy(bias); quantized.value)
    return quantized.value;
  SmallVector<unsigned> products = op.getQuantizableOperands();
  const QuantizedOperand &input = operands[products[0]],
                         &weight = operands[products[1]];
  auto type = dyn_cast<RankedTensorType>(bias.getType());
  if (!type || !type.getElementType().isF32() || constantOf(input.scale) ||
      op.getBiasFactor() != 1.0 || op.getProductFactor() != 1.0)
    return failure();
  return quantizeInGraph(builder, op, input, weight, bias);
}

/// Whether kernels exist for the types: results are like activations, and
/// weights are too, or signed beside unsigned activations.
static bool haveKernels(QuantizableOpInterface op,
                        ArrayRef<QuantizedOperand> operands, Value zeroPoint) {
  auto typeOf = [](Value value) { return getElementTypeOrSelf(value); };
  Type type = typeOf(zeroPoint);
  bool isUnsigned = type.isUnsignedInteger();
  return type.getIntOrFloatBitWidth() == 8 &&
         llvm::all_of(op.getQuantizableOperands(), [&](unsigned index) {
           Value value = operands[index].value;
           bool isWeight = op.isContraction() && constantOf(value);
           return typeOf(value) == type || (isWeight && isUnsigned);
         });
}

/// Why an op has no quantized form; empty if it has.
static std::string fold(Plan &plan, OpBuilder &builder,
                        QuantizableOpInterface op) {
  if (moveIntegers(builder, op, /*sink=*/false))
    return "";
  QuantizedForm form = op.getQLinearForm();
  if (form == QuantizedForm::None)
    return "no QLinear form: quantizers around it";
  if (form == QuantizedForm::Contrib && !plan.settings.contribOps)
    return "its QLinear form is of com.microsoft, see contrib-ops: quantizers "
           "around it";
  std::optional<SmallVector<QuantizedOperand>> operands = quantizedOperands(op);
  if (!operands)
    return "an operand is float: quantizers around it";
  QuantizeLinearOp quantizer = onlyQuantizer(op->getResult(0));
  if (!quantizer)
    return "its result is read as float: quantizers around it";
  if (!haveKernels(op, *operands, quantizer.getYZeroPoint()))
    return "no runtime has its QLinear form for these types: quantizers around "
           "it";
  if (op.isContraction() &&
      (op.getBiasFactor() != 1.0 || op.getProductFactor() != 1.0))
    return "it has factors that its QLinear form lacks: quantizers around it";
  builder.setInsertionPoint(op);
  FailureOr<Value> bias = integerBias(builder, op, *operands);
  if (failed(bias))
    return "its bias is float: quantizers around it";
  // The quantizer's parameters may be defined after the op.
  for (Value parameter : quantizer->getOperands().drop_front())
    if (Operation *constant = parameter.getDefiningOp())
      if (constant->getBlock() == op->getBlock() &&
          !constant->isBeforeInBlock(op) && isa<ConstantOp>(constant))
        constant->moveBefore(op);
  FailureOr<Value> built = op.buildQLinear(
      builder, *operands,
      {Value(), quantizer.getYScale(), quantizer.getYZeroPoint()}, *bias);
  if (failed(built))
    return "its operands don't suit its QLinear form: quantizers around it";
  setNames(built->getDefiningOp(), nodeName(op) + "_quant",
           tensorName(quantizer.getY()));
  quantizer.getY().replaceAllUsesWith(*built);
  quantizer.erase();
  op->erase();
  return "";
}

void quantize::foldToQLinear(Plan &plan) {
  OpBuilder builder(plan.module.getContext());
  for (Node &node : plan.nodes) {
    auto op = dyn_cast_or_null<QuantizableOpInterface>(node.op);
    if (!op || !node.quantized)
      continue;
    bool moves = op.movesData() || isa<PadOp>(node.op);
    std::string reason = fold(plan, builder, op);
    if (!reason.empty())
      node.reason = reason;
    else if (!moves)
      node.op = nullptr;
  }
}
