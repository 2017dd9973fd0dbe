// How a Resize samples one axis: which coordinate of the input a position of
// the result has, and which elements count there with which weights.
//
// Coordinates of 32-bit floats and smaller are 32-bit floats, as runtimes
// compute them; integers that are interpolated get 64 bits, since their results
// are truncated.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_TENSORRESIZE_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_TENSORRESIZE_H

#include "TensorSupport.h"

namespace onnxquant::lowering::tensors {

/// One axis of a Resize. `width` is the wanted size before it was rounded.
struct ResizeAxis {
  int64_t axis;
  mlir::Value in, out;
  Scalar scale, width;
  Scalar roiStart, roiEnd;
  /// The scale, where it is known to the compiler.
  std::optional<double> knownScale;
  /// Whether every position is its own coordinate.
  bool isIdentity;
};

/// Elements and weights per position: tables of [out, taps]. Nearest has one
/// tap and no weights.
struct ResizeTables {
  Tensor positions, weights;
  mlir::OpFoldResult taps;
  /// Of tf_crop_and_resize: whether a coordinate is inside, per position.
  Tensor isInside;
};

/// The axes of a Resize, those that change nothing included; also the sizes of
/// its result.
struct ResizePlan {
  llvm::SmallVector<ResizeAxis> axes;
  Sizes sizes;
};

/// The type of coordinates and weights.
mlir::Type resizeCoordinateType(onnx::ResizeOp op);
/// Reads scales, sizes and the region of interest; checks them. Fails, after an
/// error, where it is open which of them counts.
llvm::FailureOr<ResizePlan> planResize(Emitter &e, onnx::ResizeOp op,
                                       Operands operands);
ResizeTables makeResizeTables(Emitter &e, onnx::ResizeOp op,
                              const ResizeAxis &axis);

} // namespace onnxquant::lowering::tensors

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_TENSORRESIZE_H
