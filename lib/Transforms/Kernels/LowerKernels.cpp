// Turns kernels on buffers into loops. Enters: packed kernels on buffers.
// Leaves: scf, vector, memref and arith.

#include "LowerKernels.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"

namespace onnxquant {
#define GEN_PASS_DEF_LOWERKERNELS
#include "OnnxQuant/Transforms/Kernels/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnxq;

static LogicalResult lowerContract(ContractOp op, const TargetInfo &target,
                                   int64_t threads) {
  PackingAttr packing = op.getPackingAttr();
  if (!packing || !isa<MemRefType>(op.getInit().getType()))
    return op.emitOpError("expects packed weights and buffers");
  switch (packing.getKind()) {
  case PackingKind::Fma:
  case PackingKind::Rows:
  case PackingKind::Codes:
  case PackingKind::Bytes:
    kernels::lowerFloatContract(op, target, threads);
    return success();
  case PackingKind::Winograd:
    return kernels::lowerWinograd(op, target, threads);
  case PackingKind::Amx:
    return kernels::lowerAmxContract(op, target, threads);
  default:
    return kernels::lowerIntegerContract(op, target, threads);
  }
}

namespace {
struct LowerKernels : public onnxquant::impl::LowerKernelsBase<LowerKernels> {
  using LowerKernelsBase::LowerKernelsBase;
  void runOnOperation() override {
    TargetInfo target = getTargetInfo(getOperation());
    if (checkBounds)
      getOperation()->setAttr(checkPointersAttr, UnitAttr::get(&getContext()));
    auto done = llvm::make_scope_exit(
        [&] { getOperation()->removeAttr(checkPointersAttr); });
    getOperation().walk([](RequantizeOp op) { kernels::applyScale(op); });
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<AttentionOp, ContractOp, ExpandOp, PackOp, StageOp, WindowOp,
              linalg::GenericOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        if (kernels::lowerLookupLoop(generic, target) ||
            kernels::lowerQuantizerLoop(generic, target)) {
          op->erase();
          ++numLowered;
        }
        continue;
      }
      if (auto contract = dyn_cast<ContractOp>(op)) {
        PackingAttr packing = contract.getPackingAttr();
        if (packing && packing.getKind() == PackingKind::Amx)
          getOperation()->setAttr(tilesAttr, UnitAttr::get(&getContext()));
        if (failed(lowerContract(contract, target, threads)))
          return signalPassFailure();
      } else if (auto window = dyn_cast<WindowOp>(op)) {
        window.getPacked() ? kernels::lowerPairedWindow(window, target, threads)
                           : kernels::lowerWindow(window, target, threads);
      } else if (auto expand = dyn_cast<ExpandOp>(op)) {
        kernels::lowerExpand(expand, target);
      } else if (auto attention = dyn_cast<AttentionOp>(op)) {
        kernels::lowerAttention(attention, target);
      } else if (auto pack = dyn_cast<PackOp>(op)) {
        kernels::lowerPack(pack, target);
      } else {
        kernels::lowerStage(cast<StageOp>(op), target);
      }
      op->erase();
      ++numLowered;
    }
  }
};
} // namespace
