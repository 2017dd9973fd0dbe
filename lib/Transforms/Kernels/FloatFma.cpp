// Floats on every target:
//
//   vfmadd231ps, fmla, vfmacc.vf   acc[j] = fma(A[k], B[k, j], acc[j])
//
// one product after the other from zero, so that results depend neither on the
// tile nor on threads. A's element is broadcast from memory; AArch64 multiplies
// by a lane, so that a vector of A is loaded for four steps. Tiles are 6x16 on
// AVX2 (RegisterTile.cpp chooses).

#include "InOrderRun.h"
#include "MicroKernels.h"
#include "RegisterTile.h"
#include "Tuning.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class FloatFma : public MicroKernel {
public:
  FloatFma(ImplicitGemm &gemm, const TargetInfo &target)
      : MicroKernel(/*step=*/1,
                    std::min(getTileLanes(target), gemm.packing.getNr()),
                    gemm.accumulatorType),
        hasFMA(target.hasFMA), isPacked(gemm.isPacked),
        loadsAhead(isPacked && hasRoomForNext(target, gemm.packing.getMr(),
                                              gemm.packing.getNr() / lanes)),
        stepsOfVector(target.arch == TargetInfo::Arch::AArch64 ? lanes : 1) {
    hints.prefetchedLines = isPacked ? tuning::prefetchedLines : 0;
    hints.hasShortTiles = true;
    hints.blocksK = isPacked;
  }

  KLoop getLoop(int64_t length) const override;
  SmallVector<Value> loadA(KernelBuilder &b, ArrayRef<RowPointer> rows, Value k,
                           int64_t steps) const override;
  SmallVector<Value> loadB(KernelBuilder &b, Value memory, Value offset,
                           int64_t columns) const override;
  void product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
               ArrayRef<Value> a, ArrayRef<Value> w) const override;
  SmallVector<Value> addRun(ImplicitGemm &gemm, const KRun &run,
                            ValueRange accumulators,
                            PanelPrefetch &prefetch) const override;

private:
  bool hasFMA, isPacked;
  /// Whether the next step's B has registers of its own.
  bool loadsAhead;
  /// Steps whose elements of A are loaded as a vector.
  int64_t stepsOfVector;
};
} // namespace

KLoop FloatFma::getLoop(int64_t length) const {
  if (stepsOfVector > 1)
    return {stepsOfVector, /*loadsTogether=*/true, /*unrollsRest=*/true};
  int64_t steps = tuning::unrolledSteps;
  if (loadsAhead && length >= 2 * tuning::inOrderSteps)
    steps = tuning::inOrderSteps;
  // Short runs in few iterations; but LLVM takes one row after the other where
  // much is written out.
  else if (length <= tuning::writtenSteps)
    steps = length;
  else if (length <= tuning::shortRun)
    steps = 2 * tuning::writtenSteps / 3;
  return {steps, /*loadsTogether=*/false, /*unrollsRest=*/true};
}

SmallVector<Value> FloatFma::loadA(KernelBuilder &b, ArrayRef<RowPointer> rows,
                                   Value k, int64_t steps) const {
  SmallVector<Value> spread(steps * rows.size()), loaded;
  if (steps == 1) {
    for (auto [r, row] : llvm::enumerate(rows))
      spread[r] =
          b.broadcast(b.loadScalar(row.memory, b.add(row.offset, k)), lanes);
    return spread;
  }
  for (const RowPointer &row : rows)
    loaded.push_back(b.loadVector(row.memory, b.add(row.offset, k), steps,
                                  steps, inputType));
  for (int64_t i = 0; i < steps; ++i)
    for (auto [r, vector] : llvm::enumerate(loaded))
      spread[i * rows.size() + r] = b.broadcast(
          vector::ExtractOp::create(b, vector, i).getResult(), lanes);
  return spread;
}

SmallVector<Value> FloatFma::loadB(KernelBuilder &b, Value memory, Value offset,
                                   int64_t columns) const {
  SmallVector<Value> vectors;
  for (int64_t j = 0; j < columns; j += lanes) {
    // Panels are filled up with zeros; rows end where they end.
    int64_t valid = isPacked ? lanes : std::min(lanes, columns - j);
    vectors.push_back(
        b.loadVector(memory, b.add(offset, j), lanes, valid, inputType));
  }
  return vectors;
}

void FloatFma::product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
                       ArrayRef<Value> a, ArrayRef<Value> w) const {
  forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
    return b.multiplyAdd(x, y, sum, hasFMA);
  });
}

SmallVector<Value> FloatFma::addRun(ImplicitGemm &gemm, const KRun &run,
                                    ValueRange accumulators,
                                    PanelPrefetch &prefetch) const {
  int64_t steps = getLoop(run.length).steps;
  if (!loadsAhead || steps != tuning::inOrderSteps || run.length / steps <= 1)
    return MicroKernel::addRun(gemm, run, accumulators, prefetch);
  return addRunInOrder(gemm, run, steps, VectorType::get(lanes, inputType),
                       accumulators, prefetch,
                       [&](MutableArrayRef<Value> sums, ArrayRef<Value> w,
                           ArrayRef<Value> scalars) {
                         SmallVector<Value> a;
                         for (Value scalar : scalars)
                           a.push_back(gemm.b.broadcast(scalar, lanes));
                         product(gemm.b, sums, a, w);
                       });
}

std::unique_ptr<MicroKernel> kernels::makeFloatFma(ImplicitGemm &gemm,
                                                   const TargetInfo &target) {
  return std::make_unique<FloatFma>(gemm, target);
}
