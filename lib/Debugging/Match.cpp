// Finds for tensors and nodes of a quantized graph those of the float graph.

#include "Match.h"
#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::debugging;
namespace ir = onnxquant::onnx;

/// Nodes of a chain from sums of integers to real numbers, at most.
static constexpr unsigned longestRescaling = 6;

/// Whether two tensors can be the same: sizes that both know are equal.
static bool haveSameShape(Value a, Value b) {
  auto first = dyn_cast<RankedTensorType>(a.getType());
  auto second = dyn_cast<RankedTensorType>(b.getType());
  if (!first || !second)
    return isa<TensorType>(a.getType()) && isa<TensorType>(b.getType());
  if (first.getRank() != second.getRank())
    return false;
  for (auto [left, right] : llvm::zip(first.getShape(), second.getShape()))
    if (!ShapedType::isDynamic(left) && !ShapedType::isDynamic(right) &&
        left != right)
      return false;
  return true;
}

static bool isFloat(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// A product by another name is still the same one.
static bool isSameRole(StringRef role, Operation *real) {
  auto product = [](StringRef name) {
    return name == "MatMul" || name == "Gemm";
  };
  StringRef other = roleOf(real);
  return role == other || (product(role) && product(other));
}

template <typename Function>
static void forEachTensor(func::FuncOp graph, Function function) {
  for (Value argument : graph.getBody().front().getArguments())
    function(argument);
  for (Operation *op : nodesOf(graph)) {
    if (!isa<ir::NodeOpInterface>(op))
      continue;
    for (Value result : op->getResults())
      function(result);
    if (isa<ir::LoopOp, ir::ScanOp>(op))
      for (Value argument : op->getRegion(0).front().getArguments())
        function(argument);
  }
}

GraphMatch::GraphMatch(func::FuncOp real, func::FuncOp quant)
    : realGraph(real), quantGraph(quant) {
  matchNames();
  for (Operation *op : nodesOf(quant))
    visit(op);
}

void GraphMatch::matchNames() {
  llvm::StringMap<Value> named;
  forEachTensor(realGraph, [&](Value value) {
    if (StringRef name = ir::getTensorName(value);
        !name.empty() && isFloat(value) && !ir::getConstant(value))
      named.try_emplace(name, value);
  });
  forEachTensor(quantGraph, [&](Value value) {
    auto found = named.find(ir::getTensorName(value));
    if (found != named.end() && haveSameShape(value, found->second))
      tensors[value] = found->second;
  });
}

void GraphMatch::visit(Operation *op) {
  auto same = [&](Value result, Value operand) {
    if (Value known = real(operand); known && !real(result))
      tensors[result] = known;
  };
  if (isQuantizer(op)) {
    Value result = op->getResult(0), operand = op->getOperand(0);
    if (Value known = real(operand); known && !real(result))
      tensors[result] = throughClamps(known, operand, viewTensor(result));
  } else if (isDequantizer(op) || isa<ir::DynamicQuantizeLinearOp>(op)) {
    same(op->getResult(0), op->getOperand(0));
  } else if (isa<ir::NodeOpInterface>(op) && op->getNumResults() > 0) {
    visitNode(op);
  }
}

void GraphMatch::visitNode(Operation *op) {
  QuantNode node = viewNode(op);
  Operation *found = findNode(op, node);
  if (!found)
    return;
  nodes[op] = found;
  taken.insert(found);
  if (node.givesSums)
    return;
  if (isa<ir::LoopOp, ir::ScanOp>(op) && op->getName() == found->getName())
    for (auto [mine, theirs] :
         llvm::zip(op->getRegion(0).front().getArguments(),
                   found->getRegion(0).front().getArguments()))
      if (!real(mine) && isFloat(theirs))
        tensors[mine] = theirs;
  for (auto [mine, theirs] : llvm::zip(op->getResults(), found->getResults())) {
    if (real(mine) || !haveSameShape(mine, theirs))
      continue;
    tensors[mine] = theirs;
    if (QuantTensor result = viewTensor(mine); result.isQuantized())
      tensors[mine] = throughClamps(theirs, Value(), result);
  }
}

Value GraphMatch::resultOf(Operation *quant) const {
  Value value = quant->getResult(0);
  if (!viewNode(quant).givesSums)
    return value;
  for (unsigned step = 0; step < longestRescaling; ++step) {
    if (real(value))
      return value;
    if (!value.hasOneUse())
      return {};
    Operation *user = *value.user_begin();
    if (!isa<ir::CastOp, ir::MulOp, ir::AddOp>(user))
      return {};
    value = user->getResult(0);
  }
  return {};
}

Operation *GraphMatch::findNode(Operation *op, const QuantNode &node) const {
  if (Value result = resultOf(op))
    if (Value known = real(result))
      if (Operation *producer = known.getDefiningOp();
          producer && isSameRole(node.role, producer))
        return producer;
  return findByOperands(op, node);
}

/// How much the constants of two nodes are alike: the cosine of the angle
/// between them, -2 if their shapes differ.
static double likeness(const QuantNode &node, Operation *real) {
  double sum = 0;
  for (auto [operand, theirs] : llvm::zip(node.operands, real->getOperands())) {
    auto reals = readReal(theirs);
    if (!reals)
      continue;
    if (!haveSameShape(operand.value, theirs))
      return -2;
    double dot = 0, left = 0, right = 0;
    auto add = [&](double mine, double other) {
      dot += mine * other;
      left += mine * mine;
      right += other * other;
    };
    if (auto mine = readReal(operand.value)) {
      for (auto [a, b] : llvm::zip(*mine, *reals))
        add(a, b);
    } else if (auto integers = readConstant(operand)) {
      if (integers->scales.empty())
        continue;
      for (size_t i = 0; i < reals->size(); ++i)
        add(integers->real(i), (*reals)[i]);
    }
    if (left > 0 && right > 0)
      sum += dot / std::sqrt(left * right);
  }
  return sum;
}

Operation *GraphMatch::findByOperands(Operation *op,
                                      const QuantNode &node) const {
  SmallVector<Operation *> candidates;
  auto reads = [&](Operation *candidate) {
    for (auto [index, operand] : llvm::enumerate(node.operands)) {
      Value known = operand.value ? real(operand.value) : Value();
      if (known && (index >= candidate->getNumOperands() ||
                    candidate->getOperand(index) != known))
        return false;
    }
    return true;
  };
  for (const QuantTensor &operand : node.operands) {
    Value known = operand.value ? real(operand.value) : Value();
    if (!known)
      continue;
    for (Operation *user : known.getUsers())
      if (isSameRole(node.role, user) && !taken.contains(user) && reads(user) &&
          !llvm::is_contained(candidates, user))
        candidates.push_back(user);
    break;
  }
  if (candidates.size() <= 1)
    return candidates.empty() ? nullptr : candidates[0];
  return *llvm::max_element(candidates, [&](Operation *a, Operation *b) {
    return likeness(node, a) < likeness(node, b);
  });
}

/// Whether a clamp reads the value, perhaps behind a dequantizer.
static bool isClamped(Value value) {
  return value && llvm::any_of(value.getUsers(), [](Operation *user) {
           return isClamp(user) ||
                  (isDequantizer(user) && isClamped(user->getResult(0)));
         });
}

/// The least and greatest number that a tensor with constant parameters can
/// hold.
static std::optional<ir::RealRange> rangeOf(const QuantTensor &tensor) {
  auto type = dyn_cast<TensorType>(tensor.value.getType());
  auto stored = type ? quantType(type.getElementType()) : std::nullopt;
  ElementsAttr scale = ir::getConstant(tensor.scale);
  if (!stored || !scale || scale.getNumElements() != 1)
    return std::nullopt;
  auto scales = ir::readFloats(scale, 1);
  int64_t zero = 0;
  if (tensor.zeroPoint)
    if (ElementsAttr constant = ir::getConstant(tensor.zeroPoint))
      if (auto zeros = ir::readInts(constant, 1); zeros && !zeros->empty())
        zero = (*zeros)[0];
  if (!scales || scales->empty())
    return std::nullopt;
  ScaleAndZeroPoint parameters{(*scales)[0], zero};
  return ir::RealRange{dequantizeValue(stored->min(), parameters),
                       dequantizeValue(stored->max(), parameters)};
}

Value GraphMatch::throughClamps(Value known, Value before,
                                const QuantTensor &quantized) {
  std::optional<ir::RealRange> range = rangeOf(quantized);
  while (known.hasOneUse()) {
    auto user = dyn_cast<ir::QuantizableOpInterface>(*known.user_begin());
    if (!user || !isClamp(user) || user->getOperand(0) != known ||
        isClamped(before) || isClamped(quantized.value))
      break;
    std::optional<ir::RealRange> clamp = user.getClamp();
    // The quantizer must really stop where the clamp does.
    if (!clamp || !range || range->min < clamp->min - 1e-6 ||
        range->max > clamp->max + 1e-6 * std::abs(clamp->max))
      break;
    auto [place, isNew] = clamps.try_emplace(quantized.value, *clamp);
    if (!isNew)
      place->second = {std::max(place->second.min, clamp->min),
                       std::min(place->second.max, clamp->max)};
    known = user->getResult(0);
  }
  return known;
}

std::optional<ir::RealRange> GraphMatch::clamp(Value quant) const {
  auto found = clamps.find(quant);
  if (found == clamps.end())
    return std::nullopt;
  return found->second;
}
