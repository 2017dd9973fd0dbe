// Products of matrices with a bias become Gemm.
// RUN: onnxq-opt %s --onnx-fuse-matmul-add | FileCheck %s

// CHECK-LABEL: @matrices(
// CHECK: "onnx.Gemm"(%arg0, %arg1, %{{.+}}) <{alpha = 1.000000e+00 : f32, beta = 1.000000e+00 : f32, transA = 0 : si64, transB = 0 : si64}> {onnx_node_name = "m", onnx_result_names = ["y"]}
// CHECK-NOT: onnx.Add
func.func @matrices(%a: tensor<?x3xf32>, %b: tensor<3x4xf32>) -> tensor<?x4xf32> {
  %c = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.MatMul"(%a, %b) {onnx_node_name = "m", onnx_result_names = ["p"]} : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %y = "onnx.Add"(%c, %0) {onnx_node_name = "a", onnx_result_names = ["y"]} : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  onnx.Return %y : tensor<?x4xf32>
}

// CHECK-LABEL: @gemm_without_bias(
// CHECK: "onnx.Gemm"(%arg0, %arg1, %{{.+}}) <{alpha = 5.000000e-01 : f32, beta = 1.000000e+00 : f32, transA = 0 : si64, transB = 1 : si64}>
// CHECK-NOT: onnx.Add
func.func @gemm_without_bias(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %c = onnx.Constant dense<1.0> : tensor<1x4xf32>
  %0 = "onnx.Gemm"(%a, %b, %none) {alpha = 0.5 : f32, transB = 1 : si64} : (tensor<2x3xf32>, tensor<4x3xf32>, none) -> tensor<2x4xf32>
  %y = "onnx.Add"(%0, %c) : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  onnx.Return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @three_dimensions(
// CHECK: onnx.MatMul
// CHECK: onnx.Add
func.func @three_dimensions(%a: tensor<2x2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x2x4xf32> {
  %c = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.MatMul"(%a, %b) : (tensor<2x2x3xf32>, tensor<3x4xf32>) -> tensor<2x2x4xf32>
  %y = "onnx.Add"(%0, %c) : (tensor<2x2x4xf32>, tensor<4xf32>) -> tensor<2x2x4xf32>
  onnx.Return %y : tensor<2x2x4xf32>
}

// A constant for every element.
// CHECK-LABEL: @matrix_added(
// CHECK: onnx.MatMul
func.func @matrix_added(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = onnx.Constant dense<1.0> : tensor<2x4xf32>
  %0 = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = "onnx.Add"(%0, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  onnx.Return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @read_twice(
// CHECK: onnx.MatMul
func.func @read_twice(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %c = onnx.Constant dense<1.0> : tensor<4xf32>
  %0 = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = "onnx.Add"(%0, %c) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  onnx.Return %y, %0 : tensor<2x4xf32>, tensor<2x4xf32>
}
