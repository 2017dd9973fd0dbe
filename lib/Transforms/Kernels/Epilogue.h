// What happens to the accumulators of a tile before they are stored: the
// contraction's epilogue region on vectors of columns, C[m, n] =
// epilogue(accumulator[m, n], operands).
//
// A bias that integers add first is what their accumulators begin with. 8-bit
// results are requantized and narrowed for several rows at once, where that
// takes fewer instructions.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_EPILOGUE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_EPILOGUE_H

#include "ImplicitGemm.h"
#include "RoundedEpilogue.h"

namespace onnxquant::kernels {

class Epilogue {
public:
  /// Accumulators are vectors of `lanes` columns. With `startsAtBias` integers
  /// begin with a bias per column.
  Epilogue(ImplicitGemm &gemm, const TargetInfo &target, int64_t lanes,
           bool startsAtBias);

  /// What the accumulators of a row begin with: a vector per `lanes` columns.
  llvm::SmallVector<mlir::Value> start(const Tile &tile);
  /// Prefetches what is read and written row by row: rows lie far apart, which
  /// processors don't foresee.
  void prefetch(const Tile &tile, llvm::ArrayRef<RowIndices> rows);
  /// Stores rows, whose accumulators follow each other.
  void store(const Tile &tile, llvm::ArrayRef<RowIndices> rows,
             llvm::ArrayRef<mlir::Value> accumulators);
  /// How many rows of so many columns are stored at once; 0 if each is by
  /// itself.
  int64_t getRowsAtOnce(int64_t columns) const;

private:
  void takeBias();
  mlir::Value loadOperand(size_t index, llvm::ArrayRef<mlir::Value> indices,
                          mlir::Value column, int64_t width, int64_t valid);
  void storeRow(const Tile &tile, const RowIndices &indices,
                llvm::ArrayRef<mlir::Value> accumulators);
  void storeTogether(const Tile &tile, llvm::ArrayRef<RowIndices> rows,
                     llvm::ArrayRef<mlir::Value> accumulators);

  ImplicitGemm &gemm;
  KernelBuilder &b;
  int64_t lanes;
  /// Columns of a row that the region computes at once.
  int64_t storedLanes;
  /// Columns of several rows that are narrowed at once; 0 if each row is by
  /// itself.
  int64_t joinedLanes = 0;
  /// Set if the region ends in an 8-bit result that has a shorter form.
  std::optional<RoundedEpilogue> rounded;
  /// The epilogue operand that the accumulators begin with.
  std::optional<unsigned> bias;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_EPILOGUE_H
