// Layouts of elementwise ops: any order, the same for all tensors of full rank.
// An operand that broadcasts is brought to full rank first, which is free where
// it has at most one dimension that isn't 1, or is constant.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

/// The type of a tensor with dimensions of size 1 before its own.
static RankedTensorType extendRank(RankedTensorType type, size_t rank) {
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

/// Whether an operand can be read in another order without moving elements.
static bool isFree(Value operand, PermutationRef perm) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  return type && (getConstant(operand) || type.getRank() == 0 ||
                  keepsOrder(extendRank(type, perm.size()), perm));
}

static FailureOr<OpLayout> getElementwise(Operation *op, TensorPlace place,
                                          PermutationRef perm,
                                          ArrayRef<unsigned> operands) {
  int64_t rank = static_cast<int64_t>(perm.size());
  OpLayout layout = makeLayout(op);
  if (!place.isResult && (!llvm::is_contained(operands, place.number) ||
                          rankOf(op->getOperand(place.number)) != rank))
    return failure();
  for (OpResult result : op->getResults()) {
    if (rankOf(result) != rank)
      return failure();
    layout.results[result.getResultNumber()].assign(perm.begin(), perm.end());
  }
  for (unsigned number : operands) {
    Value operand = op->getOperand(number);
    if (isLeftOut(operand))
      continue;
    if (rankOf(operand) == rank)
      layout.operands[number].assign(perm.begin(), perm.end());
    else if (!isFree(operand, perm))
      return failure();
  }
  return layout;
}

static SmallVector<Value> buildElementwise(Operation *op, OpBuilder &builder,
                                           const OpLayout &layout,
                                           ValueRange operands,
                                           ArrayRef<unsigned> broadcast) {
  const Permutation &perm = layout.results[0];
  SmallVector<Value> values(operands);
  for (unsigned number : broadcast) {
    Value &value = values[number];
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!layout.operands[number].empty() || !type || type.getRank() == 0 ||
        isIdentity(perm))
      continue;
    Value full =
        reshapeTo(builder, op->getLoc(), value, extendRank(type, perm.size()));
    value = permuteValue(builder, op->getLoc(), full, perm);
  }
  return SmallVector<Value>(rebuild(builder, op, layout, values)->getResults());
}

namespace {

/// An op whose operands `numbers` broadcast to its result; all without any.
template <typename Op, unsigned... numbers>
struct ElementwiseModel : public Base<ElementwiseModel<Op, numbers...>, Op> {
  static SmallVector<unsigned> getBroadcast(Operation *op) {
    if (sizeof...(numbers) > 0)
      return {numbers...};
    return llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands()));
  }
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return getElementwise(op, place, perm, getBroadcast(op));
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    return buildElementwise(op, builder, layout, operands, getBroadcast(op));
  }
};

} // namespace

template <typename... Ops> static void attachAll(MLIRContext &context) {
  (Ops::template attachInterface<ElementwiseModel<Ops>>(context), ...);
}

void onnxquant::onnx::layout::attachElementwise(MLIRContext &context) {
  attachAll<AbsOp, NegOp, SignOp, NotOp, BitwiseNotOp, CeilOp, FloorOp, RoundOp,
            IsInfOp, IsNaNOp, AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp,
            CosOp, CoshOp, ErfOp, ExpOp, LogOp, ReciprocalOp, SinOp, SinhOp,
            SqrtOp, TanOp, TanhOp>(context);
  attachAll<CeluOp, EluOp, GeluOp, HardSigmoidOp, HardSwishOp, LeakyReluOp,
            MishOp, ReluOp, SeluOp, ShrinkOp, SigmoidOp, SoftplusOp, SoftsignOp,
            ThresholdedReluOp, CastOp, IdentityOp, microsoft::GeluOp,
            microsoft::QuickGeluOp>(context);
  attachAll<AddOp, SubOp, MulOp, DivOp, ModOp, PowOp, PReluOp, EqualOp,
            GreaterOp, GreaterOrEqualOp, LessOp, LessOrEqualOp, AndOp, OrOp,
            XorOp, BitwiseAndOp, BitwiseOrOp, BitwiseXorOp, BitShiftOp, MaxOp,
            MinOp, SumOp, MeanOp, WhereOp>(context);
  ClipOp::attachInterface<ElementwiseModel<ClipOp, 0>>(context);
  CastLikeOp::attachInterface<ElementwiseModel<CastLikeOp, 0>>(context);
  microsoft::QLinearAddOp::attachInterface<
      ElementwiseModel<microsoft::QLinearAddOp, 0, 3>>(context);
  microsoft::QLinearMulOp::attachInterface<
      ElementwiseModel<microsoft::QLinearMulOp, 0, 3>>(context);
  microsoft::QLinearLeakyReluOp::attachInterface<
      ElementwiseModel<microsoft::QLinearLeakyReluOp, 0>>(context);
  microsoft::QLinearSigmoidOp::attachInterface<
      ElementwiseModel<microsoft::QLinearSigmoidOp, 0>>(context);
  microsoft::QLinearWhereOp::attachInterface<
      ElementwiseModel<microsoft::QLinearWhereOp, 0, 1, 4>>(context);
}
