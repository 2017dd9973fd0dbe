// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @matmul
// CHECK-SAME: -> (tensor<8x5x2x4xf32>, tensor<f32>, tensor<5x4xf32>, tensor<8x1x2xf32>, tensor<*xf32>)
func.func @matmul(%a: tensor<8x1x2x3xf32>, %b: tensor<5x3x4xf32>, %v: tensor<3xf32>, %u: tensor<*xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.MatMul"(%a, %b) : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  %1 = "onnx.MatMul"(%v, %v) : (tensor<3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %2 = "onnx.MatMul"(%v, %b) : (tensor<3xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  %3 = "onnx.MatMul"(%a, %v) : (tensor<8x1x2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %4 = "onnx.MatMul"(%u, %b) : (tensor<*xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  onnx.Return %0, %1, %2, %3, %4 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%a: tensor<?x?x3xf32> {onnx.name = "a", onnx.dim_params = "0:batch,1:rows"},
                    %b: tensor<1x3x4xf32>, %m: tensor<?x3xf32> {onnx.name = "m", onnx.dim_params = "0:batch"},
                    %n: tensor<4x3xf32>, %u: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.MatMul"
  // CHECK-SAME: onnx_dim_params = ["0:batch,1:rows"]
  // CHECK-SAME: -> tensor<?x?x4xf32>
  %0 = "onnx.MatMul"(%a, %b) : (tensor<?x?x3xf32>, tensor<1x3x4xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Gemm"
  // CHECK-SAME: onnx_dim_params = ["0:batch"]
  // CHECK-SAME: -> tensor<?x4xf32>
  %1 = "onnx.Gemm"(%m, %n, %none) {transB = 1 : si64} : (tensor<?x3xf32>, tensor<4x3xf32>, none) -> tensor<*xf32>
  // CHECK: "onnx.Gemm"
  // CHECK-SAME: -> tensor<?x3xf32>
  %2 = "onnx.Gemm"(%u, %n, %none) {transA = 1 : si64} : (tensor<*xf32>, tensor<4x3xf32>, none) -> tensor<*xf32>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @einsum
func.func @einsum(%a: tensor<8x1x2x3xf32>, %b: tensor<5x3x4xf32>, %m: tensor<2x3xf32>, %s: tensor<3x3xf32>,
                  %u: tensor<*xf32>, %x: tensor<?x3xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> tensor<*xf32> {
  // CHECK: equation = "...ij,...jk->...ik"
  // CHECK-SAME: -> tensor<8x5x2x4xf32>
  %0 = "onnx.Einsum"(%a, %b) {equation = "...ij,...jk->...ik"} : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  // Without an output: the ellipsis first, then letters that appear once.
  // CHECK: equation = "...ij, ...jk"
  // CHECK-SAME: -> tensor<8x5x2x4xf32>
  %1 = "onnx.Einsum"(%a, %b) {equation = "...ij, ...jk"} : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<*xf32>
  // CHECK: equation = "ba"
  // CHECK-SAME: -> tensor<3x2xf32>
  %2 = "onnx.Einsum"(%m) {equation = "ba"} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: equation = "ij->"
  // CHECK-SAME: -> tensor<f32>
  %3 = "onnx.Einsum"(%m) {equation = "ij->"} : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: equation = "ii->i"
  // CHECK-SAME: -> tensor<3xf32>
  %4 = "onnx.Einsum"(%s) {equation = "ii->i"} : (tensor<3x3xf32>) -> tensor<*xf32>
  // CHECK: equation = "i...j->...ji"
  // CHECK-SAME: -> tensor<1x2x3x8xf32>
  %5 = "onnx.Einsum"(%a) {equation = "i...j->...ji"} : (tensor<8x1x2x3xf32>) -> tensor<*xf32>
  // CHECK: equation = "ij,jk->ik"
  // CHECK-SAME: -> tensor<?x?xf32>
  %6 = "onnx.Einsum"(%m, %u) {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: equation = "bi,oi->bo"
  // CHECK-SAME: onnx_dim_params = ["0:batch"]
  // CHECK-SAME: -> tensor<?x2xf32>
  %7 = "onnx.Einsum"(%x, %m) {equation = "bi,oi->bo"} : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @det
// CHECK-SAME: -> (tensor<5xf32>, tensor<f32>)
func.func @det(%x: tensor<5x3x3xf32>, %m: tensor<?x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.Det"(%x) : (tensor<5x3x3xf32>) -> tensor<*xf32>
  %1 = "onnx.Det"(%m) : (tensor<?x3xf32>) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x5x32xf32> {onnx.name = "q", onnx.dim_params = "0:batch"}, %k: tensor<?x?x16xf32> {onnx.name = "k", onnx.dim_params = "0:batch,1:keys"},
                     %v: tensor<?x?x20xf16> {onnx.name = "v", onnx.dim_params = "0:batch,1:keys"},
                     %pk: tensor<?x2x?x8xf32> {onnx.name = "pk", onnx.dim_params = "0:batch,2:past"}, %pv: tensor<?x2x?x10xf16> {onnx.name = "pv", onnx.dim_params = "0:batch,2:past"},
                     %q4: tensor<1x4x5x8xf32>, %k4: tensor<1x2x6x8xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.Attention"
  // CHECK-SAME: onnx_dim_params = ["0:batch", "0:batch,2:keys+past", "0:batch,2:keys+past", "0:batch,3:keys+past"]
  // CHECK-SAME: -> (tensor<?x5x40xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x10xf16>, tensor<?x4x5x?xf32>)
  %y:4 = "onnx.Attention"(%q, %k, %v, %none, %pk, %pv) {q_num_heads = 4 : si64, kv_num_heads = 2 : si64}
      : (tensor<?x5x32xf32>, tensor<?x?x16xf32>, tensor<?x?x20xf16>, none, tensor<?x2x?x8xf32>, tensor<?x2x?x10xf16>)
      -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf16>, tensor<*xf32>)
  // CHECK: "onnx.Attention"
  // CHECK-SAME: -> (tensor<1x4x5x8xf32>, none, none, tensor<1x4x5x6xf32>)
  %z:4 = "onnx.Attention"(%q4, %k4, %k4, %none, %none, %none)
      : (tensor<1x4x5x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, none, none, none)
      -> (tensor<*xf32>, none, none, tensor<*xf32>)
  onnx.Return %y#0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @rotary
// CHECK-SAME: -> tensor<2x5x24xf32>
func.func @rotary(%x: tensor<2x5x24xf32>, %c: tensor<2x5x4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.RotaryEmbedding"(%x, %c, %c, %none) {num_heads = 3 : si64}
      : (tensor<2x5x24xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>, none) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// What is known only now is checked too.
func.func @matmul_mismatch(%x: tensor<2x3xf32>, %b: tensor<4x5xf32>) -> tensor<*xf32> {
  %a = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error @+1 {{expects as many columns as rows, but got 3 columns and 4 rows (C2)}}
  %0 = "onnx.MatMul"(%a, %b) : (tensor<*xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

func.func @einsum_mismatch(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %a = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  // expected-error @+1 {{expects axes that run together to have one size, but got 2 and 3 (C4)}}
  %0 = "onnx.Einsum"(%a) {equation = "ii"} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}
