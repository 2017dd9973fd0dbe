// Lowerings of the `onnxq` dialect's tables.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOOKUPS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOOKUPS_H

#include "Lowering.h"

namespace onnxquant::lowering {

void addLookupLowerings(mlir::RewritePatternSet &patterns,
                        const StorageTypeConverter &types,
                        mlir::ConversionTarget &target);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_LOOKUPS_H
