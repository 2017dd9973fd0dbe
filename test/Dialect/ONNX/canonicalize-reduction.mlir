// RUN: onnxq-opt %s --canonicalize | FileCheck %s

// Nothing is reduced: the operand itself.
// CHECK-LABEL: func.func @over_no_axes
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @over_no_axes(%x: tensor<2x3xf32>, %axes: tensor<0xi64>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: onnx.Return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.ReduceSum"(%x, %none) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  %1 = "onnx.ReduceMean"(%x, %axes) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xf32>, tensor<0xi64>) -> tensor<2x3xf32>
  %2 = "onnx.ReduceMax"(%x, %none) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  %3 = "onnx.ReduceMin"(%x, %none) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  %4 = "onnx.ReduceProd"(%x, %none) {noop_with_empty_axes = 1 : si64} : (tensor<2x3xf32>, none) -> tensor<2x3xf32>
  onnx.Return %0, %1, %2, %3, %4
      : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @kept
func.func @kept(%x: tensor<1x1xf32>, %axes: tensor<?xi64>) -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: onnx.ReduceSum
  %0 = "onnx.ReduceSum"(%x, %axes) {noop_with_empty_axes = 1 : si64} : (tensor<1x1xf32>, tensor<?xi64>) -> tensor<1x1xf32>
  // CHECK: onnx.ReduceMean
  %1 = "onnx.ReduceMean"(%x, %none) : (tensor<1x1xf32>, none) -> tensor<1x1xf32>
  // CHECK: onnx.ReduceL2
  %2 = "onnx.ReduceL2"(%x, %none) {noop_with_empty_axes = 1 : si64} : (tensor<1x1xf32>, none) -> tensor<1x1xf32>
  onnx.Return %0, %1, %2 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}
