// How attention that comes with its projection is quantized: the projection
// only, whose input has a scale for each run.

#include "Models.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

namespace {

struct AttentionModel
    : public Base<AttentionModel, onnxquant::onnx::microsoft::AttentionOp> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {0, 1};
  }
  SmallVector<unsigned> getQuantizableResults(Operation *) const { return {}; }
  bool isContraction(Operation *) const { return true; }
  std::optional<int64_t> getChannelAxis(Operation *, unsigned operand) const {
    return operand == 1 ? std::optional<int64_t>(1) : std::nullopt;
  }
  std::optional<int64_t> getReductionAxis(Operation *, unsigned operand) const {
    return operand == 1 ? 0 : 2;
  }
  std::string getObstacle(Operation *op) const;
  FailureOr<Operation *>
  buildDynamic(Operation *op, OpBuilder &builder,
               ArrayRef<QuantizedOperand> operands) const;
};

} // namespace

/// What QAttention has no operand or attribute for.
std::string AttentionModel::getObstacle(Operation *op) const {
  auto attention = cast<microsoft::AttentionOp>(op);
  if (!elementTypeOf(attention.getInput()).isF32())
    return "QAttention takes scales of float32 only";
  if (!getConstant(attention.getWeights()))
    return "its weights are not constant";
  if (isAbsent(attention.getBias()))
    return "QAttention needs a bias";
  if (attention.getQkvHiddenSizes() ||
      !isAbsent(attention.getAttentionBias()) ||
      !isAbsent(attention.getPastSequenceLength()))
    return "QAttention has neither widths of its own for queries, keys and "
           "values nor an attention bias";
  return "";
}

FailureOr<Operation *>
AttentionModel::buildDynamic(Operation *op, OpBuilder &builder,
                             ArrayRef<QuantizedOperand> operands) const {
  auto attention = cast<microsoft::AttentionOp>(op);
  const QuantizedOperand &x = operands[0], &w = operands[1];
  if (!x.value || !w.value || !haveEightBits(operands))
    return failure();
  OperationState state(op->getLoc(),
                       microsoft::QAttentionOp::getOperationName());
  state.addOperands({x.value, w.value, attention.getBias(), x.scale, w.scale,
                     attention.getMaskIndex(), x.zeroPoint, w.zeroPoint,
                     attention.getPast()});
  state.addTypes(op->getResultTypes());
  for (StringRef name :
       {"do_rotary", "mask_filter_value", "num_heads",
        "past_present_share_buffer", "scale", "unidirectional"})
    if (Attribute value = op->getAttr(name))
      state.addAttribute(name, value);
  return builder.create(state);
}

void onnxquant::onnx::quantizable::attachAttention(MLIRContext &context) {
  microsoft::AttentionOp::attachInterface<AttentionModel>(context);
}
