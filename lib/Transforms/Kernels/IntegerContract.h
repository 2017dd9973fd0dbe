// What lowerings of contractions of integers on vectors share: the bias that
// sums begin with, and bytes of several rows that are narrowed together.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_INTEGERCONTRACT_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_INTEGERCONTRACT_H

#include "ContractLowering.h"

namespace onnxquant::kernels {

class IntegerContractLowering : public ContractLowering {
public:
  /// Vectors of sums have `lanes` of them.
  IntegerContractLowering(onnxq::ContractOp op, const TargetInfo &target,
                          int64_t lanes);

protected:
  llvm::SmallVector<mlir::Value> startRow(const TilePlace &place) override;
  void storeRows(const TilePlace &place,
                 llvm::ArrayRef<llvm::SmallVector<mlir::Value>> rows,
                 llvm::ArrayRef<mlir::Value> sums) override;

private:
  void takeBias();

  /// The extra that the sums begin with.
  std::optional<unsigned> bias;
};

/// Bytes of rows that are computed and narrowed together; 0 if each row is by
/// itself.
int64_t getJoinedLanes(mlir::Region &epilogue, const TargetInfo &target);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_INTEGERCONTRACT_H
