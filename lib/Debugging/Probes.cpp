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

bool Prober::canSee(Value value) {
  if (depthOf(value) == 0)
    return true;
  for (Operation *parent = value.getParentBlock()->getParentOp();
       !isa<func::FuncOp>(parent); parent = parent->getParentOp())
    if (!isa<ir::LoopOp, ir::ScanOp>(parent))
      return false;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

Probe Prober::add(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == end->getBlock())
    return {static_cast<int64_t>(argument.getArgNumber()), true};
  auto [place, isNew] =
      outputs.try_emplace(value, graph.getNumResults() + chosen.size());
  if (isNew)
    chosen.push_back(value);
  return {place->second, false};
}

/// Gives a loop a result for each chosen tensor of its body, and chooses that
/// instead.
void Prober::lift(Operation *loop) {
  Block &body = loop->getRegion(0).front();
  Operation *yield = body.getTerminator();
  SmallVector<size_t> places;
  SmallVector<Type> types(loop->getResultTypes());
  for (size_t place = 0; place < chosen.size(); ++place) {
    Value value = chosen[place];
    if (value.getParentBlock() != &body)
      continue;
    places.push_back(place);
    yield->insertOperands(yield->getNumOperands(), value);
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), ShapedType::kDynamic);
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  OpBuilder b(loop);
  OperationState state(loop->getLoc(), loop->getName());
  state.addOperands(loop->getOperands());
  state.addTypes(types);
  state.addAttributes(llvm::to_vector(loop->getDiscardableAttrs()));
  state.propertiesAttr = loop->getPropertiesAsAttribute();
  for (unsigned i = 0; i < loop->getNumRegions(); ++i)
    state.addRegion();
  Operation *fresh = b.create(state);
  // Names of results are one for each.
  fresh->removeAttr(ir::resultNamesAttr);
  for (StringRef name : {"scan_output_axes", "scan_output_directions"})
    if (auto list = fresh->getAttrOfType<ArrayAttr>(name)) {
      SmallVector<Attribute> entries(list.begin(), list.end());
      entries.append(places.size(), b.getI64IntegerAttr(0));
      fresh->setAttr(name, b.getArrayAttr(entries));
    }
  for (auto [from, to] : llvm::zip(loop->getRegions(), fresh->getRegions()))
    to.takeBody(from);
  unsigned count = loop->getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    for (Value &value : chosen)
      if (value == loop->getResult(i))
        value = fresh->getResult(i);
    loop->getResult(i).replaceAllUsesWith(fresh->getResult(i));
  }
  for (auto [index, place] : llvm::enumerate(places))
    chosen[place] = fresh->getResult(count + index);
  loop->erase();
}

void Prober::finish() {
  while (true) {
    // The innermost loop first.
    Operation *loop = nullptr;
    int64_t deepest = 0;
    for (Value value : chosen)
      if (int64_t depth = depthOf(value); depth > deepest) {
        deepest = depth;
        loop = value.getParentBlock()->getParentOp();
      }
    if (!loop)
      break;
    lift(loop);
  }
  Builder b(graph.getContext());
  for (Value value : chosen) {
    unsigned index = graph.getNumResults();
    auto name = b.getStringAttr("onnxq.probe." + std::to_string(index));
    (void)graph.insertResult(
        index, value.getType(),
        b.getDictionaryAttr(b.getNamedAttr(ir::argNameAttr, name)));
    end->insertOperands(index, value);
  }
  chosen.clear();
}

Value Prober::dequantize(const QuantTensor &tensor) {
  if (!tensor.isQuantized())
    return tensor.value;
  Value &known = dequantized[tensor.value];
  if (known)
    return known;
  OpBuilder b(graph.getContext());
  Value value = tensor.value;
  Block *block = value.getParentBlock();
  b.setInsertionPointToStart(block);
  Operation *after = nullptr;
  for (Value each : {tensor.value, tensor.scale, tensor.zeroPoint})
    if (Operation *op = each ? each.getDefiningOp() : nullptr)
      if (op->getBlock() == block && (!after || after->isBeforeInBlock(op)))
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
