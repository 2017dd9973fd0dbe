// Quantized nodes that have no kernel of integers are told with the reason.
// RUN: onnxq-opt %s --onnx-quantized-to-kernels=report=true -verify-diagnostics | FileCheck %s

// CHECK: module attributes {onnxq.without_kernel = [{as = "loops", op = "MatMulInteger"}, {as = "float", op = "MatMul"}]}
func.func @main_graph(%a: tensor<5x16xui8>, %b: tensor<16x4xi8>, %s: tensor<f32>, %x: tensor<5x16xf32>) -> (tensor<5x4xi32>, tensor<5x4xf32>, tensor<5x5xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-remark @below {{has no kernel: its weights are no matrix}}
  %0 = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<5x16xui8>, tensor<16x4xi8>, none, none) -> tensor<5x4xi32>
  %1 = "onnx.DequantizeLinear"(%a, %s, %none) {axis = 1 : si64, block_size = 0 : si64} : (tensor<5x16xui8>, tensor<f32>, none) -> tensor<5x16xf32>
  %2 = "onnx.DequantizeLinear"(%b, %s, %none) {axis = 1 : si64, block_size = 0 : si64} : (tensor<16x4xi8>, tensor<f32>, none) -> tensor<16x4xf32>
  // expected-remark @below {{has no kernel of integers, and runs in float: its weights are no matrix}}
  %3 = "onnx.MatMul"(%1, %2) : (tensor<5x16xf32>, tensor<16x4xf32>) -> tensor<5x4xf32>
  // Nothing of this is quantized.
  %4 = "onnx.Transpose"(%x) {perm = [1, 0]} : (tensor<5x16xf32>) -> tensor<16x5xf32>
  %5 = "onnx.MatMul"(%x, %4) : (tensor<5x16xf32>, tensor<16x5xf32>) -> tensor<5x5xf32>
  onnx.Return %0, %3, %5 : tensor<5x4xi32>, tensor<5x4xf32>, tensor<5x5xf32>
}
