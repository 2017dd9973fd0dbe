// Parts of the Reduction family's list of lowerings.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_REDUCTIONLISTS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_REDUCTIONLISTS_H

#include "Lowering.h"

namespace onnxquant::lowering {

/// TopK, NonZero, NonMaxSuppression and Unique.
void addSelectionLowerings(mlir::RewritePatternSet &patterns,
                           const StorageTypeConverter &types);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_REDUCTIONLISTS_H
