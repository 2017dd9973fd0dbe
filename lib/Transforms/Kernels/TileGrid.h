// The loops around a micro-kernel: over batches, groups, blocks of rows, panels
// of B and register tiles, shared by threads, with B's next panel prefetched.
//
//   for each batch, group, block of rows      a block's A stays in the cache
//     for each panel of nr columns            while all panels pass by
//       for each tile of mr rows
//         accumulators = epilogue.start
//         for each run of k: micro-kernel
//         epilogue.store

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_TILEGRID_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_TILEGRID_H

#include "Epilogue.h"
#include "MicroKernel.h"

namespace onnxquant::kernels {

/// How tiles cover all rows: the first `tall` of `count` have `rows` rows, the
/// others one less. Without `tall` all have as many, and the last one begins
/// earlier.
struct RowTiles {
  int64_t rows;
  mlir::Value count;
  std::optional<int64_t> tall;
};

class TileGrid {
public:
  TileGrid(ImplicitGemm &gemm, const MicroKernel &kernel, Epilogue &epilogue,
           int64_t threads);
  /// Emits all loops.
  void emit();

  /// Tiles of up to `rows` rows.
  RowTiles coverRows(int64_t rows);
  /// Emits the tile with index `tile`: `body` gets its first row and how many
  /// it has.
  void emitRows(const RowTiles &tiles, mlir::Value tile,
                llvm::function_ref<void(mlir::Value, int64_t)> body);

private:
  void emitColumns(int64_t rows);
  int64_t getLastRows(int64_t rows, int64_t columns);
  void emitPanels(int64_t rows, mlir::Value panels, mlir::Value firstPanel,
                  int64_t columns);
  mlir::Value countBlocks(mlir::Value tiles, int64_t rows);
  void emitTile(const Tile &tile);

  ImplicitGemm &gemm;
  KernelBuilder &b;
  const MicroKernel &kernel;
  Epilogue &epilogue;
  PanelPrefetch prefetch;
  int64_t threads;
};

/// Tiles of `rows` rows whose part of A stays in the cache while all panels
/// pass by.
int64_t getTilesInCache(const ImplicitGemm &gemm, int64_t rows);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_TILEGRID_H
