// Beginning and end of the sums of integers.

#include "IntegerContract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

IntegerContractLowering::IntegerContractLowering(onnxq::ContractOp op,
                                                 const TargetInfo &target,
                                                 int64_t sumLanes)
    : ContractLowering(op, target) {
  lanes = sumLanes;
  // Narrow results of a row are stored at once. With RISC-V's vectors, sums
  // that are put together there take twice the registers in the loop.
  bool isNarrow = output.element.getIntOrFloatBitWidth() == 8;
  storedLanes = isNarrow && !target.hasRVV ? packing.getNr() : lanes;
  if (isNarrow)
    rounded = matchRounded(op.getEpilogue(), target);
  if (rounded)
    joinedLanes = getJoinedLanes(op.getEpilogue(), target);
  takeBias();
}

int64_t kernels::getJoinedLanes(Region &epilogue, const TargetInfo &target) {
  if (!target.hasAVX2)
    return 0;
  // Where one operation waits for the other, more vectors side by side keep
  // the processor busy.
  constexpr int64_t many = 16;
  int64_t count = llvm::count_if(
      epilogue.front().without_terminator(), [](Operation &inner) {
        return !inner.hasTrait<OpTrait::ConstantLike>();
      });
  return target.hasAVX512 || count <= many ? target.vectorBytes
                                           : 2 * target.vectorBytes;
}

/// A number per column that the epilogue adds to the sums first is what they
/// begin with.
void IntegerContractLowering::takeBias() {
  Block &block = op.getEpilogue().front();
  Value sum = block.getArgument(0);
  auto add = sum.hasOneUse() ? dyn_cast<arith::AddIOp>(*sum.user_begin())
                             : arith::AddIOp();
  if (!add)
    return;
  auto argument = dyn_cast<BlockArgument>(add.getLhs() == sum ? add.getRhs()
                                                              : add.getLhs());
  if (!argument || argument == sum || argument.getOwner() != &block)
    return;
  unsigned number = argument.getArgNumber() - 1;
  AffineMap map = maps[number];
  AffineExpr last = b.getAffineDimExpr(output.rank() - 1);
  if (map.getNumResults() != 1 || map.getResult(0) != last)
    return;
  add.getResult().replaceAllUsesWith(sum);
  add.erase();
  bias = number;
}

SmallVector<Value> IntegerContractLowering::startRow(const TilePlace &place) {
  if (!bias)
    return ContractLowering::startRow(place);
  SmallVector<Value> start;
  Value first = getFirstColumn(place);
  SmallVector<Value> nowhere(output.rank());
  for (int64_t j = 0; j < place.columns; j += lanes)
    start.push_back(loadExtra(*bias, nowhere, b.add(first, j), lanes,
                              std::min(lanes, place.columns - j)));
  return start;
}

void IntegerContractLowering::storeRows(const TilePlace &place,
                                        ArrayRef<SmallVector<Value>> rows,
                                        ArrayRef<Value> sums) {
  int64_t vectors = sums.size() / rows.size();
  int64_t together = joinedLanes / (vectors * lanes);
  if (together < 2 || !llvm::isPowerOf2_64(vectors) ||
      vectors * lanes > storedLanes)
    return ContractLowering::storeRows(place, rows, sums);
  while (!rows.empty()) {
    while (together > static_cast<int64_t>(rows.size()))
      together /= 2;
    storeJoined(place, rows.take_front(together),
                sums.take_front(together * vectors));
    rows = rows.drop_front(together);
    sums = sums.drop_front(together * vectors);
  }
}

void ContractLowering::storeJoined(const TilePlace &place,
                                   ArrayRef<SmallVector<Value>> rows,
                                   ArrayRef<Value> sums) {
  int64_t width = sums.size() / rows.size() * lanes, all = width * rows.size();
  Value column = getFirstColumn(place);
  SmallVector<Value> arguments = {b.concat(sums)};
  for (size_t i = 0; i < extras.size(); ++i) {
    SmallVector<Value> parts;
    for (const SmallVector<Value> &indices : rows)
      parts.push_back(loadExtra(i, indices, column, width, place.columns));
    arguments.push_back(b.concat(parts));
  }
  Value bytes = emitRounded(
      b, *rounded,
      b.repeatOnVectors(op.getEpilogue(), arguments, all, rounded->number));
  AffineMap identity = b.getMultiDimIdentityMap(output.rank());
  for (auto [row, indices] : llvm::enumerate(rows)) {
    Value part = rows.size() == 1
                     ? bytes
                     : vector::ExtractStridedSliceOp::create(
                           b, bytes, ArrayRef<int64_t>{int64_t(row) * width},
                           ArrayRef<int64_t>{width}, ArrayRef<int64_t>{1});
    Value at = b.add(getRowPlace(output, identity, indices), column);
    b.storeVector(part, output.memory, at, place.columns);
  }
}
