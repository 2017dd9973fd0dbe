// Every type of the dialect: one parser reads them all.

include "OnnxQuant/Dialect/ONNX/ONNXTextTypes.td"
include "OnnxQuant/Dialect/ONNX/ONNXTypes.td"
