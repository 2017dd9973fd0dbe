// Shape rules of the Tensor ops that keep all elements, and of Shape and Size.
// Contents of small integer tensors flow through, so that a shape that a graph
// computes (Shape, Gather, Unsqueeze, Concat, Reshape) is known here.

#include "TensorHelpers.h"

using namespace mlir;
using namespace onnxquant::onnx;
using namespace onnxquant::onnx::tensor;

LogicalResult IdentityOp::inferShapes(ShapeContext &ctx) {
  if (failed(shape::sameAs(ctx, *this, 0)))
    return failure();
  passContents(ctx, getInput(), (*this)->getOpResult(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions of a Reshape's result while they are put together.
struct ReshapeSolver {
  ReshapeOp op;
  ShapeContext &ctx;
  const std::optional<Dims> &in;
  Dims out;
  /// The position of the dimension that takes what the others leave.
  std::optional<size_t> open;

  LogicalResult addDim(const Dim &wanted);
  LogicalResult solve();
};
} // namespace

LogicalResult ReshapeSolver::addDim(const Dim &wanted) {
  size_t position = out.size();
  std::optional<int64_t> number = wanted.getConstant();
  if (number && *number < -1)
    return op.emitOpError("expects dimensions of -1 or more, but got ")
           << *number;
  if (number == -1) {
    if (open)
      return op.emitOpError("expects at most one dimension of -1, but got "
                            "another at ")
             << position;
    open = position;
  }
  if (number != 0 || op.getAllowzero()) {
    out.push_back(wanted);
    return success();
  }
  if (in && position >= in->size())
    return op.emitOpError("expects dimensions of 0 within rank ")
           << in->size() << ", but got one at " << position;
  out.push_back(in ? (*in)[position] : ctx.unknown());
  return success();
}

/// Finds the open dimension. Dimensions that stand on both sides cancel first:
/// a sum does not always divide a product as a polynomial, but itself it does.
LogicalResult ReshapeSolver::solve() {
  if (!in) {
    if (open)
      out[*open] = ctx.unknown();
    return success();
  }
  // Zeros leave other dimensions undetermined: they must stand on both sides.
  bool emptyIn = llvm::is_contained(*in, Dim(0));
  bool emptyOut = llvm::is_contained(out, Dim(0));
  if (open && emptyOut && op.getAllowzero())
    return op.emitOpError("expects no dimension of -1 beside one of 0 with "
                          "allowzero, but got it at ")
           << *open;
  if (!open && emptyIn && emptyOut)
    return success();
  // Without a -1, a single dimension that nothing tells is as good as one.
  bool guessed = false;
  if (!open && !emptyIn) {
    for (auto [position, dim] : llvm::enumerate(out))
      if (dim.isAnonymous() && !llvm::is_contained(*in, dim)) {
        guessed = !open;
        open = position;
        if (!guessed)
          break;
      }
    if (!guessed)
      open.reset();
  }

  Dims left = *in, right;
  for (auto [position, dim] : llvm::enumerate(out)) {
    if (open == position)
      continue;
    auto same = llvm::find(left, dim);
    if (same != left.end())
      left.erase(same);
    else
      right.push_back(dim);
  }
  Dim total = shape::product(left), rest = shape::product(right);
  std::optional<int64_t> totalSize = total.getConstant();
  std::optional<int64_t> restSize = rest.getConstant();
  bool fits = !totalSize || !restSize ||
              (open ? *restSize != 0 && *totalSize % *restSize == 0
                    : *totalSize == *restSize);
  if (!fits) {
    InFlightDiagnostic error = op.emitOpError("expects a shape of ")
                               << shape::product(*in).str()
                               << " elements, but got [";
    llvm::interleaveComma(llvm::enumerate(out), error, [&](auto item) {
      error << (open == item.index() ? "-1" : item.value().str());
    });
    return error << "]";
  }
  if (!open)
    return success();
  Dim quotient = total.floorDiv(rest);
  if (!guessed || (quotient.isValid() && !quotient.isAnonymous()))
    out[*open] = quotient;
  return success();
}

LogicalResult ReshapeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> in = ctx.getDims(getData());
  std::optional<int64_t> rank = lengthOf(ctx, getShape());
  if (rank && failed(checkRank(*this, *rank)))
    return failure();
  std::optional<Dims> wanted = ctx.getContents(getShape());
  if (!wanted || !rank)
    return ctx.set(result, elementType,
                   rank ? std::optional<Dims>(ctx.unknowns(*rank))
                        : std::nullopt);
  ReshapeSolver solver{*this, ctx, in, {}, std::nullopt};
  for (const Dim &dim : *wanted)
    if (failed(solver.addDim(dim)))
      return failure();
  if (failed(solver.solve()) ||
      failed(ctx.set(result, elementType, solver.out)))
    return failure();
  passContents(ctx, getData(), result);
  return success();
}

LogicalResult FlattenOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getInput());
  std::optional<Dims> in = ctx.getDims(getInput());
  if (!in)
    return ctx.set(result, elementType, ctx.unknowns(2));
  int64_t rank = in->size();
  int64_t axis = getAxis();
  if (axis < -rank || axis > rank)
    return emitOpError("expects axis in [")
           << -rank << ", " << rank << "], but got " << axis;
  ArrayRef<Dim> dims = *in;
  size_t split = axis < 0 ? axis + rank : axis;
  return ctx.set(result, elementType,
                 Dims{shape::product(dims.take_front(split)),
                      shape::product(dims.drop_front(split))});
}

//===----------------------------------------------------------------------===//
// Squeeze, Unsqueeze, Transpose
//===----------------------------------------------------------------------===//

LogicalResult SqueezeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> in = ctx.getDims(getData());
  if (!in)
    return ctx.set(result, elementType);
  int64_t rank = in->size();

  SmallVector<bool> drop(rank, false);
  if (isLeftOut(getAxes())) {
    // A dimension that isn't a number may turn out to be 1.
    if (!llvm::all_of(*in, [](const Dim &dim) { return dim.isConstant(); }))
      return ctx.set(result, elementType);
    for (auto [index, dim] : llvm::enumerate(*in))
      drop[index] = dim.isConstant(1);
  } else {
    std::optional<SmallVector<int64_t>> axes = ctx.getConstants(getAxes());
    if (!axes) {
      std::optional<int64_t> count = lengthOf(ctx, getAxes());
      if (!count || *count < 0 || *count > rank)
        return ctx.set(result, elementType);
      return ctx.set(result, elementType, ctx.unknowns(rank - *count));
    }
    FailureOr<SmallVector<int64_t>> indices = normalizeAxes(*this, *axes, rank);
    if (failed(indices))
      return failure();
    for (int64_t index : *indices) {
      const Dim &dim = (*in)[index];
      if (dim.isConstant() && !dim.isConstant(1))
        return emitOpError("expects dimension ")
               << index << " to be 1, but got " << dim.str();
      drop[index] = true;
    }
  }

  Dims out;
  for (auto [index, dim] : llvm::enumerate(*in))
    if (!drop[index])
      out.push_back(dim);
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  passContents(ctx, getData(), result);
  return success();
}

LogicalResult UnsqueezeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> in = ctx.getDims(getData());
  if (!in)
    return ctx.set(result, elementType);
  std::optional<SmallVector<int64_t>> axes = ctx.getConstants(getAxes());
  std::optional<int64_t> count = lengthOf(ctx, getAxes());
  if (axes)
    count = axes->size();
  if (!count)
    return ctx.set(result, elementType);
  int64_t inRank = in->size();
  if (*count > maxRank || failed(checkRank(*this, inRank + *count)))
    return *count > maxRank ? checkRank(*this, *count) : failure();
  int64_t rank = inRank + *count;
  if (!axes)
    return ctx.set(result, elementType, ctx.unknowns(rank));

  FailureOr<SmallVector<int64_t>> indices = normalizeAxes(*this, *axes, rank);
  if (failed(indices))
    return failure();
  SmallVector<bool> isNew(rank, false);
  for (int64_t index : *indices)
    isNew[index] = true;
  Dims out;
  size_t next = 0;
  for (bool insert : isNew)
    out.push_back(insert ? Dim(1) : (*in)[next++]);
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  passContents(ctx, getData(), result);
  return success();
}

LogicalResult TransposeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getData());
  std::optional<Dims> in = ctx.getDims(getData());
  std::optional<SmallVector<int64_t>> perm;
  if (getPerm())
    perm = shape::getInts(getPerm());
  if (!in)
    return ctx.set(result, elementType,
                   perm ? std::optional<Dims>(ctx.unknowns(perm->size()))
                        : std::nullopt);
  if (perm && perm->size() != in->size())
    return emitOpError("expects perm of ")
           << in->size() << " entries, but got " << perm->size();
  Dims out;
  if (perm)
    for (int64_t index : *perm)
      out.push_back((*in)[index]);
  else
    out.assign(in->rbegin(), in->rend());
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  passContents(ctx, getData(), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Concat and Split
//===----------------------------------------------------------------------===//

/// The contents of vectors one after the other, if all are followed.
static std::optional<Dims> joinContents(ShapeContext &ctx, ValueRange values) {
  Dims joined;
  for (Value value : values) {
    std::optional<Dims> contents = ctx.getContents(value);
    if (!contents)
      return std::nullopt;
    joined.append(contents->begin(), contents->end());
    if (static_cast<int64_t>(joined.size()) > ShapeContext::maxContents)
      return std::nullopt;
  }
  return joined;
}

LogicalResult ConcatOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType;
  for (Value input : getInputs())
    if (!elementType || isa<UnknownType>(elementType))
      elementType = getElementType(input);

  std::optional<Dims> out;
  std::optional<int64_t> axis;
  bool allRanked = true;
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    std::optional<Dims> dims = ctx.getDims(input);
    if (!dims) {
      allRanked = false;
      continue;
    }
    if (!out) {
      FailureOr<int64_t> index = shape::normalizeAxis(getAxis(), dims->size());
      if (failed(index))
        return emitOpError("expects axis in the range of rank ")
               << dims->size() << ", but got " << getAxis();
      axis = *index;
      out = dims;
      continue;
    }
    if (dims->size() != out->size())
      return emitOpError("expects operands of rank ")
             << out->size() << ", but operand " << number << " has rank "
             << dims->size();
    for (size_t i = 0; i < dims->size(); ++i) {
      if (static_cast<int64_t>(i) == *axis) {
        (*out)[i] = (*out)[i] + (*dims)[i];
        continue;
      }
      FailureOr<Dim> dim = unify((*out)[i], (*dims)[i]);
      if (failed(dim))
        return emitOpError("expects dimension ")
               << i << " of operand " << number << " to be " << (*out)[i].str()
               << ", but got " << (*dims)[i].str();
      (*out)[i] = *dim;
    }
  }
  if (out && !allRanked)
    (*out)[*axis] = ctx.unknown();
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  if (out && out->size() == 1 && allRanked)
    if (std::optional<Dims> contents = joinContents(ctx, getInputs()))
      ctx.setContents(result, *contents);
  return success();
}

/// The sizes of a Split's pieces of a dimension.
static FailureOr<Dims> getPieces(SplitOp op, ShapeContext &ctx,
                                 const Dim &whole) {
  int64_t count = op->getNumResults();
  if (!isLeftOut(op.getSplit())) {
    std::optional<Dims> sizes = ctx.getContents(op.getSplit());
    if (!sizes)
      return ctx.unknowns(count);
    if (static_cast<int64_t>(sizes->size()) != count)
      return op.emitOpError("expects split of ")
             << count << " elements, but got " << sizes->size();
    Dim sum = 0;
    for (const Dim &size : *sizes)
      sum = sum + size;
    if (sum.isConstant() && whole.isConstant() && sum != whole)
      return op.emitOpError("expects pieces of ")
             << whole.str() << " in all, but got " << sum.str();
    return *sizes;
  }
  Dim piece = whole.ceilDiv(Dim(count));
  Dim last = whole - piece * Dim(count - 1);
  std::optional<int64_t> rest = last.getConstant();
  if (rest && *rest < 0)
    return op.emitOpError("expects a dimension that splits into ")
           << count << " pieces, but got " << whole.str();
  Dims pieces(count, piece);
  pieces.back() = last;
  return pieces;
}

LogicalResult SplitOp::inferShapes(ShapeContext &ctx) {
  Type elementType = getElementType(getInput());
  std::optional<Dims> in = ctx.getDims(getInput());
  if (!in) {
    for (OpResult result : (*this)->getResults())
      if (failed(ctx.set(result, elementType)))
        return failure();
    return success();
  }
  FailureOr<int64_t> axis = shape::normalizeAxis(getAxis(), in->size());
  if (failed(axis))
    return emitOpError("expects axis in the range of rank ")
           << in->size() << ", but got " << getAxis();
  FailureOr<Dims> pieces = getPieces(*this, ctx, (*in)[*axis]);
  if (failed(pieces))
    return failure();
  std::optional<Dims> contents;
  if (in->size() == 1)
    contents = ctx.getContents(getInput());
  size_t offset = 0;
  for (auto [result, piece] : llvm::zip_equal((*this)->getResults(), *pieces)) {
    Dims dims = *in;
    dims[*axis] = piece;
    if (failed(ctx.set(result, elementType, dims)))
      return failure();
    std::optional<int64_t> size = piece.getConstant();
    if (!contents || !size || *size < 0 ||
        static_cast<uint64_t>(*size) > contents->size() - offset) {
      contents.reset();
      continue;
    }
    ctx.setContents(result, ArrayRef<Dim>(*contents).slice(offset, *size));
    offset += *size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Expand and Tile
//===----------------------------------------------------------------------===//

/// Repeats the contents of a small vector or scalar up to `result`'s size.
static void repeatContents(ShapeContext &ctx, Value from, OpResult result) {
  std::optional<Dims> contents = ctx.getContents(from);
  std::optional<int64_t> size = lengthOf(ctx, result);
  if (!contents || contents->empty() || !size || *size < 0 ||
      *size > ShapeContext::maxContents)
    return;
  Dims repeated;
  for (int64_t i = 0; i < *size; ++i)
    repeated.push_back((*contents)[i % contents->size()]);
  ctx.setContents(result, repeated);
}

LogicalResult ExpandOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getInput());
  std::optional<Dims> in = ctx.getDims(getInput());
  std::optional<int64_t> length = lengthOf(ctx, getShape());
  if (length && failed(checkRank(*this, *length)))
    return failure();
  std::optional<Dims> wanted = ctx.getContents(getShape());
  if (!in || !length)
    return ctx.set(result, elementType);
  if (!wanted)
    return ctx.set(result, elementType,
                   ctx.unknowns(std::max<int64_t>(in->size(), *length)));
  for (const Dim &dim : *wanted)
    if (dim.getConstant().value_or(0) < 0)
      return emitOpError("expects dimensions of 0 or more, but got ")
             << dim.str();
  FailureOr<std::optional<Dims>> out = shape::broadcastDims(ctx, {in, wanted});
  if (failed(out)) {
    InFlightDiagnostic error = emitOpError("expects a shape that ")
                               << getInput().getType()
                               << " broadcasts with, but got [";
    llvm::interleaveComma(*wanted, error,
                          [&](const Dim &dim) { error << dim.str(); });
    return error << "]";
  }
  if (failed(ctx.set(result, elementType, *out)))
    return failure();
  if (in->size() <= 1)
    repeatContents(ctx, getInput(), result);
  return success();
}

LogicalResult TileOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = getElementType(getInput());
  std::optional<Dims> in = ctx.getDims(getInput());
  std::optional<int64_t> length = lengthOf(ctx, getRepeats());
  if (!in) {
    if (length && failed(checkRank(*this, *length)))
      return failure();
    return ctx.set(result, elementType,
                   length ? std::optional<Dims>(ctx.unknowns(*length))
                          : std::nullopt);
  }
  std::optional<Dims> repeats = ctx.getContents(getRepeats());
  if (!repeats)
    return ctx.set(result, elementType, ctx.unknowns(in->size()));
  if (repeats->size() != in->size())
    return emitOpError("expects repeats of ")
           << in->size() << " elements, but got " << repeats->size();
  Dims out;
  for (auto [dim, repeat] : llvm::zip_equal(*in, *repeats)) {
    if (repeat.getConstant().value_or(0) < 0)
      return emitOpError("expects repeats of 0 or more, but got ")
             << repeat.str();
    out.push_back(dim * repeat);
  }
  if (failed(ctx.set(result, elementType, out)))
    return failure();
  if (in->size() == 1)
    repeatContents(ctx, getInput(), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Depth and space
//===----------------------------------------------------------------------===//

/// The input's four dimensions; failure if it has another rank.
static FailureOr<Dims> getImageDims(Operation *op, ShapeContext &ctx) {
  std::optional<Dims> in = ctx.getDims(op->getOperand(0));
  if (!in)
    return ctx.unknowns(4);
  if (in->size() != 4)
    return op->emitOpError("expects input of rank 4, but got rank ")
           << in->size();
  return *in;
}

LogicalResult DepthToSpaceOp::inferShapes(ShapeContext &ctx) {
  FailureOr<Dims> in = getImageDims(*this, ctx);
  if (failed(in))
    return failure();
  Dim block = getBlocksize(), area = block * block;
  const Dim &channels = (*in)[1];
  if (channels.isConstant() && area.isConstant() &&
      !channels.mod(area).isConstant(0))
    return emitOpError("expects channels in multiples of ")
           << area.str() << ", but got " << channels.str();
  return ctx.set((*this)->getOpResult(0), getElementType(getInput()),
                 Dims{(*in)[0], channels.floorDiv(area), (*in)[2] * block,
                      (*in)[3] * block});
}

LogicalResult SpaceToDepthOp::inferShapes(ShapeContext &ctx) {
  FailureOr<Dims> in = getImageDims(*this, ctx);
  if (failed(in))
    return failure();
  Dim block = getBlocksize();
  for (size_t index : {2, 3})
    if ((*in)[index].isConstant() && !(*in)[index].mod(block).isConstant(0))
      return emitOpError("expects height and width in multiples of ")
             << block.str() << ", but got " << (*in)[index].str();
  return ctx.set((*this)->getOpResult(0), getElementType(getInput()),
                 Dims{(*in)[0], (*in)[1] * block * block,
                      (*in)[2].floorDiv(block), (*in)[3].floorDiv(block)});
}

//===----------------------------------------------------------------------===//
// Shape and Size
//===----------------------------------------------------------------------===//

LogicalResult ShapeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  Type elementType = IntegerType::get(getContext(), 64);
  std::optional<Dims> in = ctx.getDims(getData());
  if (!in)
    return ctx.set(result, elementType, ctx.unknowns(1));
  int64_t rank = in->size();
  auto clampBound = [&](int64_t bound) {
    if (bound < 0)
      bound = bound < -rank ? 0 : bound + rank;
    return std::min(bound, rank);
  };
  int64_t start = clampBound(getStart());
  int64_t end = clampBound(getEnd().value_or(rank));
  int64_t count = std::max<int64_t>(0, end - start);
  if (failed(ctx.set(result, elementType, Dims{Dim(count)})))
    return failure();
  ctx.setContents(result, ArrayRef<Dim>(*in).slice(count ? start : 0, count));
  return success();
}

LogicalResult SizeOp::inferShapes(ShapeContext &ctx) {
  OpResult result = (*this)->getOpResult(0);
  if (failed(ctx.set(result, IntegerType::get(getContext(), 64), Dims{})))
    return failure();
  if (std::optional<Dims> in = ctx.getDims(getData()))
    ctx.setContents(result, shape::product(*in));
  return success();
}
