// The lowering of convolutions of 3x3 by Winograd's transform: see Winograd.h.
//
// Floats are transformed, multiplied and transformed back as they are. int8
// becomes 16-bit integers, whose products a micro-kernel sums in 32 bits, and
// what is transformed back is divided by the factors of the weights.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRADLOWERING_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRADLOWERING_H

#include "../MicroKernels.h"
#include "../TileGrid.h"
#include "Winograd.h"

namespace onnxquant::kernels {

/// The most tiles of a block, and parts of the panels that are blocks of their
/// own.
struct TileBlocks {
  int64_t tiles, parts;
};

class WinogradLowering {
public:
  WinogradLowering(onnxq::ContractOp op, const TargetInfo &target,
                   int64_t threads);
  void lowerBlocks();

private:
  void emitBlock(mlir::Value firstTile, mlir::Value part);
  llvm::SmallVector<mlir::Value> getTileIndices(mlir::Value tile);
  void emitPanel(mlir::Value firstTile, mlir::Value panel, int64_t columns);
  void multiply(mlir::Value panel, int64_t columns);

  //===--- Transforms -----------------------------------------------------===//
  /// Both of floats or of integers.
  mlir::Value plus(mlir::Value x, mlir::Value y);
  mlir::Value minus(mlir::Value x, mlir::Value y);
  /// What is read outside of the input.
  mlir::Value makeBorder();
  void transformInput(mlir::Value tile, mlir::Value index);
  mlir::Value loadChannels(const RowPointer &source, mlir::Value channel,
                           int64_t width);
  void transformVectors(mlir::Value index, llvm::ArrayRef<RowPointer> sources);
  /// The points of a side, or the outputs, from those of the input or from
  /// products.
  llvm::SmallVector<mlir::Value> combineInput(llvm::ArrayRef<mlir::Value> d);
  llvm::SmallVector<mlir::Value> combineProducts(llvm::ArrayRef<mlir::Value> m);
  mlir::Value times(mlir::Value x, int64_t factor);
  mlir::Value scaleBack(mlir::Value sums, int64_t row, int64_t column);
  llvm::SmallVector<mlir::Value> transformProducts(mlir::Value index,
                                                   int64_t first);
  /// Whether the outputs of a tile are stored in a loop.
  bool isLooped() const { return shape.out > 2; }
  int64_t getJoinedPlaces(int64_t columns);
  void finishOutputs(llvm::ArrayRef<mlir::Value> indices, mlir::Value panel,
                     int64_t columns);
  void finishTile(mlir::Value tile, mlir::Value index, mlir::Value panel,
                  int64_t columns);

  ImplicitGemm gemm;
  KernelBuilder &b;
  onnxq::PackingAttr packing;
  bool isInteger;
  /// Multiplies transformed input by transformed weights.
  std::unique_ptr<MicroKernel> kernel;
  int64_t lanes;
  Epilogue epilogue;
  PanelPrefetch prefetch;
  int64_t channels;
  mlir::Type accumulatorType;
  WinogradTile shape;
  /// Tiles of a column and of a row of an image, of all, and of a block.
  mlir::Value tilesDown, tilesAcross, tiles, tilesOfBlock;
  /// Tiles whose products are summed at a time.
  int64_t rowsOfTile;
  /// The elements of transformed input, and the lanes of a vector of channels
  /// that is transformed.
  mlir::Type inputType;
  int64_t inputLanes;
  TileBlocks blocks;
  /// Transformed input and products of a block, and the elements between their
  /// parts.
  mlir::Value transformed, products;
  int64_t inputStep, productStep;
  /// Results of a tile and a panel, where they are stored in a loop.
  mlir::Value outputs;
  /// A row of channels that lies outside of the input.
  mlir::Value border;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_WINOGRADLOWERING_H
