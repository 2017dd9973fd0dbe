// B's next panel, prefetched while the one before is used.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_PREFETCH_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_PREFETCH_H

#include "ImplicitGemm.h"

namespace onnxquant::kernels {

/// What a tile prefetches: its share of the next panel.
class PanelPrefetch {
public:
  /// A tile prefetches at most so many cache lines.
  PanelPrefetch(ImplicitGemm &gemm, int64_t mostLines)
      : gemm(gemm), b(gemm.b), mostLines(mostLines) {}

  /// Prefetches a tile's share of the `count` elements from `next` on: tile
  /// `index` of `tiles` that use other elements meanwhile. Where that is
  /// known, each of a run's `iterations` prefetches a part, in `runs` runs.
  void plan(mlir::Value next, int64_t count, mlir::Value index,
            mlir::Value tiles, int64_t runs, int64_t iterations);
  void clear() { first = {}; }
  /// Begins run `index`.
  void startRun(mlir::Value index);
  /// The part of an iteration of the run's loop.
  void onIteration(mlir::Value iteration);

private:
  ImplicitGemm &gemm;
  KernelBuilder &b;
  int64_t mostLines;
  /// Where the tile's and the run's share begin; null if iterations prefetch
  /// nothing.
  mlir::Value first, offset;
  /// Elements between the shares of iterations and runs.
  int64_t iterationStep = 0, runStep = 0;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_PREFETCH_H
