// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// MatMul C1
func.func @f(%a: tensor<f32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects operands of at least rank 1, but got 'tensor<f32>' and 'tensor<3x4xf32>' (C1)}}
  %y = "onnx.MatMul"(%a, %b) : (tensor<f32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// MatMul C2
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+1 {{expects as many columns as rows, but got 3 columns and 4 rows (C2)}}
  %y = "onnx.MatMul"(%a, %b) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  return
}

// -----

// MatMul C2, a vector
func.func @f(%a: tensor<3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{expects as many columns as rows, but got 3 columns and 4 rows (C2)}}
  %y = "onnx.MatMul"(%a, %b) : (tensor<3xf32>, tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// MatMul C3
func.func @f(%a: tensor<2x2x3xf32>, %b: tensor<5x3x4xf32>) {
  // expected-error @+1 {{expects batches that broadcast, but got 'tensor<2x2x3xf32>' and 'tensor<5x3x4xf32>' (C3)}}
  %y = "onnx.MatMul"(%a, %b) : (tensor<2x2x3xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Gemm C1
func.func @f(%a: tensor<2x3x1xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{expects operands of rank 2, but got 'tensor<2x3x1xf32>' and 'tensor<3x4xf32>' (C1)}}
  %y = "onnx.Gemm"(%a, %b, %c) {transA = 0 : si64} : (tensor<2x3x1xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// Gemm C2
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{expects as many columns as rows, but got 2 columns and 3 rows (C2)}}
  %y = "onnx.Gemm"(%a, %b, %c) {transA = 1 : si64} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  return
}

// -----

// Gemm C3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3x1xf32>) {
  // expected-error @+1 {{expects C to broadcast to the product of 'tensor<2x3xf32>' and 'tensor<3x4xf32>', but got 'tensor<3x1xf32>' (C3)}}
  %y = "onnx.Gemm"(%a, %b, %c) {transA = 0 : si64} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  return
}

// -----

// Det C1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expects square matrices, but got 'tensor<2x3xf32>' (C1)}}
  %y = "onnx.Det"(%x) : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

// Det C1, a vector
func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{expects square matrices, but got 'tensor<3xf32>' (C1)}}
  %y = "onnx.Det"(%x) : (tensor<3xf32>) -> tensor<f32>
  return
}

// -----

// Einsum C1
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects letters and at most one ellipsis in a term, but got '1' in equation 'i1,jk->ik' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "i1,jk->ik"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C1, two ellipses
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects letters and at most one ellipsis in a term, but got '...' in equation '...i...,jk->...ik' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "...i...,jk->...ik"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C1, a lonely dot
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects letters and at most one ellipsis in a term, but got '.j' in equation 'i.j,jk->ik' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "i.j,jk->ik"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C1, a letter twice in the output
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects distinct letters in the output, but got 'i' again in equation 'ij,jk->iik' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ij,jk->iik"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C1, an unknown letter in the output
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects letters of the operands in the output, but got 'z' in equation 'ij,jk->iz' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ij,jk->iz"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C1, an ellipsis that is lost
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects an ellipsis in the output as in the operands, but got none in equation '...ij,jk->ik' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "...ij,jk->ik"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C1, two arrows
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects letters and at most one ellipsis in a term, but got '->i' in equation 'ij,jk->ik->i' (C1)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ij,jk->ik->i"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C2
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects 1 operands by its equation, but got 2 (C2)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ij->ij"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects operand 0 of rank 3, but got rank 2 (C3)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ijk,kl->ijl"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C3, with an ellipsis
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{expects operand 1 of at least rank 3, but got rank 2 (C3)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ij,...jkl->...ikl"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Einsum C4
func.func @f(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error @+1 {{expects axes that run together to have one size, but got 3 and 5 (C4)}}
  %y = "onnx.Einsum"(%a, %b) {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<*xf32>
  return
}

// -----

// Attention C1
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects Q, K and V all of rank 3 or all of rank 4, but got 'tensor<1x5x32xf32>', 'tensor<1x2x6x8xf32>' and 'tensor<1x6x16xf32>' (C1)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x2x6x8xf32>, tensor<1x6x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C2
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects positive numbers of heads for rank 3, but got 0 and -2 (C2)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {kv_num_heads = -2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C2, not divided
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects a last dimension that 5 heads divide, but got 'tensor<1x5x32xf32>' (C2)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 5 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C3
func.func @f(%q: tensor<1x5x24xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects a multiple of 2 q heads, but got 3 (C3)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 3 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x24xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C4
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x7x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects Q, K and V that go together, but got 'tensor<1x5x32xf32>', 'tensor<1x6x16xf32>' and 'tensor<1x7x16xf32>' (C4)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x7x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C5
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: tensor<1x2x3x8xf32>, %pv: none) {
  // expected-error @+1 {{expects past_key and past_value together, but got one of them (C5)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, tensor<1x2x3x8xf32>, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C5, rank
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: tensor<1x2x3xf32>, %pv: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{expects past_key of rank 4, but got 'tensor<1x2x3xf32>' (C5)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, tensor<1x2x3xf32>, tensor<1x2x3x8xf32>) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C6
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: tensor<1x2x3x8xf32>, %pv: tensor<1x2x3x9xf32>) {
  // expected-error @+1 {{expects past_value with 8 in dimension 3, but got 'tensor<1x2x3x9xf32>' (C6)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, tensor<1x2x3x8xf32>, tensor<1x2x3x9xf32>) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C7
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: tensor<1x1x1x5x6xi1>, %pk: none, %pv: none) {
  // expected-error @+1 {{expects attn_mask of rank 4 at most, but got 'tensor<1x1x1x5x6xi1>' (C7)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, tensor<1x1x1x5x6xi1>, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C8
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects qk_matmul_output_mode of 0, 1, 2 or 3, but got 4 (C8)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64, qk_matmul_output_mode = 4 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// Attention C9
func.func @f(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %v: tensor<1x6x16xf32>, %mask: none, %pk: none, %pv: none) {
  // expected-error @+1 {{expects softmax_precision of 1, 10, 11 or 16, but got 7 (C9)}}
  %y:4 = "onnx.Attention"(%q, %k, %v, %mask, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64, softmax_precision = 7 : si64} : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, none, none) -> (tensor<*xf32>, none, none, none)
  return
}

// -----

// RotaryEmbedding C1
func.func @f(%x: tensor<5x8xf32>, %c: tensor<50x4xf32>, %ids: tensor<2x5xi64>) {
  // expected-error @+1 {{expects X of rank 3 or 4, but got 'tensor<5x8xf32>' (C1)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {} : (tensor<5x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x5xi64>) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C2
func.func @f(%x: tensor<2x5x24xf32>, %c: tensor<50x4xf32>, %ids: tensor<2x5xi64>) {
  // expected-error @+1 {{expects a positive number of heads that divides the last dimension of 'tensor<2x5x24xf32>', but got 5 (C2)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {num_heads = 5 : si64} : (tensor<2x5x24xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x5xi64>) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C2, not given
func.func @f(%x: tensor<2x5x?xf32>, %c: tensor<50x4xf32>, %ids: tensor<2x5xi64>) {
  // expected-error @+1 {{expects a positive number of heads that divides the last dimension of 'tensor<2x5x?xf32>', but got 0 (C2)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {} : (tensor<2x5x?xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x5xi64>) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C3
func.func @f(%x: tensor<2x3x5x8xf32>, %c: tensor<50x4xf32>, %ids: tensor<2x5xi64>) {
  // expected-error @+1 {{expects an even number of rotated features within the head size, but got 10 (C3)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {rotary_embedding_dim = 10 : si64} : (tensor<2x3x5x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x5xi64>) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C3, odd
func.func @f(%x: tensor<2x3x5x8xf32>, %c: tensor<50x4xf32>, %ids: tensor<2x5xi64>) {
  // expected-error @+1 {{expects an even number of rotated features within the head size, but got 3 (C3)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {rotary_embedding_dim = 3 : si64} : (tensor<2x3x5x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<2x5xi64>) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C4
func.func @f(%x: tensor<2x3x5x8xf32>, %c: tensor<50x4xf32>, %ids: none) {
  // expected-error @+1 {{expects caches of rank 3, but got 'tensor<50x4xf32>' (C4)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {} : (tensor<2x3x5x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, none) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C5
func.func @f(%x: tensor<2x3x5x8xf32>, %c: tensor<50x3xf32>, %ids: tensor<2x5xi64>) {
  // expected-error @+1 {{expects caches of 4 pairs, but got 'tensor<50x3xf32>' (C5)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {} : (tensor<2x3x5x8xf32>, tensor<50x3xf32>, tensor<50x3xf32>, tensor<2x5xi64>) -> tensor<*xf32>
  return
}

// -----

// RotaryEmbedding C6
func.func @f(%x: tensor<2x3x5x8xf32>, %c: tensor<50x4xf32>, %ids: tensor<10xi64>) {
  // expected-error @+1 {{expects position_ids of rank 2, but got 'tensor<10xi64>' (C6)}}
  %y = "onnx.RotaryEmbedding"(%x, %c, %c, %ids) {} : (tensor<2x3x5x8xf32>, tensor<50x4xf32>, tensor<50x4xf32>, tensor<10xi64>) -> tensor<*xf32>
  return
}
