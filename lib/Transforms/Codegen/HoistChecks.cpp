// Moves checks up to where what they look at is known.
//
// Enters: bufferized functions with cf.assert after what it is about. A size
// that a type states may have become the size of a loop by then, so that the
// loop would leave its buffers before the check says so. Leaves: every check
// right after the last value that it needs.

#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace onnxquant {
#define GEN_PASS_DEF_HOISTCHECKS
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// Whether an op must stay behind the check that may guard it. MLIR counts
/// floordivsi as one that can't trap.
static bool mustStay(Operation *op) {
  return op->getNumRegions() != 0 || !isPure(op) ||
         isa<arith::FloorDivSIOp, affine::AffineApplyOp>(op);
}

/// Finds the ops of the check's block that go with it, operands first, and the
/// last one that must stay before it.
static void collect(Value value, Block *block, SetVector<Operation *> &moved,
                    Operation *&last) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || moved.contains(op))
    return;
  if (mustStay(op)) {
    if (!last || last->isBeforeInBlock(op))
      last = op;
    return;
  }
  for (Value operand : op->getOperands())
    collect(operand, block, moved, last);
  moved.insert(op);
}

namespace {
struct HoistChecks : public onnxquant::impl::HoistChecksBase<HoistChecks> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> checks;
    getOperation().walk([&](cf::AssertOp op) { checks.push_back(op); });
    for (cf::AssertOp check : checks) {
      Block *block = check->getBlock();
      SetVector<Operation *> moved;
      Operation *last = nullptr;
      collect(check.getArg(), block, moved, last);
      moved.insert(check);
      Operation *after = last;
      for (Operation *op : moved) {
        bool isLate = !after || after->isBeforeInBlock(op);
        if (!isLate)
          continue;
        if (after)
          op->moveAfter(after);
        else
          op->moveBefore(block, block->begin());
        after = op;
        numMoved += op == check;
      }
    }
  }
};
} // namespace
