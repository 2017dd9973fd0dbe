// RUN: onnxq-opt %s --onnx-quantize=report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: onnxq-opt %s --onnx-quantize='input-quantization-params={"r":[0,0.1]}' | FileCheck %s --check-prefix=GIVEN

// Branches of different ranks give a tensor without one, which calibration
// can't observe: what reads it stays float, unless its parameters are given.
// CHECK-LABEL: func.func @main_graph
// CHECK: "onnx.QuantizeLinear"(%arg0
// CHECK: %[[R:.*]] = "onnx.Relu"
// CHECK: "onnx.MatMul"(%[[R]],
// CHECK: "onnx.MatMul"
// REPORT: "reason": "a tensor of unknown rank has no range"
// GIVEN: %[[R:.*]] = "onnx.Relu"
// GIVEN: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[R]]
// GIVEN: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Q]]
// GIVEN: "onnx.MatMul"(%[[D]]
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%x: tensor<2x2xf32> {onnx.name = "x"}, %z: tensor<*xf32> {onnx.name = "z"}) -> (tensor<*xf32> {onnx.name = "y"}, tensor<2x2xf32> {onnx.name = "b"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
    %r = "onnx.Relu"(%z) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<*xf32>) -> tensor<*xf32>
    %y = "onnx.MatMul"(%r, %w) {onnx_node_name = "unknown", onnx_result_names = ["y"]} : (tensor<*xf32>, tensor<2x2xf32>) -> tensor<*xf32>
    %b = "onnx.MatMul"(%x, %w) {onnx_node_name = "known", onnx_result_names = ["b"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    onnx.Return %y, %b : tensor<*xf32>, tensor<2x2xf32>
  }
}
