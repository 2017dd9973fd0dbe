// Products of matrices.
//
// The sum stands outside the columns, which run innermost; columns of a large
// right operand are taken in blocks that stay in the cache.

#include "ContractionSupport.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace onnxquant::lowering;

/// An operand of the given sizes whose leading dimensions are `batch`, or are
/// known to be one.
static Tensor alignBatch(Emitter &e, Tensor tensor, ArrayRef<OpFoldResult> own,
                         ArrayRef<OpFoldResult> batch) {
  ArrayRef<OpFoldResult> sizes = batch.take_back(own.size() - 2);
  bool isOpen = false;
  for (auto [size, full] : llvm::zip(own, sizes)) {
    std::optional<int64_t> known = e.constant(size);
    isOpen |=
        size != full && known != 1 && !(known && known == e.constant(full));
  }
  if (!isOpen)
    return tensor;
  Sizes full(sizes.begin(), sizes.end());
  full.append({own[own.size() - 2], own.back()});
  return e.map({tensor}, full, tensor.elementType,
               [](ArrayRef<Scalar> x) { return x[0]; });
}

/// The map of an operand with `numBatch` leading loops: its own leading
/// dimensions are the last of them, then `matrix` follows.
static AffineMap getOperandMap(Emitter &e, Tensor tensor,
                               ArrayRef<OpFoldResult> batch, unsigned numLoops,
                               ArrayRef<AffineExpr> matrix) {
  SmallVector<AffineExpr> exprs;
  int64_t own = tensor.rank() - 2;
  for (int64_t i = 0; i < own; ++i) {
    int64_t loop = static_cast<int64_t>(batch.size()) - own + i;
    bool isOne = tensor.shape()[i] == 1 && e.constant(batch[loop]) != 1;
    exprs.push_back(isOne ? e.getAffineConstantExpr(0)
                          : e.getAffineDimExpr(loop));
  }
  exprs.append(matrix.begin(), matrix.end());
  return AffineMap::get(numLoops, 0, exprs, e.getContext());
}

/// How many columns of the right operand are multiplied with all rows before
/// the next ones are read: so many that they stay in the cache. Zero if they
/// all do, if the sizes are open, or if there are too few rows to gain
/// anything.
static int64_t findBlock(Emitter &e, Tensor b, OpFoldResult rows) {
  constexpr int64_t cached = 1 << 16;
  std::optional<int64_t> count = e.constant(rows);
  int64_t depth = b.shape()[b.rank() - 2], width = b.shape().back();
  bool isConstant = matchPattern(b.value, m_Constant());
  if (ShapedType::isDynamicShape(b.shape()) || depth * width <= 4 * cached ||
      count.value_or(isConstant ? 16 : 0) < 16)
    return 0;
  int64_t block = findUnroll(e, e.getIndexAttr(width), 256);
  while (block > 32 && block * depth > cached)
    block /= 2;
  return block >= 32 ? block : 0;
}

/// b [.., K, N] as [.., N / width, K, width], so that a block is contiguous.
static Tensor packColumns(Emitter &e, Tensor b, int64_t width) {
  int64_t rank = b.rank();
  OpFoldResult inner = e.getIndexAttr(width);
  Tensor split = splitDim(e, b, rank - 1,
                          e.floorDivSize(e.size(b, rank - 1), inner), inner);
  SmallVector<int64_t> order(rank + 1);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 2], order[rank - 1]);
  return transposeFolded(e, split, order);
}

/// The leading dimensions that operands of the given sizes broadcast to.
static Sizes getBatch(Emitter &e, ArrayRef<OpFoldResult> a,
                      ArrayRef<OpFoldResult> b) {
  Sizes batch(std::max(a.size(), b.size()) - 2, e.getIndexAttr(1));
  for (ArrayRef<OpFoldResult> sizes : {a.drop_back(2), b.drop_back(2)})
    for (auto [i, size] : llvm::enumerate(sizes)) {
      OpFoldResult &full = batch[batch.size() - sizes.size() + i];
      full = broadcastSize(e, full, size);
    }
  return batch;
}

/// The product of aligned operands: [batch.., M, N], or with the columns in
/// blocks [batch.., M, N / width, width].
static Tensor addMatrixProducts(Emitter &e, Tensor a, Tensor b,
                                ArrayRef<OpFoldResult> batch,
                                OpFoldResult rows) {
  int64_t width = findBlock(e, b, rows);
  Tensor packed = width ? packColumns(e, b, width) : b;
  // Loops: the batch, blocks of columns, rows, the sum, columns of the block.
  unsigned numBatch = batch.size(), numLoops = numBatch + (width ? 4 : 3);
  AffineExpr block = e.getAffineDimExpr(numBatch);
  AffineExpr row = e.getAffineDimExpr(numLoops - 3);
  AffineExpr sum = e.getAffineDimExpr(numLoops - 2);
  AffineExpr column = e.getAffineDimExpr(numLoops - 1);
  SmallVector<AffineExpr> right = {sum, column}, to;
  for (unsigned i = 0; i < numBatch; ++i)
    to.push_back(e.getAffineDimExpr(i));
  to.append({row, column});
  Sizes sizes(batch);
  sizes.push_back(rows);
  if (width) {
    right.insert(right.begin(), block);
    to.insert(to.end() - 1, block);
    sizes.push_back(e.size(packed, b.rank() - 2));
  }
  sizes.push_back(e.size(packed, packed.rank() - 1));

  int64_t steps = findUnroll(e, e.size(a, a.rank() - 1), 4);
  SmallVector<Tensor> factors, others;
  for (int64_t step = 0; step < steps; ++step) {
    factors.push_back(everyNth(e, a, a.rank() - 1, step, steps));
    others.push_back(everyNth(e, packed, packed.rank() - 2, step, steps));
  }
  SmallVector<AffineMap> maps(steps,
                              getOperandMap(e, a, batch, numLoops, {row, sum}));
  maps.append(steps, getOperandMap(e, b, batch, numLoops, right));
  maps.push_back(AffineMap::get(numLoops, 0, to, e.getContext()));
  factors.append(others);
  return addProducts(e, factors, e.filled(sizes, e.integer(0, a.elementType)),
                     maps);
}

/// a [.., M, K] times b [.., K, N], of one type.
static Tensor multiplyMatrices(Emitter &e, Tensor a, Tensor b) {
  Sizes aSizes = e.sizes(a), bSizes = e.sizes(b);
  Sizes batch = getBatch(e, aSizes, bSizes);
  a = alignBatch(e, a, aSizes, batch);
  b = alignBatch(e, b, bSizes, batch);
  OpFoldResult inner = aSizes.back();
  checkEqual(e, inner, bSizes[b.rank() - 2],
             "the left operand's columns are not as many as the right "
             "operand's rows");
  OpFoldResult rows = aSizes[a.rank() - 2];
  Tensor y = addMatrixProducts(e, a, b, batch, rows);
  int64_t leading = batch.size();
  return y.rank() > leading + 2 ? mergeDims(e, y, leading + 1, 2) : y;
}

Tensor onnxquant::lowering::multiplyTransposed(Emitter &e, Tensor a, Tensor b) {
  OpFoldResult inner = e.size(a, a.rank() - 1);
  std::optional<int64_t> rows = e.constant(e.size(a, a.rank() - 2));
  int64_t lanes = findUnroll(e, inner, 16);
  SmallVector<int64_t> swap(b.rank());
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[b.rank() - 2], swap[b.rank() - 1]);
  if (a.rank() != 2 || b.rank() != 2 || !rows || *rows > 4 || lanes < 8)
    return multiplyMatrices(e, a, transposeFolded(e, b, swap));

  // Few rows don't pay for a transposition: every dot product is summed in
  // `lanes` parts, which stand next to one another.
  checkEqual(e, inner, e.size(b, 1),
             "the left operand's columns are not as many as the right "
             "operand's rows");
  OpFoldResult size = e.getIndexAttr(lanes);
  OpFoldResult blocks = e.floorDivSize(inner, size);
  Tensor left = splitDim(e, a, 1, blocks, size);
  Tensor right = splitDim(e, b, 1, blocks, size);
  AffineExpr row, column, block, lane;
  bindDims(e.getContext(), row, column, block, lane);
  SmallVector<AffineMap> maps = {
      AffineMap::get(4, 0, {row, block, lane}, e.getContext()),
      AffineMap::get(4, 0, {column, block, lane}, e.getContext()),
      AffineMap::get(4, 0, {row, column, lane}, e.getContext())};
  Scalar zero = e.integer(0, a.elementType);
  Tensor parts =
      addProducts(e, {left, right},
                  e.filled({e.size(a, 0), e.size(b, 0), size}, zero), maps);
  return e.reduce(parts, {2}, /*keepDims=*/false, zero,
                  [&](Scalar x, Scalar sum) { return e.add(sum, x); });
}

Tensor onnxquant::lowering::matmul(Emitter &e, Tensor a, Tensor b,
                                   Type accumulatorType, const Loader &loadA,
                                   const Loader &loadB) {
  Tensor left = loaded(e, a, accumulatorType, loadA);
  Tensor right = loaded(e, b, accumulatorType, loadB);
  bool isRow = a.rank() == 1, isColumn = b.rank() == 1;
  OpFoldResult one = e.getIndexAttr(1);
  if (isRow)
    left = splitDim(e, left, 0, one, e.size(left, 0));
  if (isColumn)
    right = splitDim(e, right, 0, e.size(right, 0), one);
  // One column is a row of its transpose, which is the same memory.
  bool isNarrow = left.rank() == 2 && right.rank() == 2 &&
                  e.constant(e.size(right, 1)) == 1;
  Tensor y;
  if (isNarrow) {
    Tensor vector = mergeDims(e, right, 0, 2);
    Tensor flat = splitDim(e, vector, 0, one, e.size(vector, 0));
    Tensor product = multiplyTransposed(e, flat, left);
    y = mergeDims(e, product, 0, 2);
    if (isRow && isColumn)
      return e.reshape(y, {});
    return isRow || isColumn ? y : splitDim(e, y, 0, e.size(y, 0), one);
  }
  y = multiplyMatrices(e, left, right);
  return isRow || isColumn ? mergeDims(e, y, y.rank() - 2, 2) : y;
}
