// Weights and biases: what is stored against what the float model has.

#include "Weights.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

StoredAs debugging::describeStorage(const QuantTensor &tensor) {
  constexpr int64_t any = std::numeric_limits<int64_t>::max();
  StoredAs stored;
  auto type = dyn_cast<TensorType>(tensor.value.getType());
  auto integer = type ? quantType(type.getElementType()) : std::nullopt;
  if (!integer || !tensor.isQuantized())
    return stored;
  stored.type = integer->str();
  ElementsAttr scale = ir::getConstant(tensor.scale);
  auto scales = scale ? ir::readFloats(scale, any) : std::nullopt;
  stored.dynamic = !scales;
  if (!scales)
    return stored;
  stored.scales.assign(scales->begin(), scales->end());
  ElementsAttr zero =
      tensor.zeroPoint ? ir::getConstant(tensor.zeroPoint) : ElementsAttr();
  auto zeros = zero ? ir::readInts(zero, any) : std::nullopt;
  if (zeros)
    stored.zeroPoints.assign(zeros->begin(), zeros->end());
  stored.zeroPoints.resize(stored.scales.size(), 0);
  if (stored.scales.size() == 1) {
    ScaleAndZeroPoint parameters{stored.scales[0], stored.zeroPoints[0]};
    stored.range = std::pair(dequantizeValue(integer->min(), parameters),
                             dequantizeValue(integer->max(), parameters));
  }
  return stored;
}

/// The numbers of a constant, or of an operand that one is made of.
static std::optional<SmallVector<double>> numbersOf(Value value) {
  ElementsAttr constant = ir::getConstant(value);
  if (!constant)
    return std::nullopt;
  return ir::readFloats(constant, std::numeric_limits<int64_t>::max());
}

/// The scales of weights that are multiplied as integers: what the sums are
/// multiplied by, less the scale of the other operand.
static std::optional<SmallVector<double>> scalesBehind(Operation *sums,
                                                       Value otherScale) {
  Value value = sums->getResult(0);
  while (value.hasOneUse() && isa<ir::CastOp>(*value.user_begin()))
    value = (*value.user_begin())->getResult(0);
  if (!value.hasOneUse() || !isa<ir::MulOp>(*value.user_begin()))
    return std::nullopt;
  Operation *multiply = *value.user_begin();
  Value factor = multiply->getOperand(multiply->getOperand(0) == value);
  if (auto numbers = numbersOf(factor)) {
    auto other = otherScale ? numbersOf(otherScale) : std::nullopt;
    if (!other || other->size() != 1)
      return std::nullopt;
    for (double &number : *numbers)
      number /= (*other)[0];
    return numbers;
  }
  auto product = factor.getDefiningOp<ir::MulOp>();
  if (!product)
    return std::nullopt;
  for (Value operand : product->getOperands())
    if (auto numbers = numbersOf(operand))
      return numbers;
  return std::nullopt;
}

/// One scale for each index along the axis, by least squares.
static void fitScales(ConstantNumbers &numbers, ArrayRef<double> reals) {
  int64_t count = numbers.shape[numbers.axis];
  int64_t single = numbers.zeroPoints.empty() ? 0 : numbers.zeroPoints[0];
  if (numbers.zeroPoints.size() <= 1)
    numbers.zeroPoints.assign(count, single);
  numbers.scales.assign(count, 1);
  SmallVector<double> dots(count, 0), squares(count, 0);
  for (size_t i = 0; i < reals.size(); ++i) {
    int64_t at = numbers.scaleIndex(i);
    auto integer =
        static_cast<double>(numbers.integers[i] - numbers.zeroPoints[at]);
    dots[at] += integer * reals[i];
    squares[at] += integer * integer;
  }
  for (auto [scale, dot, square] : llvm::zip(numbers.scales, dots, squares))
    scale = square > 0 ? dot / square : 0;
}

namespace {

/// One operand of a node that is constant in both graphs.
class WeightComparer {
public:
  WeightComparer(Operation *quant, Operation *real, const QuantNode &node)
      : quant(quant), real(real), node(node) {}

  std::optional<DebugWeight> compare(unsigned index);

private:
  bool completeScales(unsigned index, ArrayRef<double> reals,
                      ConstantNumbers &numbers, DebugWeight &weight);
  void addErrors(ConstantNumbers &numbers, ArrayRef<double> reals,
                 DebugWeight &weight, int64_t axis);

  Operation *quant, *real;
  const QuantNode &node;
};

} // namespace

/// Scales that aren't written beside the numbers.
bool WeightComparer::completeScales(unsigned index, ArrayRef<double> reals,
                                    ConstantNumbers &numbers,
                                    DebugWeight &weight) {
  if (!numbers.scales.empty())
    return true;
  if (numbers.shape.empty())
    return false;
  if (weight.kind == "bias") {
    // The product of the operands' scales.
    if (!node.operands[0].scale || !node.operands[1].scale)
      return false;
    auto input = numbersOf(node.operands[0].scale),
         weights = numbersOf(node.operands[1].scale);
    if (!input || !weights || input->size() != 1)
      return false;
    for (double &scale : *weights)
      scale *= (*input)[0];
    numbers.axis = static_cast<int64_t>(numbers.shape.size()) - 1;
    numbers.scales = *weights;
    return numbers.scales.size() == 1 ||
           static_cast<int64_t>(numbers.scales.size()) ==
               numbers.shape[numbers.axis];
  }
  bool last = node.role != "Conv" && index > 0;
  numbers.axis = last ? static_cast<int64_t>(numbers.shape.size()) - 1 : 0;
  Value other = node.operands[index == 0 ? 1 : 0].scale;
  auto scales = scalesBehind(quant, other);
  if (scales && (scales->size() == 1 || static_cast<int64_t>(scales->size()) ==
                                            numbers.shape[numbers.axis])) {
    numbers.scales = *scales;
    if (!numbers.zeroPoints.empty() &&
        numbers.zeroPoints.size() != numbers.scales.size())
      numbers.zeroPoints.assign(numbers.scales.size(), numbers.zeroPoints[0]);
    return true;
  }
  fitScales(numbers, reals);
  weight.fitted = true;
  return true;
}

void WeightComparer::addErrors(ConstantNumbers &numbers, ArrayRef<double> reals,
                               DebugWeight &weight, int64_t axis) {
  std::vector<float> right(reals.begin(), reals.end()), stored(reals.size());
  int64_t beyond = 0;
  for (size_t i = 0; i < reals.size(); ++i) {
    stored[i] = static_cast<float>(numbers.real(i));
    int64_t at = numbers.scaleIndex(i);
    bool atEnd = numbers.type && (numbers.integers[i] == numbers.type->min() ||
                                  numbers.integers[i] == numbers.type->max());
    beyond += atEnd && std::fabs(reals[i] - numbers.real(i)) >
                           0.75 * std::fabs(numbers.scales[at]);
  }
  weight.errors.add(right, stored, numbers.shape, axis);
  weight.saturated = reals.empty() ? 0
                                   : static_cast<double>(beyond) /
                                         static_cast<double>(reals.size());
}

/// Whether one of the nodes takes its weights transposed, and the other not.
static bool isTransposed(Operation *quant, Operation *real, unsigned index) {
  auto transposes = [&](Operation *op) {
    auto attribute =
        op->getAttrOfType<IntegerAttr>(index == 0 ? "transA" : "transB");
    return attribute && !attribute.getValue().isZero();
  };
  return index < 2 && transposes(quant) != transposes(real);
}

/// Numbers of a matrix, rows as columns.
static SmallVector<double> transposed(ArrayRef<double> numbers, int64_t rows,
                                      int64_t columns) {
  SmallVector<double> result(numbers.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      result[row * columns + column] = numbers[column * rows + row];
  return result;
}

std::optional<DebugWeight> WeightComparer::compare(unsigned index) {
  auto reals = readReal(real->getOperand(index));
  if (!reals || !node.operands[index].value)
    return std::nullopt;
  QuantTensor tensor = node.operands[index];
  auto numbers = readConstant(tensor);
  if (!numbers || numbers->integers.size() != reals->size())
    return std::nullopt;
  bool turned = isTransposed(quant, real, index);
  auto realShape =
      cast<ShapedType>(real->getOperand(index).getType()).getShape();
  SmallVector<int64_t> expected(realShape.begin(), realShape.end());
  if (turned)
    std::reverse(expected.begin(), expected.end());
  if (expected != numbers->shape || (turned && expected.size() != 2))
    return std::nullopt;
  if (turned)
    reals = transposed(*reals, expected[0], expected[1]);
  auto interface = dyn_cast<ir::QuantizableOpInterface>(real);
  bool isBias = interface && interface.getBiasOperand() == index;
  DebugWeight weight;
  weight.kind = isBias ? "bias" : "weight";
  weight.name = ir::getTensorName(real->getOperand(index)).str();
  weight.node = nameOfNode(real);
  weight.input = ir::getTensorName(real->getOperand(0)).str();
  weight.shape.assign(numbers->shape.begin(), numbers->shape.end());
  if (!completeScales(index, *reals, *numbers, weight))
    return std::nullopt;
  weight.stored.type = numbers->type ? numbers->type->str() : "";
  weight.stored.scales.assign(numbers->scales.begin(), numbers->scales.end());
  weight.stored.zeroPoints.assign(numbers->zeroPoints.begin(),
                                  numbers->zeroPoints.end());
  weight.stored.zeroPoints.resize(weight.stored.scales.size(), 0);
  if (numbers->type && numbers->scales.size() == 1) {
    ScaleAndZeroPoint parameters{numbers->scales[0],
                                 weight.stored.zeroPoints[0]};
    weight.stored.range =
        std::pair(dequantizeValue(numbers->type->min(), parameters),
                  dequantizeValue(numbers->type->max(), parameters));
  }
  int64_t axis = numbers->shape.empty()
                     ? -1
                     : static_cast<int64_t>(numbers->shape.size()) - 1;
  if (!isBias && interface)
    axis = interface.getChannelAxis(index).value_or(-1);
  if (turned && axis >= 0)
    axis = 1 - axis;
  addErrors(*numbers, *reals, weight, axis);
  return weight;
}

std::vector<DebugWeight> debugging::compareWeights(func::FuncOp quant,
                                                   const GraphMatch &match) {
  std::vector<DebugWeight> weights;
  for (Operation *op : nodesOf(quant)) {
    Operation *real = match.real(op);
    if (!real)
      continue;
    QuantNode node = viewNode(op);
    WeightComparer comparer(op, real, node);
    unsigned count =
        std::min<size_t>(real->getNumOperands(), node.operands.size());
    for (unsigned index = 0; index < count; ++index)
      if (std::optional<DebugWeight> weight = comparer.compare(index))
        weights.push_back(std::move(*weight));
  }
  return weights;
}
