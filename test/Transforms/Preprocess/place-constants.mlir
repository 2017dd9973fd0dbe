// Constants stand before the first node that reads them.
// RUN: onnxq-opt %s --onnx-place-constants | FileCheck %s

// CHECK-LABEL: @order(
// CHECK-NEXT: onnx.Constant dense<1.000000e+00>
// CHECK-NEXT: onnx.Add
// CHECK-NEXT: onnx.Constant dense<2.000000e+00>
// CHECK-NEXT: onnx.Add
func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = onnx.Constant dense<2.0> : tensor<4xf32>
  %a = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.Add"(%x, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Add"(%0, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %1 : tensor<4xf32>
}

// CHECK-LABEL: @outer(
// CHECK: onnx.Relu
// CHECK: onnx.Constant dense<2.000000e+00>
// CHECK: onnx.If
func.func @outer(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %w = onnx.Constant dense<2.0> : tensor<2xf32>
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %r = "onnx.If"(%c) ({
    %1 = "onnx.Add"(%0, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %1 : tensor<2xf32>
  }, {
    onnx.Yield %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}
