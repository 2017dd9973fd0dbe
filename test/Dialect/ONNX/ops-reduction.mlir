// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @reductions
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[AXES:.*]]: tensor<1xi64>
func.func @reductions(%x: tensor<2x3xf32>, %axes: tensor<1xi64>) -> tensor<2xf32> {
  // CHECK: "onnx.ReduceL1"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceL1 = "onnx.ReduceL1"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceL2"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceL2 = "onnx.ReduceL2"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceLogSum"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceLogSum = "onnx.ReduceLogSum"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceLogSumExp"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceLogSumExp = "onnx.ReduceLogSumExp"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceMax"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceMax = "onnx.ReduceMax"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceMean"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceMean = "onnx.ReduceMean"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceMin"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceMin = "onnx.ReduceMin"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceProd"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceProd = "onnx.ReduceProd"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceSum"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceSum = "onnx.ReduceSum"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  // CHECK: "onnx.ReduceSumSquare"(%[[X]], %[[AXES]]) <{keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  %ReduceSumSquare = "onnx.ReduceSumSquare"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
      : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
  onnx.Return %ReduceSum : tensor<2xf32>
}

// CHECK-LABEL: func.func @reduction_defaults
func.func @reduction_defaults(%x: tensor<2x3xi1>, %u: tensor<*x!onnx.Unknown>) -> tensor<*xi1> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.ReduceMax"(%{{.*}}, %{{.*}}) <{keepdims = 1 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<2x3xi1>, none) -> tensor<*xi1>
  %max = "onnx.ReduceMax"(%x, %none) : (tensor<2x3xi1>, none) -> tensor<*xi1>
  // CHECK: "onnx.ReduceMin"(%{{.*}}, %{{.*}}) <{keepdims = 1 : si64, noop_with_empty_axes = 0 : si64}> : (tensor<*x!onnx.Unknown>, none) -> tensor<*xi1>
  %min = "onnx.ReduceMin"(%u, %none) : (tensor<*x!onnx.Unknown>, none) -> tensor<*xi1>
  onnx.Return %max : tensor<*xi1>
}

// Text as onnx-mlir writes it.
// CHECK-LABEL: func.func @main_graph
func.func @main_graph(%arg0: tensor<3x2x2xf32>) -> tensor<3x1x2xf32> {
  %0 = onnx.Constant dense<1> : tensor<1xi64>
  // CHECK: "onnx.ReduceMean"
  // CHECK-SAME: onnx_node_name = "mean"
  %1 = "onnx.ReduceMean"(%arg0, %0) {keepdims = 1 : si64, noop_with_empty_axes = 0 : si64, onnx_node_name = "mean"} : (tensor<3x2x2xf32>, tensor<1xi64>) -> tensor<3x1x2xf32>
  onnx.Return %1 : tensor<3x1x2xf32>
}

// CHECK-LABEL: func.func @along_one_axis
func.func @along_one_axis(%x: tensor<2x8xf32>, %axis: tensor<i32>, %k: tensor<1xi64>) -> tensor<2xi64> {
  // CHECK: "onnx.ArgMax"(%{{.*}}) <{axis = 1 : si64, keepdims = 0 : si64, select_last_index = 1 : si64}> : (tensor<2x8xf32>) -> tensor<2xi64>
  %max = "onnx.ArgMax"(%x) {axis = 1 : si64, keepdims = 0 : si64, select_last_index = 1 : si64}
      : (tensor<2x8xf32>) -> tensor<2xi64>
  // CHECK: "onnx.ArgMin"(%{{.*}}) <{axis = -1 : si64, keepdims = 0 : si64, select_last_index = 0 : si64}> : (tensor<2x8xf32>) -> tensor<2xi64>
  %min = "onnx.ArgMin"(%x) {axis = -1 : si64, keepdims = 0 : si64, select_last_index = 0 : si64}
      : (tensor<2x8xf32>) -> tensor<2xi64>
  // CHECK: "onnx.CumSum"(%{{.*}}, %{{.*}}) <{exclusive = 0 : si64, reverse = 1 : si64}> : (tensor<2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
  %sum = "onnx.CumSum"(%x, %axis) {exclusive = 0 : si64, reverse = 1 : si64}
      : (tensor<2x8xf32>, tensor<i32>) -> tensor<2x8xf32>
  // CHECK: "onnx.TopK"(%{{.*}}, %{{.*}}) <{axis = 1 : si64, largest = 1 : si64, sorted = 1 : si64}> : (tensor<2x8xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %values, %indices = "onnx.TopK"(%x, %k) {axis = 1 : si64, largest = 1 : si64, sorted = 1 : si64}
      : (tensor<2x8xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  onnx.Return %max : tensor<2xi64>
}

// CHECK-LABEL: func.func @data_dependent
func.func @data_dependent(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<1xi64>,
                          %iou: tensor<1xf32>, %x: tensor<4x3xf32>) -> tensor<?x3xi64> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.NonMaxSuppression"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{center_point_box = 1 : si64}> : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, none) -> tensor<?x3xi64>
  %selected = "onnx.NonMaxSuppression"(%boxes, %scores, %max, %iou, %none) {center_point_box = 1 : si64}
      : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, none) -> tensor<?x3xi64>
  // CHECK: "onnx.NonZero"(%{{.*}}) : (tensor<4x3xf32>) -> tensor<2x?xi64>
  %nonzero = "onnx.NonZero"(%x) : (tensor<4x3xf32>) -> tensor<2x?xi64>
  // CHECK: "onnx.Unique"(%{{.*}}) <{axis = 0 : si64, sorted = 1 : si64}> : (tensor<4x3xf32>) -> (tensor<?x3xf32>, tensor<?xi64>, tensor<4xi64>, none)
  %y, %first, %inverse, %counts = "onnx.Unique"(%x) {axis = 0 : si64, sorted = 1 : si64}
      : (tensor<4x3xf32>) -> (tensor<?x3xf32>, tensor<?xi64>, tensor<4xi64>, none)
  onnx.Return %selected : tensor<?x3xi64>
}
