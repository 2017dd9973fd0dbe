// Quantized nodes that no kernel of integers takes are told with the reason.
// RUN: onnxq-opt %s --onnx-quantized-to-kernels=report=true -verify-diagnostics | FileCheck %s

// CHECK: module attributes {onnxq.without_kernel = [{as = "loops", op = "ConvInteger"}, {as = "loops", op = "MatMulInteger"}, {as = "float", op = "MatMul"}]}
func.func @main_graph(%x: tensor<1x8x9x9xui8>, %w: tensor<4x8x3x3xui8>, %a: tensor<5x16xui8>, %b: tensor<?x4xui8>, %s: tensor<?xf32>) -> (tensor<1x4x7x7xi32>, tensor<5x4xi32>, tensor<5x4xf32>, tensor<5x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-remark @below {{has no kernel: its weights aren't constant}}
  %0 = "onnx.ConvInteger"(%x, %w, %none, %none) {auto_pad = "NOTSET", group = 1 : si64} : (tensor<1x8x9x9xui8>, tensor<4x8x3x3xui8>, none, none) -> tensor<1x4x7x7xi32>
  // expected-remark @below {{has no kernel: its sizes are open (see --input-shape) or small, or its batches broadcast}}
  %1 = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<5x16xui8>, tensor<?x4xui8>, none, none) -> tensor<5x4xi32>
  %scale = onnx.Constant dense<0.5> : tensor<f32>
  %real = "onnx.DequantizeLinear"(%a, %scale, %none) : (tensor<5x16xui8>, tensor<f32>, none) -> tensor<5x16xf32>
  %weights = onnx.Constant dense<3> : tensor<16x4xi8>
  %rows = onnx.Constant dense<0.5> : tensor<16xf32>
  %c = "onnx.DequantizeLinear"(%weights, %rows, %none) {axis = 0 : si64} : (tensor<16x4xi8>, tensor<16xf32>, none) -> tensor<16x4xf32>
  // expected-remark @below {{has no kernel of integers, and runs in float: }}
  %2 = "onnx.MatMul"(%real, %c) : (tensor<5x16xf32>, tensor<16x4xf32>) -> tensor<5x4xf32>
  // What isn't quantized is another pass's matter.
  %floats = onnx.Constant dense<0.5> : tensor<16x4xf32>
  %3 = "onnx.MatMul"(%real, %floats) : (tensor<5x16xf32>, tensor<16x4xf32>) -> tensor<5x4xf32>
  onnx.Return %0, %1, %2, %3 : tensor<1x4x7x7xi32>, tensor<5x4xi32>, tensor<5x4xf32>, tensor<5x4xf32>
}
