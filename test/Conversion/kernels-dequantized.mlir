// Weights of 8 bits next to float activations become the float weights of a
// kernel; activations that are dequantized stay as they are.
// RUN: onnxq-opt %s --onnx-to-kernels | FileCheck %s

// CHECK-LABEL: func.func @per_channel
// CHECK-NOT: onnx.DequantizeLinear
// CHECK: onnx.Constant dense<{{\[\[\[}}1.500000e+00, -2.000000e+00], [-5.000000e-01, 0.000000e+00]]]> : tensor<1x2x2xf32>
// CHECK: onnxq.contract
func.func @per_channel(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %q = onnx.Constant dense<[[[[3]], [[-1]]], [[[-1]], [[1]]]]> : tensor<2x2x1x1xi8>
  %s = onnx.Constant dense<[0.5, 1.0]> : tensor<2xf32>
  %z = onnx.Constant dense<[0, 1]> : tensor<2xi8>
  %w = "onnx.DequantizeLinear"(%q, %s, %z) {axis = 0 : si64, block_size = 0 : si64} : (tensor<2x2x1x1xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2x1x1xf32>
  %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64} : (tensor<1x2x3x3xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x3x3xf32>
  onnx.Return %y : tensor<1x2x3x3xf32>
}

// CHECK-LABEL: func.func @unsigned_product
// CHECK: %[[X:.*]] = "onnx.DequantizeLinear"
// CHECK-NOT: onnx.DequantizeLinear
// CHECK: onnx.Constant dense<{{.*}}2.530000e+02, -2.000000e+00
// CHECK: onnxq.contract
func.func @unsigned_product(%x: tensor<4x2xui8>) -> tensor<4x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %s = onnx.Constant dense<1.0> : tensor<f32>
  %z = onnx.Constant dense<2> : tensor<ui8>
  %a = "onnx.DequantizeLinear"(%x, %s, %z) {axis = 1 : si64, block_size = 0 : si64} : (tensor<4x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xf32>
  %q = onnx.Constant dense<[[255, 0], [2, 7]]> : tensor<2x2xui8>
  %w = "onnx.DequantizeLinear"(%q, %s, %z) {axis = 1 : si64, block_size = 0 : si64} : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %y = "onnx.MatMul"(%a, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  onnx.Return %y : tensor<4x2xf32>
}
