// The interface of ops that can be quantized, and what its methods speak of.

#ifndef ONNXQUANT_DIALECT_ONNX_QUANTIZABLEOPINTERFACE_H
#define ONNXQUANT_DIALECT_ONNX_QUANTIZABLEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace onnxquant::onnx {

/// From the least to the greatest real number; the ends may be infinite.
struct RealRange {
  double min;
  double max;
};

/// Where the quantized form of an op is defined: nowhere, in ai.onnx, or in
/// com.microsoft.
enum class QuantizedForm { None, Standard, Contrib };

/// A quantized tensor with its parameters, all values of the graph. For a
/// result, `value` is null.
struct QuantizedOperand {
  mlir::Value value;
  mlir::Value scale;
  mlir::Value zeroPoint;
};

/// Attaches the interface to all ops that can be quantized.
void registerQuantizableModels(mlir::DialectRegistry &registry);

} // namespace onnxquant::onnx

#include "OnnxQuant/Dialect/ONNX/QuantizableOpInterface.h.inc"

#endif // ONNXQUANT_DIALECT_ONNX_QUANTIZABLEOPINTERFACE_H
