// Brings the quantizers of trained models to one form. Tools write them in the
// domain com.microsoft, too, and leave out zero points that are zero. Those of
// 16 and 4 bits stay there: ai.onnx has them from opset 21 on, and no integer
// operator takes them.

#include "Plan.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::quantize;

static Type elementOf(Value value) {
  return cast<TensorType>(value.getType()).getElementType();
}

/// Replaces an op of com.microsoft by that of ai.onnx.
template <typename Standard>
static Operation *standardize(OpBuilder &builder, Operation *op) {
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), Standard::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  for (StringRef name : {StringRef("axis"), StringRef("block_size"),
                         StringRef(nodeNameAttr), StringRef(resultNamesAttr)})
    if (Attribute value = op->getAttr(name))
      state.addAttribute(name, value);
  Operation *made = builder.create(state);
  op->replaceAllUsesWith(made);
  op->erase();
  return made;
}

/// A zero point that is left out is zero, of the quantized numbers' type.
static void addZeroPoint(OpBuilder &builder, Operation *op) {
  Value quantized =
      isa<QuantizeLinearOp>(op) ? op->getResult(0) : op->getOperand(0);
  auto scale = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  if (!isa<NoneType>(op->getOperand(2).getType()) ||
      !isa<IntegerType>(elementOf(quantized)) || !scale ||
      !scale.hasStaticShape())
    return;
  builder.setInsertionPoint(op);
  SmallVector<int64_t> zeros(scale.getNumElements(), 0);
  op->setOperand(2, createConstant(builder, op->getLoc(),
                                   tensorName(quantized) + "_zero_point", zeros,
                                   scale.getShape(), elementOf(quantized)));
}

void quantize::unifyQuantizers(ModuleOp module) {
  OpBuilder builder(module.getContext());
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<QuantizeLinearOp, DequantizeLinearOp, microsoft::QuantizeLinearOp,
            microsoft::DequantizeLinearOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    Value quantized = isa<QuantizeLinearOp, microsoft::QuantizeLinearOp>(op)
                          ? op->getResult(0)
                          : op->getOperand(0);
    unsigned bits = elementOf(quantized).getIntOrFloatBitWidth();
    if (bits != 8 && bits != 32)
      continue;
    if (isa<microsoft::QuantizeLinearOp>(op))
      op = standardize<QuantizeLinearOp>(builder, op);
    else if (isa<microsoft::DequantizeLinearOp>(op))
      op = standardize<DequantizeLinearOp>(builder, op);
    addZeroPoint(builder, op);
  }
}
