// Lowerings of the `onnxq` dialect's observers.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_OBSERVERS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_OBSERVERS_H

#include "Lowering.h"

namespace onnxquant::lowering {

void addObserverLowerings(mlir::RewritePatternSet &patterns,
                          const StorageTypeConverter &types,
                          mlir::ConversionTarget &target);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_OBSERVERS_H
