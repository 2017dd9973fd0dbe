// Casts between types of one rank that know different sizes.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_SIZECAST_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_SIZECAST_H

#include "Emitter.h"

namespace onnxquant::lowering {

/// The same tensor as a value of another type; sizes that only the other type
/// knows are checked at run time.
mlir::Value castSizes(Emitter &e, mlir::Value tensor, mlir::Type type);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_SIZECAST_H
