// Removes constants, quantizers, dequantizers and scales that nothing uses any
// more, and the ranges that have been used up.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "Plan.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

void quantize::cleanUp(Plan &plan) {
  SmallVector<Operation *> ops;
  plan.module.walk([&](Operation *op) {
    if (isa<ConstantOp, NoValueOp, DequantizeLinearOp, QuantizeLinearOp,
            microsoft::DequantizeLinearOp, microsoft::QuantizeLinearOp>(op) ||
        (isa<CastOp>(op) &&
         op->getOperand(0).getDefiningOp<DynamicQuantizeLinearOp>()))
      ops.push_back(op);
  });
  // Users come after what they use.
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  plan.module->removeAttr(calibrationAttr);
}
