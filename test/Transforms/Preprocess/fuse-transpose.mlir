// Gemm reads transposed operands itself.
// RUN: onnxq-opt %s --onnx-fuse-transpose | FileCheck %s

// CHECK-LABEL: @both(
// CHECK: "onnx.Gemm"(%arg0, %arg1, %{{.+}}) {{.*}}transA = 1 : si64, transB = 0 : si64}
// CHECK-NOT: onnx.Transpose
func.func @both(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Transpose"(%a) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = "onnx.Transpose"(%b) : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %y = "onnx.Gemm"(%0, %1, %none) {transB = 1 : si64} : (tensor<2x3xf32>, tensor<4x3xf32>, none) -> tensor<2x4xf32>
  onnx.Return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @kept_for_others(
// CHECK: [[T:%.+]] = "onnx.Transpose"
// CHECK: "onnx.Gemm"(%arg0,
// CHECK: onnx.Return %{{.+}}, [[T]]
func.func @kept_for_others(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Transpose"(%a) {perm = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %y = "onnx.Gemm"(%0, %b, %none) : (tensor<2x3xf32>, tensor<3x4xf32>, none) -> tensor<2x4xf32>
  onnx.Return %y, %0 : tensor<2x4xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @same_order(
// CHECK: "onnx.Transpose"
func.func @same_order(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Transpose"(%a) {perm = [0, 1]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "onnx.Gemm"(%0, %b, %none) : (tensor<2x3xf32>, tensor<3x4xf32>, none) -> tensor<2x4xf32>
  onnx.Return %y : tensor<2x4xf32>
}
