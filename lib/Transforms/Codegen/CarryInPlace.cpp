// Gives each buffer that a loop carries one allocation.
//
// Enters: bufferized loops, whose iterations make new buffers for what they
// carry on, and while loops that copy it once more before each iteration.
// Leaves: a carried buffer of static size is one buffer outside the loop, and
// an iteration copies into it; those of dynamic size are handed on without a
// copy. Only buffers that are certainly the loop's own are touched: made in it,
// or handed from one iteration to the next.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_CARRYINPLACE
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {

/// A buffer that goes from one iteration to the next.
struct Carried {
  Operation *loop;
  /// Its first value, as the loop's operand.
  OpOperand *init;
  /// It in the body, and what the body carries on.
  BlockArgument argument;
  OpOperand *yielded;
  /// Where a while loop hands it from the condition to the body, and the copy
  /// that it makes of it there.
  OpOperand *condition = nullptr;
  memref::AllocOp copy = {};
};

/// Where a yielded buffer may come from.
struct Sources {
  bool argument = false;
  SmallVector<Operation *> allocs;
};

struct CarryInPlace : public onnxquant::impl::CarryInPlaceBase<CarryInPlace> {
  void runOnOperation() override;

private:
  void visit(Operation *loop);
  void settle(Carried &carried, const Sources &sources);
  void handOn(Carried &carried);
};

} // namespace

/// Finds the sources of a value of the body. False if there are others than
/// buffers made in the body and the argument itself.
static bool trace(Value value, const Carried &carried, bool throughView,
                  Sources &sources) {
  if (value == carried.argument) {
    sources.argument = true;
    // A part of the argument can't be copied onto it.
    return !throughView;
  }
  Operation *op = value.getDefiningOp();
  Region *body = carried.argument.getOwner()->getParent();
  if (!op || !body->isAncestor(op->getParentRegion()))
    return false;
  if (isa<memref::AllocOp>(op)) {
    sources.allocs.push_back(op);
    return true;
  }
  if (auto cast = dyn_cast<memref::CastOp>(op))
    return trace(cast.getSource(), carried, throughView, sources);
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    return trace(view.getViewSource(), carried, true, sources);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return trace(select.getTrueValue(), carried, throughView, sources) &&
           trace(select.getFalseValue(), carried, throughView, sources);
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch)
    return false;
  unsigned index = cast<OpResult>(value).getResultNumber();
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!trace(region->front().getTerminator()->getOperand(index), carried,
               throughView, sources))
      return false;
  return true;
}

/// Whether nothing but the loop has the buffer from its beginning on.
static bool isOwned(Value value, Operation *loop) {
  for (;;) {
    for (Operation *user : value.getUsers())
      if (user != loop && (user->getBlock() != loop->getBlock() ||
                           !user->isBeforeInBlock(loop)))
        return false;
    if (llvm::count(loop->getOperands(), value) > 1)
      return false;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != loop->getBlock())
      return false;
    if (isa<memref::AllocOp>(op))
      return true;
    auto cast = dyn_cast<memref::CastOp>(op);
    if (!cast)
      return false;
    value = cast.getSource();
  }
}

/// A new buffer before the loop with what the loop begins with.
static Value copyInit(const Carried &carried) {
  ImplicitLocOpBuilder b(carried.loop->getLoc(), carried.loop);
  Value init = carried.init->get();
  auto type = cast<MemRefType>(init.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(memref::DimOp::create(b, init, axis));
  Value copy = memref::AllocOp::create(b, type, sizes);
  memref::CopyOp::create(b, init, copy);
  return copy;
}

/// The condition hands the buffer on as it is.
void CarryInPlace::handOn(Carried &carried) {
  if (!carried.copy)
    return;
  memref::AllocOp copy = carried.copy;
  carried.condition->set(carried.condition->getOwner()->getBlock()->getArgument(
      carried.yielded->getOperandNumber()));
  for (Operation *user : llvm::make_early_inc_range(copy->getUsers()))
    user->erase();
  copy.erase();
  carried.copy = {};
  ++numHandedOn;
}

/// One allocation outside the loop; the body copies into it.
void CarryInPlace::settle(Carried &carried, const Sources &sources) {
  if (!isOwned(carried.init->get(), carried.loop))
    carried.init->set(copyInit(carried));
  handOn(carried);
  if (sources.allocs.empty())
    return;
  Operation *yield = carried.yielded->getOwner();
  ImplicitLocOpBuilder b(yield->getLoc(), yield);
  memref::CopyOp::create(b, carried.yielded->get(), carried.argument);
  carried.yielded->set(carried.argument);
  ++numSettled;
}

/// The buffers that a counted loop carries.
static void collect(scf::ForOp loop, SmallVectorImpl<Carried> &list) {
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (isa<MemRefType>(argument.getType()))
      list.push_back({loop, &loop.getInitArgsMutable()[index], argument,
                      &yield->getOpOperand(index)});
}

/// The copy that the condition makes of its argument for the body alone.
static memref::AllocOp findCopy(Value handed, BlockArgument argument,
                                Operation *condition) {
  auto alloc = handed.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != argument.getOwner() ||
      alloc.getType() != argument.getType())
    return {};
  unsigned copies = 0, handings = 0;
  for (OpOperand &use : alloc->getUses()) {
    auto copy = dyn_cast<memref::CopyOp>(use.getOwner());
    if (copy && copy.getTarget() == handed && copy.getSource() == argument)
      ++copies;
    else if (use.getOwner() == condition)
      ++handings;
    else
      return {};
  }
  return copies == 1 && handings == 1 ? alloc : memref::AllocOp();
}

/// The buffers that a while loop carries: each argument of the condition that
/// goes to the body in its own buffer, as it is or copied.
static void collect(scf::WhileOp loop, SmallVectorImpl<Carried> &list) {
  scf::ConditionOp condition = loop.getConditionOp();
  scf::YieldOp yield = loop.getYieldOp();
  for (BlockArgument before : loop.getBeforeArguments()) {
    unsigned index = before.getArgNumber();
    if (!isa<MemRefType>(before.getType()) ||
        index >= condition.getArgs().size())
      continue;
    BlockArgument after = loop.getAfterArguments()[index];
    if (after.getType() != before.getType())
      continue;
    Carried carried = {loop, &loop.getInitsMutable()[index], after,
                       &yield->getOpOperand(index)};
    carried.condition = &condition.getArgsMutable()[index];
    Value handed = carried.condition->get();
    carried.copy = findCopy(handed, before, condition);
    if (handed != before && !carried.copy)
      continue;
    if (llvm::count(condition.getArgs(), handed) == 1)
      list.push_back(carried);
  }
}

/// How many buffers an iteration carries on.
static size_t countYielded(Operation *loop) {
  Operation *yield = isa<scf::ForOp>(loop)
                         ? cast<scf::ForOp>(loop).getBody()->getTerminator()
                         : cast<scf::WhileOp>(loop).getYieldOp().getOperation();
  return llvm::count_if(yield->getOperandTypes(),
                        [](Type type) { return isa<BaseMemRefType>(type); });
}

void CarryInPlace::visit(Operation *loop) {
  SmallVector<Carried> list;
  if (auto counted = dyn_cast<scf::ForOp>(loop))
    collect(counted, list);
  else
    collect(cast<scf::WhileOp>(loop), list);
  // Where one is of unknown origin, it may be another's buffer.
  SmallVector<Sources> found(list.size());
  if (list.size() != countYielded(loop))
    return;
  DenseMap<Operation *, unsigned> yields;
  for (auto [carried, sources] : llvm::zip(list, found)) {
    if (!trace(carried.yielded->get(), carried, false, sources))
      return;
    for (Operation *alloc :
         SetVector<Operation *>(sources.allocs.begin(), sources.allocs.end()))
      ++yields[alloc];
  }
  for (auto [carried, sources] : llvm::zip(list, found)) {
    auto type = cast<MemRefType>(carried.argument.getType());
    if (!type.getLayout().isIdentity())
      continue;
    if (type.hasStaticShape()) {
      if (carried.copy || !sources.allocs.empty())
        settle(carried, sources);
    } else if (carried.copy &&
               llvm::all_of(sources.allocs, [&](Operation *alloc) {
                 return yields[alloc] == 1;
               })) {
      if (!isOwned(carried.init->get(), carried.loop))
        carried.init->set(copyInit(carried));
      handOn(carried);
    }
  }
}

void CarryInPlace::runOnOperation() {
  SmallVector<Operation *> loops;
  getOperation().walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      loops.push_back(op);
  });
  for (Operation *loop : loops)
    visit(loop);
}
