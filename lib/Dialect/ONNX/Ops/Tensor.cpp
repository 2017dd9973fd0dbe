// Ops of the Tensor family: the definitions that TableGen generates, and what
// the family's verifiers and shape rules share.

#include "TensorHelpers.h"

using namespace mlir;
using namespace onnxquant::onnx;

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Tensor.cpp.inc"

FailureOr<SmallVector<int64_t>>
onnxquant::onnx::tensor::normalizeAxes(Operation *op, ArrayRef<int64_t> axes,
                                       int64_t rank, StringRef label) {
  std::string suffix = label.empty() ? "" : " (" + label.str() + ")";
  SmallVector<int64_t> result;
  SmallVector<bool> seen(rank, false);
  for (int64_t axis : axes) {
    FailureOr<int64_t> index = shape::normalizeAxis(axis, rank);
    if (failed(index))
      return op->emitOpError("expects axes in [")
             << -rank << ", " << rank - 1 << "], but got " << axis << suffix;
    if (seen[*index])
      return op->emitOpError("expects distinct axes, but got ")
             << *index << " twice" << suffix;
    seen[*index] = true;
    result.push_back(*index);
  }
  return result;
}

SmallVector<int64_t> onnxquant::onnx::tensor::allAxes(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

LogicalResult onnxquant::onnx::tensor::checkRank(Operation *op, int64_t rank) {
  if (rank <= maxRank)
    return success();
  return op->emitOpError("expects a result of rank at most ")
         << maxRank << ", but got " << rank;
}

FailureOr<Dim> onnxquant::onnx::tensor::unify(const Dim &a, const Dim &b) {
  if (a == b)
    return a;
  if (a.isConstant() && b.isConstant())
    return failure();
  return b.isConstant() || (a.isAnonymous() && !a.isConstant()) ? b : a;
}

std::optional<int64_t> onnxquant::onnx::tensor::lengthOf(ShapeContext &ctx,
                                                         Value value) {
  std::optional<Dims> dims = ctx.getDims(value);
  if (!dims || dims->size() != 1)
    return std::nullopt;
  return dims->front().getConstant();
}

void onnxquant::onnx::tensor::passContents(ShapeContext &ctx, Value from,
                                           OpResult to) {
  if (std::optional<Dims> contents = ctx.getContents(from))
    ctx.setContents(to, *contents);
}
