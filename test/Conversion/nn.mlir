// RUN: onnxq-opt %s --onnx-to-linalg --canonicalize | FileCheck %s

// The padding is less than any element, and the window is written out.
// CHECK-LABEL: func.func @max_pool
func.func @max_pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> {
  // CHECK: arith.constant 0xFF800000 : f32
  // CHECK: tensor.insert_slice %{{.*}}[0, 0, 1, 1] [1, 2, 8, 8]
  // CHECK: linalg.generic
  // CHECK-COUNT-9: arith.maximumf
  // CHECK: linalg.yield
  %y, %i = "onnx.MaxPool"(%x) {auto_pad = "NOTSET", kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
      : (tensor<1x2x8x8xf32>) -> (tensor<1x2x8x8xf32>, none)
  onnx.Return %y : tensor<1x2x8x8xf32>
}

// Without padding all windows have the same number of elements.
// CHECK-LABEL: func.func @average_pool
func.func @average_pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: arith.constant 4.000000e+00 : f32
  // CHECK-NOT: insert_slice
  // CHECK: arith.divf
  %y = "onnx.AveragePool"(%x) {auto_pad = "NOTSET", kernel_shape = [2, 2], strides = [2, 2]}
      : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  onnx.Return %y : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func.func @average_pool_dynamic
func.func @average_pool_dynamic(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'AveragePool': the window is larger than the padded input"
  %y = "onnx.AveragePool"(%x) {auto_pad = "NOTSET", kernel_shape = [2, 2]}
      : (tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  onnx.Return %y : tensor<?x?x?x?xf32>
}

// The largest element is subtracted first.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  // CHECK: arith.maximumf
  // CHECK: arith.subf
  // CHECK: math.exp %{{.*}} : f32
  // CHECK: arith.addf
  // CHECK: arith.divf
  %y = "onnx.Softmax"(%x) {axis = 1 : si64} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  onnx.Return %y : tensor<2x3xf16>
}

// The factor of a channel is computed once.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>) -> tensor<2x3x4xf32> {
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x1xf32>)
  // CHECK: math.sqrt
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3x4xf32>)
  // CHECK-NOT: math.sqrt
  %y, %m, %v = "onnx.BatchNormalization"(%x, %c, %c, %c, %c)
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, none, none)
  onnx.Return %y : tensor<2x3x4xf32>
}

// Classes are looked at before they index anything.
// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<3x5xf32>, %t: tensor<3xi64>) -> tensor<f32> {
  // CHECK: cf.assert %{{.*}}, "node 'NegativeLogLikelihoodLoss': a target is not a class"
  // CHECK: tensor.extract
  %none = "onnx.NoValue"() {value} : () -> none
  %l = "onnx.NegativeLogLikelihoodLoss"(%x, %t, %none) {reduction = "mean"}
      : (tensor<3x5xf32>, tensor<3xi64>, none) -> tensor<f32>
  onnx.Return %l : tensor<f32>
}
