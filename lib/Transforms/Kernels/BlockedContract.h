// Contractions in blocks of their depth.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_BLOCKEDCONTRACT_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_BLOCKEDCONTRACT_H

#include "ContractLowering.h"

namespace onnxquant::kernels {

/// How a sum of `runs` runs is cut: so many blocks of whole runs, or of parts
/// of a run, all equal.
struct DepthBlocks {
  int64_t count, runs, length;
};
/// None if equal blocks would be too short, or one.
std::optional<DepthBlocks> planDepth(int64_t runs, int64_t length);

class BlockedContractLowering : public ContractLowering {
public:
  BlockedContractLowering(onnxq::ContractOp op, const TargetInfo &target);

protected:
  bool hasShortTiles() override { return true; }
  void emitPanels(int64_t rows, mlir::Value panels, mlir::Value firstPanel,
                  int64_t columns) override;

private:
  bool isWorthIt(int64_t panels, int64_t rows);
  void emitBlock(mlir::Value group, const RowTiles &tiles,
                 mlir::Value firstTile, mlir::Value firstPanel,
                 mlir::Value panels, int64_t columns);
  void fetchNext(const TilePlace &place, mlir::Value block,
                 mlir::Value nextPanel, mlir::Value panels, mlir::Value tile);
  void emitPart(const TilePlace &place, mlir::Value block, mlir::Value kept);
  llvm::SmallVector<mlir::Value>
  sumBlock(const TilePlace &place,
           llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
           mlir::Value block, mlir::ValueRange sums);

  std::optional<DepthBlocks> depth;
  /// Sizes of a block, and the sums that aren't complete.
  mlir::Value tilesOfBlock, scratch;
  int64_t panelsOfBlock = 1, tileFloats = 0;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_BLOCKEDCONTRACT_H
