// Contractions of integers by the target's dot step: as those of floats, but a
// step of the sum takes several products per lane.

#include "DotSteps.h"
#include "IntegerContract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// Products of a turn that loads before it multiplies: of several rows, and of
/// one, which has several vectors of weights.
static constexpr int64_t productsAhead = 4, rowProductsAhead = 2;

namespace {
class DotContractLowering : public IntegerContractLowering {
public:
  DotContractLowering(onnxq::ContractOp op, const TargetInfo &target,
                      const DotStep &step)
      : IntegerContractLowering(op, target, step.getLanes()), step(step),
        isX86(target.arch == TargetInfo::Arch::X86) {
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

  bool isX86;
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

LogicalResult kernels::lowerDotContract(onnxq::ContractOp op,
                                        const TargetInfo &target,
                                        int64_t threads) {
  std::unique_ptr<DotStep> step = getDotStep(op, target);
  if (!step)
    return op.emitOpError("expects a target with the dot step '")
           << stringifyEnum(op.getPackingAttr().getKind()) << "'";
  if (target.hasRVV)
    InOrderContractLowering(op, target, *step).lower(threads);
  else
    DotContractLowering(op, target, *step).lower(threads);
  return success();
}
