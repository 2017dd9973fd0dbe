// Checks every access to a buffer at run time; for tests of the lowerings.

#include "OnnxQuant/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxquant {
#define GEN_PASS_DEF_CHECKBOUNDS
#include "OnnxQuant/Conversion/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

/// The name of the node that an op was lowered from.
static std::string nodeOf(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part); named && name.empty())
      name = named.getName().str();
    return WalkResult::advance();
  });
  return name;
}

static void checkAccess(Operation *op, Value memref, ValueRange indices) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value size = memref::DimOp::create(b, memref, axis);
    // Negative indices are large when taken as unsigned.
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    cf::AssertOp::create(b, inside,
                         b.getStringAttr("node '" + nodeOf(op) +
                                         "': access out of a buffer's bounds"));
  }
}

namespace {
struct CheckBounds : public onnxquant::impl::CheckBoundsBase<CheckBounds> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (isa<memref::LoadOp, memref::StoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        checkAccess(op, load.getMemRef(), load.getIndices());
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        checkAccess(op, store.getMemRef(), store.getIndices());
    }
    numChecked += accesses.size();
  }
};
} // namespace
