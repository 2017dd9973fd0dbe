// Kernels among the ops that are lowered.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_KERNELS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_KERNELS_H

#include "Lowering.h"

namespace onnxquant::lowering {

/// Kernels, and the tensor ops that make their destinations, stay as they are
/// on stored tensors. For the whole `onnxq` dialect; call before what lowers
/// other ops of it.
void addKernelConversions(mlir::RewritePatternSet &patterns,
                          const StorageTypeConverter &types,
                          mlir::ConversionTarget &target);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_KERNELS_H
