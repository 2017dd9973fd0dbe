// Chooses register tiles by a model of what a step of the sum costs.

#include "RegisterTile.h"
#include "Tuning.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace onnxquant;
using namespace onnxquant::kernels;

int64_t kernels::getTileLanes(const TargetInfo &target) {
  return target.lanes() * (target.hasRVV ? 4 : 1);
}

/// Each row has a pointer of its own: x86 has 16 registers for them.
static int64_t getMaxRows(const TargetInfo &target) {
  return target.arch == TargetInfo::Arch::X86 ? 8 : 12;
}

/// Rows that `vectors` columns' vectors leave room for.
static int64_t getRows(const TargetInfo &target, int64_t vectors) {
  int64_t registers = target.numVectors;
  if (target.hasRVV) {
    // Groups of four; the row's element is a scalar register. Many rows leave
    // room for the weights that come next: such processors don't reorder.
    int64_t rows = (registers / 4 - vectors) / vectors;
    return rows > 2 ? (registers / 4 - 2 * vectors) / vectors : rows;
  }
  // A row's elements are a register with multiplication by lane, else two
  // serve all rows: with one, LLVM spills.
  if (target.arch == TargetInfo::Arch::AArch64)
    return (registers - vectors - 1) / (vectors + 1);
  return (registers - vectors - 2) / vectors;
}

bool kernels::hasRoomForNext(const TargetInfo &target, int64_t rows,
                             int64_t vectors) {
  return target.hasRVV && (rows + 2) * vectors <= target.numVectors / 4;
}

static double getStepCost(int64_t rows, int64_t vectors) {
  double work = rows * vectors * 0.5, loads = (rows + vectors) * 0.5;
  return std::max({work, loads, tuning::fmaLatency}) + tuning::stepOverhead +
         vectors * tuning::vectorOverhead;
}

RegisterTile kernels::chooseTile(const TargetInfo &target,
                                 std::optional<int64_t> rows, int64_t columns) {
  // A single column would leave all lanes but one empty.
  int64_t lanes = columns == 1 ? 1 : getTileLanes(target);
  int64_t count = std::max<int64_t>(rows.value_or(tuning::dynamicRows), 1);
  RegisterTile best = {1, lanes};
  double least = 0;
  for (int64_t vectors = 1; vectors <= 8; ++vectors) {
    int64_t most =
        std::min({getRows(target, vectors), getMaxRows(target), count});
    // Wide vectors of few rows keep their accumulators only.
    if (most < 1 && vectors <= target.numVectors / 2 && !target.hasRVV)
      most = 1;
    for (int64_t tall = 1; tall <= most; ++tall) {
      int64_t full = columns / (vectors * lanes);
      int64_t rest = llvm::divideCeil(columns % (vectors * lanes), lanes);
      double cost = full * getStepCost(tall, vectors) +
                    (rest > 0 ? getStepCost(tall, rest) : 0);
      cost *= llvm::divideCeil(count, tall);
      if (least == 0 || cost < least) {
        least = cost;
        best = {tall, vectors * lanes};
      }
    }
  }
  return best;
}
