// Einsum as a product of matrices.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_EINSUM_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_EINSUM_H

#include "Patterns.h"

namespace onnxquant::kernels {

/// Makes transposes and a MatMul of each Einsum that is one. Comes before what
/// looks for products.
void expandEinsums(mlir::Operation *root);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_EINSUM_H
