// RUN: onnxq-opt %s --canonicalize | FileCheck %s

// A branch that a constant takes comes in the place of the op.
// CHECK-LABEL: func.func @constant_condition
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
func.func @constant_condition(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: onnx.If
  // CHECK: %[[R:.*]] = "onnx.Relu"(%[[X]])
  // CHECK: onnx.Return %[[R]], %[[X]]
  %true = onnx.Constant dense<true> : tensor<i1>
  %false = onnx.Constant dense<false> : tensor<1xi1>
  %a = "onnx.If"(%true) ({
    %r = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %r : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %b = "onnx.If"(%false) ({
    %r = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %r : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<1xi1>) -> tensor<4xf32>
  onnx.Return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// It doesn't matter which branch is taken.
// CHECK-LABEL: func.func @same_values
// CHECK-SAME: %[[C:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
func.func @same_values(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[IF:.*]] = "onnx.If"(%[[C]])
  // CHECK: onnx.Return %[[X]], %[[IF]]
  %a = "onnx.If"(%c) ({
    onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %b = "onnx.If"(%c) ({
    onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %y : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  onnx.Return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// Values of other types than the results stay where they are.
// CHECK-LABEL: func.func @other_types
func.func @other_types(%x: tensor<4xf32>) -> tensor<*xf32> {
  // CHECK: onnx.If
  %true = onnx.Constant dense<true> : tensor<i1>
  %a = "onnx.If"(%true) ({
    onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  onnx.Return %a : tensor<*xf32>
}

// CHECK-LABEL: func.func @unused
func.func @unused(%m: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK-NEXT: return
  %none = "onnx.NoValue"() {value} : () -> none
  %a = "onnx.If"(%c) ({
    %r = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %r : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %l = "onnx.Loop"(%m, %none, %x) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    onnx.Yield %cond, %s : tensor<i1>, tensor<4xf32>
  }) : (tensor<i64>, none, tensor<4xf32>) -> tensor<4xf32>
  return
}

// An op of an unknown domain may do anything.
// CHECK-LABEL: func.func @effects
func.func @effects(%c: tensor<i1>, %x: tensor<4xf32>) {
  // CHECK: onnx.If
  // CHECK: onnx.Custom
  %a = "onnx.If"(%c) ({
    %y = "onnx.Custom"(%x) {domain_name = "my.ops", function_name = "Print"} : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %x : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}
