// Products with constants per channel become weights.
// RUN: onnxq-opt %s --onnx-fuse-mul | FileCheck %s

// CHECK-LABEL: @scaled(
// CHECK-DAG: dense<{{\[\[\[}}6.000000e+00]], {{\[\[}}1.500000e+01]]]> : tensor<2x1x1xf32>
// CHECK-DAG: dense<[2.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK: onnx.Conv
// CHECK-NOT: onnx.Mul
func.func @scaled(%x: tensor<?x1x4xf32>) -> tensor<?x2x4xf32> {
  %w = onnx.Constant dense<3.0> : tensor<2x1x1xf32>
  %b = onnx.Constant dense<1.0> : tensor<2xf32>
  %s = onnx.Constant dense<[[[2.0], [5.0]]]> : tensor<1x2x1xf32>
  %0 = "onnx.Conv"(%x, %w, %b) : (tensor<?x1x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<?x2x4xf32>
  %y = "onnx.Mul"(%0, %s) : (tensor<?x2x4xf32>, tensor<1x2x1xf32>) -> tensor<?x2x4xf32>
  onnx.Return %y : tensor<?x2x4xf32>
}

// CHECK-LABEL: @divided(
// CHECK: dense<7.500000e-01> : tensor<2x2xf32>
// CHECK: onnx.Gemm
// CHECK-NOT: onnx.Div
func.func @divided(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %s = onnx.Constant dense<4.0> : tensor<f32>
  %0 = "onnx.Gemm"(%x, %w, %none) : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %y = "onnx.Div"(%0, %s) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  onnx.Return %y : tensor<1x2xf32>
}

// CHECK-LABEL: @dividend(
// CHECK: onnx.Div
func.func @dividend(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %s = onnx.Constant dense<4.0> : tensor<f32>
  %0 = "onnx.Gemm"(%x, %w, %none) : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %y = "onnx.Div"(%s, %0) : (tensor<f32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  onnx.Return %y : tensor<1x2xf32>
}

// CHECK-LABEL: @divided_by_zero(
// CHECK: onnx.Div
func.func @divided_by_zero(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %s = onnx.Constant dense<0.0> : tensor<f32>
  %0 = "onnx.Gemm"(%x, %w, %none) : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %y = "onnx.Div"(%0, %s) : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  onnx.Return %y : tensor<1x2xf32>
}

// Equal weights of two convolutions: only one of them is scaled.
// CHECK-LABEL: @shared_weights(
// CHECK-DAG: onnx.Constant {onnx_result_names = ["w"], value = dense<3.000000e+00>
// CHECK-DAG: onnx.Constant {onnx_result_names = ["c1_weight"], value = dense<6.000000e+00>
func.func @shared_weights(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<3.0> : tensor<1x1x1xf32>
  %s = onnx.Constant dense<2.0> : tensor<f32>
  %0 = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "c1"} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %1 = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "c2"} : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %y = "onnx.Mul"(%0, %s) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  onnx.Return %y, %1 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// A product of any rank with a matrix on the right: its columns are scaled.
// CHECK-LABEL: @columns(
// CHECK: dense<{{\[\[}}6.000000e+00, 1.500000e+01], [6.000000e+00, 1.500000e+01]]> : tensor<2x2xf32>
// CHECK: onnx.MatMul
// CHECK-NOT: onnx.Mul"
// CHECK: onnx.Return
func.func @columns(%x: tensor<?x4x2xf32>) -> tensor<?x4x2xf32> {
  %w = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %s = onnx.Constant dense<[[[2.0, 5.0]]]> : tensor<1x1x2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<?x4x2xf32>, tensor<2x2xf32>) -> tensor<?x4x2xf32>
  %y = "onnx.Mul"(%0, %s) : (tensor<?x4x2xf32>, tensor<1x1x2xf32>) -> tensor<?x4x2xf32>
  onnx.Return %y : tensor<?x4x2xf32>
}

// Rows are no columns.
// CHECK-LABEL: @rows(
// CHECK: onnx.MatMul
// CHECK: onnx.Mul
func.func @rows(%x: tensor<?x2x2xf32>) -> tensor<?x2x2xf32> {
  %w = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %s = onnx.Constant dense<[[2.0], [5.0]]> : tensor<2x1xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<?x2x2xf32>, tensor<2x2xf32>) -> tensor<?x2x2xf32>
  %y = "onnx.Mul"(%0, %s) : (tensor<?x2x2xf32>, tensor<2x1xf32>) -> tensor<?x2x2xf32>
  onnx.Return %y : tensor<?x2x2xf32>
}

// A constant of a higher rank changes the product's.
// CHECK-LABEL: @higher(
// CHECK: onnx.Mul
func.func @higher(%x: tensor<2x2xf32>) -> tensor<1x2x2xf32> {
  %w = onnx.Constant dense<3.0> : tensor<2x2xf32>
  %s = onnx.Constant dense<2.0> : tensor<1x1x1xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = "onnx.Mul"(%0, %s) : (tensor<2x2xf32>, tensor<1x1x1xf32>) -> tensor<1x2x2xf32>
  onnx.Return %y : tensor<1x2x2xf32>
}
