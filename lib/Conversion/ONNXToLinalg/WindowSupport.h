// Windows over the spatial dimensions with sizes that are known now or at run
// time, and reductions over them.
//
// Enters: an op with window attributes and tensors [N, C, spatial..]. Leaves:
// sizes and paddings as constants or index values, padded tensors, and window
// loops whose kernel is unrolled where it is small.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_WINDOWSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_WINDOWSUPPORT_H

#include "LoopSupport.h"

namespace onnxquant::lowering {

/// A plain window: one entry per spatial dimension in every list.
struct WindowSizes {
  Sizes input;
  Sizes kernel;
  Sizes output;
  /// How many elements stand before and after the input.
  Sizes padsBegin;
  Sizes padsEnd;
  /// How many more there must be for the last window, with ceil_mode only;
  /// they count for no average.
  Sizes overhang;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> dilations;

  size_t getRank() const { return strides.size(); }
};

/// The window of an op with some of the attributes auto_pad, ceil_mode,
/// dilations, kernel_shape, pads and strides over [N, C, spatial..] `x`. A
/// convolution gives the sizes of its weight's kernel; they are checked against
/// kernel_shape at run time where the types leave it open, and so is that the
/// window fits in the padded input.
WindowSizes getWindowSizes(Emitter &e, mlir::Operation *op, Tensor x,
                           llvm::ArrayRef<mlir::OpFoldResult> kernel = {});

/// The window of one element over so many places.
WindowSizes getPointwise(Emitter &e, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// `x` with the padding of the window around it (overhang included); itself if
/// there is none. `convert` gets every element of `x` with its place and may
/// change its type, which must be `value`'s then; null for none.
Tensor padForWindow(
    Emitter &e, Tensor x, const WindowSizes &window, Scalar value,
    llvm::function_ref<Scalar(Scalar, llvm::ArrayRef<mlir::Value>)> convert =
        nullptr);

/// Reduces every window of the padded [N, C, spatial..] `x` in index order:
/// `body` gets the element and the accumulator, which starts as `init`.
Tensor reduceWindows(Emitter &e, Tensor x, const WindowSizes &window,
                     Scalar init,
                     llvm::function_ref<Scalar(Scalar, Scalar)> body);

/// Which loops over a kernel are written out, with all their indices in turn:
/// those of the trailing dimensions whose sizes are known and small.
struct KernelUnroll {
  /// Dimensions before this one are loops.
  size_t firstUnrolled;
  /// The index combinations of the others.
  llvm::SmallVector<llvm::SmallVector<int64_t>> places;
};
KernelUnroll unrollKernel(Emitter &e,
                          llvm::ArrayRef<mlir::OpFoldResult> kernel);

/// The loops of a window over spatial dimensions. Where the kernel is a loop,
/// an index into the padded input is o * stride + k * dilation; where it is
/// unrolled, the stride is in the view.
mlir::AffineExpr getWindowExpr(mlir::AffineExpr place, mlir::AffineExpr kernel,
                               int64_t stride, int64_t dilation);

/// The view of a padded [leading.., spatial..] tensor that kernel place `place`
/// reads, if the dimensions from `unroll.firstUnrolled` on are unrolled.
Tensor sliceForKernel(Emitter &e, Tensor x, const WindowSizes &window,
                      const KernelUnroll &unroll,
                      llvm::ArrayRef<int64_t> place);

/// The element of `image` at a place between elements, interpolated linearly;
/// what lies outside is zero. `leading` indexes the dimensions before `place`.
Scalar interpolate(Emitter &e, Tensor image,
                   llvm::ArrayRef<mlir::Value> leading,
                   llvm::ArrayRef<Scalar> place);
/// A whole number as an index between -2 and `size` + 1; NaN as -2.
mlir::Value clampedIndex(Emitter &e, Scalar x, mlir::Value size);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_WINDOWSUPPORT_H
