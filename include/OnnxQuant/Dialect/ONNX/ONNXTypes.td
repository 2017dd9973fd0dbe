// The types that the dialect's ops have a use for.

#ifndef ONNXQUANT_DIALECT_ONNX_TYPES_TD
#define ONNXQUANT_DIALECT_ONNX_TYPES_TD

include "OnnxQuant/Dialect/ONNX/ONNXDialect.td"

def ONNX_UnknownType : ONNX_Type<"Unknown", "Unknown"> {
  let summary = "element type of a tensor that nothing tells the type of";
  let description = [{
    The results of an operator of an unknown domain, and what is computed from
    them, have this element type unless the model states another.

    Example: `tensor<*x!onnx.Unknown>`
  }];
}

#endif // ONNXQUANT_DIALECT_ONNX_TYPES_TD
