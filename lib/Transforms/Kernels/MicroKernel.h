// The innermost loop of a contraction, one implementation per instruction:
//
//   accumulator[i, j] += sum over a step of k of A[i, k] * B[k, j]
//
// for mr rows i and nr columns j of a register tile. An implementation says how
// operands are loaded and multiplied; the loop over k, and all that is around
// it, is the same for every instruction. To add one: a file with the functions
// below (X86Vnni.cpp is short), a kind in ONNXQAttributes.td, its lanes and its
// row in the table of MicroKernelChoice.cpp.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNEL_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNEL_H

#include "Prefetch.h"
#include <memory>

namespace onnxquant::kernels {

/// Elements of k that follow each other in A and in B: what one loop
/// multiplies.
struct KRun {
  const Tile &tile;
  llvm::ArrayRef<RowPointer> rows;
  /// Where B begins.
  mlir::Value offset;
  int64_t length;
};

/// How the loop over a run is written.
struct KLoop {
  /// Steps of one iteration.
  int64_t steps = 1;
  /// Whether A is loaded for all of them at once.
  bool loadsTogether = false;
  /// Whether steps that fill no iteration are written out one by one.
  bool unrollsRest = false;
};

/// What the loops over tiles ask of a micro-kernel.
struct GridHints {
  /// Cache lines of the next panel that a tile prefetches at most; 0 if it
  /// prefetches none.
  int64_t prefetchedLines = 0;
  /// Whether tiles of a narrow last panel have twice as many rows, without
  /// which accumulators would wait for each other.
  bool growsNarrowTiles = false;
  /// Whether tiles of a row less take less time.
  bool hasShortTiles = false;
  /// Whether k is cut into blocks where B is larger than the caches.
  bool blocksK = false;
};

class MicroKernel {
public:
  virtual ~MicroKernel() = default;

  /// Elements of k that one product sums into a lane, and the columns that a
  /// vector of accumulators has.
  int64_t getStep() const { return step; }
  int64_t getLanes() const { return lanes; }
  /// The elements of A as they are multiplied.
  mlir::Type getInputType() const { return inputType; }
  const GridHints &getHints() const { return hints; }

  virtual KLoop getLoop(int64_t length) const { return {}; }
  /// Turns of the loop over a run of so many elements of k.
  int64_t countIterations(int64_t length) const {
    return length / (getLoop(length).steps * step);
  }

  /// The accumulators of a tile of so many rows: `start` has a row's.
  virtual llvm::SmallVector<mlir::Value>
  init(KernelBuilder &b, llvm::ArrayRef<mlir::Value> start, int64_t rows) const;
  /// A's operands of `steps` steps from `k` on, those of a step together.
  virtual llvm::SmallVector<mlir::Value> loadA(KernelBuilder &b,
                                               llvm::ArrayRef<RowPointer> rows,
                                               mlir::Value k,
                                               int64_t steps) const = 0;
  /// B's operands of a step, for so many columns.
  virtual llvm::SmallVector<mlir::Value> loadB(KernelBuilder &b,
                                               mlir::Value memory,
                                               mlir::Value offset,
                                               int64_t columns) const = 0;
  /// Adds the products of a step.
  virtual void product(KernelBuilder &b,
                       llvm::MutableArrayRef<mlir::Value> accumulators,
                       llvm::ArrayRef<mlir::Value> a,
                       llvm::ArrayRef<mlir::Value> w) const = 0;
  /// The accumulators as vectors of columns, row by row.
  virtual llvm::SmallVector<mlir::Value>
  finish(KernelBuilder &b, llvm::ArrayRef<mlir::Value> accumulators,
         int64_t rows) const;

  /// Adds the products of all of k to a tile's accumulators, run by run.
  virtual llvm::SmallVector<mlir::Value>
  addTile(ImplicitGemm &gemm, const Tile &tile, llvm::ArrayRef<RowIndices> rows,
          mlir::ValueRange accumulators, PanelPrefetch &prefetch) const;
  /// Adds the products of a run.
  virtual llvm::SmallVector<mlir::Value> addRun(ImplicitGemm &gemm,
                                                const KRun &run,
                                                mlir::ValueRange accumulators,
                                                PanelPrefetch &prefetch) const;

protected:
  MicroKernel(int64_t step, int64_t lanes, mlir::Type inputType)
      : step(step), lanes(lanes), inputType(inputType) {}

  /// Calls `multiply` for every accumulator with its row's operand of A and its
  /// columns' of B.
  static void forAccumulators(
      llvm::MutableArrayRef<mlir::Value> accumulators,
      llvm::ArrayRef<mlir::Value> a, llvm::ArrayRef<mlir::Value> w,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value, mlir::Value)>
          multiply);

  int64_t step, lanes;
  mlir::Type inputType;
  GridHints hints;

private:
  void addSteps(ImplicitGemm &gemm, const KRun &run, mlir::Value first,
                int64_t count, bool loadsTogether,
                llvm::MutableArrayRef<mlir::Value> accumulators) const;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_MICROKERNEL_H
