// Ops of the Reduction family: verifiers, shapes and folders. Sums, products
// and extremes of small integer vectors are followed as contents, since models
// compute the sizes of other tensors with them.

#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/Dialect/ONNX/ShapeRules.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace onnxquant::onnx;

//===----------------------------------------------------------------------===//
// What verifiers share
//===----------------------------------------------------------------------===//

/// Whether a tensor may be a scalar or a vector of one element.
static bool mayHaveOneElement(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() == 0)
    return true;
  return type.getRank() == 1 &&
         (type.isDynamicDim(0) || type.getDimSize(0) == 1);
}

static LogicalResult verifyOneElement(Operation *op, Value value,
                                      StringRef name, StringRef label) {
  if (isLeftOut(value) || mayHaveOneElement(value))
    return success();
  return op->emitOpError("expects ") << name << " with one element, but got "
                                     << value.getType() << " (" << label << ")";
}

static LogicalResult verifyAxis(Operation *op, Value value, int64_t axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || succeeded(shape::normalizeAxis(axis, type.getRank())))
    return success();
  return op->emitOpError("expects an axis within rank ")
         << type.getRank() << ", but got " << axis << " (C1)";
}

static LogicalResult verifyReduction(Operation *op, Value axes) {
  auto type = dyn_cast<RankedTensorType>(axes.getType());
  if (!type || type.getRank() <= 1)
    return success();
  return op->emitOpError("expects axes of rank 0 or 1, but got rank ")
         << type.getRank() << " (C1)";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// The operands and attributes that all reductions have.
struct Reduction {
  template <typename Op>
  explicit Reduction(Op reduction)
      : op(reduction), data(reduction.getData()), axes(reduction.getAxes()),
        keep(reduction.getKeepdims() != 0),
        noop(reduction.getNoopWithEmptyAxes() != 0) {}

  Operation *op;
  Value data;
  Value axes;
  bool keep;
  bool noop;
};
} // namespace

/// The axes that are reduced, as a set; none if the axes aren't known.
static FailureOr<std::optional<llvm::BitVector>>
getReducedAxes(const Reduction &reduction, int64_t rank, ShapeContext &ctx) {
  std::optional<SmallVector<int64_t>> axes;
  if (isLeftOut(reduction.axes))
    axes.emplace();
  else
    axes = ctx.getConstants(reduction.axes);
  if (!axes)
    return std::optional<llvm::BitVector>();
  llvm::BitVector reduced(rank, axes->empty() && !reduction.noop);
  for (int64_t axis : *axes) {
    FailureOr<int64_t> place = shape::normalizeAxis(axis, rank);
    if (failed(place))
      return reduction.op->emitOpError("expects axes within rank ")
             << rank << ", but got " << axis;
    reduced.set(*place);
  }
  return std::optional<llvm::BitVector>(reduced);
}

static LogicalResult inferReduction(const Reduction &reduction,
                                    ShapeContext &ctx) {
  OpResult result = reduction.op->getOpResult(0);
  Type elementType = getElementType(reduction.data);
  std::optional<Dims> dims = ctx.getDims(reduction.data);
  if (!dims)
    return ctx.set(result, elementType);
  int64_t rank = dims->size();
  FailureOr<std::optional<llvm::BitVector>> reduced =
      getReducedAxes(reduction, rank, ctx);
  if (failed(reduced))
    return failure();
  if (*reduced) {
    Dims left;
    for (auto [axis, dim] : llvm::enumerate(*dims)) {
      if (!(**reduced)[axis])
        left.push_back(dim);
      else if (reduction.keep)
        left.push_back(1);
    }
    return ctx.set(result, elementType, left);
  }
  if (reduction.keep)
    return ctx.set(result, elementType, ctx.unknowns(rank));
  // The axes' number still tells the rank.
  std::optional<Dims> contents = ctx.getContents(reduction.axes);
  if (!contents)
    return ctx.set(result, elementType);
  int64_t count = contents->size();
  if (count > rank)
    return reduction.op->emitOpError("expects at most ")
           << rank << " axes, but got " << count;
  return ctx.set(result, elementType, ctx.unknowns(rank - count));
}

/// As `inferReduction`; follows contents that are reduced to one element.
static LogicalResult
inferFollowed(const Reduction &reduction, ShapeContext &ctx,
              std::optional<Dim> neutral,
              function_ref<Dim(const Dim &, const Dim &)> combine) {
  if (failed(inferReduction(reduction, ctx)))
    return failure();
  auto type = dyn_cast_or_null<IntegerType>(getElementType(reduction.data));
  if (!type || !type.isSignless() || type.getWidth() < 32)
    return success();
  std::optional<Dims> dims = ctx.getDims(reduction.data);
  std::optional<Dims> contents = ctx.getContents(reduction.data);
  if (!dims || dims->size() != 1 || !contents)
    return success();
  FailureOr<std::optional<llvm::BitVector>> reduced =
      getReducedAxes(reduction, 1, ctx);
  if (failed(reduced))
    return failure();
  if (!*reduced)
    return success();
  OpResult result = reduction.op->getOpResult(0);
  if ((*reduced)->none()) {
    ctx.setContents(result, *contents);
    return success();
  }
  if (contents->empty() && !neutral)
    return success();
  Dim value = contents->empty() ? *neutral : contents->front();
  for (const Dim &dim : llvm::drop_begin(*contents, !contents->empty()))
    value = combine(value, dim);
  // Numbers beyond 32 bits wrap when the model runs.
  std::optional<int64_t> number = value.getConstant();
  if (number && type.getWidth() == 32 &&
      *number != static_cast<int32_t>(*number))
    return success();
  ctx.setContents(result, value);
  return success();
}

/// A reduction over no axes gives back its operand.
static OpFoldResult foldReduction(const Reduction &reduction) {
  auto axes = dyn_cast<RankedTensorType>(reduction.axes.getType());
  bool empty = isLeftOut(reduction.axes) ||
               (axes && axes.getRank() == 1 && axes.getDimSize(0) == 0);
  if (empty && reduction.noop &&
      reduction.data.getType() == reduction.op->getResult(0).getType())
    return reduction.data;
  return {};
}

#define ONNXQUANT_REDUCTION(Op)                                                \
  LogicalResult Op::verify() {                                                 \
    return verifyReduction(getOperation(), getAxes());                         \
  }
ONNXQUANT_REDUCTION(ReduceL1Op)
ONNXQUANT_REDUCTION(ReduceL2Op)
ONNXQUANT_REDUCTION(ReduceLogSumOp)
ONNXQUANT_REDUCTION(ReduceLogSumExpOp)
ONNXQUANT_REDUCTION(ReduceMaxOp)
ONNXQUANT_REDUCTION(ReduceMeanOp)
ONNXQUANT_REDUCTION(ReduceMinOp)
ONNXQUANT_REDUCTION(ReduceProdOp)
ONNXQUANT_REDUCTION(ReduceSumOp)
ONNXQUANT_REDUCTION(ReduceSumSquareOp)
#undef ONNXQUANT_REDUCTION

#define ONNXQUANT_REDUCTION(Op)                                                \
  LogicalResult Op::inferShapes(ShapeContext &ctx) {                           \
    return inferReduction(Reduction(*this), ctx);                              \
  }
ONNXQUANT_REDUCTION(ReduceL1Op)
ONNXQUANT_REDUCTION(ReduceL2Op)
ONNXQUANT_REDUCTION(ReduceLogSumOp)
ONNXQUANT_REDUCTION(ReduceLogSumExpOp)
ONNXQUANT_REDUCTION(ReduceMeanOp)
ONNXQUANT_REDUCTION(ReduceSumSquareOp)
#undef ONNXQUANT_REDUCTION

#define ONNXQUANT_REDUCTION(Op)                                                \
  OpFoldResult Op::fold(FoldAdaptor) { return foldReduction(Reduction(*this)); }
ONNXQUANT_REDUCTION(ReduceMaxOp)
ONNXQUANT_REDUCTION(ReduceMeanOp)
ONNXQUANT_REDUCTION(ReduceMinOp)
ONNXQUANT_REDUCTION(ReduceProdOp)
ONNXQUANT_REDUCTION(ReduceSumOp)
#undef ONNXQUANT_REDUCTION

LogicalResult ReduceMaxOp::inferShapes(ShapeContext &ctx) {
  return inferFollowed(Reduction(*this), ctx, std::nullopt, Dim::max);
}
LogicalResult ReduceMinOp::inferShapes(ShapeContext &ctx) {
  return inferFollowed(Reduction(*this), ctx, std::nullopt, Dim::min);
}
LogicalResult ReduceProdOp::inferShapes(ShapeContext &ctx) {
  return inferFollowed(Reduction(*this), ctx, Dim(1),
                       [](const Dim &a, const Dim &b) { return a * b; });
}
LogicalResult ReduceSumOp::inferShapes(ShapeContext &ctx) {
  return inferFollowed(Reduction(*this), ctx, Dim(0),
                       [](const Dim &a, const Dim &b) { return a + b; });
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult inferArg(Op op, ShapeContext &ctx) {
  Type i64 = IntegerType::get(op.getContext(), 64);
  OpResult result = op->getOpResult(0);
  std::optional<Dims> dims = ctx.getDims(op.getData());
  if (!dims)
    return ctx.set(result, i64);
  if (failed(op.verify()))
    return failure();
  int64_t axis = *shape::normalizeAxis(op.getAxis(), dims->size());
  if (op.getKeepdims())
    (*dims)[axis] = 1;
  else
    dims->erase(dims->begin() + axis);
  return ctx.set(result, i64, dims);
}

LogicalResult ArgMaxOp::verify() {
  return verifyAxis(getOperation(), getData(), getAxis());
}
LogicalResult ArgMaxOp::inferShapes(ShapeContext &ctx) {
  return inferArg(*this, ctx);
}
LogicalResult ArgMinOp::verify() {
  return verifyAxis(getOperation(), getData(), getAxis());
}
LogicalResult ArgMinOp::inferShapes(ShapeContext &ctx) {
  return inferArg(*this, ctx);
}

LogicalResult CumSumOp::verify() {
  return verifyOneElement(getOperation(), getAxis(), "an axis", "C1");
}

LogicalResult CumSumOp::inferShapes(ShapeContext &ctx) {
  std::optional<int64_t> rank = ctx.getRank(getX());
  std::optional<int64_t> axis = ctx.getConstant(getAxis());
  if (rank && axis && failed(shape::normalizeAxis(*axis, *rank)))
    return emitOpError("expects an axis within rank ")
           << *rank << ", but got " << *axis;
  return shape::sameAs(ctx, *this, 0);
}

LogicalResult TopKOp::verify() {
  if (failed(verifyAxis(getOperation(), getX(), getAxis())))
    return failure();
  return verifyOneElement(getOperation(), getK(), "K", "C2");
}

LogicalResult TopKOp::inferShapes(ShapeContext &ctx) {
  std::optional<Dims> dims = ctx.getDims(getX());
  if (dims) {
    if (failed(verify()))
      return failure();
    Dim &dim = (*dims)[*shape::normalizeAxis(getAxis(), dims->size())];
    std::optional<Dims> contents = ctx.getContents(getK());
    Dim count =
        contents && contents->size() == 1 ? contents->front() : ctx.unknown();
    std::optional<int64_t> number = count.getConstant();
    std::optional<int64_t> size = dim.getConstant();
    if (number && *number < 0)
      return emitOpError("expects K of at least 0, but got ") << *number;
    if (number && size && *number > *size)
      return emitOpError("expects K of at most ")
             << *size << ", but got " << *number;
    dim = count;
  }
  if (failed(ctx.set(getOperation()->getOpResult(0), getElementType(getX()),
                     dims)))
    return failure();
  return ctx.set(getOperation()->getOpResult(1),
                 IntegerType::get(getContext(), 64), dims);
}

//===----------------------------------------------------------------------===//
// Results whose size depends on the data
//===----------------------------------------------------------------------===//

/// Whether a type can have this shape; dynamic entries go with any.
static bool mayHaveShape(Type type, ArrayRef<int64_t> shape) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  return !ranked || succeeded(verifyCompatibleShape(ranked.getShape(), shape));
}

static int64_t sizeOf(Value value, unsigned axis) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getDimSize(axis) : ShapedType::kDynamic;
}

LogicalResult NonMaxSuppressionOp::verify() {
  int64_t any = ShapedType::kDynamic;
  if (!mayHaveShape(getBoxes().getType(), {any, any, 4}))
    return emitOpError("expects boxes of shape (batches, boxes, 4), but got ")
           << getBoxes().getType() << " (C1)";
  if (!mayHaveShape(getScores().getType(),
                    {sizeOf(getBoxes(), 0), any, sizeOf(getBoxes(), 1)}))
    return emitOpError("expects scores of shape (batches, classes, boxes), "
                       "but got ")
           << getScores().getType() << " for boxes " << getBoxes().getType()
           << " (C2)";
  if (failed(verifyOneElement(*this, getMaxOutputBoxesPerClass(),
                              "a number of boxes", "C3")) ||
      failed(verifyOneElement(*this, getIouThreshold(), "an IOU threshold",
                              "C3")) ||
      failed(verifyOneElement(*this, getScoreThreshold(), "a score threshold",
                              "C3")))
    return failure();
  if (getCenterPointBox() != 0 && getCenterPointBox() != 1)
    return emitOpError("expects center_point_box of 0 or 1, but got ")
           << getCenterPointBox() << " (C4)";
  return success();
}

LogicalResult NonMaxSuppressionOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  return ctx.set(getOperation()->getOpResult(0),
                 IntegerType::get(getContext(), 64), Dims{ctx.unknown(), 3});
}

LogicalResult NonZeroOp::inferShapes(ShapeContext &ctx) {
  std::optional<int64_t> rank = ctx.getRank(getX());
  return ctx.set(getOperation()->getOpResult(0),
                 IntegerType::get(getContext(), 64),
                 Dims{rank ? Dim(*rank) : ctx.unknown(), ctx.unknown()});
}

LogicalResult UniqueOp::verify() {
  if (std::optional<int64_t> axis = getAxis())
    return verifyAxis(getOperation(), getX(), *axis);
  return success();
}

LogicalResult UniqueOp::inferShapes(ShapeContext &ctx) {
  if (failed(verify()))
    return failure();
  std::optional<Dims> dims = ctx.getDims(getX()), distinct;
  Dim count = ctx.unknown(), places = ctx.unknown();
  if (!getAxis()) {
    distinct = Dims{count};
    if (dims)
      places = shape::product(*dims);
  } else if (dims) {
    int64_t axis = *shape::normalizeAxis(*getAxis(), dims->size());
    places = (*dims)[axis];
    distinct = dims;
    (*distinct)[axis] = count;
  }
  Operation *op = getOperation();
  Type i64 = IntegerType::get(getContext(), 64);
  if (failed(ctx.set(op->getOpResult(0), getElementType(getX()), distinct)) ||
      failed(ctx.set(op->getOpResult(1), i64, Dims{count})) ||
      failed(ctx.set(op->getOpResult(2), i64, Dims{places})) ||
      failed(ctx.set(op->getOpResult(3), i64, Dims{count})))
    return failure();
  return success();
}

#define GET_OP_CLASSES
#include "OnnxQuant/Dialect/ONNX/Ops/Reduction.cpp.inc"
