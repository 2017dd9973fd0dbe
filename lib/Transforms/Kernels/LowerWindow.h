// Windows on their way to loops.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERWINDOW_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERWINDOW_H

#include "LowerKernels.h"

namespace onnxquant::kernels {

inline int64_t lastOf(llvm::ArrayRef<int64_t> list) { return list.back(); }

/// What a window does with vectors of elements. An accumulator is one vector or
/// more; `join` makes one of them.
class WindowMath {
public:
  virtual ~WindowMath() = default;
  /// Lanes of a vector of channels, and registers of an accumulator.
  virtual int64_t getLanes() const = 0;
  virtual int64_t getVectors() const { return 1; }
  /// Before the first tap.
  virtual llvm::SmallVector<mlir::Value> start(int64_t valid) = 0;
  /// A loaded element and a loaded weight in the form that steps take.
  virtual llvm::SmallVector<mlir::Value> widen(mlir::Value element) {
    return {element};
  }
  virtual llvm::SmallVector<mlir::Value> widenWeight(mlir::Value weight) {
    return {weight};
  }
  /// Takes one tap.
  virtual llvm::SmallVector<mlir::Value>
  step(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<mlir::Value> element,
       llvm::ArrayRef<mlir::Value> weight) = 0;
  virtual mlir::Value join(llvm::ArrayRef<mlir::Value> sums) {
    return sums.front();
  }
};
std::unique_ptr<WindowMath> makeWindowMath(onnxq::WindowOp op, KernelBuilder &b,
                                           const TargetInfo &target);

/// Where a window's taps of one dimension begin, and which of them count.
struct TapRange {
  mlir::Value start, first, end;
};

class WindowLowering {
public:
  WindowLowering(onnxq::WindowOp op, const TargetInfo &target);
  void lower();

private:
  TapRange getTaps(size_t dim, mlir::Value place);
  llvm::SmallVector<mlir::Value>
  forTapRows(size_t dim, mlir::Value source, mlir::Value weight,
             mlir::ValueRange carried,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(
                 mlir::Value, mlir::Value, mlir::ValueRange)>
                 body);
  void emitColumns();
  void emitOpenColumns();
  void emitRange(mlir::Value from, mlir::Value to);
  void emitTile(mlir::Value column,
                llvm::ArrayRef<std::pair<int64_t, int64_t>> taps);
  void forChannels(llvm::function_ref<void(mlir::Value, int64_t)> body);
  mlir::Value load(const FlatBuffer &buffer, mlir::Value place, int64_t valid);
  llvm::SmallVector<mlir::Value> loadWeights(mlir::Value tap,
                                             mlir::Value channel,
                                             int64_t valid);
  mlir::Value loadExtra(size_t number, mlir::Value column, mlir::Value channel,
                        int64_t valid);
  void finish(mlir::Value column, mlir::Value channel, int64_t valid,
              llvm::ArrayRef<mlir::Value> sums);

  onnxq::WindowOp op;
  const TargetInfo &target;
  KernelBuilder b;
  FlatBuffer in, out;
  std::optional<FlatBuffer> weights;
  llvm::SmallVector<FlatBuffer> extras;
  std::unique_ptr<WindowMath> math;
  size_t spatial;
  int64_t channels;
  int64_t lanes;
  /// Columns of a tile.
  int64_t columns;
  /// The row at hand: its place in the output, where it begins in input and
  /// output, and its taps of the leading dimensions.
  llvm::SmallVector<mlir::Value> rowPlaces;
  mlir::Value rowSource, rowTarget;
  llvm::SmallVector<TapRange> rowTaps;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_LOWERWINDOW_H
