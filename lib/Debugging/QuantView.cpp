// Reads nodes of a quantized graph as the float nodes that they stand for.

#include "QuantView.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

namespace {

/// Where the tensors and parameters of an operator on integers are.
struct OperandLayout {
  StringLiteral type, role;
  /// The positions of values; each has its scale and zero point after it.
  SmallVector<unsigned, 2> quantized;
  /// The position of the result's scale, its zero point after it; -1 for none.
  int result;
  /// The position of the bias, -1 for none.
  int bias;
};

} // namespace

static ArrayRef<OperandLayout> layouts() {
  static const OperandLayout all[] = {
      {"QLinearConv", "Conv", {0, 3}, 6, 8},
      {"QLinearMatMul", "MatMul", {0, 3}, 6, -1},
      {"QGemm", "Gemm", {0, 3}, 7, 6},
      {"QLinearAdd", "Add", {0, 3}, 6, -1},
      {"QLinearMul", "Mul", {0, 3}, 6, -1},
      {"QLinearLeakyRelu", "LeakyRelu", {0}, 3, -1},
      {"QLinearSigmoid", "Sigmoid", {0}, 3, -1},
      {"QLinearSoftmax", "Softmax", {0}, 3, -1},
      {"QLinearReduceMean", "ReduceMean", {0}, 3, -1},
      {"QLinearAveragePool", "AveragePool", {0}, 3, -1},
      {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 3, -1},
  };
  return all;
}

static const OperandLayout *layoutOf(StringRef type) {
  auto found = llvm::find_if(
      layouts(), [&](const OperandLayout &each) { return each.type == type; });
  return found == layouts().end() ? nullptr : &*found;
}

static Value operandAt(Operation *op, int index) {
  if (index < 0 || index >= static_cast<int>(op->getNumOperands()) ||
      isa<NoneType>(op->getOperand(index).getType()))
    return {};
  return op->getOperand(index);
}

static int64_t integerAttr(Operation *op, StringRef name, int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getValue().getSExtValue() : otherwise;
}

StringRef debugging::roleOf(Operation *op) {
  auto node = dyn_cast<ir::NodeOpInterface>(op);
  return node ? node.getOnnxOpType() : "";
}

std::string debugging::nameOfNode(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(ir::nodeNameAttr);
      name && !name.empty())
    return name.str();
  return op->getNumResults() ? ir::getTensorName(op->getResult(0)).str() : "";
}

static void addNodes(Block &block, SmallVectorImpl<Operation *> &nodes) {
  for (Operation &op : block) {
    nodes.push_back(&op);
    if (isa<ir::LoopOp, ir::ScanOp>(op))
      for (Region &region : op.getRegions())
        addNodes(region.front(), nodes);
  }
}

SmallVector<Operation *> debugging::nodesOf(func::FuncOp graph) {
  SmallVector<Operation *> nodes;
  addNodes(graph.getBody().front(), nodes);
  return nodes;
}

int64_t debugging::depthOf(Value value) {
  int64_t depth = 0;
  for (Operation *parent = value.getParentBlock()->getParentOp();
       parent && !isa<func::FuncOp>(parent); parent = parent->getParentOp())
    ++depth;
  return depth;
}

bool debugging::isQuantizer(Operation *op) {
  return isa<ir::QuantizeLinearOp, ir::microsoft::QuantizeLinearOp>(op);
}

bool debugging::isDequantizer(Operation *op) {
  return isa<ir::DequantizeLinearOp, ir::microsoft::DequantizeLinearOp>(op);
}

bool debugging::isClamp(Operation *op) {
  return isa<ir::ReluOp, ir::ClipOp>(op);
}

bool debugging::isContraction(StringRef role) {
  return llvm::StringSwitch<bool>(role)
      .Cases({"Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum"}, true)
      .Default(false);
}

/// A quantizer's or dequantizer's operands as a tensor with parameters.
static QuantTensor withParameters(Operation *op, Value value) {
  return {value, op->getOperand(1), operandAt(op, 2),
          integerAttr(op, "axis", 1), integerAttr(op, "block_size", 0)};
}

QuantTensor debugging::viewTensor(Value value) {
  auto tensor = dyn_cast<TensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !tensor || !isa<IntegerType>(tensor.getElementType()))
    return {value, {}, {}};
  if (isQuantizer(op))
    return withParameters(op, value);
  if (auto dynamic = dyn_cast<ir::DynamicQuantizeLinearOp>(op))
    return {value, dynamic.getYScale(), dynamic.getYZeroPoint()};
  if (const OperandLayout *layout = layoutOf(roleOf(op)))
    return {value, operandAt(op, layout->result),
            operandAt(op, layout->result + 1)};
  if (roleOf(op) == "QLinearConcat" || roleOf(op) == "QLinearWhere") {
    unsigned first = roleOf(op) == "QLinearConcat" ? 0 : 7;
    return {value, operandAt(op, first), operandAt(op, first + 1)};
  }
  // Moved integers keep their parameters, if they have one scale only.
  auto moving = dyn_cast<ir::QuantizableOpInterface>(op);
  if (!moving || !moving.movesData())
    return {value, {}, {}};
  QuantTensor source = viewTensor(op->getOperand(0));
  source.value = value;
  return source;
}

/// A value with the dequantizer before it looked through.
static QuantTensor viewOperand(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isDequantizer(op))
    return withParameters(op, op->getOperand(0));
  return viewTensor(value);
}

QuantNode debugging::viewNode(Operation *op) {
  QuantNode node;
  StringRef type = roleOf(op);
  node.role = type;
  if (const OperandLayout *layout = layoutOf(type)) {
    node.role = layout->role;
    for (unsigned index : layout->quantized) {
      QuantTensor tensor{operandAt(op, index), operandAt(op, index + 1),
                         operandAt(op, index + 2)};
      // Scales of a convolution's weights run along the first axis, those of a
      // product's along the last, or the first if it is transposed.
      auto shaped = dyn_cast<RankedTensorType>(tensor.value.getType());
      int64_t rank = shaped ? shaped.getRank() : 2;
      tensor.axis =
          layout->role == "Conv" || integerAttr(op, "transB", 0) ? 0 : rank - 1;
      node.operands.push_back(tensor);
    }
    if (Value bias = operandAt(op, layout->bias))
      node.operands.push_back({bias, {}, {}});
    node.result = viewTensor(op->getResult(0));
    return node;
  }
  if (type == "ConvInteger" || type == "MatMulInteger") {
    node.role = type == "ConvInteger" ? "Conv" : "MatMul";
    node.givesSums = true;
    for (unsigned index : {0u, 1u}) {
      QuantTensor tensor = viewTensor(op->getOperand(index));
      if (!tensor.zeroPoint)
        tensor.zeroPoint = operandAt(op, index + 2);
      node.operands.push_back(tensor);
    }
    node.result = {op->getResult(0), {}, {}};
    return node;
  }
  if (type == "QLinearConcat" || type == "QLinearWhere") {
    node.role = type.drop_front(StringRef("QLinear").size());
    bool joins = node.role == "Concat";
    if (!joins)
      node.operands.push_back({op->getOperand(0), {}, {}});
    unsigned end = joins ? op->getNumOperands() : 7;
    for (unsigned index = joins ? 2 : 1; index < end; index += 3)
      node.operands.push_back({op->getOperand(index), op->getOperand(index + 1),
                               op->getOperand(index + 2)});
    node.result = viewTensor(op->getResult(0));
    return node;
  }
  if (type == "DynamicQuantizeMatMul" || type == "MatMulIntegerToFloat" ||
      type == "MatMulNBits")
    node.role = "MatMul";
  for (Value operand : op->getOperands())
    node.operands.push_back(viewOperand(operand));
  if (op->getNumResults() > 0)
    node.result = viewTensor(op->getResult(0));
  return node;
}

std::optional<QuantType> debugging::quantType(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer || integer.getWidth() < 2)
    return std::nullopt;
  return QuantType{integer.getWidth(), !integer.isUnsigned()};
}

std::optional<SmallVector<double>> debugging::readReal(Value value) {
  ElementsAttr constant = ir::getConstant(value);
  if (!constant || !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  return ir::readFloats(constant, std::numeric_limits<int64_t>::max());
}

int64_t ConstantNumbers::scaleIndex(int64_t element) const {
  if (scales.size() <= 1)
    return 0;
  int64_t inner = 1;
  for (int64_t dim : ArrayRef<int64_t>(shape).drop_front(axis + 1))
    inner *= dim;
  int64_t along = element / inner % shape[axis];
  if (blockSize == 0)
    return along;
  int64_t blocks = (shape[axis] + blockSize - 1) / blockSize;
  return (element / inner / shape[axis] * blocks + along / blockSize) * inner +
         element % inner;
}

/// The integers that a quantizer makes of a float constant.
static bool quantizeHere(Operation *quantizer, ConstantNumbers &numbers) {
  auto real = readReal(quantizer->getOperand(0));
  auto tensor = dyn_cast<TensorType>(quantizer->getResult(0).getType());
  auto type = tensor ? quantType(tensor.getElementType()) : std::nullopt;
  if (!real || !type)
    return false;
  numbers.integers.resize(real->size());
  for (size_t i = 0; i < real->size(); ++i) {
    int64_t at = numbers.scaleIndex(i);
    numbers.integers[i] =
        quantizeValue((*real)[i],
                      {numbers.scales[at],
                       numbers.zeroPoints.empty() ? 0 : numbers.zeroPoints[at]},
                      *type);
  }
  return true;
}

std::optional<ConstantNumbers>
debugging::readConstant(const QuantTensor &tensor) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  auto type = dyn_cast<RankedTensorType>(tensor.value.getType());
  if (!type || !type.hasStaticShape() ||
      !isa<IntegerType>(type.getElementType()))
    return std::nullopt;
  ConstantNumbers numbers;
  numbers.type = quantType(type.getElementType());
  numbers.bits = type.getElementType().getIntOrFloatBitWidth();
  numbers.shape.assign(type.getShape().begin(), type.getShape().end());
  numbers.axis = tensor.axis < 0 ? tensor.axis + type.getRank() : tensor.axis;
  numbers.blockSize = tensor.blockSize;
  if (tensor.scale) {
    ElementsAttr scale = ir::getConstant(tensor.scale);
    auto values = scale ? ir::readFloats(scale, any) : std::nullopt;
    if (!values || values->empty())
      return std::nullopt;
    numbers.scales = *values;
  }
  if (tensor.zeroPoint)
    if (ElementsAttr zero = ir::getConstant(tensor.zeroPoint))
      if (auto values = ir::readInts(zero, any))
        numbers.zeroPoints = *values;
  // One zero point for all scales, or one scale for all zero points.
  if (numbers.zeroPoints.size() == 1 && numbers.scales.size() > 1)
    numbers.zeroPoints.resize(numbers.scales.size(), numbers.zeroPoints[0]);
  bool varies = numbers.scales.size() > 1;
  if (varies &&
      (numbers.axis < 0 || numbers.axis >= type.getRank() ||
       (numbers.blockSize == 0 && static_cast<int64_t>(numbers.scales.size()) !=
                                      type.getDimSize(numbers.axis))))
    return std::nullopt;
  if (!numbers.zeroPoints.empty() && !numbers.scales.empty() &&
      numbers.zeroPoints.size() != numbers.scales.size())
    return std::nullopt;
  if (ElementsAttr constant = ir::getConstant(tensor.value)) {
    auto values = ir::readInts(constant, any);
    if (!values)
      return std::nullopt;
    numbers.integers = std::move(*values);
    return numbers;
  }
  Operation *op = tensor.value.getDefiningOp();
  if (op && isQuantizer(op) && !numbers.scales.empty() &&
      quantizeHere(op, numbers))
    return numbers;
  return std::nullopt;
}
