// An Einsum of two operands that is a product of matrices becomes one.
// RUN: onnxq-opt %s --onnx-to-kernels --split-input-file | FileCheck %s

// Scores and sums of attention by Einsum: one kernel.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:arg0]]: {{.*}}, %[[K:arg1]]: {{.*}}, %[[V:arg2]]: {{.*}})
func.func @attention(%q: tensor<?x?x4x8xf32> {onnx.dim_params = "0:b,1:s"}, %k: tensor<?x?x4x8xf32> {onnx.dim_params = "0:b,1:t"}, %v: tensor<?x?x4x8xf32> {onnx.dim_params = "0:b,1:t"}) -> tensor<?x?x4x8xf32> {
  // CHECK: onnxq.attention ins(%[[Q]], %[[K]], %[[V]] : {{.*}} tokens_first = array<i1: true, true, true, true>}
  // CHECK-NOT: onnx.Einsum
  %0 = "onnx.Einsum"(%q, %k) {equation = "bihd,bjhd->bhij", onnx_dim_params = ["0:b,2:s,3:t"]} : (tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>) -> tensor<?x4x?x?xf32>
  %1 = "onnx.Softmax"(%0) {axis = -1 : si64, onnx_dim_params = ["0:b,2:s,3:t"]} : (tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %2 = "onnx.Einsum"(%1, %v) {equation = "bhij,bjhd->bihd"} : (tensor<?x4x?x?xf32>, tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  onnx.Return %2 : tensor<?x?x4x8xf32>
}

// -----

// Several letters that are summed, and rows without batches (graph
// convolutions): sums are one dimension, rows stay as many as they are.
// CHECK-LABEL: func.func @graph
func.func @graph(%x: tensor<2x3x5x7x4xf32>, %a: tensor<3x4x6xf32>) -> tensor<2x5x7x6xf32> {
  // CHECK: %[[X:.*]] = "onnx.Transpose"(%arg0) <{perm = [0, 2, 3, 1, 4]}>
  // CHECK: tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2], [3, 4]] : tensor<2x5x7x3x4xf32> into tensor<2x5x7x12xf32>
  // CHECK: tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2]] : tensor<3x4x6xf32> into tensor<12x6xf32>
  // CHECK: onnxq.contract
  %0 = "onnx.Einsum"(%x, %a) {equation = "nkctv,kvw->nctw"} : (tensor<2x3x5x7x4xf32>, tensor<3x4x6xf32>) -> tensor<2x5x7x6xf32>
  onnx.Return %0 : tensor<2x5x7x6xf32>
}

// -----

// Rows and columns of several letters behind a batch are split again.
// CHECK-LABEL: func.func @split
func.func @split(%x: tensor<2x3x4x5xf32>, %y: tensor<2x5x6x7xf32>) -> tensor<2x7x3x4x6xf32> {
  // CHECK: onnxq.contract
  // CHECK: %[[Y:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4]] output_shape [2, 3, 4, 7, 6]
  // CHECK: "onnx.Transpose"(%[[Y]]) <{perm = [0, 3, 1, 2, 4]}>
  %0 = "onnx.Einsum"(%x, %y) {equation = "bacd,bdef->bface"} : (tensor<2x3x4x5xf32>, tensor<2x5x6x7xf32>) -> tensor<2x7x3x4x6xf32>
  onnx.Return %0 : tensor<2x7x3x4x6xf32>
}

// -----

// Diagonals, sums over one operand, axes of one that run with longer ones, and
// open sizes that may be such stay loops.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: onnx.Einsum
func.func @others(%x: tensor<3x3xf32>, %one: tensor<3x1xf32>, %open: tensor<3x?xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %0 = "onnx.Einsum"(%x, %x) {equation = "ii,ij->ij"} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = "onnx.Einsum"(%x, %x) {equation = "ik,jl->ij"} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = "onnx.Einsum"(%x, %one) {equation = "ik,jk->ij"} : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x3xf32>
  %3 = "onnx.Einsum"(%x, %open) {equation = "ik,jk->ij"} : (tensor<3x3xf32>, tensor<3x?xf32>) -> tensor<3x3xf32>
  onnx.Return %0, %1, %2, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}
