// Lowerings of ops that arrange all elements anew: transposing, joining,
// splitting and repeating. Elements move as they are stored; where a part of a
// tensor is the result, it is a view.

#include "TensorSupport.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::lowering;
using namespace onnxquant::lowering::tensors;

namespace {

struct LowerTranspose : OpLowering<onnx::TransposeOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::TransposeOp op, Operands operands,
                Emitter &e) const override {
    SmallVector<int64_t> permutation =
        normalAxes(op.getPerm(), operands[0].rank());
    if (!op.getPerm())
      std::reverse(permutation.begin(), permutation.end());
    if (llvm::is_sorted(permutation))
      return SmallVector<Value>{operands[0].value};
    return SmallVector<Value>{e.transpose(operands[0], permutation).value};
  }
};

//===----------------------------------------------------------------------===//
// Concat and Split
//===----------------------------------------------------------------------===//

/// Parts of one tensor that are put into it or taken from it one by one: to
/// decide which of them can be in place takes time that grows faster than their
/// number.
static constexpr size_t mostParts = 32;

struct LowerConcat : OpLowering<onnx::ConcatOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ConcatOp op, Operands operands,
                Emitter &e) const override {
    if (operands.size() == 1)
      return SmallVector<Value>{operands[0].value};
    SmallVector<Tensor> parts(operands.all());
    while (parts.size() > mostParts) {
      SmallVector<Tensor> joined;
      for (size_t first = 0; first < parts.size(); first += mostParts)
        joined.push_back(
            join(op,
                 ArrayRef(parts).slice(
                     first, std::min(mostParts, parts.size() - first)),
                 e, /*isResult=*/false));
      parts = std::move(joined);
    }
    return SmallVector<Value>{join(op, parts, e, /*isResult=*/true).value};
  }

private:
  /// Joins some of the operands, or all of them.
  static Tensor join(onnx::ConcatOp op, ArrayRef<Tensor> operands, Emitter &e,
                     bool isResult) {
    if (operands.size() == 1)
      return operands[0];
    int64_t rank = operands[0].rank();
    int64_t axis = normalAxis(op.getAxis(), rank);
    Sizes sizes = e.sizes(operands[0]);
    for (Tensor operand : operands.drop_front()) {
      Sizes next = e.sizes(operand);
      for (int64_t d = 0; d < rank; ++d) {
        if (d == axis) {
          sizes[d] = e.addSize(sizes[d], next[d]);
          continue;
        }
        checkEqual(e, sizes[d], next[d],
                   "expects operands of the same sizes but along axis");
        if (e.constant(next[d]))
          sizes[d] = next[d];
      }
    }
    if (isResult)
      sizes = agreedSizes(e, op, 0, sizes);
    Tensor result = e.empty(sizes, resultType(op));
    Sizes offsets(rank, e.getIndexAttr(0));
    for (Tensor operand : operands) {
      result = putPart(e, operand, result, offsets);
      offsets[axis] = e.addSize(offsets[axis], e.size(operand, axis));
    }
    return result;
  }
};

} // namespace

/// The sizes of a Split's pieces; checks that they are sizes of pieces.
static Sizes pieceSizes(Emitter &e, onnx::SplitOp op, Tensor split,
                        OpFoldResult whole) {
  int64_t count = op->getNumResults();
  if (split) {
    Sizes pieces = toSizes(readList(e, {op.getSplit(), split}, count, "split"));
    OpFoldResult sum = e.getIndexAttr(0);
    for (OpFoldResult piece : pieces) {
      checkAtLeast(e, piece, e.getIndexAttr(0),
                   "expects no negative size in split");
      sum = e.addSize(sum, piece);
    }
    checkEqual(e, sum, whole,
               "expects sizes in split that add up to the axis's size");
    return pieces;
  }
  OpFoldResult piece = e.floorDivSize(
      e.addSize(whole, e.getIndexAttr(count - 1)), e.getIndexAttr(count));
  Sizes pieces(count, piece);
  pieces.back() = e.subSize(whole, e.mulSize(piece, e.getIndexAttr(count - 1)));
  checkAtLeast(e, pieces.back(), e.getIndexAttr(0),
               "expects an axis that can be split into " + Twine(count) +
                   " pieces");
  return pieces;
}

namespace {

struct LowerSplit : OpLowering<onnx::SplitOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::SplitOp op, Operands operands,
                Emitter &e) const override {
    Tensor input = operands[0];
    int64_t axis = normalAxis(op.getAxis(), input.rank());
    Sizes pieces = pieceSizes(e, op, operands[1], e.sizes(input)[axis]);
    SmallVector<Value> results;
    takeAll(op, input, axis, pieces, e, results);
    return results;
  }

private:
  /// Takes the next pieces from a part of the input; many of them from copies
  /// of parts of it.
  static void takeAll(onnx::SplitOp op, Tensor input, int64_t axis,
                      ArrayRef<OpFoldResult> pieces, Emitter &e,
                      SmallVectorImpl<Value> &results) {
    size_t each = 1;
    while (llvm::divideCeil(pieces.size(), each) > mostParts)
      each *= mostParts;
    Sizes sizes = e.sizes(input);
    Sizes offsets(sizes.size(), e.getIndexAttr(0));
    for (size_t first = 0; first < pieces.size(); first += each) {
      auto group = pieces.slice(first, std::min(each, pieces.size() - first));
      sizes[axis] = e.getIndexAttr(0);
      for (OpFoldResult piece : group)
        sizes[axis] = e.addSize(sizes[axis], piece);
      unsigned number = results.size();
      if (each > 1)
        takeAll(op, copyOf(takePart(e, input, offsets, sizes), e), axis, group,
                e, results);
      else if (isa<NoneType>(op->getResult(number).getType()))
        results.push_back(Value());
      else
        results.push_back(
            takePart(e, input, offsets, agreedSizes(e, op, number, sizes))
                .value);
      offsets[axis] = e.addSize(offsets[axis], sizes[axis]);
    }
  }

  static Tensor copyOf(Tensor part, Emitter &e) {
    Tensor result = e.empty(e.sizes(part), part.elementType);
    result.value =
        linalg::CopyOp::create(e, part.value, result.value).getResult(0);
    return result;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Expand and Tile
//===----------------------------------------------------------------------===//

/// Size `d` of an Expand's list, aligned at the end with `rank` dimensions; 1
/// where the list is shorter.
static Value expandEntry(Emitter &e, List list, int64_t rank, int64_t d) {
  OpFoldResult length = e.size(list.tensor, 0);
  Value position = e.asValue(e.addSize(length, e.getIndexAttr(d - rank)));
  if (std::optional<int64_t> known = e.constant(getAsOpFoldResult(position))) {
    if (*known < 0)
      return e.index(1);
    if (auto constants = list.constants())
      return e.index((*constants)[*known]);
    return e.readIndex(list.tensor, position);
  }
  Value exists = e.cmpIndex(arith::CmpIPredicate::sge, position, e.index(0));
  return branch(
      e, exists, e.getIndexType(),
      [&] { return SmallVector<Value>{e.readIndex(list.tensor, position)}; },
      [&] { return SmallVector<Value>{e.index(1)}; })[0];
}

namespace {

struct LowerExpand : OpLowering<onnx::ExpandOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::ExpandOp op, Operands operands,
                Emitter &e) const override {
    Tensor input = asStored(operands[0]);
    List list = {op.getShape(), operands[1]};
    auto type = cast<RankedTensorType>(op.getOutput().getType());
    int64_t rank = type.getRank(), missing = rank - input.rank();
    checkAtLeast(e, e.getIndexAttr(rank), e.size(list.tensor, 0),
                 "expects shape of at most " + Twine(rank) + " elements");
    Sizes sizes;
    for (int64_t d = 0; d < rank; ++d) {
      Value wanted = expandEntry(e, list, rank, d);
      if (d < missing) {
        sizes.push_back(getAsOpFoldResult(wanted));
        continue;
      }
      Value own = e.asValue(e.size(input, d - missing));
      Value isOne = isEqual(e, own, 1);
      Value fits = e.cmpIndex(arith::CmpIPredicate::eq, own, wanted);
      e.check(either(e, isOne, either(e, isEqual(e, wanted, 1), fits)),
              "expects shape to go with the dimensions of input");
      sizes.push_back(getAsOpFoldResult(choose(e, isOne, wanted, own)));
    }
    Tensor result =
        e.map({input}, agreedSizes(e, op, 0, sizes), input.elementType,
              [](ArrayRef<Scalar> element) { return element[0]; });
    return SmallVector<Value>{result.value};
  }
};

struct LowerTile : OpLowering<onnx::TileOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::TileOp op, Operands operands, Emitter &e) const override {
    Tensor input = operands[0];
    Sizes repeats = toSizes(
        readList(e, {op.getRepeats(), operands[1]}, input.rank(), "repeats"));
    for (OpFoldResult repeat : repeats)
      checkAtLeast(e, repeat, e.getIndexAttr(0),
                   "expects no negative number of repeats");
    Sizes ones(repeats.size(), e.getIndexAttr(1)), sizes;
    for (auto [size, repeat] : llvm::zip(e.sizes(input), repeats))
      sizes.push_back(e.constant(repeat) == 0 ? repeat
                                              : e.mulSize(size, repeat));
    agreedSizes(e, op, 0, sizes);
    return SmallVector<Value>{repeatDims(e, input, repeats, ones).value};
  }
};

//===----------------------------------------------------------------------===//
// DepthToSpace and SpaceToDepth
//===----------------------------------------------------------------------===//

struct LowerDepthToSpace : OpLowering<onnx::DepthToSpaceOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::DepthToSpaceOp op, Operands operands,
                Emitter &e) const override {
    Sizes in = e.sizes(operands[0]);
    OpFoldResult b = e.getIndexAttr(op.getBlocksize());
    OpFoldResult area = e.mulSize(b, b);
    OpFoldResult depth = e.floorDivSize(in[1], area);
    checkEqual(e, e.mulSize(depth, area), in[1],
               "expects channels in multiples of the squared blocksize");
    bool depthFirst = op.getMode() == "CRD";
    Sizes split = depthFirst ? Sizes{in[0], depth, b, b, in[2], in[3]}
                             : Sizes{in[0], b, b, depth, in[2], in[3]};
    SmallVector<int64_t> order = depthFirst
                                     ? SmallVector<int64_t>{0, 1, 4, 2, 5, 3}
                                     : SmallVector<int64_t>{0, 3, 4, 1, 5, 2};
    Tensor moved = e.transpose(e.reshape(operands[0], split), order);
    Sizes sizes = {in[0], depth, e.mulSize(in[2], b), e.mulSize(in[3], b)};
    return SmallVector<Value>{
        e.reshape(moved, agreedSizes(e, op, 0, sizes)).value};
  }
};

struct LowerSpaceToDepth : OpLowering<onnx::SpaceToDepthOp> {
  using OpLowering::OpLowering;
  Results lower(onnx::SpaceToDepthOp op, Operands operands,
                Emitter &e) const override {
    Sizes in = e.sizes(operands[0]);
    OpFoldResult b = e.getIndexAttr(op.getBlocksize());
    OpFoldResult height = e.floorDivSize(in[2], b);
    OpFoldResult width = e.floorDivSize(in[3], b);
    for (auto [part, whole] : {std::pair(height, in[2]), {width, in[3]}})
      checkEqual(e, e.mulSize(part, b), whole,
                 "expects height and width in multiples of blocksize");
    Tensor split = e.reshape(operands[0], {in[0], in[1], height, b, width, b});
    Tensor moved = e.transpose(split, {0, 3, 5, 1, 2, 4});
    Sizes sizes = {in[0], e.mulSize(in[1], e.mulSize(b, b)), height, width};
    return SmallVector<Value>{
        e.reshape(moved, agreedSizes(e, op, 0, sizes)).value};
  }
};

} // namespace

void tensors::addTensorLayoutLowerings(RewritePatternSet &patterns,
                                       const StorageTypeConverter &types) {
  patterns.add<LowerTranspose, LowerConcat, LowerSplit, LowerExpand, LowerTile,
               LowerDepthToSpace, LowerSpaceToDepth>(types,
                                                     patterns.getContext());
}
