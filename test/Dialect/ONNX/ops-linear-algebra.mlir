// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<8x1x2x3xf32>, %b: tensor<5x3x4xf32>, %m: tensor<2x3xf32>, %n: tensor<4x3xf32>,
                    %c: tensor<4xf32>, %s: tensor<5x3x3xf32>) -> tensor<8x5x2x4xf32> {
  // CHECK: "onnx.MatMul"(%{{.*}}, %{{.*}}) : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<8x5x2x4xf32>
  %y = "onnx.MatMul"(%a, %b) : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<8x5x2x4xf32>
  // CHECK: "onnx.Gemm"(%{{.*}}, %{{.*}}, %{{.*}}) <{alpha = 1.000000e+00 : f32, beta = 5.000000e-01 : f32, transA = 0 : si64, transB = 1 : si64}> : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %gemm = "onnx.Gemm"(%m, %n, %c) {alpha = 1.0 : f32, beta = 0.5 : f32, transA = 0 : si64, transB = 1 : si64}
      : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: "onnx.Einsum"(%{{.*}}, %{{.*}}) <{equation = "...ij,...jk->...ik"}> : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<8x5x2x4xf32>
  %e = "onnx.Einsum"(%a, %b) {equation = "...ij,...jk->...ik"}
      : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<8x5x2x4xf32>
  // CHECK: "onnx.Det"(%{{.*}}) : (tensor<5x3x3xf32>) -> tensor<5xf32>
  %det = "onnx.Det"(%s) : (tensor<5x3x3xf32>) -> tensor<5xf32>
  onnx.Return %y : tensor<8x5x2x4xf32>
}

// Nothing known goes with everything.
// CHECK-LABEL: func.func @unknown
func.func @unknown(%u: tensor<*x!onnx.Unknown>, %x: tensor<?x?xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.MatMul"(%{{.*}}, %{{.*}}) : (tensor<*x!onnx.Unknown>, tensor<?x?xf32>) -> tensor<*xf32>
  %y = "onnx.MatMul"(%u, %x) : (tensor<*x!onnx.Unknown>, tensor<?x?xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Gemm"(%{{.*}}) <{alpha = 1.000000e+00 : f32, beta = 1.000000e+00 : f32, transA = 0 : si64, transB = 0 : si64}> : (tensor<?x?xf32>, tensor<?x?xf32>, none) -> tensor<*xf32>
  %gemm = "onnx.Gemm"(%x, %x, %none) : (tensor<?x?xf32>, tensor<?x?xf32>, none) -> tensor<*xf32>
  // CHECK: "onnx.Attention"(%{{.*}}) <{is_causal = 0 : si64, qk_matmul_output_mode = 0 : si64, softcap = 0.000000e+00 : f32}>
  %a:4 = "onnx.Attention"(%u, %u, %u, %none, %u, %u) : (tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>, none, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>)
      -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %y : tensor<*xf32>
}

// Text as onnx-mlir writes it.
// CHECK-LABEL: func.func @main_graph
func.func @main_graph(%arg0: tensor<1x5xf32>, %arg1: tensor<5x4xf32>) -> tensor<1x4xf32> {
  %0 = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.Gemm"(%{{.*}}, %{{.*}}, %{{.*}}) <{alpha = 1.000000e+00 : f32, beta = 1.000000e+00 : f32, transA = 0 : si64, transB = 0 : si64}> {onnx_node_name = "fc"}
  %1 = "onnx.Gemm"(%arg0, %arg1, %0) {alpha = 1.000000e+00 : f32, beta = 1.000000e+00 : f32, onnx_node_name = "fc", transA = 0 : si64, transB = 0 : si64} : (tensor<1x5xf32>, tensor<5x4xf32>, none) -> tensor<1x4xf32>
  onnx.Return %1 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @heads
func.func @heads(%q: tensor<1x5x32xf32>, %k: tensor<1x6x16xf32>, %mask: tensor<5x6xi1>, %x: tensor<2x3x5x8xf32>,
                 %cache: tensor<50x2xf32>, %ids: tensor<2x5xi64>) -> tensor<1x5x32xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.Attention"(%{{.*}}) <{is_causal = 1 : si64, kv_num_heads = 2 : si64, q_num_heads = 4 : si64, qk_matmul_output_mode = 3 : si64, scale = 2.500000e-01 : f32, softcap = 2.000000e+00 : f32, softmax_precision = 1 : si64}> : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, tensor<5x6xi1>, none, none) -> (tensor<1x5x32xf32>, none, none, tensor<1x4x5x6xf32>)
  %y:4 = "onnx.Attention"(%q, %k, %k, %mask, %none, %none) {is_causal = 1 : si64, kv_num_heads = 2 : si64,
      q_num_heads = 4 : si64, qk_matmul_output_mode = 3 : si64, scale = 0.25 : f32, softcap = 2.0 : f32, softmax_precision = 1 : si64}
      : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, tensor<5x6xi1>, none, none)
      -> (tensor<1x5x32xf32>, none, none, tensor<1x4x5x6xf32>)
  // CHECK: "onnx.RotaryEmbedding"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{interleaved = 0 : si64, num_heads = 3 : si64, rotary_embedding_dim = 4 : si64}> : (tensor<2x3x5x8xf32>, tensor<50x2xf32>, tensor<50x2xf32>, tensor<2x5xi64>) -> tensor<2x3x5x8xf32>
  %r = "onnx.RotaryEmbedding"(%x, %cache, %cache, %ids) {interleaved = 0 : si64, num_heads = 3 : si64, rotary_embedding_dim = 4 : si64}
      : (tensor<2x3x5x8xf32>, tensor<50x2xf32>, tensor<50x2xf32>, tensor<2x5xi64>) -> tensor<2x3x5x8xf32>
  onnx.Return %y#0 : tensor<1x5x32xf32>
}
