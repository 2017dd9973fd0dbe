// Layouts of ops along axes: Concat, Split, Softmax and the like, reductions
// and global poolings. The axes move to where their dimensions are stored.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"
#include "OnnxQuant/Dialect/ONNX/PlaceOrder.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

/// Moves the attribute `axis` of a node that was rebuilt.
static void mapAxisAttr(Operation *op, PermutationRef perm, int64_t axis) {
  int64_t rank = static_cast<int64_t>(perm.size());
  op->setAttr("axis", makeSigned(op, invert(perm)[fromFront(axis, rank)]));
}

namespace {

/// The data operands and all results in one order, and an axis. QLinearConcat
/// has data in every third operand from the third on.
template <typename Op> struct AxisModel : public Base<AxisModel<Op>, Op> {
  static SmallVector<unsigned> getData(Operation *op) {
    if (isa<SplitOp, SoftmaxOp, LogSoftmaxOp, HardmaxOp, LpNormalizationOp,
            microsoft::QLinearSoftmaxOp>(op))
      return {0};
    bool isQuantized = isa<microsoft::QLinearConcatOp>(op);
    SmallVector<unsigned> data;
    for (unsigned i = isQuantized ? 2 : 0; i < op->getNumOperands();
         i += isQuantized ? 3 : 1)
      data.push_back(i);
    return data;
  }
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    // Before opset 13 a softmax went over all dimensions from its axis on.
    if (auto softmax = dyn_cast<microsoft::QLinearSoftmaxOp>(op);
        softmax && softmax.getOpset() < 13)
      return failure();
    return makeUniform(op, place, perm, getData(op));
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    Operation *made = rebuild(builder, op, layout, operands);
    mapAxisAttr(made, layout.results[0], cast<Op>(op).getAxis());
    return SmallVector<Value>(made->getResults());
  }
};

/// TopK: data and both results in one order.
struct TopKModel : public Base<TopKModel, TopKOp> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    Operation *made = rebuild(builder, op, layout, operands);
    mapAxisAttr(made, layout.results[0], cast<TopKOp>(op).getAxis());
    return SmallVector<Value>(made->getResults());
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The layout of an op that reduces `axes` of its first operand.
static FailureOr<OpLayout> getReduced(Operation *op, TensorPlace place,
                                      PermutationRef perm,
                                      std::optional<SmallVector<int64_t>> axes,
                                      bool keepDims) {
  std::optional<int64_t> rank = rankOf(op->getOperand(0));
  std::optional<int64_t> left = rankOf(op->getResult(0));
  if (!axes || !rank || !left || (!place.isResult && place.number != 0))
    return failure();
  if (*left != *rank - (keepDims ? 0 : static_cast<int64_t>(axes->size())))
    return failure();
  OpLayout layout = makeLayout(op);
  Permutation &input = layout.operands[0], &result = layout.results[0];
  (place.isResult ? result : input).assign(perm.begin(), perm.end());
  if (keepDims)
    (place.isResult ? input : result).assign(perm.begin(), perm.end());
  else if (place.isResult)
    input = addDims(perm, *axes, *rank);
  else
    result = layout::dropDims(perm, *axes);
  return layout;
}

namespace {

/// Axes in an operand; without them all are reduced, or none.
template <typename Op> struct ReduceModel : public Base<ReduceModel<Op>, Op> {
  static std::optional<SmallVector<int64_t>> getAxes(Operation *op) {
    auto reduce = cast<Op>(op);
    std::optional<int64_t> rank = rankOf(op->getOperand(0));
    if (!rank)
      return std::nullopt;
    auto axes = readAxes(reduce.getAxes(), *rank);
    bool isEmpty = isLeftOut(reduce.getAxes()) || (axes && axes->empty());
    if (!isEmpty)
      return axes;
    if (reduce.getNoopWithEmptyAxes() != 0)
      return std::nullopt;
    return llvm::to_vector(llvm::seq<int64_t>(0, *rank));
  }
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return getReduced(op, place, perm, getAxes(op),
                      cast<Op>(op).getKeepdims() != 0);
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    SmallVector<int64_t> axes = mapAxes(*getAxes(op), layout.operands[0]);
    llvm::sort(axes);
    Value list = createInts(builder, op->getLoc(), axes);
    return {rebuild(builder, op, layout, {operands[0], list})->getResult(0)};
  }
};

struct QLinearReduceMeanModel
    : public Base<QLinearReduceMeanModel, microsoft::QLinearReduceMeanOp> {
  static std::optional<SmallVector<int64_t>> getAxes(Operation *op) {
    std::optional<int64_t> rank = rankOf(op->getOperand(0));
    auto list = cast<microsoft::QLinearReduceMeanOp>(op).getAxes();
    if (!rank)
      return std::nullopt;
    if (!list || list->empty())
      return llvm::to_vector(llvm::seq<int64_t>(0, *rank));
    SmallVector<int64_t> axes;
    for (Attribute axis : *list)
      axes.push_back(fromFront(cast<IntegerAttr>(axis).getInt(), *rank));
    return axes;
  }
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return getReduced(op, place, perm, getAxes(op),
                      cast<microsoft::QLinearReduceMeanOp>(op).getKeepdims() !=
                          0);
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    SmallVector<int64_t> axes = mapAxes(*getAxes(op), layout.operands[0]);
    llvm::sort(axes);
    Operation *made = rebuild(builder, op, layout, operands);
    made->setAttr("axes", builder.getI64ArrayAttr(axes));
    return {made->getResult(0)};
  }
};

template <typename Op> struct ArgModel : public Base<ArgModel<Op>, Op> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    std::optional<int64_t> rank = rankOf(op->getOperand(0));
    if (!rank)
      return failure();
    return getReduced(
        op, place, perm,
        SmallVector<int64_t>{fromFront(cast<Op>(op).getAxis(), *rank)},
        cast<Op>(op).getKeepdims() != 0);
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    Operation *made = rebuild(builder, op, layout, operands);
    mapAxisAttr(made, layout.operands[0], cast<Op>(op).getAxis());
    return {made->getResult(0)};
  }
};

/// Poolings over all places are reductions in other orders.
template <typename Op, typename Reduction>
struct GlobalPoolModel : public Base<GlobalPoolModel<Op, Reduction>, Op> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    const Permutation &perm = layout.results[0];
    SmallVector<int64_t> axes;
    for (auto [place, dim] : llvm::enumerate(perm))
      if (dim >= 2)
        axes.push_back(static_cast<int64_t>(place));
    Value list = createInts(builder, op->getLoc(), axes);
    Operation *made = rebuildAs(builder, Reduction::getOperationName(), op,
                                layout, {operands[0], list});
    made->setAttr("keepdims", makeSigned(op, 1));
    made->setAttr("noop_with_empty_axes", makeSigned(op, 0));
    if (std::is_same_v<Op, GlobalAveragePoolOp>)
      made->setAttr(placesAttr, builder.getUnitAttr());
    return {made->getResult(0)};
  }
};

} // namespace

template <typename... Ops> static void attachAxes(MLIRContext &context) {
  (Ops::template attachInterface<AxisModel<Ops>>(context), ...);
}

template <typename... Ops> static void attachReductions(MLIRContext &context) {
  (Ops::template attachInterface<ReduceModel<Ops>>(context), ...);
}

void onnxquant::onnx::layout::attachAlongAxes(MLIRContext &context) {
  attachAxes<ConcatOp, SplitOp, SoftmaxOp, LogSoftmaxOp, HardmaxOp,
             LpNormalizationOp, microsoft::QLinearSoftmaxOp,
             microsoft::QLinearConcatOp>(context);
  TopKOp::attachInterface<TopKModel>(context);
  attachReductions<ReduceL1Op, ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp,
                   ReduceSumSquareOp, ReduceMaxOp, ReduceMeanOp, ReduceMinOp,
                   ReduceProdOp, ReduceSumOp>(context);
  microsoft::QLinearReduceMeanOp::attachInterface<QLinearReduceMeanModel>(
      context);
  ArgMaxOp::attachInterface<ArgModel<ArgMaxOp>>(context);
  ArgMinOp::attachInterface<ArgModel<ArgMinOp>>(context);
  GlobalAveragePoolOp::attachInterface<
      GlobalPoolModel<GlobalAveragePoolOp, ReduceMeanOp>>(context);
  GlobalMaxPoolOp::attachInterface<
      GlobalPoolModel<GlobalMaxPoolOp, ReduceMaxOp>>(context);
}
