// RUN: onnxq-opt %s --onnx-to-linalg | FileCheck %s

// Sizes are read and checked at run time; the known one isn't.
// CHECK-LABEL: func.func @constant_of_shape
func.func @constant_of_shape(%shape: tensor<2xi64>) -> tensor<?x4xi8> {
  // CHECK: %[[SIZE:.*]] = tensor.extract
  // CHECK: cf.assert %{{.*}}, "node 'ConstantOfShape': a size of the shape is negative or too large"
  // CHECK-NOT: cf.assert
  // CHECK: linalg.fill {{.*}} -> tensor<?x4xi8>
  %y = "onnx.ConstantOfShape"(%shape) {value = dense<7> : tensor<1xi8>} : (tensor<2xi64>) -> tensor<?x4xi8>
  onnx.Return %y : tensor<?x4xi8>
}

// CHECK-LABEL: func.func @range
func.func @range(%start: tensor<i64>, %limit: tensor<i64>, %delta: tensor<i64>) -> tensor<?xi64> {
  // CHECK: cf.assert %{{.*}}, "node 'Range': the delta of a range is zero"
  // CHECK: arith.divui
  // CHECK: linalg.generic
  %y = "onnx.Range"(%start, %limit, %delta) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  onnx.Return %y : tensor<?xi64>
}

// CHECK-LABEL: func.func @eye
func.func @eye(%x: tensor<?x3xf32>) -> tensor<?x3xi1> {
  // CHECK: linalg.generic
  // CHECK: linalg.index 0
  // CHECK: linalg.index 1
  %y = "onnx.EyeLike"(%x) {dtype = 9 : si64, k = 1 : si64} : (tensor<?x3xf32>) -> tensor<?x3xi1>
  onnx.Return %y : tensor<?x3xi1>
}

// Random elements are functions of their place.
// CHECK-LABEL: func.func @random
func.func @random() -> tensor<2x3xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.xori
  // CHECK: math.log
  // CHECK: math.cos
  %y = "onnx.RandomNormal"() {dtype = 1 : si64, mean = 0.0 : f32, scale = 2.0 : f32, seed = 5.0 : f32, shape = [2, 3]} : () -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}
