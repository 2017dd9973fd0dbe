// The arithmetic of windows that slide over the spatial dimensions of a tensor:
// convolutions and poolings, plain and transposed.
//
// Enters: an op with some of the attributes auto_pad, ceil_mode, dilations,
// kernel_shape, pads and strides, and dimensions as expressions. Leaves: checks
// of the attributes, output dimensions as expressions, and, for static shapes,
// explicit paddings for the lowering. `pads` counts only while auto_pad is
// NOTSET.

#ifndef ONNXQUANT_DIALECT_ONNX_WINDOWSHAPE_H
#define ONNXQUANT_DIALECT_ONNX_WINDOWSHAPE_H

#include "OnnxQuant/Dialect/ONNX/Dim.h"
#include "OnnxQuant/Dialect/ONNX/ShapeContext.h"
#include "mlir/IR/Operation.h"

namespace onnxquant::onnx::window {

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };

/// Reads the value of an `auto_pad` attribute.
std::optional<AutoPad> parseAutoPad(llvm::StringRef text);

/// A window with one entry per spatial dimension in every list.
struct Window {
  /// The kernel's size, which may be symbolic if it comes from a weight.
  Dims kernel;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> dilations;
  llvm::SmallVector<int64_t> padsBegin;
  llvm::SmallVector<int64_t> padsEnd;
  AutoPad autoPad = AutoPad::NotSet;
  bool ceilMode = false;

  size_t getRank() const { return strides.size(); }
  /// How many input elements the dilated kernel spans: (k - 1) * d + 1.
  Dim getExtent(size_t i) const;
};

/// A window and its dimensions when all of them are numbers.
struct StaticWindow {
  llvm::SmallVector<int64_t> input;
  llvm::SmallVector<int64_t> output;
  llvm::SmallVector<int64_t> kernel;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> dilations;
  /// Plain windows: zeros before and after the input. Transposed windows: what
  /// is cut off the full output; a negative end appends zeros instead.
  llvm::SmallVector<int64_t> padsBegin;
  llvm::SmallVector<int64_t> padsEnd;
  /// Plain windows: how far the last window reaches past the padded input,
  /// which happens with ceil_mode only. These places count for no average.
  llvm::SmallVector<int64_t> overhang;
};

//===----------------------------------------------------------------------===//
// Windows of ops
//===----------------------------------------------------------------------===//

/// Checks the window attributes that `op` has, with four labels from
/// `firstLabel` on (an op without auto_pad counts from 0, so that its first
/// label is C1):
///   +0  auto_pad is NOTSET, SAME_UPPER, SAME_LOWER or VALID
///   +1  kernel_shape has a positive entry per spatial dimension (of a
///       convolution: those of the weight)
///   +2  strides and dilations have a positive entry per spatial dimension
///   +3  pads has two entries per spatial dimension, none negative
/// Without a known spatial rank the lists are compared with one another. An
/// empty list is as good as none, but for the kernel_shape of an op that needs
/// one.
llvm::LogicalResult verifyWindow(mlir::Operation *op,
                                 std::optional<int64_t> spatialRank,
                                 unsigned firstLabel, bool needsKernel = false);

/// The window of a verified op. Without a `kernel_shape` attribute the kernel
/// is `kernel`, which then has `spatialRank` entries.
Window getWindow(mlir::Operation *op, size_t spatialRank,
                 llvm::ArrayRef<Dim> kernel = {});

/// The integers of the array attribute `name`, or `size` times `value` if the
/// op hasn't got it.
llvm::SmallVector<int64_t> getIntsOf(mlir::Operation *op, llvm::StringRef name,
                                     size_t size, int64_t value);

//===----------------------------------------------------------------------===//
// Output dimensions
//===----------------------------------------------------------------------===//

/// The spatial output dimensions of a plain window over `input` (the spatial
/// dimensions only). SAME_*: ceil(in / s). Otherwise, with p = begin + end:
/// floor((in + p - extent) / s) + 1, or with ceil_mode the same with ceil,
/// less the windows that would start behind the input. Reports at `op` a
/// window that is larger than the padded input.
llvm::FailureOr<Dims> inferSpatialDims(mlir::Operation *op,
                                       const Window &window,
                                       llvm::ArrayRef<Dim> input);

/// The spatial output dimensions of a transposed window: `outputShape` if it
/// isn't empty, else what is left of full = s * (in - 1) + outputPadding +
/// extent, which is in * s at most for SAME_* and full - p otherwise.
/// `outputPadding` is empty for zeros.
llvm::FailureOr<Dims>
inferTransposedSpatialDims(mlir::Operation *op, const Window &window,
                           llvm::ArrayRef<Dim> input,
                           llvm::ArrayRef<int64_t> outputPadding = {},
                           llvm::ArrayRef<int64_t> outputShape = {});

/// The window with explicit paddings over static spatial dimensions; none if
/// the kernel isn't static or the arithmetic overflows or gives a negative
/// dimension.
std::optional<StaticWindow> getStaticWindow(const Window &window,
                                            llvm::ArrayRef<int64_t> input);

/// The same for a transposed window.
std::optional<StaticWindow>
getStaticTransposedWindow(const Window &window, llvm::ArrayRef<int64_t> input,
                          llvm::ArrayRef<int64_t> outputPadding = {},
                          llvm::ArrayRef<int64_t> outputShape = {});

//===----------------------------------------------------------------------===//
// Convolutions: X is [N, C, spatial...], W is [M, C / group, kernel...]
//===----------------------------------------------------------------------===//

/// Checks a convolution that has the attributes of `onnx.Conv`, with seven
/// labels from `firstLabel` on: four as `verifyWindow`, then
///   +4  X and W have the same rank, at least 3
///   +5  group is positive, W's first dimension is a multiple of it and X's
///       second is W's second times it
///   +6  the bias has one element per output channel
/// `bias` is null where the op has none.
llvm::LogicalResult verifyConv(mlir::Operation *op, mlir::Value x,
                               mlir::Value w, mlir::Value bias,
                               unsigned firstLabel);

/// The dimensions [N, M, spatial...] of such a convolution; none if no rank is
/// known. The attributes have been verified against the types as they are now;
/// reports at `op` a window that is larger than the padded input.
llvm::FailureOr<std::optional<Dims>> inferConvDims(ShapeContext &ctx,
                                                   mlir::Operation *op,
                                                   mlir::Value x,
                                                   mlir::Value w);

} // namespace onnxquant::onnx::window

#endif // ONNXQUANT_DIALECT_ONNX_WINDOWSHAPE_H
