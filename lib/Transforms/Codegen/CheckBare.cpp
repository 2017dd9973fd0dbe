// What a microcontroller can't run, by node. Enters: loops over buffers that
// have offsets. Leaves: the same, or an error.

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace onnxquant {
#define GEN_PASS_DEF_CHECKBARE
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

namespace {
struct CheckBare : public onnxquant::impl::CheckBareBase<CheckBare> {
  using CheckBareBase::CheckBareBase;
  void runOnOperation() override;

private:
  std::string reasonOf(Operation *op);
};
} // namespace

/// Why an op can't be run; empty if it can.
std::string CheckBare::reasonOf(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op);
      isa<memref::AllocOp>(op) || (call && call.getCallee() == allocFunction))
    return "it allocates memory at run time";
  if (auto check = dyn_cast<cf::AssertOp>(op))
    return "it needs a check at run time: " + check.getMsg().str();
  auto isDouble = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  if (llvm::any_of(op->getResultTypes(), isDouble) ||
      llvm::any_of(op->getOperandTypes(), isDouble))
    return "it computes with floats of 64 bits";
  if (!isa<math::MathDialect>(op->getDialect()) ||
      isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FloorOp,
          math::CeilOp, math::RoundEvenOp>(op))
    return "";
  if (fma && isa<math::FmaOp, math::ExpOp, math::LogOp, math::TanhOp,
                 math::ErfOp, math::ErfcOp, math::SqrtOp>(op))
    return "";
  return "it computes " + op->getName().stripDialect().str() +
         " of floats at run time, for which there is no instruction";
}

void CheckBare::runOnOperation() {
  WalkResult walked = getOperation().walk([&](Operation *op) {
    std::string reason = reasonOf(op);
    if (reason.empty())
      return WalkResult::advance();
    emitError(op->getLoc())
        << "cannot be compiled for " << target << ": " << reason;
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    signalPassFailure();
}
