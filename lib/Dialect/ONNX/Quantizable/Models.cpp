// Registration of the models of QuantizableOpInterface, and what they share.

#include "Models.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.cpp.inc"

void onnxquant::onnx::registerQuantizableModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ONNXDialect *) {
    attachAttention(*context);
    attachContractions(*context);
    attachDataMovement(*context);
    attachElementwise(*context);
    attachRecurrent(*context);
    attachReductions(*context);
  });
}

Type onnxquant::onnx::quantizable::withElementType(Type like,
                                                   Type elementType) {
  if (auto ranked = dyn_cast<RankedTensorType>(like))
    return RankedTensorType::get(ranked.getShape(), elementType);
  return UnrankedTensorType::get(elementType);
}

Type onnxquant::onnx::quantizable::elementTypeOf(Value value) {
  return cast<TensorType>(value.getType()).getElementType();
}

Operation *onnxquant::onnx::quantizable::createNode(
    OpBuilder &builder, Operation *from, StringRef name, ValueRange operands,
    Type resultType, ArrayRef<StringRef> attributes) {
  OperationState state(from->getLoc(), name);
  state.addOperands(operands);
  state.addTypes(resultType);
  for (StringRef attribute : attributes)
    if (Attribute value = from->getAttr(attribute))
      state.addAttribute(attribute, value);
  return builder.create(state);
}

Value onnxquant::onnx::quantizable::createAbsent(OpBuilder &builder,
                                                 Location loc) {
  return NoValueOp::create(builder, loc, builder.getNoneType(),
                           builder.getUnitAttr());
}

bool onnxquant::onnx::quantizable::isSingle(Value parameter) {
  auto type = dyn_cast<RankedTensorType>(parameter.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1;
}

bool onnxquant::onnx::quantizable::haveEightBits(
    ArrayRef<QuantizedOperand> operands) {
  return llvm::all_of(operands, [](const QuantizedOperand &operand) {
    return !operand.value || elementTypeOf(operand.value).isInteger(8);
  });
}

Value onnxquant::onnx::quantizable::transposeMatrix(OpBuilder &builder,
                                                    Operation *from,
                                                    Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto transposed = RankedTensorType::get(
      {type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
  std::optional<SmallVector<int64_t>> numbers;
  if (ElementsAttr constant = getConstant(value))
    numbers = readInts(constant, std::numeric_limits<int64_t>::max());
  if (!numbers || !type.getElementType().isInteger(8)) {
    OperationState state(from->getLoc(), TransposeOp::getOperationName());
    state.addOperands(value);
    state.addTypes(transposed);
    state.addAttribute("perm", builder.getI64ArrayAttr({1, 0}));
    return builder.create(state)->getResult(0);
  }
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  std::vector<char> bytes(numbers->size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      bytes[j * rows + i] = static_cast<char>((*numbers)[i * columns + j]);
  OperationState state(from->getLoc(), ConstantOp::getOperationName());
  state.addTypes(transposed);
  state.addAttribute("value",
                     DenseElementsAttr::getFromRawBuffer(transposed, bytes));
  Operation *constant = builder.create(state);
  if (auto names =
          value.getDefiningOp()->getAttrOfType<ArrayAttr>(resultNamesAttr);
      names && !names.empty())
    constant->setAttr(
        resultNamesAttr,
        builder.getStrArrayAttr(
            {(cast<StringAttr>(names[0]).getValue() + "_transposed").str()}));
  return constant->getResult(0);
}
