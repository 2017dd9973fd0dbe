// Statistics and softmax, which several ops of neural networks are made of.
//
// Enters and leaves: tensors of f32 or f64; callers convert before and after.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_NNSUPPORT_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_NNSUPPORT_H

#include "LoopSupport.h"

namespace onnxquant::lowering {

/// Mean and variance over `axes`, which stay with size one.
struct Statistics {
  Tensor mean;
  Tensor variance;
};
Statistics getStatistics(Emitter &e, Tensor x, llvm::ArrayRef<int64_t> axes);

/// The mean of the squares over `axes`, which stay with size one.
Tensor getMeanSquare(Emitter &e, Tensor x, llvm::ArrayRef<int64_t> axes);

/// 1 / sqrt(x + epsilon)
Scalar invertRoot(Emitter &e, Scalar x, double epsilon);

/// exp(x) / sum(exp(x)) along an axis, or its logarithm, computed without
/// overflow.
Tensor softmax(Emitter &e, Tensor x, int64_t axis);
Tensor logSoftmax(Emitter &e, Tensor x, int64_t axis);

/// The axis, counted from the front.
inline int64_t positiveAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}
/// The axes from `first` to the last one.
llvm::SmallVector<int64_t> axesFrom(int64_t first, int64_t rank);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_NNSUPPORT_H
