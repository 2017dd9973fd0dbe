// What no output depends on is erased.
// RUN: onnxq-opt %s --onnx-remove-unused | FileCheck %s
// RUN: onnxq-opt %s --onnx-remove-unused=constants-only=true | FileCheck %s --check-prefix=CONSTANTS

// CHECK-LABEL: @chain(
// CHECK-NEXT: onnx.Return %arg0
// CONSTANTS-LABEL: @chain(
// CONSTANTS-NOT: dense<2.0
// CONSTANTS: onnx.Add
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %unused = onnx.Constant dense<2.0> : tensor<4xf32>
  %w = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.Add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "onnx.Relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %x : tensor<4xf32>
}

// What an unknown operator does isn't known.
// CHECK-LABEL: @unknown(
// CHECK: onnx.Custom
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "onnx.Custom"(%x) {function_name = "Log", domain_name = "my"} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %x : tensor<4xf32>
}

// CHECK-LABEL: @in_a_branch(
// CHECK: onnx.If
// CHECK-NEXT: onnx.Yield
// CHECK-NOT: onnx.Neg
func.func @in_a_branch(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %w = onnx.Constant dense<1.0> : tensor<2xf32>
  %r = "onnx.If"(%c) ({
    %0 = "onnx.Neg"(%w) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %x : tensor<2xf32>
  }, {
    onnx.Yield %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}
