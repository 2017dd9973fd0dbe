// Attention that exporters write becomes one kernel.
// RUN: onnxq-opt %s --onnx-to-kernels --split-input-file | FileCheck %s

// BERT: a factor behind the product, a mask of padding; heads are moved by
// transposes that the kernel takes along.
// CHECK-LABEL: func.func @bert
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x12x64xf32>, %[[K:.*]]: tensor<?x?x12x64xf32>, %[[V:.*]]: tensor<?x?x12x64xf32>, %[[M:.*]]: tensor<?x1x1x?xf32>)
func.func @bert(%q: tensor<?x?x12x64xf32>, %k: tensor<?x?x12x64xf32>, %v: tensor<?x?x12x64xf32>, %m: tensor<?x1x1x?xf32>) -> tensor<?x?x12x64xf32> {
  %c = onnx.Constant dense<8.0> : tensor<f32>
  // CHECK-NOT: onnx.MatMul
  // CHECK: cf.assert
  // CHECK: %[[E:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?x12x64xf32>
  // CHECK: onnxq.attention ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) bias(%[[M]] : tensor<?x1x1x?xf32>) outs(%[[E]] : tensor<?x?x12x64xf32>) attributes {scale = 1.250000e-01 : f32, tokens_first = array<i1: true, true, true, true>}
  // CHECK-NOT: onnx.Softmax
  %0 = "onnx.Transpose"(%q) {perm = [0, 2, 1, 3]} : (tensor<?x?x12x64xf32>) -> tensor<?x12x?x64xf32>
  %1 = "onnx.Transpose"(%k) {perm = [0, 2, 3, 1]} : (tensor<?x?x12x64xf32>) -> tensor<?x12x64x?xf32>
  %2 = "onnx.Transpose"(%v) {perm = [0, 2, 1, 3]} : (tensor<?x?x12x64xf32>) -> tensor<?x12x?x64xf32>
  %3 = "onnx.MatMul"(%0, %1) : (tensor<?x12x?x64xf32>, tensor<?x12x64x?xf32>) -> tensor<?x12x?x?xf32>
  %4 = "onnx.Div"(%3, %c) : (tensor<?x12x?x?xf32>, tensor<f32>) -> tensor<?x12x?x?xf32>
  %5 = "onnx.Add"(%4, %m) : (tensor<?x12x?x?xf32>, tensor<?x1x1x?xf32>) -> tensor<?x12x?x?xf32>
  %6 = "onnx.Softmax"(%5) {axis = 3 : si64} : (tensor<?x12x?x?xf32>) -> tensor<?x12x?x?xf32>
  %7 = "onnx.MatMul"(%6, %2) : (tensor<?x12x?x?xf32>, tensor<?x12x?x64xf32>) -> tensor<?x12x?x64xf32>
  %8 = "onnx.Transpose"(%7) {perm = [0, 2, 1, 3]} : (tensor<?x12x?x64xf32>) -> tensor<?x?x12x64xf32>
  onnx.Return %8 : tensor<?x?x12x64xf32>
}

// -----

// PyTorch's scaled_dot_product_attention: the root of the factor on both sides.
// CHECK-LABEL: func.func @sdpa
func.func @sdpa(%q: tensor<1x4x7x16xf32>, %k: tensor<1x4x9x16xf32>, %v: tensor<1x4x9x8xf32>, %m: tensor<7x9xf32>) -> tensor<1x4x7x8xf32> {
  %c = onnx.Constant dense<0.5> : tensor<f32>
  // CHECK: %[[M:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] output_shape [1, 1, 7, 9]
  // CHECK: onnxq.attention ins({{.*}} : tensor<1x4x7x16xf32>, tensor<1x4x9x16xf32>, tensor<1x4x9x8xf32>) bias(%[[M]] : tensor<1x1x7x9xf32>) {{.*}} attributes {scale = 2.500000e-01 : f32, tokens_first = array<i1: false, false, false, false>}
  %0 = "onnx.Transpose"(%k) {perm = [0, 1, 3, 2]} : (tensor<1x4x9x16xf32>) -> tensor<1x4x16x9xf32>
  %1 = "onnx.Mul"(%q, %c) : (tensor<1x4x7x16xf32>, tensor<f32>) -> tensor<1x4x7x16xf32>
  %2 = "onnx.Mul"(%0, %c) : (tensor<1x4x16x9xf32>, tensor<f32>) -> tensor<1x4x16x9xf32>
  %3 = "onnx.MatMul"(%1, %2) : (tensor<1x4x7x16xf32>, tensor<1x4x16x9xf32>) -> tensor<1x4x7x9xf32>
  %4 = "onnx.Add"(%3, %m) : (tensor<1x4x7x9xf32>, tensor<7x9xf32>) -> tensor<1x4x7x9xf32>
  %5 = "onnx.Softmax"(%4) {axis = -1 : si64} : (tensor<1x4x7x9xf32>) -> tensor<1x4x7x9xf32>
  %6 = "onnx.MatMul"(%5, %v) : (tensor<1x4x7x9xf32>, tensor<1x4x9x8xf32>) -> tensor<1x4x7x8xf32>
  onnx.Return %6 : tensor<1x4x7x8xf32>
}

// -----

// GPT-2: hidden scores are replaced, which an addend does as well; then another.
// CHECK-LABEL: func.func @where
func.func @where(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x8x5xf32>, %v: tensor<1x2x5x8xf32>, %seen: tensor<1x1x5x5xi1>, %m: tensor<1x1x1x5xf32>) -> tensor<1x2x5x8xf32> {
  %c = onnx.Constant dense<-3.4028235e38> : tensor<f32>
  // CHECK: %[[W:.*]] = "onnx.Where"(%{{.*}}) : (tensor<1x1x5x5xi1>, tensor<f32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  // CHECK: %[[B:.*]] = "onnx.Add"(%{{.*}}, %[[W]]) : {{.*}} -> tensor<1x1x5x5xf32>
  // CHECK: onnxq.attention {{.*}} bias(%[[B]] : tensor<1x1x5x5xf32>)
  %0 = "onnx.MatMul"(%q, %k) : (tensor<1x2x5x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x5x5xf32>
  %1 = "onnx.Where"(%seen, %0, %c) : (tensor<1x1x5x5xi1>, tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %2 = "onnx.Add"(%1, %m) : (tensor<1x2x5x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x5x5xf32>
  %3 = "onnx.Softmax"(%2) {axis = 3 : si64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %4 = "onnx.MatMul"(%3, %v) : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  onnx.Return %4 : tensor<1x2x5x8xf32>
}

// -----

// A factor behind the addend, and shares that are a result, are no attention's.
// CHECK-LABEL: func.func @others
// CHECK-NOT: onnxq.attention
func.func @others(%q: tensor<1x2x5x8xf32>, %k: tensor<1x2x8x5xf32>, %v: tensor<1x2x5x8xf32>, %m: tensor<1x1x1x5xf32>) -> (tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x5xf32>) {
  %c = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.MatMul"(%q, %k) : (tensor<1x2x5x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x5x5xf32>
  %1 = "onnx.Add"(%0, %m) : (tensor<1x2x5x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x2x5x5xf32>
  %2 = "onnx.Mul"(%1, %c) : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %3 = "onnx.Softmax"(%2) {axis = 3 : si64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %4 = "onnx.MatMul"(%3, %v) : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  %5 = "onnx.MatMul"(%q, %k) : (tensor<1x2x5x8xf32>, tensor<1x2x8x5xf32>) -> tensor<1x2x5x5xf32>
  %6 = "onnx.Softmax"(%5) {axis = 3 : si64} : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %7 = "onnx.MatMul"(%6, %v) : (tensor<1x2x5x5xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>
  onnx.Return %4, %7, %6 : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x5xf32>
}
