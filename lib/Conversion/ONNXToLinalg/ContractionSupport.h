// Convolutions and matrix products for every element type, plain and quantized.
//
// Enters: stored tensors and, where an element isn't simply cast, functions
// that say what it counts as (such as its difference to a zero point). Leaves:
// tensors of accumulator elements. The operands are brought to the
// accumulator's type first, padding included, so that the innermost loop is
// nothing but products of contiguous elements, which LLVM vectorizes.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_CONTRACTIONSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_CONTRACTIONSUPPORT_H

#include "Emitter.h"
#include "WindowSupport.h"
#include <functional>

namespace onnxquant::lowering {

/// What an element of an operand counts as, in the accumulator's type. It is
/// given the element and its place in the operand. A null function casts.
using Loader = std::function<Scalar(Emitter &, Scalar element,
                                    llvm::ArrayRef<mlir::Value> indices)>;

/// The type that products of elements are summed in if the op doesn't say:
/// `f32` for small floats, else the element type.
mlir::Type accumulatorTypeFor(mlir::Type elementType);

/// sum over c, k.. of loadX(x[n, g * C / group + c, o * s + k * d - pad..]) *
/// loadW(w[m, c, k..]), where the padding counts as zero whatever `loadX` says.
/// `bias` has an element per output channel, or is null. Checks at run time
/// that channels and biases go together where the types leave it open.
/// The result is [N, M, o..] with elements of `accumulatorType`.
Tensor convolve(Emitter &e, Tensor x, Tensor w, const WindowSizes &window,
                int64_t group, mlir::Type accumulatorType, Tensor bias = {},
                const Loader &loadX = {}, const Loader &loadW = {});

/// numpy's matmul: batches broadcast, operands of rank 1 are a row on the left
/// and a column on the right. Checks at run time what the types leave open.
Tensor matmul(Emitter &e, Tensor a, Tensor b, mlir::Type accumulatorType,
              const Loader &loadA = {}, const Loader &loadB = {});

/// a [.., M, K] times the transpose of b [.., N, K]; both have the
/// accumulator's type.
Tensor multiplyTransposed(Emitter &e, Tensor a, Tensor b);

/// The tensor with its elements converted by `load`; the tensor itself if that
/// changes nothing.
Tensor loaded(Emitter &e, Tensor tensor, mlir::Type accumulatorType,
              const Loader &load = {});

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_CONTRACTIONSUPPORT_H
