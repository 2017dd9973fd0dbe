// The Tensor family: ops that move, select, repeat and resample elements. The
// definitions sit in one file per kind of movement; this file is the one that
// code is generated from.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_TENSOR_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_TENSOR_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"
include "OnnxQuant/Dialect/ONNX/Ops/TensorLayout.td"
include "OnnxQuant/Dialect/ONNX/Ops/TensorIndex.td"
include "OnnxQuant/Dialect/ONNX/Ops/TensorImage.td"

#endif // ONNXQUANT_DIALECT_ONNX_OPS_TENSOR_TD
