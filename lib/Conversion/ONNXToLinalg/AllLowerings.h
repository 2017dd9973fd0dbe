// All lowerings of ops, by family.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_ALLLOWERINGS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_ALLLOWERINGS_H

#include "Lowering.h"

namespace onnxquant::lowering {

/// The lowerings of all families.
void addAllLowerings(mlir::RewritePatternSet &patterns,
                     const StorageTypeConverter &types);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_ALLLOWERINGS_H
