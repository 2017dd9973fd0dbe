// Finds ops whose numbers decide sizes. Rounding them changes not a tensor's
// numbers a little but how many there are: a sentence gets another length, and
// nothing of it stands where it stood. So they stay float; what follows is
// usually most of the work (a vocoder behind the prediction of durations).
//
// The search goes backwards from operands that tell sizes, and ends where a
// tensor's shape is asked for: what decided that has been found by itself. How
// many elements are chosen (NonZero, NonMaxSuppression) isn't looked at, as a
// detector's boxes come and go with every change.

#include "Sizes.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;

/// Operands that tell sizes, by their places.
static ArrayRef<unsigned> sizeOperands(Operation *op) {
  static constexpr unsigned range[] = {0, 1, 2}, first[] = {0}, second[] = {1},
                            slice[] = {1, 2, 4}, resize[] = {2, 3};
  if (isa<RangeOp>(op))
    return range;
  if (isa<ConstantOfShapeOp, LoopOp>(op))
    return first;
  if (isa<ExpandOp, ReshapeOp, TileOp, PadOp, OneHotOp, TopKOp, SplitOp>(op))
    return second;
  if (isa<SliceOp>(op))
    return slice;
  if (isa<ResizeOp>(op))
    return resize;
  return {};
}

llvm::DenseSet<Operation *> quantize::findSizing(ModuleOp module) {
  SmallVector<Value> pending;
  module.walk([&](Operation *op) {
    for (unsigned index : sizeOperands(op))
      if (index < op->getNumOperands())
        pending.push_back(op->getOperand(index));
  });
  llvm::DenseSet<Operation *> found;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    // What enters a body comes from the op that has it.
    if (!op)
      op = value.getParentBlock()->getParentOp();
    if (!op || isa<func::FuncOp, ShapeOp, SizeOp, ConstantOp>(op) ||
        !found.insert(op).second)
      continue;
    llvm::append_range(pending, op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!block.empty())
          llvm::append_range(pending, block.back().getOperands());
  }
  return found;
}
