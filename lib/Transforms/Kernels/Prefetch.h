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
  /// `number` of `tiles` that use other elements meanwhile. Where that is
  /// known, each of a run's `turns` prefetches a part, in `runs` runs.
  void plan(mlir::Value next, int64_t count, mlir::Value number,
            mlir::Value tiles, int64_t runs, int64_t turns);
  void clear() { first = {}; }
  /// Begins run `number`.
  void startRun(mlir::Value number);
  /// The part of a turn of the run's loop.
  void onTurn(mlir::Value turn);

private:
  ImplicitGemm &gemm;
  KernelBuilder &b;
  int64_t mostLines;
  /// Where the tile's and the run's share begin; null if turns prefetch
  /// nothing.
  mlir::Value first, offset;
  /// Elements between the shares of turns and runs.
  int64_t turnStep = 0, runStep = 0;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_PREFETCH_H
