// RUN: onnxq-opt %s --onnx-quantize | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="int16-tensors=x,h" | FileCheck %s --check-prefix=WIDE
// RUN: onnxq-opt %s --onnx-quantize="placement=every-op" | FileCheck %s --check-prefix=EVERY
// RUN: echo '{"h": {"min": 0, "max": 2.55}}' > %t.json && onnxq-opt %s --onnx-quantize=tensor-overrides=%t.json | FileCheck %s --check-prefix=GIVEN

// Ranges are wider than observed by half for vectors that are computed, and
// twice as wide in 16 bits; but not where the user or another tool gives them.
// CHECK: ["x_scale"], value = dense<0.00999999977>
// CHECK: ["h_scale"], value = dense<1.500000e-02>
// WIDE: ["x_scale"], value = dense<7.78210087E-5>
// WIDE: ["h_scale"], value = dense<7.78210087E-5>
// EVERY: ["x_scale"], value = dense<0.00999999977>
// EVERY: ["h_scale"], value = dense<0.00999999977>
// GIVEN: ["x_scale"], value = dense<0.00999999977>
// GIVEN: ["h_scale"], value = dense<0.00999999977>
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 2.55 : f64}, m = {min = -1.0 : f64, max = 2.55 : f64},
    h = {min = 0.0 : f64, max = 2.55 : f64}, y = {min = 0.0 : f64, max = 2.55 : f64}}} {
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.0, 0.5], [0.25, 1.0]]> : tensor<2x2xf32>
    %m = "onnx.MatMul"(%x, %w) {onnx_node_name = "first", onnx_result_names = ["m"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %h = "onnx.Relu"(%m) {onnx_node_name = "relu", onnx_result_names = ["h"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %y = "onnx.MatMul"(%h, %w) {onnx_node_name = "second", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
