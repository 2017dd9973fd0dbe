// RUN: onnxq-opt %s --onnx-to-linalg | FileCheck %s

// The inputs of all steps are multiplied before the loop; the loop carries both
// states and the sequence.
// CHECK-LABEL: func.func @lstm
func.func @lstm(%x: tensor<?x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>) -> (tensor<?x1x2x4xf32>, tensor<1x2x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK-NOT: cf.assert
  // CHECK: linalg.transpose
  // CHECK: linalg.transpose
  // CHECK: arith.mulf
  // CHECK: scf.for {{.*}} -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<?x2x4xf32>)
  // CHECK-NOT: linalg.transpose
  // CHECK: tensor.insert_slice {{.*}} : tensor<2x4xf32> into tensor<?x2x4xf32>
  // CHECK: scf.yield
  %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %none, %none, %none, %none, %none) {hidden_size = 4 : si64} : (tensor<?x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<?x1x2x4xf32>, tensor<1x2x4xf32>, none)
  onnx.Return %y, %h : tensor<?x1x2x4xf32>, tensor<1x2x4xf32>
}

// Lengths are checked before anything is read by them; a sequence that isn't
// asked for isn't kept.
// CHECK-LABEL: func.func @gru_lengths
func.func @gru_lengths(%x: tensor<5x?x3xf32>, %w: tensor<1x12x3xf32>, %r: tensor<1x12x4xf32>, %lens: tensor<?xi32>) -> tensor<1x?x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: cf.assert %{{.*}}, "node 'GRU': sequence_lens are not as many as the sequences"
  // CHECK: cf.assert %{{.*}}, "node 'GRU': sequence_lens are not between 0 and the number of steps"
  // CHECK: scf.for {{.*}} -> (tensor<?x4xf32>)
  %y, %h = "onnx.GRU"(%x, %w, %r, %none, %lens, %none) {direction = "reverse", hidden_size = 4 : si64} : (tensor<5x?x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, tensor<?xi32>, none) -> (none, tensor<1x?x4xf32>)
  onnx.Return %h : tensor<1x?x4xf32>
}
