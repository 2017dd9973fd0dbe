// Constants computed by running what makes them.
// RUN: onnxq-opt %s --split-input-file --onnx-fold-constants="max-bytes=64" | FileCheck %s

// CHECK-LABEL: @computed(
// CHECK: [[T:%.+]] = onnx.Constant {onnx_result_names = ["t2"], value = dense<{{\[\[}}2.000000e+00, 6.000000e+00], [4.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>
// CHECK-NOT: onnx.Transpose
// CHECK: "onnx.Add"(%arg0, [[T]])
func.func @computed(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %t = "onnx.Transpose"(%w) {onnx_result_names = ["t"], perm = [1, 0]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = "onnx.Mul"(%t, %two) {onnx_result_names = ["t2"]} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %y = "onnx.Add"(%x, %s) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.Return %y : tensor<2x2xf32>
}

// -----

// Shapes are followed: nothing is run.
// CHECK-LABEL: @shapes(
// CHECK: [[S:%.+]] = onnx.Constant {onnx_result_names = ["s"], value = dense<[6, -1]> : tensor<2xi64>
// CHECK-NOT: onnx.Shape
// CHECK: "onnx.Reshape"(%arg0, [[S]])
func.func @shapes(%x: tensor<6x?xf32>) -> tensor<*xf32> {
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %rest = onnx.Constant dense<-1> : tensor<1xi64>
  %0 = "onnx.Shape"(%x) : (tensor<6x?xf32>) -> tensor<2xi64>
  %1 = "onnx.Gather"(%0, %zero) {axis = 0 : si64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
  %2 = "onnx.Concat"(%1, %rest) {axis = 0 : si64, onnx_result_names = ["s"]} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %y = "onnx.Reshape"(%x, %2) : (tensor<6x?xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// 400 bytes are more than 64 and more than what they come from.
// CHECK-LABEL: @too_large(
// CHECK: onnx.Expand
func.func @too_large(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %shape = onnx.Constant dense<[10, 10]> : tensor<2xi64>
  %0 = "onnx.Expand"(%one, %shape) : (tensor<1xf32>, tensor<2xi64>) -> tensor<10x10xf32>
  %y = "onnx.Add"(%x, %0) : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  onnx.Return %y : tensor<10x10xf32>
}

// -----

// As large as what it comes from.
// CHECK-LABEL: @not_larger(
// CHECK-NOT: onnx.Neg
func.func @not_larger(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %one = onnx.Constant dense<1.0> : tensor<10x10xf32>
  %0 = "onnx.Neg"(%one) : (tensor<10x10xf32>) -> tensor<10x10xf32>
  %y = "onnx.Add"(%x, %0) : (tensor<10x10xf32>, tensor<10x10xf32>) -> tensor<10x10xf32>
  onnx.Return %y : tensor<10x10xf32>
}

// -----

// CHECK-LABEL: @random_and_quantized(
// CHECK-DAG: onnx.RandomNormalLike
// CHECK-DAG: onnx.DequantizeLinear
func.func @random_and_quantized(%x: tensor<2xf32>) -> tensor<2xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<1.0> : tensor<2xf32>
  %q = onnx.Constant dense<1> : tensor<2xi8>
  %scale = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.RandomNormalLike"(%w) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.DequantizeLinear"(%q, %scale, %none) : (tensor<2xi8>, tensor<f32>, none) -> tensor<2xf32>
  %y = "onnx.Sum"(%x, %0, %1) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// In a subgraph as well; what the subgraph gives stays a node.
// CHECK-LABEL: @subgraph(
// CHECK: onnx.If
// CHECK: [[C:%.+]] = onnx.Constant {onnx_result_names = ["n"], value = dense<-2.000000e+00> : tensor<2xf32>
// CHECK: "onnx.Add"(%arg1, [[C]])
// CHECK: "onnx.Neg"
func.func @subgraph(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %w = onnx.Constant dense<2.0> : tensor<2xf32>
  %y = "onnx.If"(%c) ({
    %n = "onnx.Neg"(%w) {onnx_result_names = ["n"]} : (tensor<2xf32>) -> tensor<2xf32>
    %0 = "onnx.Add"(%x, %n) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }, {
    %n = "onnx.Neg"(%w) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %n : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
