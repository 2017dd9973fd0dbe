// Layouts of quantizers and of quantized poolings. A scale per index moves with
// its axis, one per block with the whole order; poolings know two orders.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

/// [N, C, spatial..] to [N, spatial.., C].
static Permutation getChannelsLast(size_t rank) {
  Permutation perm = {0};
  for (size_t dim = 2; dim < rank; ++dim)
    perm.push_back(static_cast<int64_t>(dim));
  perm.push_back(1);
  return perm;
}

namespace {

/// QuantizeLinear and DequantizeLinear of both domains.
template <typename Op>
struct QuantizerModel : public Base<QuantizerModel<Op>, Op> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    auto scale = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
    if (!scale || (!place.isResult && place.number != 0))
      return failure();
    // One scale per block: its tensor has all dimensions.
    if (scale.getRank() <= 1)
      return makeUniform(op, place, perm, {0});
    FailureOr<OpLayout> layout = makeUniform(op, place, perm, {0, 1});
    if (succeeded(layout) && !isLeftOut(op->getOperand(2))) {
      if (rankOf(op->getOperand(2)) != static_cast<int64_t>(perm.size()))
        return failure();
      layout->operands[2].assign(perm.begin(), perm.end());
    }
    return layout;
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    Operation *made = rebuild(builder, op, layout, operands);
    const Permutation &perm = layout.results[0];
    int64_t rank = static_cast<int64_t>(perm.size());
    int64_t axis = fromFront(cast<Op>(op).getAxis(), rank);
    // With one scale for all the axis may lie outside.
    if (axis >= 0 && axis < rank)
      made->setAttr("axis", makeSigned(op, invert(perm)[axis]));
    return {made->getResult(0)};
  }
};

/// The data and the first result; scale and zero point are numbers.
struct DynamicModel : public Base<DynamicModel, DynamicQuantizeLinearOp> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    if (place.number != 0 ||
        rankOf(op->getOperand(0)) != static_cast<int64_t>(perm.size()))
      return failure();
    OpLayout layout = makeLayout(op);
    layout.operands[0].assign(perm.begin(), perm.end());
    layout.results[0].assign(perm.begin(), perm.end());
    return layout;
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    return SmallVector<Value>(
        rebuild(builder, op, layout, operands)->getResults());
  }
};

/// Ops with an attribute that says where the channels are.
template <typename Op>
struct ChannelsLastModel : public Base<ChannelsLastModel<Op>, Op> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    Permutation last = getChannelsLast(perm.size());
    bool isLast = cast<Op>(op).getChannelsLast() != 0;
    if (!isIdentity(perm) &&
        perm != PermutationRef(isLast ? invert(last) : last))
      return failure();
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    Operation *made = rebuild(builder, op, layout, operands);
    if (!isIdentity(layout.results[0]))
      made->setAttr("channels_last",
                    makeSigned(op, cast<Op>(op).getChannelsLast() == 0));
    return {made->getResult(0)};
  }
};

} // namespace

void onnxquant::onnx::layout::attachQuantized(MLIRContext &context) {
  QuantizeLinearOp::attachInterface<QuantizerModel<QuantizeLinearOp>>(context);
  DequantizeLinearOp::attachInterface<QuantizerModel<DequantizeLinearOp>>(
      context);
  microsoft::QuantizeLinearOp::attachInterface<
      QuantizerModel<microsoft::QuantizeLinearOp>>(context);
  microsoft::DequantizeLinearOp::attachInterface<
      QuantizerModel<microsoft::DequantizeLinearOp>>(context);
  DynamicQuantizeLinearOp::attachInterface<DynamicModel>(context);
  microsoft::QLinearAveragePoolOp::attachInterface<
      ChannelsLastModel<microsoft::QLinearAveragePoolOp>>(context);
  microsoft::QLinearGlobalAveragePoolOp::attachInterface<
      ChannelsLastModel<microsoft::QLinearGlobalAveragePoolOp>>(context);
}
