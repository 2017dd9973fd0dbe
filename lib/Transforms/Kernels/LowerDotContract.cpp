// Contractions of integers by the target's dot step: as those of floats, but a
// step of the sum takes several products per lane.

#include "ContractLowering.h"
#include "DotSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Products of a turn that loads before it multiplies: of several rows, and of
/// one, which has several vectors of weights.
static constexpr int64_t productsAhead = 4, rowProductsAhead = 2;

namespace {
class DotContractLowering : public ContractLowering {
public:
  DotContractLowering(onnxq::ContractOp op, const TargetInfo &target,
                      const DotStep &step)
      : ContractLowering(op, target), step(step),
        isX86(target.arch == TargetInfo::Arch::X86) {
    lanes = step.getLanes();
    // Narrow results of a row are stored at once. With RISC-V's vectors, sums
    // that are put together there take twice the registers in the loop.
    bool isNarrow = output.element.getIntOrFloatBitWidth() == 8;
    storedLanes = isNarrow && !target.hasRVV ? packing.getNr() : lanes;
    if (isNarrow)
      rounded = matchRounded(op.getEpilogue(), target);
    // Rows whose bytes fill a vector are narrowed together.
    if (rounded && target.hasAVX512)
      joinedLanes = target.vectorBytes;
    takeBias();
    // Bytes of a product's weights.
    weightStep = b.index(getStored(packing.getNr()));
  }

protected:
  // Dot products take weights faster than they come from memory, so that even
  // few tiles are to ask for all of the next panel.
  bool asksAhead() override { return isX86; }
  int64_t getMostLines() override { return 1024; }
  int64_t getUnrolled(int64_t length) override {
    return std::min(length, step.getDepth() * step.getUnroll());
  }
  int64_t getLastRows(int64_t rows, int64_t columns) override;
  SmallVector<Value> startRow(const TilePlace &place) override;
  void storeRows(const TilePlace &place, ArrayRef<SmallVector<Value>> rows,
                 ArrayRef<Value> sums) override;
  SmallVector<Value> sumRun(ArrayRef<RowSource> rows, Value weight,
                            int64_t length, ValueRange sums,
                            int64_t columns) override;

  const DotStep &step;

private:
  /// Elements that so many weights are stored in.
  int64_t getStored(int64_t count) {
    return packing.getHalves() ? count / 2 : count;
  }
  SmallVector<Value> addSteps(ArrayRef<RowSource> rows, Value weight, Value k,
                              int64_t count, ValueRange sums, int64_t vectors);
  void takeBias();
  void storeJoined(const TilePlace &place, ArrayRef<SmallVector<Value>> rows,
                   ArrayRef<Value> sums);

  bool isX86;
  /// The extra that the sums begin with.
  std::optional<unsigned> bias;
  /// Bytes that are narrowed at once; 0 if each row is by itself.
  int64_t joinedLanes = 0;
};

class InOrderContractLowering : public DotContractLowering {
public:
  using DotContractLowering::DotContractLowering;

protected:
  SmallVector<Value> sumRun(ArrayRef<RowSource> rows, Value weight,
                            int64_t length, ValueRange sums,
                            int64_t columns) override;
};
} // namespace

/// A narrow panel leaves registers for more rows, without which sums would wait
/// for each other.
int64_t DotContractLowering::getLastRows(int64_t rows, int64_t columns) {
  std::optional<int64_t> all = KernelBuilder::known(numRows);
  bool isNarrow = 2 * llvm::divideCeil(columns, lanes) * lanes <=
                  static_cast<uint64_t>(packing.getNr());
  return isNarrow && rows > 1 && all && *all >= 2 * rows ? 2 * rows : rows;
}

/// Adds the products of `count` steps from `k` on, in steps.
SmallVector<Value> DotContractLowering::addSteps(ArrayRef<RowSource> rows,
                                                 Value weight, Value k,
                                                 int64_t count, ValueRange sums,
                                                 int64_t vectors) {
  Location loc = b.getLoc();
  int64_t depth = step.getDepth();
  SmallVector<Value> next(sums);
  SmallVector<SmallVector<Value>> inputs;
  for (const RowSource &row : rows)
    inputs.push_back(step.loadInputs(b, loc, row.memory,
                                     b.add(row.place, b.mul(k, depth)), count));
  auto loadColumns = [&](int64_t i) {
    Value line =
        b.add(weight, b.mul(b.add(k, i), getStored(packing.getNr() * depth)));
    SmallVector<Value> columnsOf;
    for (int64_t j = 0; j < vectors; ++j)
      columnsOf.push_back(step.loadWeights(
          b, loc, weights.memory, b.add(line, getStored(j * lanes * depth))));
    return columnsOf;
  };
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> columnsOf = loadColumns(i);
    for (size_t r = 0; r < rows.size(); ++r)
      for (int64_t j = 0; j < vectors; ++j) {
        Value &sum = next[r * vectors + j];
        sum = step.add(b, loc, sum, inputs[r][i], columnsOf[j]);
      }
  }
  return next;
}

SmallVector<Value> DotContractLowering::sumRun(ArrayRef<RowSource> rows,
                                               Value weight, int64_t length,
                                               ValueRange sums,
                                               int64_t columns) {
  int64_t vectors = llvm::divideCeil(columns, lanes);
  int64_t steps = length / step.getDepth(), unroll = step.getUnroll();
  int64_t blocks = steps / unroll;
  SmallVector<Value> next(sums);
  if (blocks > 0)
    next = b.loop(b.index(blocks), next, [&](Value i, ValueRange carried) {
      fetchAhead(i);
      return addSteps(rows, weight, b.mul(i, unroll), unroll, carried, vectors);
    });
  if (steps > blocks * unroll)
    next = b.loop(b.index(steps - blocks * unroll), next,
                  [&](Value i, ValueRange carried) {
                    return addSteps(rows, weight, b.add(i, blocks * unroll), 1,
                                    carried, vectors);
                  });
  return next;
}

//===----------------------------------------------------------------------===//
// Processors that compute in order
//===----------------------------------------------------------------------===//

/// Products of 16 bits with RISC-V's vectors: the weights by a scalar.
SmallVector<Value> InOrderContractLowering::sumRun(ArrayRef<RowSource> rows,
                                                   Value weight, int64_t length,
                                                   ValueRange sums, int64_t) {
  Location loc = b.getLoc();
  VectorType line = step.getLoadedType();
  VectorType sumType = step.getSumType();
  auto widen = [&](Value vector) {
    return arith::ExtSIOp::create(b, sumType, vector);
  };
  int64_t unroll = rows.size() > 1 ? productsAhead : rowProductsAhead;
  return sumAhead(rows, weight, length, unroll, sums, line,
                  [&](MutableArrayRef<Value> next, ArrayRef<Value> loaded,
                      ArrayRef<Value> scalars) {
                    SmallVector<Value> columnsOf;
                    for (Value vector : loaded)
                      columnsOf.push_back(
                          widen(step.unpackWeights(b, loc, vector)));
                    for (auto [r, scalar] : llvm::enumerate(scalars)) {
                      Value x = widen(b.broadcast(scalar, lanes));
                      for (auto [j, w] : llvm::enumerate(columnsOf)) {
                        Value &sum = next[r * columnsOf.size() + j];
                        sum = step.add(b, loc, sum, x, w);
                      }
                    }
                  });
}

//===----------------------------------------------------------------------===//
// Bias and results
//===----------------------------------------------------------------------===//

/// A number per column that the epilogue adds to the sums first is what they
/// begin with.
void DotContractLowering::takeBias() {
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

SmallVector<Value> DotContractLowering::startRow(const TilePlace &place) {
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

void DotContractLowering::storeRows(const TilePlace &place,
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

/// The epilogue of several rows at once.
void DotContractLowering::storeJoined(const TilePlace &place,
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

LogicalResult kernels::lowerDotContract(onnxq::ContractOp op,
                                        const TargetInfo &target) {
  std::unique_ptr<DotStep> step = getDotStep(op, target);
  if (!step)
    return op.emitOpError("expects a target with the dot step '")
           << stringifyEnum(op.getPackingAttr().getKind()) << "'";
  if (target.hasRVV)
    InOrderContractLowering(op, target, *step).lower();
  else
    DotContractLowering(op, target, *step).lower();
  return success();
}
