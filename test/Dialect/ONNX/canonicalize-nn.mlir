// Dropout in inference and the other spelling of batch normalization go away.
// RUN: onnxq-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @dropout_without_mode
// CHECK-SAME: (%[[X:.+]]: tensor<2x3xf32>)
// CHECK-NEXT: onnx.Return %[[X]]
func.func @dropout_without_mode(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y, %mask = "onnx.Dropout"(%x, %none, %none) {seed = 1 : si64}
      : (tensor<2x3xf32>, none, none) -> (tensor<2x3xf32>, none)
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @dropout_mask
// CHECK-SAME: (%[[X:.+]]: tensor<2x3xf32>)
// CHECK: %[[MASK:.+]] = onnx.Constant dense<true> : tensor<2x3xi1>
// CHECK: onnx.Return %[[X]], %[[MASK]]
func.func @dropout_mask(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  %ratio = onnx.Constant dense<0.5> : tensor<f32>
  %mode = onnx.Constant dense<false> : tensor<i1>
  %y, %mask = "onnx.Dropout"(%x, %ratio, %mode)
      : (tensor<2x3xf32>, tensor<f32>, tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  onnx.Return %y, %mask : tensor<2x3xf32>, tensor<2x3xi1>
}

// Two that drop at random stay two, used or not.
// CHECK-LABEL: @dropout_training
// CHECK-COUNT-2: "onnx.Dropout"
func.func @dropout_training(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %mode = onnx.Constant dense<true> : tensor<i1>
  %y, %mask = "onnx.Dropout"(%x, %none, %mode)
      : (tensor<2x3xf32>, none, tensor<i1>) -> (tensor<2x3xf32>, none)
  %z, %other = "onnx.Dropout"(%x, %none, %mode)
      : (tensor<2x3xf32>, none, tensor<i1>) -> (tensor<2x3xf32>, none)
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @dropout_unknown_mode
// CHECK: "onnx.Dropout"
func.func @dropout_unknown_mode(%x: tensor<2x3xf32>, %mode: tensor<i1>) -> tensor<2x3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y, %mask = "onnx.Dropout"(%x, %none, %mode)
      : (tensor<2x3xf32>, none, tensor<i1>) -> (tensor<2x3xf32>, none)
  onnx.Return %y : tensor<2x3xf32>
}

// A result whose type says less stays until shapes are inferred.
// CHECK-LABEL: @dropout_of_other_type
// CHECK: "onnx.Dropout"
func.func @dropout_of_other_type(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %y, %mask = "onnx.Dropout"(%x, %none, %none)
      : (tensor<2x3xf32>, none, none) -> (tensor<*xf32>, none)
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: @batch_normalization_inference_mode
// CHECK: "onnx.BatchNormalization"(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) <{epsilon = 1.000000e-03 : f32, momentum = 5.000000e-01 : f32, training_mode = 0 : si64}> {onnx_node_name = "bn"}
// CHECK-SAME: -> (tensor<2x3x4xf32>, none, none)
func.func @batch_normalization_inference_mode(
    %x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>)
    -> tensor<2x3x4xf32> {
  %y = "onnx.BatchNormalizationInferenceMode"(%x, %s, %b, %m, %v) {epsilon = 1.0e-03 : f32, momentum = 0.5 : f32, onnx_node_name = "bn"}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  onnx.Return %y : tensor<2x3x4xf32>
}
