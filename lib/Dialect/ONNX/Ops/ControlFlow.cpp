// Ops of the ControlFlow family: verifiers, and If with a known condition.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace onnxquant::onnx;

/// Whether a tensor may be a scalar or a vector of one element.
static bool mayHaveOneElement(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0)
    return true;
  return type.getRank() == 1 &&
         (type.isDynamicDim(0) || type.getDimSize(0) == 1);
}

/// Whether two values are tensors and may have one element type.
static bool mayHaveSameElements(Value a, Value b) {
  Type left = getElementType(a), right = getElementType(b);
  if (!left || !right)
    return false;
  return left == right || isa<UnknownType>(left) || isa<UnknownType>(right);
}

static bool mayHaveElements(Value value, unsigned width) {
  Type type = getElementType(value);
  return type && (type.isSignlessInteger(width) || isa<UnknownType>(type));
}

/// The op that ends a subgraph, if it is the right one.
static YieldOp getYield(Region &region) {
  Block &block = region.front();
  return block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
}

/// Checks one pair of values that stand for the same thing.
static LogicalResult verifySame(Operation *op, Value a, Value b, StringRef what,
                                size_t index, StringRef label) {
  if (mayHaveSameElements(a, b))
    return success();
  return op->emitOpError("expects ")
         << what << " " << index << " to have one element type, but got "
         << a.getType() << " and " << b.getType() << " (" << label << ")";
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static LogicalResult verifyBranch(IfOp op, Region &branch, StringRef name) {
  YieldOp yield = getYield(branch);
  if (branch.getNumArguments() != 0 || !yield)
    return op.emitOpError("expects ")
           << name << " without arguments that ends in onnx.Yield (C2)";
  if (yield.getNumOperands() != op->getNumResults())
    return op.emitOpError("expects ")
           << name << " that yields " << op->getNumResults()
           << " values, but got " << yield.getNumOperands() << " (C3)";
  for (auto [index, value] : llvm::enumerate(yield.getOperands()))
    if (failed(verifySame(op, op->getResult(index), value,
                          (name + "'s value").str(), index, "C4")))
      return failure();
  return success();
}

LogicalResult IfOp::verify() {
  if (!mayHaveOneElement(getCond()))
    return emitOpError("expects a condition with one element, but got ")
           << getCond().getType() << " (C1)";
  if (failed(verifyBranch(*this, getThenBranch(), "then_branch")))
    return failure();
  return verifyBranch(*this, getElseBranch(), "else_branch");
}

/// The branch that is as good as the op, if there is one: that of a constant
/// condition, or either if both yield the same values from outside.
static Region *getOnlyBranch(IfOp op) {
  DenseElementsAttr condition;
  if (matchPattern(op.getCond(), m_Constant(&condition)) &&
      condition.getNumElements() == 1 &&
      condition.getElementType().isInteger(1))
    return *condition.getValues<bool>().begin() ? &op.getThenBranch()
                                                : &op.getElseBranch();
  Block &first = op.getThenBranch().front();
  Block &second = op.getElseBranch().front();
  if (llvm::hasSingleElement(first) && llvm::hasSingleElement(second) &&
      first.back().getOperands() == second.back().getOperands())
    return &op.getThenBranch();
  return nullptr;
}

/// Puts the only branch that counts in the op's place.
LogicalResult IfOp::canonicalize(IfOp op, PatternRewriter &rewriter) {
  Region *branch = getOnlyBranch(op);
  if (!branch)
    return rewriter.notifyMatchFailure(op, "either branch may be taken");
  YieldOp yield = getYield(*branch);
  if (!yield || yield.getOperandTypes() != op->getResultTypes())
    return rewriter.notifyMatchFailure(op, "the branch has other types");
  SmallVector<Value> values(yield.getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&branch->front(), op);
  rewriter.replaceOp(op, values);
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// Checks an initial value against its argument, what is yielded, and its
/// result.
static LogicalResult verifyCarried(Operation *op, Value initial, Value argument,
                                   Value yielded, Value result, size_t index,
                                   StringRef label) {
  for (Value other : {argument, yielded, result})
    if (failed(verifySame(op, initial, other, "carried value", index, label)))
      return failure();
  return success();
}

static LogicalResult verifyLoopBody(LoopOp op) {
  Region &body = op.getBody();
  size_t carried = op.getVInitial().size();
  YieldOp yield = getYield(body);
  if (body.getNumArguments() != carried + 2 || !yield ||
      !mayHaveElements(body.getArgument(0), 64) ||
      !mayHaveElements(body.getArgument(1), 1))
    return op.emitOpError("expects a body with an i64, a bool and ")
           << carried << " more arguments that ends in onnx.Yield (C2)";
  if (op->getNumResults() < carried ||
      yield.getNumOperands() != op->getNumResults() + 1)
    return op.emitOpError("expects at least ")
           << carried << " results and one yielded value more, but got "
           << op->getNumResults() << " results and " << yield.getNumOperands()
           << " yielded values (C3)";
  return success();
}

LogicalResult LoopOp::verify() {
  for (Value value : {getM(), getCond()})
    if (!isLeftOut(value) && !mayHaveOneElement(value))
      return emitOpError("expects a limit and a condition with one element "
                         "each, but got ")
             << value.getType() << " (C1)";
  if (failed(verifyLoopBody(*this)))
    return failure();
  YieldOp yield = getYield(getBody());
  if (!mayHaveElements(yield.getOperand(0), 1))
    return emitOpError("expects the body to yield a bool condition, but got ")
           << yield.getOperand(0).getType() << " (C4)";
  size_t carried = getVInitial().size();
  for (size_t i = 0; i < getOperation()->getNumResults(); ++i) {
    Value result = getOperation()->getResult(i);
    Value yielded = yield.getOperand(i + 1);
    if (i >= carried) {
      if (failed(verifySame(*this, yielded, result, "scan output", i - carried,
                            "C6")))
        return failure();
    } else if (failed(verifyCarried(*this, getVInitial()[i],
                                    getBody().getArgument(i + 2), yielded,
                                    result, i, "C5"))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

static LogicalResult verifyScanBody(ScanOp op, size_t states) {
  Region &body = op.getBody();
  YieldOp yield = getYield(body);
  if (body.getNumArguments() != op->getNumOperands() || !yield)
    return op.emitOpError("expects a body with ")
           << op->getNumOperands()
           << " arguments that ends in onnx.Yield, but got "
           << body.getNumArguments() << " arguments (C2)";
  if (op->getNumResults() < states ||
      yield.getNumOperands() != op->getNumResults())
    return op.emitOpError("expects at least ")
           << states << " results and as many yielded values, but got "
           << op->getNumResults() << " results and " << yield.getNumOperands()
           << " yielded values (C3)";
  return success();
}

static LogicalResult verifyScanLists(ScanOp op, size_t inputs, size_t outputs) {
  struct List {
    StringRef name;
    std::optional<ArrayAttr> attribute;
    size_t size;
    bool directions;
  };
  for (const List &list :
       {List{"scan_input_axes", op.getScanInputAxes(), inputs, false},
        List{"scan_input_directions", op.getScanInputDirections(), inputs,
             true},
        List{"scan_output_axes", op.getScanOutputAxes(), outputs, false},
        List{"scan_output_directions", op.getScanOutputDirections(), outputs,
             true}}) {
    if (!list.attribute)
      continue;
    SmallVector<int64_t> entries = shape::getInts(list.attribute);
    if (entries.size() != list.size)
      return op.emitOpError("expects ")
             << list.size << " entries in " << list.name << ", but got "
             << entries.size() << " (C4)";
    for (int64_t entry : entries)
      if (list.directions && entry != 0 && entry != 1)
        return op.emitOpError("expects ")
               << list.name << " of 0 or 1, but got " << entry << " (C5)";
  }
  return success();
}

static LogicalResult verifyScanAxes(ScanOp op, size_t states, size_t inputs,
                                    size_t outputs) {
  int64_t length = ShapedType::kDynamic;
  SmallVector<int64_t> axes = shape::getInts(op.getScanInputAxes(), inputs);
  for (size_t i = 0; i < inputs; ++i) {
    auto type =
        dyn_cast<RankedTensorType>(op->getOperand(states + i).getType());
    if (!type)
      continue;
    FailureOr<int64_t> axis = shape::normalizeAxis(axes[i], type.getRank());
    if (failed(axis))
      return op.emitOpError("expects the axis of scan input ")
             << i << " within rank " << type.getRank() << ", but got "
             << axes[i] << " (C6)";
    int64_t size = type.getDimSize(*axis);
    if (ShapedType::isDynamic(size))
      continue;
    if (!ShapedType::isDynamic(length) && size != length)
      return op.emitOpError("expects scan inputs of one size along their "
                            "axes, but got ")
             << length << " and " << size << " (C7)";
    length = size;
  }
  axes = shape::getInts(op.getScanOutputAxes(), outputs);
  for (size_t i = 0; i < outputs; ++i) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(states + i).getType());
    if (type && failed(shape::normalizeAxis(axes[i], type.getRank())))
      return op.emitOpError("expects the axis of scan output ")
             << i << " within rank " << type.getRank() << ", but got "
             << axes[i] << " (C6)";
  }
  return success();
}

static LogicalResult verifyScanElements(ScanOp op, size_t states) {
  YieldOp yield = getYield(op.getBody());
  for (size_t i = 0; i < states; ++i)
    if (failed(verifyCarried(op, op->getOperand(i), op.getBody().getArgument(i),
                             yield.getOperand(i), op->getResult(i), i, "C8")))
      return failure();
  for (size_t i = states; i < op->getNumOperands(); ++i)
    if (failed(verifySame(op, op->getOperand(i), op.getBody().getArgument(i),
                          "scan input", i - states, "C8")))
      return failure();
  for (size_t i = states; i < op->getNumResults(); ++i)
    if (failed(verifySame(op, yield.getOperand(i), op->getResult(i),
                          "scan output", i - states, "C8")))
      return failure();
  return success();
}

LogicalResult ScanOp::verify() {
  int64_t inputs = getNumScanInputs();
  int64_t operands = getOperation()->getNumOperands();
  if (inputs < 1 || inputs > operands)
    return emitOpError("expects num_scan_inputs between 1 and ")
           << operands << ", but got " << inputs << " (C1)";
  size_t states = operands - inputs;
  if (failed(verifyScanBody(*this, states)))
    return failure();
  size_t outputs = getOperation()->getNumResults() - states;
  if (failed(verifyScanLists(*this, inputs, outputs)) ||
      failed(verifyScanAxes(*this, states, inputs, outputs)))
    return failure();
  return verifyScanElements(*this, states);
}

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/ControlFlow.cpp.inc"
