// Layouts of ops that cut, pad, resample or measure tensors. Their axes move to
// where the dimensions are stored; lists per axis stay as they are, for the
// axes are listed with them.

#include "OnnxQuant/Dialect/ONNX/LayoutModels.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::layout;

/// The elements of a vector operand, if their number is known.
static std::optional<int64_t> lengthOf(Value vector) {
  auto type = dyn_cast<RankedTensorType>(vector.getType());
  if (!type || type.getRank() != 1 || type.isDynamicDim(0))
    return std::nullopt;
  return type.getDimSize(0);
}

namespace {

struct SliceModel : public Base<SliceModel, SliceOp> {
  /// Without a list the first axes are meant.
  static std::optional<SmallVector<int64_t>> getAxes(SliceOp op) {
    std::optional<int64_t> rank = rankOf(op.getData());
    std::optional<int64_t> count = lengthOf(op.getStarts());
    if (!rank || !count)
      return std::nullopt;
    if (isLeftOut(op.getAxes()))
      return llvm::to_vector(llvm::seq<int64_t>(0, *count));
    return readAxes(op.getAxes(), *rank);
  }
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    if (!getAxes(cast<SliceOp>(op)))
      return failure();
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    SmallVector<Value> values(operands);
    SmallVector<int64_t> axes =
        mapAxes(*getAxes(cast<SliceOp>(op)), layout.results[0]);
    // All lists have one element type.
    auto type = cast<RankedTensorType>(values[1].getType());
    SmallVector<APInt> numbers;
    for (int64_t axis : axes)
      numbers.emplace_back(type.getElementTypeBitWidth(), axis);
    values[3] = createConstant(
        builder, op->getLoc(),
        DenseElementsAttr::get(
            RankedTensorType::get(static_cast<int64_t>(axes.size()),
                                  type.getElementType()),
            numbers));
    return {rebuild(builder, op, layout, values)->getResult(0)};
  }
};

struct PadModel : public Base<PadModel, PadOp> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    auto pad = cast<PadOp>(op);
    if (!readAxes(pad.getAxes(), static_cast<int64_t>(perm.size())))
      return failure();
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    auto pad = cast<PadOp>(op);
    const Permutation &perm = layout.results[0];
    int64_t rank = static_cast<int64_t>(perm.size());
    SmallVector<Value> values(operands);
    SmallVector<int64_t> axes = mapAxes(*readAxes(pad.getAxes(), rank), perm);
    values[3] = createInts(builder, op->getLoc(), axes);
    return {rebuild(builder, op, layout, values)->getResult(0)};
  }
};

/// Axes that a constant scale leaves alone are not listed, so that what is
/// resampled stands out.
struct ResizeModel : public Base<ResizeModel, ResizeOp> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    return makeUniform(op, place, perm, {0});
  }
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    const Permutation &perm = layout.results[0];
    int64_t rank = static_cast<int64_t>(perm.size());
    auto axes = cast<ResizeOp>(op).getAxes();
    SmallVector<int64_t> listed;
    for (int64_t i = 0, e = axes ? axes->size() : rank; i < e; ++i)
      listed.push_back(
          axes ? fromFront(cast<IntegerAttr>((*axes)[i]).getInt(), rank) : i);
    Operation *made = rebuild(builder, op, layout, operands);
    made->setAttr("axes", builder.getI64ArrayAttr(mapAxes(listed, perm)));
    return {made->getResult(0)};
  }
};

/// Ops that read a tensor in any order; their results have one.
template <typename Model, typename Op>
struct ReadsAnyOrder : public Base<Model, Op> {
  FailureOr<OpLayout> getLayout(Operation *op, TensorPlace place,
                                PermutationRef perm) const {
    if (place.isResult)
      return failure();
    OpLayout layout = makeLayout(op);
    layout.operands[0].assign(perm.begin(), perm.end());
    return layout;
  }
};

/// The sizes are picked out of those of the stored tensor.
struct ShapeModel : public ReadsAnyOrder<ShapeModel, ShapeOp> {
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    auto shape = cast<ShapeOp>(op);
    const Permutation &perm = layout.operands[0];
    int64_t rank = static_cast<int64_t>(perm.size());
    auto clamp = [&](int64_t at) {
      return std::clamp<int64_t>(fromFront(at, rank), 0, rank);
    };
    int64_t start = clamp(shape.getStart());
    int64_t end = shape.getEnd() ? clamp(*shape.getEnd()) : rank;
    SmallVector<int64_t> axes;
    for (int64_t axis = start; axis < end; ++axis)
      axes.push_back(axis);
    Operation *sizes = rebuild(builder, op, layout, operands);
    sizes->removeAttr("end");
    sizes->setAttr("start", makeSigned(op, 0));
    sizes->getResult(0).setType(
        RankedTensorType::get(rank, builder.getI64Type()));
    OperationState state(op->getLoc(), GatherOp::getOperationName());
    state.addOperands({sizes->getResult(0),
                       createInts(builder, op->getLoc(), mapAxes(axes, perm))});
    state.addTypes(op->getResult(0).getType());
    state.addAttribute("axis", makeSigned(op, 0));
    return {builder.create(state)->getResult(0)};
  }
};

struct SizeModel : public ReadsAnyOrder<SizeModel, SizeOp> {
  SmallVector<Value> buildInLayout(Operation *op, OpBuilder &builder,
                                   const OpLayout &layout,
                                   ValueRange operands) const {
    return {rebuild(builder, op, layout, operands)->getResult(0)};
  }
};

} // namespace

void onnxquant::onnx::layout::attachDataMovement(MLIRContext &context) {
  SliceOp::attachInterface<SliceModel>(context);
  PadOp::attachInterface<PadModel>(context);
  ResizeOp::attachInterface<ResizeModel>(context);
  ShapeOp::attachInterface<ShapeModel>(context);
  SizeOp::attachInterface<SizeModel>(context);
}
