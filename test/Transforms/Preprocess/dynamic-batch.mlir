// The batch made a named dimension, and models that refuse it.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-dynamic-batch | FileCheck %s

// CHECK-LABEL: @copied(
// CHECK-SAME: tensor<?x8xf32> {onnx.dim_params = "0:N"}) -> (tensor<?x2x4xf32> {onnx.dim_params = "0:N"})
// CHECK: [[S:%.+]] = onnx.Constant {{.*}}dense<[0, 2, 4]>
// CHECK: "onnx.Reshape"(%arg0, [[S]])
func.func @copied(%x: tensor<1x8xf32>) -> tensor<1x2x4xf32> {
  %s = onnx.Constant {onnx_result_names = ["s"]} dense<[1, 2, 4]> : tensor<3xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<1x8xf32>, tensor<3xi64>) -> tensor<1x2x4xf32>
  onnx.Return %y : tensor<1x2x4xf32>
}

// -----

// The batch is copied, so that another dimension can be inferred.
// CHECK-LABEL: @copied_beside_inferred(
// CHECK: onnx.Constant {{.*}}dense<[0, 2, -1]>
// CHECK: -> tensor<?x2x4xf32>
func.func @copied_beside_inferred(%x: tensor<1x8xf32>) -> tensor<1x2x4xf32> {
  %s = onnx.Constant {onnx_result_names = ["s"]} dense<[1, 2, -1]> : tensor<3xi64>
  %y = "onnx.Reshape"(%x, %s) : (tensor<1x8xf32>, tensor<3xi64>) -> tensor<1x2x4xf32>
  onnx.Return %y : tensor<1x2x4xf32>
}

// -----

// Behind a transpose the batch is inferred.
// CHECK-LABEL: @inferred(
// CHECK: onnx.Constant {{.*}}dense<[-1, 8]>
// CHECK: -> tensor<?x8xf32>
func.func @inferred(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %s = onnx.Constant {onnx_result_names = ["s"]} dense<[1, 8]> : tensor<2xi64>
  %0 = "onnx.Transpose"(%x) {perm = [1, 0]} : (tensor<1x8xf32>) -> tensor<8x1xf32>
  %y = "onnx.Reshape"(%0, %s) : (tensor<8x1xf32>, tensor<2xi64>) -> tensor<1x8xf32>
  onnx.Return %y : tensor<1x8xf32>
}

// -----

// A Reshape of a weight has nothing to do with the batch.
// CHECK-LABEL: @weight(
// CHECK: dense<[1, 8]>
func.func @weight(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %s = onnx.Constant dense<[1, 8]> : tensor<2xi64>
  %w = onnx.Constant dense<1.0> : tensor<8xf32>
  %0 = "onnx.Reshape"(%w, %s) : (tensor<8xf32>, tensor<2xi64>) -> tensor<1x8xf32>
  %y = "onnx.Add"(%x, %0) : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  onnx.Return %y : tensor<1x8xf32>
}

// -----

func.func @fixed(%x: tensor<2x8xf32>) -> tensor<16xf32> {
  %s = onnx.Constant dense<16> : tensor<1xi64>
  // expected-error@+1 {{fixes the batch to 2, so it can't be made dynamic: its input has dimensions Nx8}}
  %y = "onnx.Reshape"(%x, %s) : (tensor<2x8xf32>, tensor<1xi64>) -> tensor<16xf32>
  onnx.Return %y : tensor<16xf32>
}

// -----

// expected-error@+1 {{expects one batch for all inputs, but input 'b' has 3 where others have 2}}
func.func @two_batches(%a: tensor<2x8xf32> {onnx.name = "a"}, %b: tensor<3x8xf32> {onnx.name = "b"}) -> tensor<2x8xf32> {
  onnx.Return %a : tensor<2x8xf32>
}

// -----

// expected-error@+1 {{expects every output to have the batch, but output 'y' doesn't}}
func.func @lost(%x: tensor<1x8xf32>) -> (tensor<1x8xf32> {onnx.name = "y"}) {
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %y = "onnx.ReduceSum"(%x, %axes) : (tensor<1x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  onnx.Return %y : tensor<1x8xf32>
}

// -----

func.func @constant_of_a_batch(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %w = onnx.Constant dense<1.0> : tensor<3x8xf32>
  // expected-error@+1 {{expects operands that broadcast}}
  %y = "onnx.Add"(%x, %w) : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  onnx.Return %y : tensor<3x8xf32>
}
