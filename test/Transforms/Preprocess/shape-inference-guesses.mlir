// What shape inference takes for granted on request.
// RUN: onnxq-opt %s --split-input-file --onnx-shape-inference="auto-merge=true guess-output-rank=true" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-shape-inference | FileCheck %s --check-prefix=PLAIN
// RUN: onnxq-opt %s --split-input-file --onnx-shape-inference=symbolic=false | FileCheck %s --check-prefix=STATIC

// CHECK-LABEL: @merged(
// CHECK-SAME: "0:n,1:w"{{.*}}"0:n,1:w"{{.*}}-> (tensor<?x?xf32> {onnx.dim_params = "0:n,1:w"})
// PLAIN-LABEL: @merged(
// PLAIN-SAME: "0:n,1:w"{{.*}}"0:n,1:width"
// STATIC-LABEL: @merged(
// STATIC-SAME: -> tensor<?x?xf32> {
// STATIC-NOT: onnx_dim_params
func.func @merged(%a: tensor<?x?xf32> {onnx.dim_params = "0:n,1:w"}, %b: tensor<?x?xf32> {onnx.dim_params = "0:n,1:width"}) -> tensor<*xf32> {
  %y = "onnx.Add"(%a, %b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// The axis that is joined may differ.
// CHECK-LABEL: @concat(
// CHECK-SAME: "0:n,1:a"{{.*}}"0:n,1:b"
func.func @concat(%a: tensor<?x?xf32> {onnx.dim_params = "0:n,1:a"}, %b: tensor<?x?xf32> {onnx.dim_params = "0:m,1:b"}) -> tensor<*xf32> {
  %y = "onnx.Concat"(%a, %b) {axis = -1 : si64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// CHECK-LABEL: @guessed(
// CHECK: onnx.Custom{{.*}} -> tensor<?x?x!onnx.Unknown>
// PLAIN-LABEL: @guessed(
// PLAIN: onnx.Custom{{.*}} -> tensor<*x!onnx.Unknown>
func.func @guessed(%x: tensor<2x3xf32>) -> tensor<*x!onnx.Unknown> {
  %y = "onnx.Custom"(%x) {domain_name = "my", function_name = "Magic"} : (tensor<2x3xf32>) -> tensor<*x!onnx.Unknown>
  onnx.Return %y : tensor<*x!onnx.Unknown>
}

// -----

// RUN: onnxq-opt %s --split-input-file --onnx-shape-inference=forget=true | FileCheck %s --check-prefix=FORGET
// FORGET-LABEL: @forgotten(
// FORGET-SAME: -> tensor<2xf32>
// FORGET: "onnx.Neg"(%arg0) : (tensor<2xf32>) -> tensor<*xf32>
func.func @forgotten(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %y = "onnx.Neg"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
