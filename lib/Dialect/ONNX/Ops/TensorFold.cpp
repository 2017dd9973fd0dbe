// Folders of the Tensor family: ops that turn out to do nothing give way to
// their operand. A fold must keep the type, so most wait for shape inference.
// No element is computed here.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "TensorHelpers.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::tensor;

/// The operand of an op that keeps the order of elements, if its result has the
/// same static type: then it has the same elements too.
static OpFoldResult foldSameType(Value operand, Value result) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !type.hasStaticShape() || type != result.getType())
    return {};
  return operand;
}

/// Whether a constant holds nothing but `number`.
static bool holdsOnly(Attribute constant, int64_t number) {
  auto elements = dyn_cast_if_present<ElementsAttr>(constant);
  if (!elements)
    return false;
  std::optional<SmallVector<int64_t>> ints =
      readInts(elements, ShapeContext::maxContents);
  return ints && llvm::all_of(*ints, [&](int64_t i) { return i == number; });
}

OpFoldResult IdentityOp::fold(FoldAdaptor) {
  if (getInput().getType() != getOutput().getType())
    return {};
  return getInput();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return foldSameType(getData(), getReshaped());
}

OpFoldResult FlattenOp::fold(FoldAdaptor) {
  return foldSameType(getInput(), getOutput());
}

OpFoldResult SqueezeOp::fold(FoldAdaptor) {
  return foldSameType(getData(), getSqueezed());
}

OpFoldResult UnsqueezeOp::fold(FoldAdaptor) {
  return foldSameType(getData(), getExpanded());
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  return foldSameType(getInput(), getOutput());
}

OpFoldResult TileOp::fold(FoldAdaptor) {
  return foldSameType(getInput(), getOutput());
}

OpFoldResult DepthToSpaceOp::fold(FoldAdaptor) {
  if (getBlocksize() != 1 || getInput().getType() != getOutput().getType())
    return {};
  return getInput();
}

OpFoldResult SpaceToDepthOp::fold(FoldAdaptor) {
  if (getBlocksize() != 1 || getInput().getType() != getOutput().getType())
    return {};
  return getInput();
}

/// A transpose's permutation; none if neither it nor the rank is stated.
static std::optional<SmallVector<int64_t>> getPermutation(TransposeOp op) {
  if (op.getPerm())
    return shape::getInts(op.getPerm());
  std::optional<int64_t> rank = rankOf(op.getData());
  if (!rank)
    return std::nullopt;
  SmallVector<int64_t> perm = allAxes(*rank);
  std::reverse(perm.begin(), perm.end());
  return perm;
}

static bool isIdentity(ArrayRef<int64_t> perm) {
  return llvm::all_of(llvm::enumerate(perm), [](auto item) {
    return static_cast<int64_t>(item.index()) == item.value();
  });
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  std::optional<SmallVector<int64_t>> perm = getPermutation(*this);
  if (!perm)
    return {};
  if (isIdentity(*perm) && getData().getType() == getTransposed().getType())
    return getData();
  // A transpose of a transpose is one transpose, or none.
  auto inner = getData().getDefiningOp<TransposeOp>();
  if (!inner || inner == *this)
    return {};
  std::optional<SmallVector<int64_t>> first = getPermutation(inner);
  if (!first || first->size() != perm->size())
    return {};
  SmallVector<int64_t> both;
  for (int64_t axis : *perm)
    both.push_back((*first)[axis]);
  if (isIdentity(both) &&
      inner.getData().getType() == getTransposed().getType())
    return inner.getData();
  (*this)->setOperand(0, inner.getData());
  setPermAttr(Builder(getContext()).getI64ArrayAttr(both));
  return getTransposed();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() != 1 ||
      getInputs().front().getType() != getConcatResult().getType())
    return {};
  return getInputs().front();
}

LogicalResult SplitOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if ((*this)->getNumResults() != 1 ||
      getOutputs().front().getType() != getInput().getType())
    return failure();
  results.push_back(getInput());
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // As many elements in the same direction are all of them.
  if (!isLeftOut(getSteps()) && !holdsOnly(adaptor.getSteps(), 1))
    return {};
  return foldSameType(getData(), getOutput());
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (!holdsOnly(adaptor.getPads(), 0) ||
      getData().getType() != getOutput().getType())
    return {};
  return getData();
}

OpFoldResult CenterCropPadOp::fold(FoldAdaptor) {
  return foldSameType(getInputData(), getOutputData());
}
