// The loop over k that all micro-kernels share.

#include "MicroKernel.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

SmallVector<Value> MicroKernel::init(KernelBuilder &, ArrayRef<Value> start,
                                     int64_t rows) const {
  SmallVector<Value> accumulators;
  for (int64_t row = 0; row < rows; ++row)
    accumulators.append(start.begin(), start.end());
  return accumulators;
}

SmallVector<Value> MicroKernel::finish(KernelBuilder &,
                                       ArrayRef<Value> accumulators,
                                       int64_t) const {
  return SmallVector<Value>(accumulators);
}

void MicroKernel::forAccumulators(
    MutableArrayRef<Value> accumulators, ArrayRef<Value> a, ArrayRef<Value> w,
    function_ref<Value(Value, Value, Value)> multiply) {
  assert(accumulators.size() == a.size() * w.size() &&
         "expects an accumulator per row and vector of columns");
  for (auto [r, x] : llvm::enumerate(a))
    for (auto [j, y] : llvm::enumerate(w)) {
      Value &accumulator = accumulators[r * w.size() + j];
      accumulator = multiply(accumulator, x, y);
    }
}

/// Adds the products of `count` steps from step `first` on.
void MicroKernel::addSteps(ImplicitGemm &gemm, const KRun &run, Value first,
                           int64_t count, bool loadsTogether,
                           MutableArrayRef<Value> accumulators) const {
  KernelBuilder &b = gemm.b;
  auto load = [&](Value index, int64_t steps) {
    return loadA(b, run.rows, b.mul(index, step), steps);
  };
  SmallVector<Value> all;
  if (loadsTogether)
    all = load(first, count);
  for (int64_t i = 0; i < count; ++i) {
    Value index = b.add(first, i);
    SmallVector<Value> a;
    if (loadsTogether)
      a.assign(ArrayRef(all).slice(i * all.size() / count, all.size() / count));
    else
      a = load(index, 1);
    Value offset = b.add(run.offset, b.mul(index, b.mul(gemm.stepOfB, step)));
    product(b, accumulators, a,
            loadB(b, gemm.weights.memory, offset, run.tile.columns));
  }
}

SmallVector<Value> MicroKernel::addRun(ImplicitGemm &gemm, const KRun &run,
                                       ValueRange accumulators,
                                       PanelPrefetch &prefetch) const {
  KernelBuilder &b = gemm.b;
  KLoop loop = getLoop(run.length);
  int64_t steps = run.length / step, iterations = steps / loop.steps;
  SmallVector<Value> next(accumulators);
  if (iterations > 0)
    next = b.loop(b.index(iterations), next,
                  [&](Value iteration, ValueRange carried) {
                    next.assign(carried.begin(), carried.end());
                    prefetch.onIteration(iteration);
                    addSteps(gemm, run, b.mul(iteration, loop.steps),
                             loop.steps, loop.loadsTogether, next);
                    return next;
                  });
  int64_t done = iterations * loop.steps, rest = steps - done;
  if (loop.unrollsRest && rest > 0)
    addSteps(gemm, run, b.index(done), rest, /*loadsTogether=*/false, next);
  else if (rest > 0)
    next = b.loop(b.index(rest), next, [&](Value i, ValueRange carried) {
      next.assign(carried.begin(), carried.end());
      addSteps(gemm, run, b.add(i, done), 1, /*loadsTogether=*/false, next);
      return next;
    });
  return next;
}

SmallVector<Value> MicroKernel::addTile(ImplicitGemm &gemm, const Tile &tile,
                                        ArrayRef<RowIndices> rows,
                                        ValueRange accumulators,
                                        PanelPrefetch &prefetch) const {
  KernelBuilder &b = gemm.b;
  Value panel = gemm.getPanel(tile);
  return gemm.forRuns(
      tile, rows, accumulators,
      [&](Value index, ArrayRef<RowPointer> pointers, ValueRange values) {
        Value offset =
            b.add(panel, b.mul(index, b.mul(gemm.stepOfB, gemm.run)));
        prefetch.startRun(index);
        return addRun(gemm, {tile, pointers, offset, gemm.run}, values,
                      prefetch);
      });
}
