// Windows on their way to loops.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERWINDOW_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERWINDOW_H

#include "../LowerKernels.h"
#include "../RoundedEpilogue.h"

namespace onnxquant::kernels {

inline int64_t lastOf(llvm::ArrayRef<int64_t> list) { return list.back(); }

/// How a window is computed: lanes of a vector of channels, and whether two
/// rows of taps are taken at a time.
struct WindowPlan {
  int64_t lanes;
  bool isPaired;
};
WindowPlan planWindow(onnxq::WindowOp op, const TargetInfo &target);

/// The order that the channels of a block of packed weights have.
llvm::SmallVector<int64_t> getPackedOrder(const TargetInfo &target);

/// What a window does with vectors of elements. An accumulator, an element and
/// a weight are one vector or more; `join` makes one of an accumulator.
class WindowMath {
public:
  using Vectors = llvm::SmallVector<mlir::Value>;
  using VectorsRef = llvm::ArrayRef<mlir::Value>;

  virtual ~WindowMath() = default;
  /// Registers of an accumulator.
  virtual int64_t getVectors() const { return 1; }
  /// Before the first tap.
  virtual Vectors start() = 0;
  /// A loaded element and a loaded weight in the form that steps take.
  virtual Vectors widen(mlir::Value element) { return {element}; }
  virtual Vectors widenWeight(mlir::Value weight) { return {weight}; }
  /// Whether steps can take two rows of taps, and what they take then.
  virtual bool takesPairs() const { return false; }
  virtual Vectors widenPair(mlir::Value first, mlir::Value second) {
    return {first, second};
  }
  virtual Vectors widenWeightPair(mlir::Value first, mlir::Value second) {
    return {first, second};
  }
  /// Takes one tap, or one of each of two rows.
  virtual Vectors step(VectorsRef sums, VectorsRef element,
                       VectorsRef weight) = 0;
  /// The first tap, with nothing before it: a sum of floats that is zero may
  /// have another sign.
  virtual Vectors begin(VectorsRef element, VectorsRef weight) {
    return step(start(), element, weight);
  }
  virtual mlir::Value join(VectorsRef sums) { return sums.front(); }
};
std::unique_ptr<WindowMath> makeWindowMath(onnxq::WindowOp op, KernelBuilder &b,
                                           const TargetInfo &target,
                                           const WindowPlan &plan);

/// Where a window's taps of one dimension begin, and which of them count.
struct TapRange {
  mlir::Value start, first, end;
};

/// Where a row of taps (along the last dimension) lies in the input, but for
/// the column, and its first tap's index among the weights.
struct TapRow {
  mlir::Value source, weight;
};

class WindowLowering {
public:
  WindowLowering(onnxq::WindowOp op, const TargetInfo &target,
                 int64_t threads = 1);
  virtual ~WindowLowering() = default;
  void lower();

protected:
  TapRange getTaps(size_t dim, mlir::Value position);
  /// Emits what one row of taps adds, or two. Gets their indices.
  using RowFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      llvm::ArrayRef<TapRow>, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value>
  forTapRows(size_t dim, TapRow row, mlir::ValueRange carried, RowFn body);
  llvm::SmallVector<mlir::Value> forShortRows(
      size_t dim, mlir::Value count, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                        mlir::ValueRange)>
          take);
  TapRow getTapRow(size_t dim, TapRow row, mlir::Value tap);
  /// What is the same for all columns of the row at hand.
  virtual void startRow();
  void chooseRows();
  virtual int64_t getBlockVectors();
  void forRows(llvm::function_ref<void()> body);
  /// Makes the row at hand the one that `rowIndices` names.
  void takeRow();
  virtual void emitColumns();
  /// Tiles of a row of `count` columns, over an input of `width`.
  void emitKnownColumns(int64_t width, int64_t count);
  void emitOpenColumns();
  void emitRange(mlir::Value from, mlir::Value to);
  /// Columns from `column` on, as many as there are ranges of taps that lie
  /// inside.
  virtual void emitTile(mlir::Value column,
                        llvm::ArrayRef<std::pair<int64_t, int64_t>> taps);
  /// Those columns of the row at hand.
  void emitTileRow(mlir::Value column,
                   llvm::ArrayRef<std::pair<int64_t, int64_t>> taps);
  llvm::SmallVector<mlir::Value>
  addRows(llvm::ArrayRef<TapRow> rows, mlir::Value corner, mlir::Value channel,
          int64_t valid, llvm::ArrayRef<std::pair<int64_t, int64_t>> taps,
          llvm::SmallVector<mlir::Value> sums);
  void emitPlace(mlir::Value column, const TapRange &range, mlir::Value channel,
                 int64_t valid);
  void
  forChannels(llvm::function_ref<void(mlir::Value, mlir::Value, int64_t)> body);
  void prefetchColumns(const FlatBuffer &buffer, mlir::Value offset,
                       int64_t width, mlir::Value index, mlir::Value channel,
                       bool isWrite);
  void prefetchNextRow(mlir::Value column, int64_t tile, mlir::Value index,
                       mlir::Value channel);
  mlir::Value load(const FlatBuffer &buffer, mlir::Value offset, int64_t valid);
  /// The element of each row at offset `offset`, and their weights of tap
  /// `tap`.
  llvm::SmallVector<mlir::Value> loadElement(llvm::ArrayRef<TapRow> rows,
                                             mlir::Value offset, int64_t valid);
  llvm::SmallVector<mlir::Value> loadWeights(llvm::ArrayRef<TapRow> rows,
                                             mlir::Value tap,
                                             mlir::Value channel,
                                             int64_t valid);
  virtual mlir::Value loadOperand(size_t index, mlir::Value column,
                                  mlir::Value channel, int64_t valid);
  void finishTile(mlir::Value column, mlir::Value channel, int64_t valid,
                  llvm::ArrayRef<mlir::Value> sums);
  void finish(mlir::Value column, mlir::Value channel, int64_t valid,
              llvm::ArrayRef<mlir::Value> sums);
  virtual void store(mlir::Value result, mlir::Value column,
                     mlir::Value channel, int64_t valid);

  onnxq::WindowOp op;
  KernelBuilder b;
  FlatBuffer in, out;
  std::optional<FlatBuffer> weights;
  llvm::SmallVector<FlatBuffer> epilogueOperands;
  WindowPlan plan;
  std::unique_ptr<WindowMath> math;
  size_t spatial;
  int64_t channels;
  int64_t lanes;
  /// Set if the epilogue ends in a byte that has a shorter form.
  std::optional<RoundedEpilogue> rounded;
  int64_t threads;
  /// Columns of a tile, and vectors of channels and rows of a block.
  int64_t columns, blockVectors = 1, rowsOfBlock;
  /// The block at hand: its rows and its first vector of channels.
  mlir::Value firstRow, numRows, firstVector;
  /// The row at hand: its indices in the output, where it begins in input and
  /// output, and its taps of the leading dimensions.
  llvm::SmallVector<mlir::Value> rowIndices;
  mlir::Value rowSource, rowTarget;
  llvm::SmallVector<TapRange> rowTaps;
};

/// Whether a window's weights stay in registers while it goes down the rows,
/// and such a window's loops.
bool canSlide(onnxq::WindowOp op, const TargetInfo &target);
void lowerSlidingWindow(onnxq::WindowOp op, const TargetInfo &target,
                        int64_t threads);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERWINDOW_H
