// Constants whose numbers a file holds one by one.

#ifndef ONNXQUANT_DIALECT_ONNX_TYPEDDATA_H
#define ONNXQUANT_DIALECT_ONNX_TYPEDDATA_H

#include "llvm/ADT/StringRef.h"

namespace onnxquant::onnx {

/// On a constant that is written as numbers, not as bytes.
inline constexpr llvm::StringLiteral typedDataAttr = "onnx_typed_data";

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_TYPEDDATA_H
