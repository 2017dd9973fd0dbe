// Attention as one kernel.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_ATTENTION_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_ATTENTION_H

#include "Patterns.h"

namespace onnxquant::kernels {

/// Turns the products around a softmax and what is between into
/// `onnxq.attention`; tells how many. Comes before the products by themselves.
int64_t fuseAttention(mlir::Operation *root);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_ATTENTION_H
