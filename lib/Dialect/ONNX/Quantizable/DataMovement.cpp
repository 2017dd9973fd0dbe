// How ops are quantized that move numbers or choose among them: one scale and
// zero point for what enters and what leaves.

#include "Models.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::quantizable;

namespace {

/// Reshape, Transpose and the like: the first operand, moved.
template <typename Op> struct MoveModel : public Base<MoveModel<Op>, Op> {
  SmallVector<unsigned> getQuantizableResults(Operation *op) const {
    return llvm::to_vector(llvm::seq<unsigned>(0, op->getNumResults()));
  }
  bool sharesParameters(Operation *) const { return true; }
  bool movesData(Operation *) const { return true; }
};

struct MaxPoolModel : public Base<MaxPoolModel, MaxPoolOp> {
  bool sharesParameters(Operation *) const { return true; }
  bool movesData(Operation *op) const {
    return isAbsent(cast<MaxPoolOp>(op).getIndices());
  }
};

struct GlobalMaxPoolModel : public Base<GlobalMaxPoolModel, GlobalMaxPoolOp> {
  bool sharesParameters(Operation *) const { return true; }
};

struct ConcatModel : public Base<ConcatModel, ConcatOp> {
  SmallVector<unsigned> getQuantizableOperands(Operation *op) const {
    return llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
  }
  bool sharesParameters(Operation *) const { return true; }
  bool movesData(Operation *) const { return true; }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    if (!haveEightBits(operands))
      return failure();
    SmallVector<Value> values{result.scale, result.zeroPoint};
    for (const QuantizedOperand &operand : operands) {
      if (!operand.value)
        return failure();
      llvm::append_values(values, operand.value, operand.scale,
                          operand.zeroPoint);
    }
    return createNode(builder, op,
                      microsoft::QLinearConcatOp::getOperationName(), values,
                      withElementType(op->getResult(0).getType(),
                                      elementTypeOf(result.zeroPoint)),
                      {"axis"})
        ->getResult(0);
  }
};

/// A number that fills the border becomes part of the range. Sentinels, such as
/// the least float before a maximum, would swallow it.
struct PadModel : public Base<PadModel, PadOp> {
  static constexpr double largest = 1e30;

  bool sharesParameters(Operation *) const { return true; }
  bool movesData(Operation *op) const {
    return cast<PadOp>(op).getMode() != "constant";
  }
  std::string getObstacle(Operation *op) const {
    auto pad = cast<PadOp>(op);
    Value value = pad.getConstantValue();
    if (pad.getMode() != "constant" || isAbsent(value))
      return "";
    ElementsAttr constant = getConstant(value);
    auto number = constant ? readFloats(constant, 1) : std::nullopt;
    if (!number || number->size() != 1)
      return "the number it pads with is not constant";
    if (!(std::fabs((*number)[0]) < largest))
      return "it pads with a sentinel";
    return "";
  }
};

/// Nearest neighbours are moved, linear interpolation stays between its
/// operands, cubic does not.
struct ResizeModel : public Base<ResizeModel, ResizeOp> {
  bool sharesParameters(Operation *op) const {
    return cast<ResizeOp>(op).getMode() != "cubic" &&
           cast<ResizeOp>(op).getCoordinateTransformationMode() !=
               "tf_crop_and_resize";
  }
  bool movesData(Operation *op) const {
    return sharesParameters(op) && cast<ResizeOp>(op).getMode() == "nearest";
  }
};

struct WhereModel : public Base<WhereModel, WhereOp> {
  SmallVector<unsigned> getQuantizableOperands(Operation *) const {
    return {1, 2};
  }
  QuantizedForm getQLinearForm(Operation *) const {
    return QuantizedForm::Contrib;
  }
  FailureOr<Value> buildQLinear(Operation *op, OpBuilder &builder,
                                ArrayRef<QuantizedOperand> operands,
                                QuantizedOperand result, Value) const {
    const QuantizedOperand &x = operands[1], &y = operands[2];
    if (!x.value || !y.value || !haveEightBits(operands))
      return failure();
    return createNode(
               builder, op, microsoft::QLinearWhereOp::getOperationName(),
               {op->getOperand(0), x.value, x.scale, x.zeroPoint, y.value,
                y.scale, y.zeroPoint, result.scale, result.zeroPoint},
               withElementType(op->getResult(0).getType(),
                               elementTypeOf(result.zeroPoint)))
        ->getResult(0);
  }
};

} // namespace

void onnxquant::onnx::quantizable::attachDataMovement(MLIRContext &context) {
  ReshapeOp::attachInterface<MoveModel<ReshapeOp>>(context);
  FlattenOp::attachInterface<MoveModel<FlattenOp>>(context);
  SqueezeOp::attachInterface<MoveModel<SqueezeOp>>(context);
  UnsqueezeOp::attachInterface<MoveModel<UnsqueezeOp>>(context);
  TransposeOp::attachInterface<MoveModel<TransposeOp>>(context);
  SliceOp::attachInterface<MoveModel<SliceOp>>(context);
  GatherOp::attachInterface<MoveModel<GatherOp>>(context);
  SplitOp::attachInterface<MoveModel<SplitOp>>(context);
  ExpandOp::attachInterface<MoveModel<ExpandOp>>(context);
  TileOp::attachInterface<MoveModel<TileOp>>(context);
  DepthToSpaceOp::attachInterface<MoveModel<DepthToSpaceOp>>(context);
  SpaceToDepthOp::attachInterface<MoveModel<SpaceToDepthOp>>(context);
  MaxPoolOp::attachInterface<MaxPoolModel>(context);
  GlobalMaxPoolOp::attachInterface<GlobalMaxPoolModel>(context);
  ConcatOp::attachInterface<ConcatModel>(context);
  PadOp::attachInterface<PadModel>(context);
  ResizeOp::attachInterface<ResizeModel>(context);
  WhereOp::attachInterface<WhereModel>(context);
}
