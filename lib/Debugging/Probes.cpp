// Adds outputs, dequantizers and float shadows of nodes to a graph.

#include "Probes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

Prober::Prober(func::FuncOp graph)
    : graph(graph), end(graph.getBody().front().getTerminator()) {
  for (auto [index, value] : llvm::enumerate(end->getOperands()))
    outputs.try_emplace(value, index);
}

Probe Prober::add(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {static_cast<int64_t>(argument.getArgNumber()), true};
  auto [place, isNew] = outputs.try_emplace(value, graph.getNumResults());
  if (isNew) {
    unsigned index = graph.getNumResults();
    Builder b(graph.getContext());
    auto name = b.getStringAttr("onnxq.probe." + std::to_string(index));
    (void)graph.insertResult(
        index, value.getType(),
        b.getDictionaryAttr(b.getNamedAttr(ir::argNameAttr, name)));
    end->insertOperands(index, value);
  }
  return {place->second, false};
}

Value Prober::dequantize(const QuantTensor &tensor) {
  if (!tensor.isQuantized())
    return tensor.value;
  Value &known = dequantized[tensor.value];
  if (known)
    return known;
  OpBuilder b(graph.getContext());
  b.setInsertionPointToStart(&graph.getBody().front());
  Operation *after = nullptr;
  for (Value value : {tensor.value, tensor.scale, tensor.zeroPoint})
    if (Operation *op = value ? value.getDefiningOp() : nullptr)
      if (!after || after->isBeforeInBlock(op))
        after = op;
  if (after)
    b.setInsertionPointAfter(after);
  auto type = cast<TensorType>(tensor.value.getType());
  Type element = cast<TensorType>(tensor.scale.getType()).getElementType();
  Value zeroPoint = tensor.zeroPoint;
  if (!zeroPoint)
    zeroPoint = ir::NoValueOp::create(b, tensor.value.getLoc());
  OperationState state(tensor.value.getLoc(),
                       ir::DequantizeLinearOp::getOperationName());
  state.addOperands({tensor.value, tensor.scale, zeroPoint});
  state.addTypes(type.clone(element));
  auto integer = [&](int64_t value) {
    return b.getIntegerAttr(b.getIntegerType(64, true), value);
  };
  state.addAttribute("axis", integer(tensor.axis));
  state.addAttribute("block_size", integer(tensor.blockSize));
  known = b.create(state)->getResult(0);
  return known;
}

Probe Prober::add(const QuantTensor &tensor) { return add(dequantize(tensor)); }

static bool isReal(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

Value Prober::addShadow(Operation *quant, Operation *real) {
  QuantNode node = viewNode(quant);
  OpBuilder b(graph.getContext());
  SmallVector<Value> operands;
  SmallVector<Operation *> constants;
  for (auto [index, operand] : llvm::enumerate(real->getOperands())) {
    Operation *maker = operand.getDefiningOp();
    if (maker &&
        (isa<ir::ConstantOp>(maker) || isa<NoneType>(operand.getType()))) {
      constants.push_back(maker);
      operands.push_back({});
      continue;
    }
    if (index >= node.operands.size() || !node.operands[index].value)
      return {};
    Value value = dequantize(node.operands[index]);
    if (!isReal(value))
      return {};
    constants.push_back(nullptr);
    operands.push_back(value);
  }
  b.setInsertionPointAfter(quant);
  for (auto [operand, constant, original] :
       llvm::zip(operands, constants, real->getOperands()))
    if (constant) {
      unsigned result = cast<OpResult>(original).getResultNumber();
      Operation *copy = b.clone(*constant);
      copy->removeAttr(ir::resultNamesAttr);
      operand = copy->getResult(result);
    }
  Operation *copy = b.clone(*real);
  copy->removeAttr(ir::resultNamesAttr);
  copy->setOperands(operands);
  return copy->getResult(0);
}
