// Sums with constants per channel become biases.
// RUN: onnxq-opt %s --onnx-fuse-add | FileCheck %s

// CHECK-LABEL: @new_bias(
// CHECK: [[B:%.+]] = onnx.Constant {onnx_result_names = ["b"], value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: "onnx.Conv"(%arg0, %{{.+}}, [[B]]) {{.*}}onnx_node_name = "conv", onnx_result_names = ["y"]
// CHECK-NOT: onnx.Add
func.func @new_bias(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<3.0> : tensor<2x1x1x1xf32>
  %b = onnx.Constant {onnx_result_names = ["b"]} dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %0 = "onnx.Conv"(%x, %w, %none) {group = 1 : si64, onnx_node_name = "conv", onnx_result_names = ["c"]} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
  %y = "onnx.Add"(%b, %0) {onnx_node_name = "add", onnx_result_names = ["y"]} : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  onnx.Return %y : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: @subtracted(
// CHECK: dense<[-1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK-NOT: onnx.Sub
func.func @subtracted(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<1x2x1xf32>
  %b = onnx.Constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = "onnx.ConvTranspose"(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x2x1xf32>, none) -> tensor<1x2x4xf32>
  %y = "onnx.Sub"(%0, %b) : (tensor<1x2x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  onnx.Return %y : tensor<1x2x4xf32>
}

// 5 - (3 x + 1) = -3 x + 4
// CHECK-LABEL: @subtracted_from(
// CHECK-DAG: dense<-3.000000e+00> : tensor<1x1xf32>
// CHECK-DAG: dense<4.000000e+00> : tensor<1xf32>
// CHECK-NOT: onnx.Sub
func.func @subtracted_from(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %w = onnx.Constant dense<3.0> : tensor<1x1xf32>
  %c = onnx.Constant dense<1.0> : tensor<1xf32>
  %b = onnx.Constant dense<5.0> : tensor<f32>
  %0 = "onnx.Gemm"(%x, %w, %c) : (tensor<2x1xf32>, tensor<1x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  %y = "onnx.Sub"(%b, %0) : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  onnx.Return %y : tensor<2x1xf32>
}

// One number per column of the image is no bias.
// CHECK-LABEL: @per_column(
// CHECK: onnx.Add
func.func @per_column(%x: tensor<1x1x4x2xf32>) -> tensor<1x2x4x2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<2x1x1x1xf32>
  %b = onnx.Constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x4x2xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x2xf32>
  %y = "onnx.Add"(%0, %b) : (tensor<1x2x4x2xf32>, tensor<2xf32>) -> tensor<1x2x4x2xf32>
  onnx.Return %y : tensor<1x2x4x2xf32>
}

// One output channel that a constant makes two.
// CHECK-LABEL: @broadcasts(
// CHECK: onnx.Add
func.func @broadcasts(%x: tensor<1x1x4xf32>) -> tensor<1x2x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<1x1x1xf32>
  %b = onnx.Constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %y = "onnx.Add"(%0, %b) : (tensor<1x1x4xf32>, tensor<2x1xf32>) -> tensor<1x2x4xf32>
  onnx.Return %y : tensor<1x2x4xf32>
}

// CHECK-LABEL: @read_twice(
// CHECK: onnx.Add
func.func @read_twice(%x: tensor<1x1x4xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<3.0> : tensor<1x1x1xf32>
  %b = onnx.Constant dense<1.0> : tensor<f32>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %y = "onnx.Add"(%0, %b) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  onnx.Return %y, %0 : tensor<1x1x4xf32>, tensor<1x1x4xf32>
}

// CHECK-LABEL: @open_weights(
// CHECK: onnx.Add
func.func @open_weights(%x: tensor<1x1x4xf32>, %w: tensor<1x1x1xf32>) -> tensor<1x1x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %b = onnx.Constant dense<1.0> : tensor<f32>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x4xf32>, tensor<1x1x1xf32>, none) -> tensor<1x1x4xf32>
  %y = "onnx.Add"(%0, %b) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  onnx.Return %y : tensor<1x1x4xf32>
}
