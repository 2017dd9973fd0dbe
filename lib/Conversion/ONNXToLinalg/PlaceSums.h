// Sums over the places of an image, as GlobalAveragePool needs them.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_PLACESUMS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_PLACESUMS_H

#include "Emitter.h"

namespace onnxquant::lowering {

/// Sums over `count` dimensions from `first` on, which stay with size 1.
///
/// Place p goes to lane p % 4; then lanes 0 and 2, lanes 1 and 3, and these two
/// sums are added, and last, one by one, what is left of places that four
/// doesn't divide. ONNX Runtime has the same order, so that the bits are the
/// same: a mean that is off by one unit in its last place moves numbers behind
/// a gate to the next step of their quantizer. The order doesn't depend on
/// where the channels are.
Tensor sumPlaces(Emitter &e, Tensor x, int64_t first, int64_t count,
                 mlir::Type sumType);

} // namespace onnxquant::lowering

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOLINALG_PLACESUMS_H
