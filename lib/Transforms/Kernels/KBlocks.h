// Contractions of floats whose B is larger than the caches: k in blocks.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_KBLOCKS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_KBLOCKS_H

#include "TileGrid.h"

namespace onnxquant::kernels {

/// How `runs` runs of k are cut: so many blocks of whole runs, or of parts of a
/// run, all equal.
struct KBlocks {
  int64_t count, runs, length;
};
/// None if equal blocks would be too short, or one.
std::optional<KBlocks> planKBlocks(int64_t runs, int64_t length);

class KBlockedGrid {
public:
  KBlockedGrid(ImplicitGemm &gemm, const MicroKernel &kernel,
               Epilogue &epilogue, PanelPrefetch &prefetch, TileGrid &grid);
  bool isWorthIt(int64_t panels, int64_t rows);
  void emit(int64_t rows, mlir::Value panels, mlir::Value firstPanel,
            int64_t columns);

private:
  void emitBlock(mlir::Value group, const RowTiles &tiles,
                 mlir::Value firstTile, mlir::Value firstPanel,
                 mlir::Value panels, int64_t columns);
  void prefetchNext(const Tile &tile, mlir::Value block, mlir::Value nextPanel,
                    mlir::Value panels, mlir::Value index);
  void emitPart(const Tile &tile, mlir::Value block, mlir::Value kept);
  llvm::SmallVector<mlir::Value> addBlock(const Tile &tile,
                                          llvm::ArrayRef<RowIndices> rows,
                                          mlir::Value block,
                                          mlir::ValueRange accumulators);

  ImplicitGemm &gemm;
  KernelBuilder &b;
  const MicroKernel &kernel;
  Epilogue &epilogue;
  PanelPrefetch &prefetch;
  TileGrid &grid;
  std::optional<KBlocks> blocks;
  /// Sizes of a block, and the accumulators that aren't complete.
  mlir::Value tilesOfBlock, scratch;
  int64_t panelsOfBlock = 1, tileFloats = 0;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_KBLOCKS_H
