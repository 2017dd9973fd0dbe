// Which ops become kernels, and what stands around them.
// RUN: onnxq-opt %s --onnx-to-kernels --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x2x5x5xf32>, %b: tensor<3xf32>) -> tensor<1x3x5x5xf32> {
  %w = onnx.Constant dense<[[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], [[[7.0, 8.0, 9.0]], [[10.0, 11.0, 12.0]]], [[[13.0, 14.0, 15.0]], [[16.0, 17.0, 18.0]]]]> : tensor<3x2x1x3xf32>
  // Taps, then channels, then columns.
  // CHECK: %[[W:.*]] = onnx.Constant dense<{{\[\[\[}}1.000000e+00, 7.000000e+00, 1.300000e+01], [4.000000e+00, 1.000000e+01, 1.600000e+01], [2.000000e+00, 8.000000e+00
  // CHECK: %[[X:.*]] = "onnx.Transpose"(%{{.*}}) <{perm = [0, 2, 3, 1]}> : (tensor<1x2x5x5xf32>) -> tensor<1x5x5x2xf32>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<1x5x5x3xf32>
  // CHECK: %[[Y:.*]] = onnxq.contract ins(%[[X]], %[[W]] : tensor<1x5x5x2xf32>, tensor<1x6x3xf32>) epilogue(%{{.*}} : tensor<3xf32>) outs(%[[E]] : tensor<1x5x5x3xf32>)
  // CHECK-SAME: pads = array<i64: 0, 1, 0, 1>
  // CHECK: arith.addf
  // CHECK: "onnx.Transpose"(%[[Y]]) <{perm = [0, 3, 1, 2]}>
  %y = "onnx.Conv"(%x, %w, %b) {auto_pad = "NOTSET", group = 1 : si64, kernel_shape = [1, 3], pads = [0, 1, 0, 1]} : (tensor<1x2x5x5xf32>, tensor<3x2x1x3xf32>, tensor<3xf32>) -> tensor<1x3x5x5xf32>
  onnx.Return %y : tensor<1x3x5x5xf32>
}

// -----

// Rows of a 1x1 convolution are those of a matrix; small floats are f32 inside.
// CHECK-LABEL: func.func @point
func.func @point(%x: tensor<?x2x?x5xf16>) -> tensor<?x4x?x5xf16> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<1.0> : tensor<4x2x1x1xf16>
  // CHECK: "onnx.Cast"(%{{.*}}) {{.*}} -> tensor<?x2x?x5xf32>
  // CHECK: onnxq.contract ins(%{{.*}}, %{{.*}} : tensor<?x?x5x2xf32>, tensor<1x2x4xf32>) outs(%{{.*}} : tensor<?x?x5x4xf32>) {
  // CHECK: "onnx.Cast"(%{{.*}}) {{.*}} -> tensor<?x4x?x5xf16>
  %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64} : (tensor<?x2x?x5xf16>, tensor<4x2x1x1xf16>, none) -> tensor<?x4x?x5xf16>
  onnx.Return %y : tensor<?x4x?x5xf16>
}

// -----

// One convolution per phase, each with the taps that reach it.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<1x4x5xf32>) -> tensor<1x6x10xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<1.0> : tensor<4x6x4xf32>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<1x10x6xf32>
  // CHECK: %[[S0:.*]] = tensor.extract_slice %[[E]][0, 0, 0] [1, 5, 6] [1, 2, 1]
  // CHECK: onnxq.contract {{.*}} tensor<1x8x6xf32>) outs(%[[S0]] : {{.*}}kernel = array<i64: 2>, pads = array<i64: 1, 0>
  // CHECK: %[[Y0:.*]] = tensor.insert_slice
  // CHECK: %[[S1:.*]] = tensor.extract_slice %[[Y0]][0, 1, 0] [1, 5, 6] [1, 2, 1]
  // CHECK: onnxq.contract {{.*}} outs(%[[S1]] : {{.*}}kernel = array<i64: 2>, pads = array<i64: 0, 1>
  %y = "onnx.ConvTranspose"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64, pads = [1, 1], strides = [2]} : (tensor<1x4x5xf32>, tensor<4x6x4xf32>, none) -> tensor<1x6x10xf32>
  onnx.Return %y : tensor<1x6x10xf32>
}

// -----

// CHECK-LABEL: func.func @gemm
func.func @gemm(%a: tensor<3x5xf32>, %c: tensor<4x1xf32>) -> tensor<5x4xf32> {
  %b = onnx.Constant dense<1.0> : tensor<4x3xf32>
  %c5 = onnx.Constant dense<2.0> : tensor<5x1xf32>
  // CHECK: onnxq.contract ins(%{{.*}}, %{{.*}} : tensor<5x3xf32>, tensor<1x3x4xf32>) epilogue(%{{.*}} : tensor<5x1xf32>)
  // CHECK-SAME: epilogue_maps = [#[[MAP:.*]]]
  // CHECK: arith.mulf
  %y = "onnx.Gemm"(%a, %b, %c5) {alpha = 0.5 : f32, beta = 1.0 : f32, transA = 1 : si64, transB = 1 : si64} : (tensor<3x5xf32>, tensor<4x3xf32>, tensor<5x1xf32>) -> tensor<5x4xf32>
  onnx.Return %y : tensor<5x4xf32>
}

// -----

// CHECK-LABEL: func.func @batched
func.func @batched(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: onnxq.contract {{.*}} attributes {batched}
  %y = "onnx.MatMul"(%a, %b) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  onnx.Return %y : tensor<2x3x5xf32>
}

// -----

// What kernels can't do stays.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: onnxq.contract
func.func @stays(%x: tensor<1x2x?x5xf32>, %w: tensor<4x2x1x1xf32>, %d: tensor<1x2x5x5xf64>, %a: tensor<2x?x4xf32>, %b: tensor<?x4x5xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %v = onnx.Constant dense<1.0> : tensor<4x2x3x3xf32>
  %u = onnx.Constant dense<1.0> : tensor<4x2x1x1xf64>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x2x?x5xf32>, tensor<4x2x1x1xf32>, none) -> tensor<1x4x?x5xf32>
  %1 = "onnx.Conv"(%x, %v, %none) {auto_pad = "SAME_UPPER", strides = [2, 2]} : (tensor<1x2x?x5xf32>, tensor<4x2x3x3xf32>, none) -> tensor<1x4x?x3xf32>
  %2 = "onnx.Conv"(%d, %u, %none) : (tensor<1x2x5x5xf64>, tensor<4x2x1x1xf64>, none) -> tensor<1x4x5x5xf64>
  %3 = "onnx.MatMul"(%a, %b) : (tensor<2x?x4xf32>, tensor<?x4x5xf32>) -> tensor<2x?x5xf32>
  onnx.Return
}
