// The numbers by which ONNX names element types, and the types themselves.
// Strings have a number but no tensor type here, so they count as unknown.

#ifndef ONNXQUANT_DIALECT_ONNX_ELEMENTTYPES_H
#define ONNXQUANT_DIALECT_ONNX_ELEMENTTYPES_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include <cstdint>
#include <optional>

namespace onnxquant::onnx {

/// The element type that ONNX's data type number stands for; null if it is
/// unknown or has no tensor type in this dialect.
mlir::Type elementTypeFromOnnx(int64_t dataType, mlir::MLIRContext *context);

/// ONNX's data type number of an element type; none if ONNX has no such type.
std::optional<int64_t> onnxFromElementType(mlir::Type type);

} // namespace onnxquant::onnx

#endif // ONNXQUANT_DIALECT_ONNX_ELEMENTTYPES_H
