// Attention whose heads aren't in a dimension of their own, or are shared.
// RUN: onnxq-opt %s --onnx-to-kernels --split-input-file | FileCheck %s

// PyTorch's bmm: batches and heads are one dimension but where the mask is
// added. The kernel reads what was there before the transposes.
// CHECK-LABEL: func.func @bmm
// CHECK-SAME: (%[[Q:.*]]: tensor<2x5x3x8xf32>, %[[K:.*]]: tensor<2x7x3x8xf32>, %[[V:.*]]: tensor<2x7x3x8xf32>, %[[M:.*]]: tensor<2x1x5x7xf32>)
func.func @bmm(%q: tensor<2x5x3x8xf32>, %k: tensor<2x7x3x8xf32>, %v: tensor<2x7x3x8xf32>, %m: tensor<2x1x5x7xf32>) -> tensor<2x5x3x8xf32> {
  %all = onnx.Constant dense<[6, -1, 8]> : tensor<3xi64>
  %split = onnx.Constant dense<[2, 3, 5, 7]> : tensor<4xi64>
  %join = onnx.Constant dense<[6, 5, 7]> : tensor<3xi64>
  %back = onnx.Constant dense<[2, 3, 5, 8]> : tensor<4xi64>
  // CHECK-NOT: onnx.Transpose
  // CHECK: onnxq.attention ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) bias(%[[M]] : tensor<2x1x5x7xf32>) {{.*}} tokens_first = array<i1: true, true, true, true>}
  // CHECK-NOT: onnx.Softmax
  %0 = "onnx.Transpose"(%q) {perm = [0, 2, 1, 3]} : (tensor<2x5x3x8xf32>) -> tensor<2x3x5x8xf32>
  %1 = "onnx.Transpose"(%k) {perm = [0, 2, 1, 3]} : (tensor<2x7x3x8xf32>) -> tensor<2x3x7x8xf32>
  %2 = "onnx.Transpose"(%v) {perm = [0, 2, 1, 3]} : (tensor<2x7x3x8xf32>) -> tensor<2x3x7x8xf32>
  %3 = "onnx.Reshape"(%0, %all) : (tensor<2x3x5x8xf32>, tensor<3xi64>) -> tensor<6x5x8xf32>
  %4 = "onnx.Reshape"(%1, %all) : (tensor<2x3x7x8xf32>, tensor<3xi64>) -> tensor<6x7x8xf32>
  %5 = "onnx.Reshape"(%2, %all) : (tensor<2x3x7x8xf32>, tensor<3xi64>) -> tensor<6x7x8xf32>
  %6 = "onnx.Transpose"(%4) {perm = [0, 2, 1]} : (tensor<6x7x8xf32>) -> tensor<6x8x7xf32>
  %7 = "onnx.MatMul"(%3, %6) : (tensor<6x5x8xf32>, tensor<6x8x7xf32>) -> tensor<6x5x7xf32>
  %8 = "onnx.Reshape"(%7, %split) : (tensor<6x5x7xf32>, tensor<4xi64>) -> tensor<2x3x5x7xf32>
  %9 = "onnx.Add"(%8, %m) : (tensor<2x3x5x7xf32>, tensor<2x1x5x7xf32>) -> tensor<2x3x5x7xf32>
  %10 = "onnx.Reshape"(%9, %join) : (tensor<2x3x5x7xf32>, tensor<3xi64>) -> tensor<6x5x7xf32>
  %11 = "onnx.Softmax"(%10) {axis = -1 : si64} : (tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %12 = "onnx.MatMul"(%11, %5) : (tensor<6x5x7xf32>, tensor<6x7x8xf32>) -> tensor<6x5x8xf32>
  %13 = "onnx.Reshape"(%12, %back) : (tensor<6x5x8xf32>, tensor<4xi64>) -> tensor<2x3x5x8xf32>
  %14 = "onnx.Transpose"(%13) {perm = [0, 2, 1, 3]} : (tensor<2x3x5x8xf32>) -> tensor<2x5x3x8xf32>
  onnx.Return %14 : tensor<2x5x3x8xf32>
}

// -----

// An open first dimension is batches of one head; keys are turned at once.
// CHECK-LABEL: func.func @open
func.func @open(%q: tensor<?x?x8xf32> {onnx.dim_params = "0:b,1:s"}, %k: tensor<?x?x8xf32> {onnx.dim_params = "0:t,1:b"}, %v: tensor<?x?x8xf32> {onnx.dim_params = "0:b,1:t"}) -> tensor<?x?x8xf32> {
  // CHECK: %[[K:.*]] = "onnx.Transpose"(%arg1) <{perm = [1, 0, 2]}>
  // CHECK: onnxq.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32>)
  // CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] : tensor<?x1x?x8xf32> into tensor<?x?x8xf32>
  %0 = "onnx.Transpose"(%k) {perm = [1, 2, 0]} : (tensor<?x?x8xf32>) -> tensor<?x8x?xf32>
  %1 = "onnx.MatMul"(%q, %0) {onnx_dim_params = ["0:b,1:s,2:t"]} : (tensor<?x?x8xf32>, tensor<?x8x?xf32>) -> tensor<?x?x?xf32>
  %2 = "onnx.Softmax"(%1) {axis = -1 : si64, onnx_dim_params = ["0:b,1:s,2:t"]} : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %3 = "onnx.MatMul"(%2, %v) : (tensor<?x?x?xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  onnx.Return %3 : tensor<?x?x8xf32>
}

// -----

// Llama: keys and values are repeated for the query heads that share them. Their
// number of tokens has no name.
// CHECK-LABEL: func.func @grouped
// CHECK-SAME: (%[[Q:.*]]: tensor<?x4x?x8xf32>, %[[K:.*]]: tensor<?x2x?x8xf32>, %[[V:.*]]: tensor<?x2x?x8xf32>)
func.func @grouped(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) -> tensor<?x4x?x8xf32> {
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %times = onnx.Constant dense<[1, 1, 2, 1, 1]> : tensor<5xi64>
  %all = onnx.Constant dense<[0, 4, -1, 8]> : tensor<4xi64>
  // CHECK-NOT: onnx.Expand
  // CHECK: onnxq.attention ins(%[[Q]], %[[K]], %[[V]] : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>)
  %0 = "onnx.Unsqueeze"(%k, %two) : (tensor<?x2x?x8xf32>, tensor<1xi64>) -> tensor<?x2x1x?x8xf32>
  %1 = "onnx.Expand"(%0, %times) : (tensor<?x2x1x?x8xf32>, tensor<5xi64>) -> tensor<?x2x2x?x8xf32>
  %2 = "onnx.Reshape"(%1, %all) : (tensor<?x2x2x?x8xf32>, tensor<4xi64>) -> tensor<?x4x?x8xf32>
  %3 = "onnx.Unsqueeze"(%v, %two) : (tensor<?x2x?x8xf32>, tensor<1xi64>) -> tensor<?x2x1x?x8xf32>
  %4 = "onnx.Expand"(%3, %times) : (tensor<?x2x1x?x8xf32>, tensor<5xi64>) -> tensor<?x2x2x?x8xf32>
  %5 = "onnx.Reshape"(%4, %all) : (tensor<?x2x2x?x8xf32>, tensor<4xi64>) -> tensor<?x4x?x8xf32>
  %6 = "onnx.Transpose"(%2) {perm = [0, 1, 3, 2]} : (tensor<?x4x?x8xf32>) -> tensor<?x4x8x?xf32>
  %7 = "onnx.MatMul"(%q, %6) : (tensor<?x4x?x8xf32>, tensor<?x4x8x?xf32>) -> tensor<?x4x?x?xf32>
  %8 = "onnx.Softmax"(%7) {axis = -1 : si64} : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %9 = "onnx.MatMul"(%8, %5) : (tensor<?x4x?x?xf32>, tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  onnx.Return %9 : tensor<?x4x?x8xf32>
}

// -----

// Values that aren't repeated: keys stay so as well.
// CHECK-LABEL: func.func @keys_only
func.func @keys_only(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %two = onnx.Constant dense<2> : tensor<1xi64>
  %times = onnx.Constant dense<[1, 1, 2, 1, 1]> : tensor<5xi64>
  %all = onnx.Constant dense<[0, 4, -1, 8]> : tensor<4xi64>
  // CHECK: onnx.Expand
  // CHECK: onnxq.attention ins({{.*}} : tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
  %0 = "onnx.Unsqueeze"(%k, %two) : (tensor<1x2x5x8xf32>, tensor<1xi64>) -> tensor<1x2x1x5x8xf32>
  %1 = "onnx.Expand"(%0, %times) : (tensor<1x2x1x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %2 = "onnx.Reshape"(%1, %all) : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %3 = "onnx.Transpose"(%2) {perm = [0, 1, 3, 2]} : (tensor<1x4x5x8xf32>) -> tensor<1x4x8x5xf32>
  %4 = "onnx.MatMul"(%q, %3) : (tensor<1x4x5x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x5x5xf32>
  %5 = "onnx.Softmax"(%4) {axis = -1 : si64} : (tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  %6 = "onnx.MatMul"(%5, %v) : (tensor<1x4x5x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  onnx.Return %6 : tensor<1x4x5x8xf32>
}

// -----

// A reshape between the products that changes matrices, and heads that are
// repeated all together, are no attention's.
// CHECK-LABEL: func.func @others
// CHECK: onnx.Softmax
// CHECK: onnx.Expand
// CHECK: onnxq.attention ins({{.*}} : tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>)
func.func @others(%q: tensor<6x4x8xf32>, %k: tensor<6x8x4xf32>, %v: tensor<6x2x8xf32>, %q4: tensor<1x4x5x8xf32>, %g: tensor<1x2x5x8xf32>) -> (tensor<6x8x8xf32>, tensor<1x4x5x8xf32>) {
  %mixed = onnx.Constant dense<[6, 8, 2]> : tensor<3xi64>
  %one = onnx.Constant dense<1> : tensor<1xi64>
  %times = onnx.Constant dense<[1, 2, 1, 1, 1]> : tensor<5xi64>
  %all = onnx.Constant dense<[0, 4, -1, 8]> : tensor<4xi64>
  %0 = "onnx.MatMul"(%q, %k) : (tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<6x4x4xf32>
  %1 = "onnx.Reshape"(%0, %mixed) : (tensor<6x4x4xf32>, tensor<3xi64>) -> tensor<6x8x2xf32>
  %2 = "onnx.Softmax"(%1) {axis = -1 : si64} : (tensor<6x8x2xf32>) -> tensor<6x8x2xf32>
  %3 = "onnx.MatMul"(%2, %v) : (tensor<6x8x2xf32>, tensor<6x2x8xf32>) -> tensor<6x8x8xf32>
  %4 = "onnx.Unsqueeze"(%g, %one) : (tensor<1x2x5x8xf32>, tensor<1xi64>) -> tensor<1x1x2x5x8xf32>
  %5 = "onnx.Expand"(%4, %times) : (tensor<1x1x2x5x8xf32>, tensor<5xi64>) -> tensor<1x2x2x5x8xf32>
  %6 = "onnx.Reshape"(%5, %all) : (tensor<1x2x2x5x8xf32>, tensor<4xi64>) -> tensor<1x4x5x8xf32>
  %7 = "onnx.Transpose"(%6) {perm = [0, 1, 3, 2]} : (tensor<1x4x5x8xf32>) -> tensor<1x4x8x5xf32>
  %8 = "onnx.MatMul"(%q4, %7) : (tensor<1x4x5x8xf32>, tensor<1x4x8x5xf32>) -> tensor<1x4x5x5xf32>
  %9 = "onnx.Softmax"(%8) {axis = -1 : si64} : (tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
  %10 = "onnx.MatMul"(%9, %6) : (tensor<1x4x5x5xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  onnx.Return %3, %10 : tensor<6x8x8xf32>, tensor<1x4x5x8xf32>
}

// -----

// YOLO11: V^T times the turned shares; V and the result are turned instead.
// CHECK-LABEL: func.func @turned
func.func @turned(%q: tensor<1x2x9x4xf32>, %k: tensor<1x2x4x9xf32>, %v: tensor<1x2x8x9xf32>) -> tensor<1x2x8x9xf32> {
  // CHECK: %[[V:.*]] = "onnx.Transpose"(%arg2) <{perm = [0, 1, 3, 2]}> : (tensor<1x2x8x9xf32>) -> tensor<1x2x9x8xf32>
  // CHECK: %[[Y:.*]] = onnxq.attention ins(%arg0, %{{.*}}, %[[V]] :
  // CHECK: "onnx.Transpose"(%[[Y]]) <{perm = [0, 1, 3, 2]}> : (tensor<1x2x9x8xf32>) -> tensor<1x2x8x9xf32>
  %0 = "onnx.MatMul"(%q, %k) : (tensor<1x2x9x4xf32>, tensor<1x2x4x9xf32>) -> tensor<1x2x9x9xf32>
  %1 = "onnx.Softmax"(%0) {axis = -1 : si64} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %2 = "onnx.Transpose"(%1) {perm = [0, 1, 3, 2]} : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  %3 = "onnx.MatMul"(%v, %2) : (tensor<1x2x8x9xf32>, tensor<1x2x9x9xf32>) -> tensor<1x2x8x9xf32>
  onnx.Return %3 : tensor<1x2x8x9xf32>
}
