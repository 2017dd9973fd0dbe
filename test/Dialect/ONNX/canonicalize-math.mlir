// Ops of the Math family that hand on an operand go away; others stay.
//
// RUN: onnxq-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @cast_to_own_type(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
func.func @cast_to_own_type(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NOT: onnx.Cast
  // CHECK: onnx.Return %[[X]]
  %y = "onnx.Cast"(%x) {to = f32} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// A cast that loses the shape is for shape inference to repair.
// CHECK-LABEL: func.func @cast_of_other_shape(
func.func @cast_of_other_shape(%x: tensor<2xf32>) -> tensor<*xf32> {
  // CHECK: "onnx.Cast"
  %y = "onnx.Cast"(%x) {to = f32} : (tensor<2xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @cast_of_unknown(
func.func @cast_of_unknown(%x: tensor<*x!onnx.Unknown>) -> tensor<*x!onnx.Unknown> {
  // CHECK: "onnx.Cast"
  %y = "onnx.Cast"(%x) {to = f32} : (tensor<*x!onnx.Unknown>) -> tensor<*x!onnx.Unknown>
  onnx.Return %y : tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: func.func @cast_like_own_type(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %
func.func @cast_like_own_type(%x: tensor<2xf32>, %t: tensor<f32>) -> tensor<2xf32> {
  // CHECK-NOT: onnx.CastLike
  // CHECK: onnx.Return %[[X]]
  %y = "onnx.CastLike"(%x, %t) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @clip_without_limits(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
func.func @clip_without_limits(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NOT: onnx.Clip
  // CHECK: onnx.Return %[[X]]
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Clip"(%x, %none, %none) : (tensor<2xf32>, none, none) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @clip_with_a_limit(
func.func @clip_with_a_limit(%x: tensor<2xf32>, %max: tensor<f32>) -> tensor<2xf32> {
  // CHECK: "onnx.Clip"
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Clip"(%x, %none, %max) : (tensor<2xf32>, none, tensor<f32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @one_operand(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>
func.func @one_operand(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: onnx.Return %[[X]]
  %0 = "onnx.Max"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "onnx.Min"(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "onnx.Sum"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "onnx.Mean"(%2) : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %3 : tensor<2xf32>
}

// CHECK-LABEL: func.func @two_operands(
func.func @two_operands(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: "onnx.Sum"
  %y = "onnx.Sum"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
