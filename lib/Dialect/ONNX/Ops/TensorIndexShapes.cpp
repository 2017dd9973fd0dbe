// Shape rules of the Tensor ops that pick elements by index or condition.

#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "TensorHelpers.h"
#include <cmath>

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::tensor;

/// An axis of `rank` dimensions, or an error.
static FailureOr<int64_t> getAxisOf(Operation *op, int64_t axis, int64_t rank) {
  FailureOr<int64_t> index = shape::normalizeAxis(axis, rank);
  if (failed(index))
    return op->emitOpError("expects axis in the range of rank ")
           << rank << ", but got " << axis;
  return index;
}

/// The elements of a small vector at known indices.
static void gatherContents(ShapeContext &ctx, GatherOp op) {
  std::optional<Dims> contents = ctx.getContents(op.getData());
  std::optional<SmallVector<int64_t>> indices =
      ctx.getConstants(op.getIndices());
  if (!contents || !indices)
    return;
  Dims picked;
  for (int64_t index : *indices) {
    FailureOr<int64_t> position = shape::normalizeAxis(index, contents->size());
    if (failed(position))
      return;
    picked.push_back((*contents)[*position]);
  }
  ctx.setContents(op->getOpResult(0), picked);
}

LogicalResult GatherOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> data = ctx.getDims(getData());
  std::optional<Dims> indices = ctx.getDims(getIndices());
  if (!data || !indices)
    return ctx.set(result, elementType);
  FailureOr<int64_t> axis = getAxisOf(*this, getAxis(), data->size());
  if (failed(axis) ||
      failed(checkRank(*this, data->size() + indices->size() - 1)))
    return failure();
  Dims out(data->begin(), data->begin() + *axis);
  out.append(indices->begin(), indices->end());
  out.append(data->begin() + *axis + 1, data->end());
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  if (data->size() == 1)
    gatherContents(ctx, *this);
  return success();
}

LogicalResult GatherElementsOp::inferShapes(ShapeContext &ctx) {
  Type elementType = getElementType(getData());
  std::optional<Dims> data = ctx.getDims(getData());
  std::optional<Dims> indices = ctx.getDims(getIndices());
  if (data && indices && data->size() != indices->size())
    return emitOpError("expects indices of rank ")
           << data->size() << ", but got rank " << indices->size();
  if (!indices && data)
    indices = ctx.unknowns(data->size());
  return ctx.set((*this)->getOpResult(0), elementType, indices);
}

LogicalResult GatherNDOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> data = ctx.getDims(getData());
  std::optional<Dims> indices = ctx.getDims(getIndices());
  if (!data || !indices || indices->empty())
    return ctx.set(result, elementType);
  std::optional<int64_t> tuple = indices->back().getConstant();
  if (!tuple)
    return ctx.set(result, elementType);
  int64_t rank = data->size();
  int64_t batch = getBatchDims();
  if (batch < 0 || batch >= std::min<int64_t>(rank, indices->size()))
    return emitOpError("expects batch_dims within both ranks, but got ")
           << batch;
  if (*tuple < 1 || *tuple > rank - batch)
    return emitOpError("expects tuples of 1 to ")
           << rank - batch << " indices, but got " << *tuple;
  Dims out(indices->begin(), indices->end() - 1);
  for (int64_t i = 0; i < batch; ++i) {
    FailureOr<Dim> dim = unify((*data)[i], out[i]);
    if (failed(dim))
      return emitOpError("expects batch dimension ")
             << i << " of indices to be " << (*data)[i].str() << ", but got "
             << out[i].str();
    out[i] = *dim;
  }
  out.append(data->begin() + batch + *tuple, data->end());
  if (failed(checkRank(*this, out.size())))
    return failure();
  return ctx.set(result, elementType, out);
}

/// How many slices a constant condition keeps; none if it isn't constant.
static std::optional<int64_t> countKept(ShapeContext &ctx, Value condition,
                                        const Dim &size) {
  std::optional<SmallVector<int64_t>> flags = ctx.getConstants(condition);
  std::optional<int64_t> limit = size.getConstant();
  if (!flags || !limit)
    return std::nullopt;
  ArrayRef<int64_t> read = *flags;
  if (static_cast<uint64_t>(*limit) < read.size())
    read = read.take_front(*limit);
  return llvm::count_if(read, [](int64_t flag) { return flag != 0; });
}

LogicalResult CompressOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getInput());
  std::optional<Dims> in = ctx.getDims(getInput());
  if (!in)
    return ctx.set(result, elementType,
                   getAxis() ? std::nullopt
                             : std::optional<Dims>(ctx.unknowns(1)));
  if (!getAxis())
    in = Dims{shape::product(*in)};
  FailureOr<int64_t> axis = getAxisOf(*this, getAxis().value_or(0), in->size());
  if (failed(axis))
    return failure();
  std::optional<int64_t> kept = countKept(ctx, getCondition(), (*in)[*axis]);
  Dims out = *in;
  out[*axis] = kept ? Dim(*kept) : ctx.unknown();
  return ctx.set(result, elementType, out);
}

/// The depth of a OneHot, which may be written as a float.
static Dim getDepth(ShapeContext &ctx, Value depth) {
  std::optional<Dims> contents = ctx.getContents(depth);
  if (contents && contents->size() == 1)
    return contents->front();
  std::optional<SmallVector<double>> number =
      readFloats(getConstant(depth), /*limit=*/1);
  if (!number || number->size() != 1 ||
      !(std::abs(number->front()) < static_cast<double>(INT64_MAX)))
    return ctx.unknown();
  return Dim(static_cast<int64_t>(number->front()));
}

LogicalResult OneHotOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getValues());
  std::optional<Dims> out = ctx.getDims(getIndices());
  if (!out)
    return ctx.set(result, elementType);
  FailureOr<int64_t> axis = getAxisOf(*this, getAxis(), out->size() + 1);
  if (failed(axis) || failed(checkRank(*this, out->size() + 1)))
    return failure();
  Dim depth = ::getDepth(ctx, getDepth());
  if (depth.getConstant().value_or(0) < 0)
    return emitOpError("expects depth of 0 or more, but got ") << depth.str();
  out->insert(out->begin() + *axis, depth);
  return ctx.set(result, elementType, out);
}
