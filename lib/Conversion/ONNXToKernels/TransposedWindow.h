// Transposed windows as plain ones, one per phase of the strides.
//
// Input position i and tap t add to position i * stride + t * dilation - pad of
// the output. Places of phase r, r + stride * j, therefore take the taps with
// t * dilation = r + pad (mod stride), at input positions j + offset(t): a
// window with stride 1, its taps in reverse.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_TRANSPOSEDWINDOW_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_TRANSPOSEDWINDOW_H

#include "Patterns.h"

namespace onnxquant::kernels {

/// One dimension of a transposed window whose output has `stride * in + extra`
/// positions.
struct TransposedDim {
  int64_t kernel, stride, dilation, pad, extra;
};

/// One dimension of a phase: its taps in the order in which their input
/// positions lie (noTap for one whose weights are zero), how far these are
/// apart, the pads, and how many more positions it has than the input.
struct PhaseDim {
  llvm::SmallVector<int64_t> taps;
  int64_t dilation = 1, begin = 0, end = 0, more = 0;
};
inline constexpr int64_t noTap = -1;

/// The dimensions of a transposed window; none if they depend on sizes that
/// aren't known, or nothing is left of the output.
std::optional<llvm::SmallVector<TransposedDim>>
getTransposedDims(onnx::ConvTransposeOp op, mlir::RankedTensorType input,
                  llvm::ArrayRef<int64_t> kernel);

/// Phase `r` of a dimension. Some have no taps, or a window that begins within
/// the input: with `zeroTaps` they get taps of zeros, which integers allow,
/// without there is none of it.
std::optional<PhaseDim> getPhase(const TransposedDim &dim, int64_t r,
                                 bool zeroTaps);

/// Where a phase of an output `y` [N, spatial.., M] lies, and its window over
/// the input `x`, which is none where it is one position.
struct PhaseRegion {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  KernelWindow window;

  /// Whether the output is too small to have positions of this phase.
  bool isEmpty() const;
};
PhaseRegion getPhaseRegion(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                           mlir::Value y, llvm::ArrayRef<TransposedDim> dims,
                           llvm::ArrayRef<PhaseDim> phase,
                           llvm::ArrayRef<int64_t> r);

/// Numbers of all phases in turn, the last dimension's fastest.
void forEachPhase(llvm::ArrayRef<TransposedDim> dims,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> body);

/// The sizes [N, spatial.., columns] of what a transposed window makes of `x`,
/// with a check that the pads leave something of open ones.
llvm::SmallVector<mlir::OpFoldResult>
getTransposedSizes(mlir::ImplicitLocOpBuilder &b, mlir::Operation *node,
                   mlir::Value x, llvm::ArrayRef<TransposedDim> dims,
                   int64_t columns);

/// A phase's taps of `from` [C, M / group, k..] as [group, taps * C / group,
/// M / group].
template <typename T>
std::vector<T> takePhase(const T *from, llvm::ArrayRef<int64_t> shape,
                         int64_t group, llvm::ArrayRef<PhaseDim> phase) {
  int64_t channels = shape[0] / group, columns = shape[1], all = 1;
  // The indices of the phase's taps among all taps, in order.
  llvm::SmallVector<int64_t> indices = {0};
  for (auto [i, dim] : llvm::enumerate(phase)) {
    llvm::SmallVector<int64_t> next;
    for (int64_t index : indices)
      for (int64_t tap : dim.taps)
        next.push_back(index == noTap || tap == noTap
                           ? noTap
                           : index * shape[i + 2] + tap);
    indices = next;
    all *= shape[i + 2];
  }
  std::vector<T> values;
  values.reserve(group * indices.size() * channels * columns);
  for (int64_t g = 0; g < group; ++g)
    for (int64_t index : indices)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t m = 0; m < columns; ++m)
          values.push_back(
              index == noTap
                  ? T(0)
                  : from[((g * channels + c) * columns + m) * all + index]);
  return values;
}

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_TRANSPOSEDWINDOW_H
