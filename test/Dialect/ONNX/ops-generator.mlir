// Every op of the Generator family parses, prints and parses again, as text and as
// bytecode.
//
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @bernoulli(
// CHECK-SAME: %[[P:.*]]: tensor<2x3xf32>
func.func @bernoulli(%p: tensor<2x3xf32>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Bernoulli"(%[[P]]) <{dtype = 9 : si64, seed = 5.000000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %y = "onnx.Bernoulli"(%p) {dtype = 9 : si64, seed = 5.0 : f32}
      : (tensor<2x3xf32>) -> tensor<2x3xi1>
  onnx.Return %y : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @constant_of_shape(
// CHECK-SAME: %[[SHAPE:.*]]: tensor<2xi64>
func.func @constant_of_shape(%shape: tensor<2xi64>) -> tensor<?x?xi64> {
  // CHECK: onnx.ConstantOfShape(%[[SHAPE]]) {value = dense<1> : tensor<1xi64>} : (tensor<2xi64>) -> tensor<?x?xi64>
  %y = "onnx.ConstantOfShape"(%shape) {value = dense<1> : tensor<1xi64>}
      : (tensor<2xi64>) -> tensor<?x?xi64>
  onnx.Return %y : tensor<?x?xi64>
}

// CHECK-LABEL: func.func @eye_like(
// CHECK-SAME: %[[X:.*]]: tensor<3x4xi32>
func.func @eye_like(%x: tensor<3x4xi32>) -> tensor<3x4xf32> {
  // CHECK: "onnx.EyeLike"(%[[X]]) <{dtype = 1 : si64, k = 1 : si64}> : (tensor<3x4xi32>) -> tensor<3x4xf32>
  %y = "onnx.EyeLike"(%x) {dtype = 1 : si64, k = 1 : si64} : (tensor<3x4xi32>) -> tensor<3x4xf32>
  onnx.Return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @multinomial(
// CHECK-SAME: %[[X:.*]]: tensor<2x10xf32>
func.func @multinomial(%x: tensor<2x10xf32>) -> tensor<2x4xi64> {
  // CHECK: "onnx.Multinomial"(%[[X]]) <{dtype = 7 : si64, sample_size = 4 : si64, seed = 5.000000e+00 : f32}> : (tensor<2x10xf32>) -> tensor<2x4xi64>
  %y = "onnx.Multinomial"(%x) {dtype = 7 : si64, sample_size = 4 : si64, seed = 5.0 : f32}
      : (tensor<2x10xf32>) -> tensor<2x4xi64>
  onnx.Return %y : tensor<2x4xi64>
}

// CHECK-LABEL: func.func @random_normal_like(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi32>
func.func @random_normal_like(%x: tensor<2x3xi32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.RandomNormalLike"(%[[X]]) <{dtype = 1 : si64, mean = 0.000000e+00 : f32, scale = 2.000000e+00 : f32, seed = 5.000000e+00 : f32}> : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %y = "onnx.RandomNormalLike"(%x) {dtype = 1 : si64, mean = 0.0 : f32, scale = 2.0 : f32, seed = 5.0 : f32}
      : (tensor<2x3xi32>) -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @random_normal(
func.func @random_normal() -> tensor<2x3xf32> {
  // CHECK: "onnx.RandomNormal"() <{dtype = 1 : si64, mean = 0.000000e+00 : f32, scale = 2.000000e+00 : f32, seed = 5.000000e+00 : f32, shape = [2, 3]}> : () -> tensor<2x3xf32>
  %y = "onnx.RandomNormal"() {dtype = 1 : si64, mean = 0.0 : f32, scale = 2.0 : f32, seed = 5.0 : f32, shape = [2, 3]}
      : () -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @random_uniform_like(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi32>
func.func @random_uniform_like(%x: tensor<2x3xi32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.RandomUniformLike"(%[[X]]) <{dtype = 1 : si64, high = 2.000000e+00 : f32, low = 1.000000e+00 : f32, seed = 5.000000e+00 : f32}> : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %y = "onnx.RandomUniformLike"(%x) {dtype = 1 : si64, high = 2.0 : f32, low = 1.0 : f32, seed = 5.0 : f32}
      : (tensor<2x3xi32>) -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @random_uniform(
func.func @random_uniform() -> tensor<2x3xf32> {
  // CHECK: "onnx.RandomUniform"() <{dtype = 1 : si64, high = 2.000000e+00 : f32, low = 1.000000e+00 : f32, seed = 5.000000e+00 : f32, shape = [2, 3]}> : () -> tensor<2x3xf32>
  %y = "onnx.RandomUniform"() {dtype = 1 : si64, high = 2.0 : f32, low = 1.0 : f32, seed = 5.0 : f32, shape = [2, 3]}
      : () -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @range(
// CHECK-SAME: %[[START:.*]]: tensor<i64>, %[[LIMIT:.*]]: tensor<i64>, %[[DELTA:.*]]: tensor<i64>
func.func @range(%start: tensor<i64>, %limit: tensor<i64>, %delta: tensor<i64>) -> tensor<?xi64> {
  // CHECK: "onnx.Range"(%[[START]], %[[LIMIT]], %[[DELTA]]) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %y = "onnx.Range"(%start, %limit, %delta)
      : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  onnx.Return %y : tensor<?xi64>
}
