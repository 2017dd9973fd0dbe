// Nodes that do nothing, removed; names of outputs, kept.
// RUN: onnxq-opt %s --split-input-file --onnx-remove-no-ops | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-remove-no-ops=kinds=Flatten | FileCheck %s --check-prefix=FLATTEN

// CHECK-LABEL: @nothing_done(
// CHECK-NEXT: "onnx.Relu"(%arg0) {{.*}}onnx_result_names = ["y"]
// CHECK-NEXT: onnx.Return
// FLATTEN-LABEL: @nothing_done(
// FLATTEN-NOT: onnx.Flatten
// FLATTEN: onnx.Dropout
// FLATTEN: onnx.Pad
func.func @nothing_done(%x: tensor<?x6xf32> {onnx.dim_params = "0:n"}) -> tensor<?x6xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %shape = onnx.Constant dense<[-1, 6]> : tensor<2xi64>
  %pads = onnx.Constant dense<0> : tensor<4xi64>
  %0 = "onnx.Flatten"(%x) {axis = 1 : si64} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %1, %mask = "onnx.Dropout"(%0, %none, %none) : (tensor<?x6xf32>, none, none) -> (tensor<?x6xf32>, none)
  %2 = "onnx.Reshape"(%1, %shape) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
  %3 = "onnx.Pad"(%2, %pads, %none, %none) : (tensor<?x6xf32>, tensor<4xi64>, none, none) -> tensor<?x6xf32>
  %4 = "onnx.Cast"(%3) {to = f32} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %5 = "onnx.Transpose"(%4) {perm = [0, 1]} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %6 = "onnx.Relu"(%5) {onnx_result_names = ["r"]} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  %7 = "onnx.Identity"(%6) {onnx_result_names = ["y"]} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  onnx.Return %7 : tensor<?x6xf32>
}

// -----

// CHECK-LABEL: @something_done(
// CHECK: onnx.Flatten
// CHECK: onnx.Reshape
// CHECK: onnx.Cast
// CHECK: onnx.Pad
func.func @something_done(%x: tensor<?x?x6xf32>) -> tensor<*xf64> {
  %none = "onnx.NoValue"() {value} : () -> none
  %shape = onnx.Constant dense<[6, -1]> : tensor<2xi64>
  %pads = onnx.Constant dense<[0, 0, 0, 1]> : tensor<4xi64>
  %0 = "onnx.Flatten"(%x) {axis = 2 : si64} : (tensor<?x?x6xf32>) -> tensor<?x6xf32>
  %1 = "onnx.Reshape"(%0, %shape) : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<6x?xf32>
  %2 = "onnx.Cast"(%1) {to = f64} : (tensor<6x?xf32>) -> tensor<6x?xf64>
  %3 = "onnx.Pad"(%2, %pads, %none, %none) : (tensor<6x?xf64>, tensor<4xi64>, none, none) -> tensor<*xf64>
  onnx.Return %3 : tensor<*xf64>
}

// -----

// CHECK-LABEL: @joined(
// CHECK-NEXT: [[T:%.+]] = "onnx.Transpose"(%arg0) <{perm = [2, 1, 0]}> {onnx_result_names = ["t"]}
// CHECK-NEXT: onnx.Return [[T]]
func.func @joined(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %0 = "onnx.Transpose"(%x) {perm = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = "onnx.Transpose"(%0) {onnx_result_names = ["t"], perm = [0, 2, 1]} : (tensor<4x2x3xf32>) -> tensor<4x3x2xf32>
  onnx.Return %1 : tensor<4x3x2xf32>
}

// -----

// Input and output have names of their own.
// CHECK-LABEL: @passed_on(
// CHECK: onnx.Identity
func.func @passed_on(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "onnx.Identity"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0 : tensor<2xf32>
}

// -----

// So have two outputs.
// CHECK-LABEL: @two_outputs(
// CHECK: onnx.Relu
// CHECK: onnx.Identity
func.func @two_outputs(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.Identity"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// -----

// A Dropout that trains, and one whose mask is read.
// CHECK-LABEL: @dropouts(
// CHECK-COUNT-2: onnx.Dropout
func.func @dropouts(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %true = onnx.Constant dense<true> : tensor<i1>
  %0, %m = "onnx.Dropout"(%x, %none, %true) : (tensor<2xf32>, none, tensor<i1>) -> (tensor<2xf32>, none)
  %1, %mask = "onnx.Dropout"(%0, %none, %none) : (tensor<2xf32>, none, none) -> (tensor<2xf32>, tensor<2xi1>)
  %2 = "onnx.Relu"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %2, %mask : tensor<2xf32>, tensor<2xi1>
}

// -----

// CHECK-LABEL: @known_condition(
// CHECK-NOT: onnx.If
// CHECK: "onnx.Neg"(%arg0) {onnx_node_name = "taken"}
func.func @known_condition(%x: tensor<2xf32>) -> tensor<2xf32> {
  %false = onnx.Constant dense<false> : tensor<i1>
  %y = "onnx.If"(%false) ({
    %0 = "onnx.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }, {
    %0 = "onnx.Neg"(%x) {onnx_node_name = "taken"} : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
