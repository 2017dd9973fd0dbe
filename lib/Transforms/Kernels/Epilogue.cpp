// Epilogues on vectors of columns.

#include "Epilogue.h"
#include "ContractShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Whether a function is computed by many instructions that wait for each
/// other.
static bool hasLongFunction(Region &epilogue) {
  return epilogue
      .walk([](Operation *inner) {
        return isa<math::ExpOp, math::TanhOp, math::ErfOp, math::ErfcOp,
                   math::LogOp, math::PowFOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Columns that are narrowed to 8 bits at once.
static int64_t getJoinedLanes(onnxq::ContractOp op, const TargetInfo &target) {
  if (!target.hasAVX2)
    return 0;
  // Where one operation waits for the other, more vectors side by side keep
  // the processor busy.
  return target.hasAVX512 || !hasManyOperations(op.getEpilogue())
             ? target.vectorBytes
             : 2 * target.vectorBytes;
}

Epilogue::Epilogue(ImplicitGemm &gemm, const TargetInfo &target, int64_t lanes,
                   bool startsAtBias)
    : gemm(gemm), b(gemm.b), lanes(lanes), storedLanes(lanes) {
  Region &region = gemm.op.getEpilogue();
  int64_t nr = gemm.packing.getNr();
  bool isNarrow = gemm.output.element.getIntOrFloatBitWidth() == 8;
  if (!gemm.input.element.isInteger()) {
    // What takes long from one operation to the next is computed for several
    // vectors at a time.
    if (hasLongFunction(region))
      storedLanes = nr;
    if (isNarrow && target.hasAVX2)
      rounded = matchRounded(region, target);
    if (rounded)
      storedLanes = nr;
    return;
  }
  // Narrow results of a row are stored at once. With RISC-V's vectors,
  // accumulators that are put together there take twice the registers in the
  // loop.
  if (isNarrow && !target.hasRVV)
    storedLanes = nr;
  if (isNarrow)
    rounded = matchRounded(region, target);
  if (rounded)
    joinedLanes = getJoinedLanes(gemm.op, target);
  if (startsAtBias)
    takeBias();
}

/// A value per column that the region adds to the accumulator first is what
/// accumulators begin with.
void Epilogue::takeBias() {
  Block &block = gemm.op.getEpilogue().front();
  Value sum = block.getArgument(0);
  auto add = sum.hasOneUse() ? dyn_cast<arith::AddIOp>(*sum.user_begin())
                             : arith::AddIOp();
  if (!add)
    return;
  auto argument = dyn_cast<BlockArgument>(add.getLhs() == sum ? add.getRhs()
                                                              : add.getLhs());
  if (!argument || argument == sum || argument.getOwner() != &block)
    return;
  unsigned index = argument.getArgNumber() - 1;
  AffineMap map = gemm.operandMaps[index];
  AffineExpr last = b.getAffineDimExpr(gemm.output.rank() - 1);
  if (map.getNumResults() != 1 || map.getResult(0) != last)
    return;
  add.getResult().replaceAllUsesWith(sum);
  add.erase();
  bias = index;
}

SmallVector<Value> Epilogue::start(const Tile &tile) {
  int64_t vectors = llvm::divideCeil(tile.columns, lanes);
  if (!bias)
    return SmallVector<Value>(vectors, b.zeros(lanes, gemm.accumulatorType));
  SmallVector<Value> start;
  Value first = gemm.getFirstColumn(tile);
  SmallVector<Value> nowhere(gemm.output.rank());
  for (int64_t j = 0; j < tile.columns; j += lanes)
    start.push_back(loadOperand(*bias, nowhere, b.add(first, j), lanes,
                                std::min(lanes, tile.columns - j)));
  return start;
}

void Epilogue::prefetch(const Tile &tile, ArrayRef<RowIndices> rows) {
  Value column = gemm.getFirstColumn(tile);
  AffineMap identity = b.getMultiDimIdentityMap(gemm.output.rank());
  for (const RowIndices &indices : rows) {
    for (auto [operand, map] :
         llvm::zip(gemm.epilogueOperands, gemm.operandMaps))
      if (map.isIdentity())
        b.prefetch(operand.memory,
                   b.add(gemm.getRowOffset(operand, map, indices), column));
    b.prefetch(gemm.output.memory,
               b.add(gemm.getRowOffset(gemm.output, identity, indices), column),
               /*isWrite=*/true);
  }
}

/// An operand's elements for a vector of columns.
Value Epilogue::loadOperand(size_t index, ArrayRef<Value> indices, Value column,
                            int64_t width, int64_t valid) {
  const FlatBuffer &operand = gemm.epilogueOperands[index];
  AffineMap map = gemm.operandMaps[index];
  Value at = gemm.getRowOffset(operand, map, indices);
  unsigned last = gemm.output.rank() - 1;
  std::optional<unsigned> found =
      map.getResultPosition(b.getAffineDimExpr(last));
  if (!found)
    return b.broadcast(b.loadScalar(operand.memory, at), width);
  if (KernelBuilder::known(operand.strides[*found]) == 1)
    return b.loadVector(operand.memory, b.add(at, column), width, valid,
                        operand.element);
  Value vector = b.zeros(width, operand.element);
  for (int64_t i = 0; i < valid; ++i) {
    Value offset = b.add(at, b.mul(b.add(column, i), operand.strides[*found]));
    vector = vector::InsertOp::create(b, b.loadScalar(operand.memory, offset),
                                      vector, i);
  }
  return vector;
}

void Epilogue::storeRow(const Tile &tile, const RowIndices &indices,
                        ArrayRef<Value> accumulators) {
  Value first = gemm.getFirstColumn(tile);
  AffineMap identity = b.getMultiDimIdentityMap(gemm.output.rank());
  Value at = gemm.getRowOffset(gemm.output, identity, indices);
  int64_t together = storedLanes / lanes;
  for (size_t j = 0; j < accumulators.size(); j += together) {
    ArrayRef<Value> parts = accumulators.slice(j).take_front(together);
    int64_t width = parts.size() * lanes;
    int64_t valid = std::min<int64_t>(width, tile.columns - j * lanes);
    Value column = b.add(first, j * lanes);
    SmallVector<Value> arguments = {b.concat(parts)};
    for (size_t i = 0; i < gemm.epilogueOperands.size(); ++i)
      arguments.push_back(loadOperand(i, indices, column, width, valid));
    Value value = b.repeatOnVectors(gemm.op.getEpilogue(), arguments, width,
                                    rounded ? rounded->value : Value());
    if (rounded)
      value = emitRounded(b, *rounded, value);
    b.storeVector(value, gemm.output.memory, b.add(at, column), valid);
  }
}

/// Rows that are requantized and narrowed as one vector.
void Epilogue::storeTogether(const Tile &tile, ArrayRef<RowIndices> rows,
                             ArrayRef<Value> accumulators) {
  int64_t width = accumulators.size() / rows.size() * lanes,
          all = width * rows.size();
  Value column = gemm.getFirstColumn(tile);
  SmallVector<Value> arguments = {b.concat(accumulators)};
  for (size_t i = 0; i < gemm.epilogueOperands.size(); ++i) {
    SmallVector<Value> parts;
    for (const RowIndices &indices : rows)
      parts.push_back(loadOperand(i, indices, column, width, tile.columns));
    arguments.push_back(b.concat(parts));
  }
  Value bytes = emitRounded(
      b, *rounded,
      b.repeatOnVectors(gemm.op.getEpilogue(), arguments, all, rounded->value));
  AffineMap identity = b.getMultiDimIdentityMap(gemm.output.rank());
  for (auto [row, indices] : llvm::enumerate(rows)) {
    Value part = rows.size() == 1
                     ? bytes
                     : vector::ExtractStridedSliceOp::create(
                           b, bytes, ArrayRef<int64_t>{int64_t(row) * width},
                           ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
    Value at = b.add(gemm.getRowOffset(gemm.output, identity, indices), column);
    b.storeVector(part, gemm.output.memory, at, tile.columns);
  }
}

int64_t Epilogue::getRowsAtOnce(int64_t columns) const {
  int64_t vectors = llvm::divideCeil(columns, lanes);
  if (!llvm::isPowerOf2_64(vectors) || vectors * lanes > storedLanes)
    return 0;
  return joinedLanes / (vectors * lanes);
}

void Epilogue::store(const Tile &tile, ArrayRef<RowIndices> rows,
                     ArrayRef<Value> accumulators) {
  size_t vectors = accumulators.size() / rows.size();
  int64_t together = getRowsAtOnce(tile.columns);
  if (together < 2) {
    for (auto [row, indices] : llvm::enumerate(rows))
      storeRow(tile, indices, accumulators.slice(row * vectors, vectors));
    return;
  }
  while (!rows.empty()) {
    while (together > static_cast<int64_t>(rows.size()))
      together /= 2;
    storeTogether(tile, rows.take_front(together),
                  accumulators.take_front(together * vectors));
    rows = rows.drop_front(together);
    accumulators = accumulators.drop_front(together * vectors);
  }
}
