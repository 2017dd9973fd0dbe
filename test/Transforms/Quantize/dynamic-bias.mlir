// RUN: onnxq-opt %s --onnx-quantize="mode=qlinear dynamic=true bias-correction=none" | FileCheck %s

// The second channel is nearly zero: its own scale, 1e-12 / 127, would make an
// integer of its bias that no 32 bits hold. It gets one with which the bias is
// 2^30 at most, if the input's scale is a 256th of the calibrated one or more:
// 1 / (0.01 / 256 * 2^30). What is smaller still at run time is cut off.
// CHECK: w_scale"], value = dense<[0.00787401571, 2.38418579E-5]>
// CHECK: w_quantized"], value = dense<{{\[}}{{\[}}{{\[}}[127]]], {{\[}}{{\[}}[0]]]]>
// CHECK: %[[LEAST:.*]] = onnx.Constant {{.*}}dense<-1.07374182E+9>
// CHECK: %[[MOST:.*]] = onnx.Constant {{.*}}dense<1.07374182E+9>
// CHECK: %[[CLIPPED:.*]] = "onnx.Clip"(%{{.*}}, %[[LEAST]], %[[MOST]])
// CHECK: %[[BIAS:.*]] = "onnx.Cast"(%[[CLIPPED]])
// CHECK: "onnx.QLinearConv"({{.*}}, %[[BIAS]])
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 2.55 : f64}, y = {min = 0.0 : f64, max = 2.55 : f64}}} {
  func.func @main_graph(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.0]]], [[[1.0e-12]]]]> : tensor<2x1x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[0.5, 1.0]> : tensor<2xf32>
    %y = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "conv", onnx_result_names = ["y"]} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    onnx.Return %y : tensor<1x2x4x4xf32>
  }
}
