// A contraction as an implicit GEMM, C[m, n] = sum over k of A[m, k] * B[k, n]:
// where its operands are.
//
//   m: rows of the output, all its dimensions but the last, in order
//   n: output channels
//   k: window taps times input channels
//
// Row m of A is read through the window, where it lies in the input: there is
// no im2col buffer. Where the window reaches beyond the input, a row of zeros
// is read instead. Elements of k that follow each other in memory are a run:
// the channels of a tap, or all channels of a row of taps.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_IMPLICITGEMM_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_IMPLICITGEMM_H

#include "KernelBuilder.h"
#include "OnnxQuant/Support/TargetInfo.h"

namespace onnxquant::kernels {

/// A register tile of C: its batch, group, panel of B and first row, and how
/// many of its rows and columns there are.
struct Tile {
  llvm::SmallVector<mlir::Value> batch;
  mlir::Value group, panel, m;
  int64_t rows, columns;
};

/// Where elements of a row of A are: a buffer and an offset in it.
struct RowPointer {
  mlir::Value memory, offset;
};

/// The output's indices of a row, without the last one.
using RowIndices = llvm::SmallVector<mlir::Value>;

class ImplicitGemm {
public:
  explicit ImplicitGemm(onnxq::ContractOp op);

  /// Sees all leading dimensions as one, where the buffers allow it: so no
  /// row's offset needs a division.
  void mergeRows();

  llvm::SmallVector<RowIndices> getRowIndices(const Tile &tile);
  /// Where each row reads tap `taps` (of the dimensions that are loops).
  llvm::SmallVector<RowPointer>
  getRowPointers(const Tile &tile, llvm::ArrayRef<RowIndices> rows,
                 llvm::ArrayRef<mlir::Value> taps);
  /// Where a tile's panel of B begins.
  mlir::Value getPanel(const Tile &tile);
  /// A tile's first column among those of all groups.
  mlir::Value getFirstColumn(const Tile &tile);
  /// The offset in a buffer that a map gives for a row; the last dimension of
  /// the output counts as 0.
  mlir::Value getRowOffset(const FlatBuffer &buffer, mlir::AffineMap map,
                           llvm::ArrayRef<mlir::Value> indices);

  /// Loops over the runs of k; `body` gets a run's index, where the rows'
  /// elements of it are, and what the loops carry.
  using RunBody = std::function<llvm::SmallVector<mlir::Value>(
      mlir::Value, llvm::ArrayRef<RowPointer>, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> forRuns(const Tile &tile,
                                         llvm::ArrayRef<RowIndices> rows,
                                         mlir::ValueRange carried,
                                         const RunBody &body);

  /// The bytes of an element of A and of one of packed B.
  int64_t getBytesOfA() const;
  int64_t getBytesOfB() const;

  onnxq::ContractOp op;
  onnxq::PackingAttr packing;
  KernelBuilder b;
  /// Dimensions of the window, and channels of a tap.
  int64_t spatial, channels;
  FlatBuffer input, weights, output;
  llvm::SmallVector<FlatBuffer> epilogueOperands;
  llvm::SmallVector<mlir::AffineMap> operandMaps;
  mlir::Type accumulatorType;
  /// Whether B lies in panels.
  bool isPacked;
  /// Leading dimensions that have a B of their own.
  int64_t batches;
  /// Elements of B from one k to the next.
  mlir::Value stepOfB;
  /// All rows of a batch.
  mlir::Value m;
  /// Dimensions of the window that are loops; the last ones may be part of a
  /// run.
  int64_t loopDims;
  /// Elements of a run.
  int64_t run;
  /// What is read beyond the input; null if nothing is.
  mlir::Value zeros;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_IMPLICITGEMM_H
