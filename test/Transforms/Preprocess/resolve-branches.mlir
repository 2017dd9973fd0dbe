// RUN: onnxq-opt %s --onnx-shape-inference --onnx-resolve-branches --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnx-to-llvm --split-input-file -o /dev/null

// CHECK-LABEL: func @known_condition
// CHECK-NOT: onnx.If
// CHECK: %[[R:.*]] = "onnx.Relu"(%arg0)
// CHECK: onnx.Return %[[R]]
func.func @known_condition(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %shape = "onnx.Shape"(%x) {start = 0 : si64, end = 1 : si64} : (tensor<2x3xf32>) -> tensor<1xi64>
  %c = "onnx.Equal"(%shape, %two) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %r = "onnx.If"(%c) ({
    %a = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield %a : tensor<2x3xf32>
  }, {
    onnx.Yield %x : tensor<2x3xf32>
  }) : (tensor<1xi1>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// -----

// What follows moves into the branches, and the question about the rank that
// it asks has an answer in each.
// CHECK-LABEL: func @several_ranks
// CHECK: %[[IF:.*]] = "onnx.If"(%arg1) ({
// CHECK: %[[S:.*]] = "onnx.Squeeze"
// CHECK: "onnx.Relu"(%[[S]]){{.*}} -> tensor<?x8xf32>
// CHECK-NOT: onnx.If
// CHECK: }, {
// CHECK: "onnx.Relu"(%arg0){{.*}} -> tensor<?x8x?xf32>
// CHECK: "onnx.ReduceSum"{{.*}} -> tensor<?x8xf32>
// CHECK: }){{.*}} -> tensor<?x8xf32>
// CHECK: onnx.Return %[[IF]] : tensor<?x8xf32>
func.func @several_ranks(%x: tensor<?x8x?xf32>, %c: tensor<i1>) -> tensor<?x8xf32> {
  %axis = onnx.Constant dense<2> : tensor<1xi64>
  %three = onnx.Constant dense<3> : tensor<i64>
  %v = "onnx.If"(%c) ({
    %s = "onnx.Squeeze"(%x, %axis) : (tensor<?x8x?xf32>, tensor<1xi64>) -> tensor<?x8xf32>
    onnx.Yield %s : tensor<?x8xf32>
  }, {
    onnx.Yield %x : tensor<?x8x?xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  %y = "onnx.Relu"(%v) : (tensor<*xf32>) -> tensor<*xf32>
  %shape = "onnx.Shape"(%y) {start = 0 : si64} : (tensor<*xf32>) -> tensor<?xi64>
  %rank = "onnx.Size"(%shape) : (tensor<?xi64>) -> tensor<i64>
  %d = "onnx.Equal"(%rank, %three) : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %r = "onnx.If"(%d) ({
    %z = "onnx.ReduceSum"(%y, %axis) {keepdims = 0 : si64} : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    onnx.Yield %z : tensor<*xf32>
  }, {
    onnx.Yield %y : tensor<*xf32>
  }) : (tensor<i1>) -> tensor<?x8xf32>
  onnx.Return %r : tensor<?x8xf32>
}

// -----

// A branch for other shapes than those at hand fails when it is run.
// CHECK-LABEL: func @branch_for_other_shapes
// CHECK: "onnx.If"(%arg1) ({
// CHECK: %[[NO:.*]] = arith.constant false
// CHECK: cf.assert %[[NO]], "node 'product': expects
// CHECK: onnx.Yield %{{.*}} : tensor<2x3xf32>
// CHECK: }, {
// CHECK: onnx.Yield %arg0 : tensor<2x3xf32>
// CHECK: }){{.*}} -> tensor<2x3xf32>
func.func @branch_for_other_shapes(%x: tensor<2x3xf32>, %c: tensor<i1>) -> tensor<2x3xf32> {
  %r = "onnx.If"(%c) ({
    %t = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
    %a = "onnx.MatMul"(%t, %t) {onnx_node_name = "product"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %a : tensor<*xf32>
  }, {
    onnx.Yield %x : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// An output has one rank: that which the model states.
// CHECK-LABEL: func @output_of_two_ranks
// CHECK: "onnx.If"(%arg1) ({
// CHECK: cf.assert %{{.*}}, "output 'y' has rank 1, but the model states 2"
// CHECK: }){{.*}} -> tensor<2x3xf32>
func.func @output_of_two_ranks(%x: tensor<2x3xf32>, %c: tensor<i1>) -> (tensor<?x?xf32> {onnx.name = "y"}) {
  %flat = onnx.Constant dense<-1> : tensor<1xi64>
  %r = "onnx.If"(%c) ({
    %a = "onnx.Reshape"(%x, %flat) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<6xf32>
    onnx.Yield %a : tensor<6xf32>
  }, {
    onnx.Yield %x : tensor<2x3xf32>
  }) : (tensor<i1>) -> tensor<?x?xf32>
  onnx.Return %r : tensor<?x?xf32>
}
