// A mark for ReduceMean that was a GlobalAveragePool.

#ifndef ONNXQUANT_DIALECT_ONNX_PLACEORDER_H
#define ONNXQUANT_DIALECT_ONNX_PLACEORDER_H

#include "llvm/ADT/StringRef.h"

namespace onnxquant::onnx {

/// Unit attribute: the reduced dimensions are an image's places, which are
/// added in GlobalAveragePool's order whatever the layout is.
inline constexpr llvm::StringLiteral placesAttr = "onnxq.places";

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_PLACEORDER_H
