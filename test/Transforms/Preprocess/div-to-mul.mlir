// Divisions by constants become products.
// RUN: onnxq-opt %s --onnx-div-to-mul | FileCheck %s
// RUN: onnxq-opt %s --onnx-div-to-mul=exact-only=true | FileCheck %s --check-prefix=EXACT

// CHECK-LABEL: @power_of_two(
// CHECK: [[C:%.+]] = onnx.Constant {onnx_result_names = ["c"], value = dense<[2.500000e-01, -2.000000e+00]>
// CHECK: "onnx.Mul"(%arg0, [[C]]) {onnx_node_name = "d", onnx_result_names = ["y"]}
// EXACT-LABEL: @power_of_two(
// EXACT: onnx.Mul
func.func @power_of_two(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant {onnx_result_names = ["c"]} dense<[4.0, -0.5]> : tensor<2xf32>
  %y = "onnx.Div"(%x, %c) {onnx_node_name = "d", onnx_result_names = ["y"]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// CHECK-LABEL: @rounded(
// CHECK: dense<0.333333343> : tensor<f32>
// CHECK: onnx.Mul
// EXACT-LABEL: @rounded(
// EXACT: onnx.Div
func.func @rounded(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant dense<3.0> : tensor<f32>
  %y = "onnx.Div"(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// CHECK-LABEL: @zero(
// CHECK: onnx.Div
func.func @zero(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant dense<[1.0, 0.0]> : tensor<2xf32>
  %y = "onnx.Div"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// The reciprocal of 3e38 would lose digits.
// CHECK-LABEL: @subnormal(
// CHECK: onnx.Div
func.func @subnormal(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.Constant dense<3.0e38> : tensor<f32>
  %y = "onnx.Div"(%x, %c) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// CHECK-LABEL: @integers(
// CHECK: onnx.Div
func.func @integers(%x: tensor<2xi64>) -> tensor<2xi64> {
  %c = onnx.Constant dense<2> : tensor<i64>
  %y = "onnx.Div"(%x, %c) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  onnx.Return %y : tensor<2xi64>
}

// CHECK-LABEL: @open_divisor(
// CHECK: onnx.Div
func.func @open_divisor(%x: tensor<2xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %y = "onnx.Div"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
