// Finds tensors that hold a mask on its way to a Softmax. An attention mask
// adds -10000, the lowest float or minus infinity to the scores that don't
// count. These numbers say "not this one" and nothing else: a range that holds
// them has no steps left for the scores, and without them they are cut off, so
// that what was masked counts again. Such tensors stay float.
//
// The search goes backwards from Softmax and its like, through what adds,
// selects, bounds, scales and moves numbers. It ends at contractions: what they
// make are scores.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

/// The smallest number that masks: the exponential of its negative is far below
/// the step of any probability.
static constexpr double leastMask = 50;

namespace {

class MaskFinder {
public:
  explicit MaskFinder(Plan &plan) : plan(plan) {}
  void run();

private:
  bool visit(Value value);
  bool find(Value value);
  bool findInProduct(Operation *op);
  bool findInSum(Operation *op);
  bool any(ValueRange values);
  bool isLarge(Value value) const;
  bool isInput(Value value) const;
  bool hasContraction(Value value);

  Plan &plan;
  llvm::DenseMap<Value, bool> known, contracted;
};

} // namespace

/// What a mask is made for: the greatest numbers decide, others vanish.
static bool decidesByGreatest(Operation *op) {
  return isa<SoftmaxOp, LogSoftmaxOp, HardmaxOp, ExpOp, SigmoidOp, ReduceMaxOp,
             ReduceLogSumExpOp, ArgMaxOp, TopKOp>(op);
}

static bool isFloat(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Whether a constant has a number as large as a mask's.
bool MaskFinder::isLarge(Value value) const {
  auto holds = [](ElementsAttr elements) {
    auto numbers = readFloats(elements, std::numeric_limits<int64_t>::max());
    return numbers && llvm::any_of(*numbers, [](double number) {
             return std::fabs(number) >= leastMask;
           });
  };
  if (ElementsAttr constant = constantOf(value))
    return isFloat(value) && holds(constant);
  auto filled = value.getDefiningOp<ConstantOfShapeOp>();
  return filled && isFloat(value) && filled.getValueAttr() &&
         holds(filled.getValueAttr());
}

/// Whether a value is an input of the model, at most moved or cast.
bool MaskFinder::isInput(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    auto moved = dyn_cast<QuantizableOpInterface>(op);
    if (!isa<CastOp, IdentityOp>(op) &&
        !(moved && moved.movesData() && op->getNumOperands() > 0))
      return false;
    value = op->getOperand(0);
  }
  return isa<func::FuncOp>(value.getParentBlock()->getParentOp());
}

/// Whether a value is computed from a contraction's result.
bool MaskFinder::hasContraction(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto [it, isNew] = contracted.try_emplace(value, false);
  if (!isNew)
    return it->second;
  auto quantizable = dyn_cast<QuantizableOpInterface>(op);
  bool found =
      (quantizable && quantizable.isContraction()) || op->getNumRegions() > 0 ||
      llvm::any_of(op->getOperands(),
                   [&](Value operand) { return hasContraction(operand); });
  return contracted[value] = found;
}

bool MaskFinder::any(ValueRange values) {
  bool found = false;
  for (Value value : values)
    found |= visit(value);
  return found;
}

/// A mask of zeros and ones times the number that masks, or a mask that is
/// scaled.
bool MaskFinder::findInProduct(Operation *op) {
  bool found = any(op->getOperands());
  for (unsigned i : {0u, 1u})
    found |= isLarge(op->getOperand(i)) && !constantOf(op->getOperand(1 - i)) &&
             !hasContraction(op->getOperand(1 - i));
  return found;
}

/// What is added to scores is a mask if it holds one, and may be one if the
/// caller gives it.
bool MaskFinder::findInSum(Operation *op) {
  bool found = any(op->getOperands());
  bool scores = llvm::any_of(op->getOperands(), [&](Value operand) {
    return hasContraction(operand);
  });
  for (Value operand : op->getOperands())
    found |=
        isLarge(operand) || (scores && isFloat(operand) && isInput(operand));
  return found;
}

bool MaskFinder::find(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isFloat(value))
    return false;
  if (isa<ConstantOp, ConstantOfShapeOp>(op))
    return isLarge(value);
  if (isa<MulOp, DivOp>(op))
    return findInProduct(op);
  if (isa<AddOp, SubOp, SumOp, MinOp, MaxOp>(op))
    return findInSum(op);
  if (auto where = dyn_cast<WhereOp>(op))
    return any({where.getX(), where.getY()});
  if (isa<ScatterNDOp, ScatterElementsOp>(op))
    return any({op->getOperand(0), op->getOperand(2)});
  if (isa<CastOp, IdentityOp, NegOp, ClipOp, TriluOp>(op))
    return visit(op->getOperand(0));
  auto moved = dyn_cast<QuantizableOpInterface>(op);
  if (!moved || !moved.movesData())
    return false;
  bool found = false;
  for (unsigned index : moved.getQuantizableOperands())
    found |= visit(op->getOperand(index));
  return found;
}

bool MaskFinder::visit(Value value) {
  auto [it, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return it->second;
  bool found = find(value);
  known[value] = found;
  // What a user gives parameters for is quantized all the same.
  if (found && !constantOf(value) && !plan.overrides.count(tensorName(value)))
    plan.masked.insert(value);
  return found;
}

void MaskFinder::run() {
  plan.module.walk([&](Operation *op) {
    if (decidesByGreatest(op))
      visit(op->getOperand(0));
  });
}

void quantize::findMasks(Plan &plan) { MaskFinder(plan).run(); }
