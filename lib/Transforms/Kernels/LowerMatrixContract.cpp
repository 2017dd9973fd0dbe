// Contractions of bytes by AArch64's products of small matrices: two rows with
// two columns, eight products each, by one instruction.
//
// Sums of a tile lie in squares of two by two until all products are added;
// then they become rows of columns for the epilogue.

#include "ContractLowering.h"
#include "DotSteps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Products that an instruction adds to each of its sums, and bytes of a
/// vector.
static constexpr int64_t depth = 8, vectorBytes = 16;

namespace {
class MatrixContractLowering : public ContractLowering {
public:
  MatrixContractLowering(onnxq::ContractOp op, const TargetInfo &target)
      : ContractLowering(op, target) {
    lanes = getDotLanes(packing.getKind(), target);
    bool isNarrow = output.element.getIntOrFloatBitWidth() == 8;
    storedLanes = isNarrow ? packing.getNr() : lanes;
    if (isNarrow)
      rounded = matchRounded(op.getEpilogue(), target);
    name = packing.getKind() == onnxq::PackingKind::Usmmla
               ? "llvm.aarch64.neon.usmmla.v4i32.v16i8"
               : "llvm.aarch64.neon.smmla.v4i32.v16i8";
  }

protected:
  SmallVector<Value> sumTaps(const TilePlace &place,
                             ArrayRef<SmallVector<Value>> rows,
                             SmallVector<Value> sums) override;

private:
  Value shuffle(Value x, Value y, ArrayRef<int64_t> order) {
    return vector::ShuffleOp::create(b, x, y, order);
  }
  SmallVector<Value> loadPairs(ArrayRef<RowSource> rows, Value k,
                               int64_t steps);
  SmallVector<Value> addSteps(ArrayRef<RowSource> rows, Value weight, Value k,
                              int64_t steps, ValueRange squares);
  SmallVector<Value> sumSquares(ArrayRef<RowSource> rows, Value weight,
                                ValueRange squares);
  SmallVector<Value> getRows(ArrayRef<Value> squares, int64_t rows);

  StringRef name;
};
} // namespace

/// Pairs of rows, eight bytes each, for one step or two: those of a step follow
/// each other. The last of an odd number of rows is its own partner.
SmallVector<Value> MatrixContractLowering::loadPairs(ArrayRef<RowSource> rows,
                                                     Value k, int64_t steps) {
  SmallVector<Value> loaded;
  for (const RowSource &row : rows)
    loaded.push_back(b.loadVector(row.memory, b.add(row.place, k),
                                  steps * depth, steps * depth, b.getI8Type()));
  SmallVector<Value> pairs;
  for (int64_t step = 0; step < steps; ++step)
    for (size_t r = 0; r < rows.size(); r += 2) {
      SmallVector<int64_t> order;
      for (int64_t half : {int64_t(0), steps * depth})
        for (int64_t i = 0; i < depth; ++i)
          order.push_back(half + step * depth + i);
      Value partner = loaded[std::min(r + 1, rows.size() - 1)];
      pairs.push_back(shuffle(loaded[r], partner, order));
    }
  return pairs;
}

/// Adds the products of `steps` steps from `k` on to the squares.
SmallVector<Value> MatrixContractLowering::addSteps(ArrayRef<RowSource> rows,
                                                    Value weight, Value k,
                                                    int64_t steps,
                                                    ValueRange squares) {
  int64_t pairs = llvm::divideCeil(rows.size(), 2);
  int64_t columns = static_cast<int64_t>(squares.size()) / pairs;
  SmallVector<Value> next(squares), inputs = loadPairs(rows, k, steps);
  for (int64_t step = 0; step < steps; ++step) {
    Value line = b.add(weight, b.mul(b.add(k, step * depth), packing.getNr()));
    for (int64_t j = 0; j < columns; ++j) {
      Value w = b.loadVector(weights.memory, b.add(line, j * vectorBytes),
                             vectorBytes, vectorBytes, b.getI8Type());
      for (int64_t p = 0; p < pairs; ++p) {
        Value &square = next[p * columns + j];
        square = callIntrinsic(b, b.getLoc(), name, square.getType(),
                               {square, inputs[step * pairs + p], w});
      }
    }
  }
  return next;
}

/// Adds a run of products: two steps at a time, which rows are loaded for as
/// whole vectors.
SmallVector<Value> MatrixContractLowering::sumSquares(ArrayRef<RowSource> rows,
                                                      Value weight,
                                                      ValueRange squares) {
  int64_t steps = run / depth, blocks = steps / 2;
  SmallVector<Value> next(squares);
  if (blocks > 0)
    next = b.loop(b.index(blocks), next, [&](Value i, ValueRange carried) {
      return addSteps(rows, weight, b.mul(i, 2 * depth), 2, carried);
    });
  if (steps % 2 != 0)
    next = addSteps(rows, weight, b.index(blocks * 2 * depth), 1, next);
  return next;
}

/// Squares as vectors of columns, row by row.
SmallVector<Value> MatrixContractLowering::getRows(ArrayRef<Value> squares,
                                                   int64_t rows) {
  size_t columns = squares.size() / llvm::divideCeil(rows, 2);
  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row)
    for (size_t j = 0; j < columns; j += 2) {
      ArrayRef<Value> two = squares.slice(row / 2 * columns + j, 2);
      int64_t first = row % 2 * 2;
      sums.push_back(shuffle(two[0], two[1],
                             {first, first + 1, 4 + first, 4 + first + 1}));
    }
  return sums;
}

SmallVector<Value>
MatrixContractLowering::sumTaps(const TilePlace &place,
                                ArrayRef<SmallVector<Value>> rows,
                                SmallVector<Value> sums) {
  // As many squares as sums, or a row's more.
  SmallVector<Value> squares(llvm::divideCeil(rows.size(), 2) *
                                 (sums.size() / rows.size()) * 2,
                             sums[0]);
  Value first = getWeights(place);
  squares =
      forTaps(place, rows, squares,
              [&](Value tap, ArrayRef<RowSource> sources, ValueRange values) {
                Value weight = b.add(first, b.mul(tap, b.mul(weightStep, run)));
                return sumSquares(sources, weight, values);
              });
  return getRows(squares, static_cast<int64_t>(rows.size()));
}

LogicalResult kernels::lowerMatrixContract(onnxq::ContractOp op,
                                           const TargetInfo &target) {
  if (getDotLanes(op.getPackingAttr().getKind(), target) == 0)
    return op.emitOpError("expects a target with the dot step '")
           << stringifyEnum(op.getPackingAttr().getKind()) << "'";
  MatrixContractLowering(op, target).lower();
  return success();
}
