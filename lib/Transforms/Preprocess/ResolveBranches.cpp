// Makes the rank of every tensor known where it depends on which branch of an
// If is taken. Enters: graphs with inferred shapes. Leaves: the same graphs;
// no If of a known condition, and no tensor of several ranks that an op reads.
//
// Exported models ask for a shape and squeeze a dimension in one branch only.
// What follows such an If is moved into its branches, where the rank is known
// and further questions about it have answers. A branch that cannot be run for
// the shapes at hand is cut off by a check that fails: models bring branches
// for other inputs than those they are given.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Transforms/Preprocess/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Threading.h"

namespace onnxquant {
#define GEN_PASS_DEF_RESOLVEBRANCHES
#include "OnnxQuant/Transforms/Preprocess/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
namespace ir = onnxquant::onnx;

/// How many ops may be copied per op of the graph.
static constexpr size_t maxGrowth = 16;

namespace {

/// Why a block can't be run to its end; none if it can.
using DeadEnd = std::optional<std::string>;

class Resolver {
public:
  explicit Resolver(func::FuncOp function) : function(function) {
    function.walk([&](Operation *) { budget += maxGrowth; });
  }
  LogicalResult run();
  size_t numTaken = 0, numSunk = 0, numCut = 0;

private:
  DeadEnd resolve(Block &block);
  DeadEnd resolveBody(Operation *op);
  DeadEnd infer(Operation *op);
  void cut(Block &block, Operation *from, StringRef reason);
  Operation *takeBranch(ir::IfOp op, Region &taken);
  FailureOr<ir::IfOp> sink(ir::IfOp op);
  void moveInto(Region &branch, ir::IfOp op);
  void joinBranches(ir::IfOp op);
  LogicalResult settleOutput(ir::IfOp op, unsigned index, int64_t rank,
                             StringRef name);
  void erase(Operation *op);
  void yieldNothing(ir::IfOp op, unsigned index);

  func::FuncOp function;
  ir::ShapeContext ctx;
  size_t budget = 0;
  bool isTooLarge = false;
};

struct ResolveBranches
    : public onnxquant::impl::ResolveBranchesBase<ResolveBranches> {
  void runOnOperation() override;
};

} // namespace

/// Runs `action` and gives the first error that it reports, if it fails.
static DeadEnd attempt(MLIRContext *context,
                       function_ref<LogicalResult()> action) {
  uint64_t thread = llvm::get_threadid();
  std::string message;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (llvm::get_threadid() != thread)
      return failure();
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  if (succeeded(action()))
    return std::nullopt;
  return message.empty() ? "cannot be run" : message;
}

/// The name of a node for messages.
static std::string nameOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(ir::nodeNameAttr);
  return name && !name.empty() ? name.str()
                               : op->getName().stripDialect().str();
}

static Operation *yieldOf(Region &branch) {
  return branch.front().getTerminator();
}

/// A value that is never read, because a check fails before.
static Value nothing(OpBuilder &b, Location loc, Type type) {
  return ub::PoisonOp::create(b, loc, type);
}

/// Whether only the end of its block reads a value, if anything does.
static bool isOnlyHandedOn(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

static Type withoutShape(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor ? Type(UnrankedTensorType::get(tensor.getElementType())) : type;
}

/// Forgets the shapes of an op that moved to where others hold.
static void forgetShapes(Operation *root) {
  root->walk([](Operation *op) {
    op->removeAttr(ir::dimParamsAttr);
    if (!isa<ir::ShapeInferenceOpInterface>(op) ||
        isa<ir::ConstantOp, ir::NoValueOp, ir::CustomOp>(op))
      return;
    for (OpResult result : op->getResults())
      result.setType(withoutShape(result.getType()));
  });
}

void Resolver::erase(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      ctx.forget(result);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          ctx.forget(argument);
  });
  op->erase();
}

/// Infers an op and checks it against the types that it has now.
DeadEnd Resolver::infer(Operation *op) {
  DeadEnd reason = attempt(op->getContext(), [&]() -> LogicalResult {
    if (failed(verify(op, /*verifyRecursively=*/false)))
      return failure();
    return ctx.infer(op);
  });
  if (!reason)
    return std::nullopt;
  StringRef text = *reason;
  std::string prefix = ("'" + op->getName().getStringRef() + "' op ").str();
  text.consume_front(prefix);
  return "node '" + nameOf(op) + "': " + text.str();
}

/// Ends a block in a failing check where `from` stood.
void Resolver::cut(Block &block, Operation *from, StringRef reason) {
  OpBuilder b(from);
  Location loc = from->getLoc();
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  cf::AssertOp::create(b, loc, no, reason);
  Operation *end = block.getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    operand.set(nothing(b, loc, operand.get().getType()));
  for (Operation *last = end->getPrevNode(); from != end;
       last = end->getPrevNode()) {
    bool isLast = last == from;
    erase(last);
    if (isLast)
      break;
  }
  ++numCut;
}

/// Puts a branch in the place of its op; gives the op to go on with.
Operation *Resolver::takeBranch(ir::IfOp op, Region &taken) {
  Block &block = taken.front();
  Operation *yield = block.getTerminator();
  Operation *first =
      yield == &block.front() ? op->getNextNode() : &block.front();
  op->getBlock()->getOperations().splice(op->getIterator(),
                                         block.getOperations(), block.begin(),
                                         yield->getIterator());
  for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands()))
    result.replaceAllUsesWith(value);
  erase(op);
  ++numTaken;
  return first;
}

/// Copies what follows an op to the end of one of its branches.
void Resolver::moveInto(Region &branch, ir::IfOp op) {
  Operation *yield = yieldOf(branch);
  IRMapping mapping;
  for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands()))
    mapping.map(result, value);
  OpBuilder b(yield);
  Operation *end = op->getBlock()->getTerminator();
  for (Operation *next = op->getNextNode(); next != end;
       next = next->getNextNode())
    forgetShapes(b.clone(*next, mapping));
  SmallVector<Value> values;
  for (Value operand : end->getOperands())
    values.push_back(mapping.lookupOrDefault(operand));
  ir::YieldOp::create(b, yield->getLoc(), values);
  yield->erase();
}

/// Moves all that follows an op into its branches.
FailureOr<ir::IfOp> Resolver::sink(ir::IfOp op) {
  Operation *end = op->getBlock()->getTerminator();
  size_t copied = 0;
  for (Operation *next = op->getNextNode(); next != end;
       next = next->getNextNode())
    next->walk([&](Operation *) { ++copied; });
  if (copied > budget)
    return op.emitOpError("cannot be run: the rank of its result depends on "
                          "too many conditions");
  budget -= copied;
  moveInto(op.getThenBranch(), op);
  moveInto(op.getElseBranch(), op);
  OpBuilder b(op);
  SmallVector<Type> types;
  for (Type type : end->getOperandTypes())
    types.push_back(withoutShape(type));
  OperationState state(op.getLoc(), ir::IfOp::getOperationName(),
                       op->getOperands(), types);
  state.addAttribute(ir::nodeNameAttr, b.getStringAttr(nameOf(op)));
  state.addRegion();
  state.addRegion();
  auto fresh = cast<ir::IfOp>(b.create(state));
  fresh.getThenBranch().takeBody(op.getThenBranch());
  fresh.getElseBranch().takeBody(op.getElseBranch());
  end->setOperands(fresh->getResults());
  while (end->getPrevNode() != op)
    erase(end->getPrevNode());
  erase(op);
  ++numSunk;
  return fresh;
}

/// A value that nobody reads needs no rank.
void Resolver::yieldNothing(ir::IfOp op, unsigned index) {
  OpResult result = op->getOpResult(index);
  Type type = RankedTensorType::get({0}, ir::getElementType(result));
  for (Region *branch : {&op.getThenBranch(), &op.getElseBranch()}) {
    OpBuilder b(yieldOf(*branch));
    yieldOf(*branch)->setOperand(index, nothing(b, op.getLoc(), type));
  }
  result.setType(type);
  ctx.forget(result);
}

/// Gives an op's results the dimensions that its branches agree on; none where
/// they have several ranks.
void Resolver::joinBranches(ir::IfOp op) {
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    Value a = yieldOf(op.getThenBranch())->getOperand(index);
    Value b = yieldOf(op.getElseBranch())->getOperand(index);
    if (!isa<TensorType>(a.getType()))
      continue;
    // A branch that is cut off yields whatever the other one does.
    if (a.getDefiningOp<ub::PoisonOp>() || b.getDefiningOp<ub::PoisonOp>()) {
      Value dead = a.getDefiningOp<ub::PoisonOp>() ? a : b;
      Value live = dead == a ? b : a;
      dead.setType(live.getType());
      ctx.forget(dead);
      ctx.forget(result);
      result.setType(live.getType());
      if (std::optional<ir::Dims> dims = ctx.getDims(live))
        (void)ctx.set(result, ir::getElementType(live), dims);
      continue;
    }
    ctx.forget(result);
    result.setType(UnrankedTensorType::get(ir::getElementType(a)));
    std::optional<ir::Dims> left = ctx.getDims(a), right = ctx.getDims(b);
    if (!left || !right || left->size() != right->size())
      continue;
    ir::Dims joined;
    for (auto [x, y] : llvm::zip(*left, *right))
      joined.push_back(x == y ? x : ctx.unknown());
    (void)ctx.set(result, ir::getElementType(a), joined);
  }
}

/// Resolves the bodies of an op that repeats them.
DeadEnd Resolver::resolveBody(Operation *op) {
  if (DeadEnd reason = infer(op))
    return reason;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      (void)resolve(block);
  return std::nullopt;
}

DeadEnd Resolver::resolve(Block &block) {
  for (Operation *op = &block.front(); op;) {
    // The block was cut before something was moved to its end.
    if (auto check = dyn_cast<cf::AssertOp>(op)) {
      std::string reason = check.getMsg().str();
      cut(block, op, reason);
      return reason;
    }
    auto branches = dyn_cast<ir::IfOp>(op);
    if (!branches) {
      DeadEnd reason = op->getNumRegions() ? resolveBody(op) : infer(op);
      if (reason) {
        cut(block, op, *reason);
        return reason;
      }
      op = op->getNextNode();
      continue;
    }
    if (std::optional<int64_t> known = ctx.getConstant(branches.getCond())) {
      op = takeBranch(branches, *known ? branches.getThenBranch()
                                       : branches.getElseBranch());
      continue;
    }
    DeadEnd first = resolve(branches.getThenBranch().front());
    DeadEnd second = resolve(branches.getElseBranch().front());
    if (first && second) {
      cut(block, op, *first);
      return first;
    }
    joinBranches(branches);
    bool isOpen = false;
    for (OpResult result : branches->getResults()) {
      if (!isa<UnrankedTensorType>(result.getType()))
        continue;
      if (result.use_empty())
        yieldNothing(branches, result.getResultNumber());
      else
        isOpen |= !isOnlyHandedOn(result);
    }
    if (isOpen) {
      FailureOr<ir::IfOp> sunk = sink(branches);
      if (failed(sunk)) {
        isTooLarge = true;
        return std::nullopt;
      }
      op = *sunk;
      continue;
    }
    op = op->getNextNode();
  }
  return std::nullopt;
}

/// Cuts off the branches that give an output another rank than is stated.
LogicalResult Resolver::settleOutput(ir::IfOp op, unsigned index, int64_t rank,
                                     StringRef name) {
  for (Region *branch : {&op.getThenBranch(), &op.getElseBranch()}) {
    Operation *yield = yieldOf(*branch);
    Value value = yield->getOperand(index);
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
      if (type.getRank() == rank)
        continue;
      OpBuilder b(yield);
      Value no = arith::ConstantIntOp::create(b, op.getLoc(), 0, 1);
      std::string message =
          ("output '" + name + "' has rank " + Twine(type.getRank()) +
           ", but the model states " + Twine(rank))
              .str();
      cf::AssertOp::create(b, op.getLoc(), no, message);
      SmallVector<int64_t> open(rank, ShapedType::kDynamic);
      yield->setOperand(
          index, nothing(b, op.getLoc(),
                         RankedTensorType::get(open, type.getElementType())));
      continue;
    }
    if (value.getDefiningOp<ub::PoisonOp>())
      continue;
    auto inner = value.getDefiningOp<ir::IfOp>();
    if (!inner)
      return op.emitOpError("cannot be run: the rank of output '")
             << name << "' is unknown";
    if (failed(settleOutput(inner, cast<OpResult>(value).getResultNumber(),
                            rank, name)))
      return failure();
  }
  joinBranches(op);
  return success();
}

LogicalResult Resolver::run() {
  SmallVector<Type> stated(function.getResultTypes());
  Block &body = function.getBody().front();
  // An error of the graph itself, outside of all branches, is reported as such.
  DeadEnd reason = resolve(body);
  if (isTooLarge)
    return failure();
  if (reason)
    return function.emitError() << "cannot be run: " << *reason;
  Operation *end = body.getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands())) {
    auto op = value.getDefiningOp<ir::IfOp>();
    auto type = dyn_cast<RankedTensorType>(stated[index]);
    if (!isa<UnrankedTensorType>(value.getType()) || !op || !type)
      continue;
    auto name =
        function.getResultAttrOfType<StringAttr>(index, ir::argNameAttr);
    if (failed(settleOutput(op, cast<OpResult>(value).getResultNumber(),
                            type.getRank(), name ? name.getValue() : "")))
      return failure();
  }
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     end->getOperandTypes()));
  return success();
}

void ResolveBranches::runOnOperation() {
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    bool branches = false;
    function.walk([&](ir::IfOp) { branches = true; });
    if (!branches)
      continue;
    Resolver resolver(function);
    if (failed(resolver.run()))
      return signalPassFailure();
    numTaken += resolver.numTaken;
    numSunk += resolver.numSunk;
    numCut += resolver.numCut;
  }
}
