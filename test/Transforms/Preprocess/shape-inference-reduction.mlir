// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @static
// CHECK-SAME: -> (tensor<2x1x4xf32>, tensor<3xf32>, tensor<f32>, tensor<1x1x1xf32>, tensor<2x3x4xf32>)
func.func @static(%x: tensor<2x3x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %outer = onnx.Constant dense<[0, -1]> : tensor<2xi64>
  %0 = "onnx.ReduceMean"(%x, %one) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %1 = "onnx.ReduceL1"(%x, %outer) {keepdims = 0 : si64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %2 = "onnx.ReduceL2"(%x, %none) {keepdims = 0 : si64} : (tensor<2x3x4xf32>, none) -> tensor<*xf32>
  %3 = "onnx.ReduceMax"(%x, %none) : (tensor<2x3x4xf32>, none) -> tensor<*xf32>
  %4 = "onnx.ReduceSumSquare"(%x, %none) {noop_with_empty_axes = 1 : si64} : (tensor<2x3x4xf32>, none) -> tensor<*xf32>
  onnx.Return %0, %1, %2, %3, %4 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch,1:length"})
    -> (tensor<*xf32>, tensor<*xi64>) {
  %one = onnx.Constant dense<1> : tensor<1xi64>
  // CHECK: "onnx.ReduceLogSumExp"
  // CHECK-SAME: onnx_dim_params = ["0:batch"]
  // CHECK-SAME: -> tensor<?x4xf32>
  %0 = "onnx.ReduceLogSumExp"(%x, %one) {keepdims = 0 : si64} : (tensor<?x?x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  // CHECK: "onnx.ArgMax"
  // CHECK-SAME: onnx_dim_params = ["0:batch,1:length"]
  // CHECK-SAME: -> tensor<?x?x1xi64>
  %1 = "onnx.ArgMax"(%x) {axis = -1 : si64} : (tensor<?x?x4xf32>) -> tensor<*xi64>
  onnx.Return %0, %1 : tensor<*xf32>, tensor<*xi64>
}

// -----

// Axes that come at run time still tell the rank.
// CHECK-LABEL: func.func @unknown_axes
// CHECK-SAME: -> (tensor<?x?x?xf32>, tensor<?xf32>, tensor<*xf32>)
func.func @unknown_axes(%x: tensor<2x3x4xf32>, %two: tensor<2xi64>, %any: tensor<?xi64>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.ReduceSum"(%x, %any) : (tensor<2x3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  %1 = "onnx.ReduceSum"(%x, %two) {keepdims = 0 : si64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %2 = "onnx.ReduceSum"(%x, %any) {keepdims = 0 : si64} : (tensor<2x3x4xf32>, tensor<?xi64>) -> tensor<*xf32>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// The sizes of other tensors are followed through reductions of shapes.
// CHECK-LABEL: func.func @contents
func.func @contents(%x: tensor<?x3x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"})
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %shape = "onnx.Shape"(%x) : (tensor<?x3x4xf32>) -> tensor<*xi64>
  %size = "onnx.ReduceProd"(%shape, %none) : (tensor<*xi64>, none) -> tensor<*xi64>
  %sum = "onnx.ReduceSum"(%shape, %none) : (tensor<*xi64>, none) -> tensor<*xi64>
  %static = onnx.Constant dense<[5, 7, 6]> : tensor<3xi64>
  %zero = onnx.Constant dense<0> : tensor<1xi64>
  %max = "onnx.ReduceMax"(%static, %zero) : (tensor<3xi64>, tensor<1xi64>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape
  // CHECK-SAME: onnx_dim_params = ["0:12*batch"]
  %0 = "onnx.ConstantOfShape"(%size) : (tensor<*xi64>) -> tensor<*xf32>
  // CHECK: onnx.ConstantOfShape
  // CHECK-SAME: onnx_dim_params = ["0:batch+7"]
  %1 = "onnx.ConstantOfShape"(%sum) : (tensor<*xi64>) -> tensor<*xf32>
  // CHECK: onnx.ConstantOfShape
  // CHECK-SAME: -> tensor<7xf32>
  %2 = "onnx.ConstantOfShape"(%max) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @along_one_axis
// CHECK-SAME: -> (tensor<2xi64>, tensor<2x8xf32>, tensor<2x3xf32>, tensor<2x3xi64>, tensor<?x8xf32>)
func.func @along_one_axis(%x: tensor<2x8xf32>, %axis: tensor<i32>, %k: tensor<1xi64>)
    -> (tensor<*xi64>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>) {
  %three = onnx.Constant dense<3> : tensor<1xi64>
  %arg = "onnx.ArgMin"(%x) {axis = 1 : si64, keepdims = 0 : si64} : (tensor<2x8xf32>) -> tensor<*xi64>
  %sum = "onnx.CumSum"(%x, %axis) : (tensor<2x8xf32>, tensor<i32>) -> tensor<*xf32>
  %v, %i = "onnx.TopK"(%x, %three) : (tensor<2x8xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  %w, %j = "onnx.TopK"(%x, %k) {axis = 0 : si64} : (tensor<2x8xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  onnx.Return %arg, %sum, %v, %i, %w : tensor<*xi64>, tensor<*xf32>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @data_dependent
// CHECK-SAME: -> (tensor<?x3xi64>, tensor<2x?xi64>, tensor<?xf32>, tensor<12xi64>, tensor<?x3xf32>, tensor<4xi64>)
func.func @data_dependent(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %x: tensor<4x3xf32>)
    -> (tensor<*xi64>, tensor<*xi64>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>, tensor<*xi64>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.NonMaxSuppression"(%boxes, %scores, %none, %none, %none)
      : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, none, none, none) -> tensor<*xi64>
  %1 = "onnx.NonZero"(%x) : (tensor<4x3xf32>) -> tensor<*xi64>
  %2:4 = "onnx.Unique"(%x) : (tensor<4x3xf32>) -> (tensor<*xf32>, none, tensor<*xi64>, tensor<*xi64>)
  %3:4 = "onnx.Unique"(%x) <{axis = 0 : si64}> : (tensor<4x3xf32>) -> (tensor<*xf32>, none, tensor<*xi64>, none)
  onnx.Return %0, %1, %2#0, %2#2, %3#0, %3#2
      : tensor<*xi64>, tensor<*xi64>, tensor<*xf32>, tensor<*xi64>, tensor<*xf32>, tensor<*xi64>
}

// -----

func.func @axis_out_of_range(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axes = onnx.Constant dense<2> : tensor<1xi64>
  // expected-error @+1 {{expects axes within rank 2, but got 2}}
  %0 = "onnx.ReduceSum"(%x, %axes) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

func.func @too_many_axes(%x: tensor<2xf32>, %axes: tensor<3xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects at most 1 axes, but got 3}}
  %0 = "onnx.ReduceSum"(%x, %axes) {keepdims = 0 : si64} : (tensor<2xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

func.func @too_many_wanted(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %k = onnx.Constant dense<4> : tensor<1xi64>
  // expected-error @+1 {{expects K of at most 3, but got 4}}
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  onnx.Return %v : tensor<*xf32>
}

// -----

func.func @negative_count(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %k = onnx.Constant dense<-1> : tensor<1xi64>
  // expected-error @+1 {{expects K of at least 0, but got -1}}
  %v, %i = "onnx.TopK"(%x, %k) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  onnx.Return %v : tensor<*xf32>
}

// -----

func.func @sum_along_no_axis(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %axis = onnx.Constant dense<5> : tensor<i64>
  // expected-error @+1 {{expects an axis within rank 2, but got 5}}
  %0 = "onnx.CumSum"(%x, %axis) : (tensor<2x3xf32>, tensor<i64>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}
