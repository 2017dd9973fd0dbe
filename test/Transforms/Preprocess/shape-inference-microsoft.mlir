// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<2x3xf32>, %s: tensor<f32>, %z: tensor<ui16>) -> tensor<*xf32> {
  // CHECK: "onnx.com.microsoft.QuantizeLinear"{{.*}} -> tensor<2x3xui16>
  %0 = "onnx.com.microsoft.QuantizeLinear"(%x, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<ui16>) -> tensor<*x!onnx.Unknown>
  // CHECK: "onnx.com.microsoft.DequantizeLinear"{{.*}} -> tensor<2x3xf32>
  %1 = "onnx.com.microsoft.DequantizeLinear"(%0, %s, %z) : (tensor<*x!onnx.Unknown>, tensor<f32>, tensor<ui16>) -> tensor<*xf32>
  onnx.Return %1 : tensor<*xf32>
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%a: tensor<?x1xui8> {onnx.name = "a", onnx.dim_params = "0:n"}, %b: tensor<3xui8>, %c: tensor<5x1x1xi1>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<*xui8> {
  // CHECK: "onnx.com.microsoft.QLinearAdd"{{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x3xui8>
  %0 = "onnx.com.microsoft.QLinearAdd"(%a, %s, %z, %b, %s, %z, %s, %z) : (tensor<?x1xui8>, tensor<f32>, tensor<ui8>, tensor<3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  // CHECK: "onnx.com.microsoft.QLinearMul"{{.*}} -> tensor<?x3xui8>
  %1 = "onnx.com.microsoft.QLinearMul"(%0, %s, %z, %a, %s, %z, %s, %z) : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<?x1xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  // CHECK: "onnx.com.microsoft.QLinearLeakyRelu"{{.*}} -> tensor<?x3xui8>
  %2 = "onnx.com.microsoft.QLinearLeakyRelu"(%1, %s, %z, %s, %z) : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  // CHECK: "onnx.com.microsoft.QLinearSigmoid"{{.*}} -> tensor<?x3xui8>
  %3 = "onnx.com.microsoft.QLinearSigmoid"(%2, %s, %z, %s, %z) : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  // CHECK: "onnx.com.microsoft.QLinearSoftmax"{{.*}} -> tensor<?x3xui8>
  %4 = "onnx.com.microsoft.QLinearSoftmax"(%3, %s, %z, %s, %z) {opset = 13 : si64} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  // CHECK: "onnx.com.microsoft.QLinearWhere"{{.*}}onnx_dim_params = ["1:n"]{{.*}} -> tensor<5x?x3xui8>
  %5 = "onnx.com.microsoft.QLinearWhere"(%c, %4, %s, %z, %b, %s, %z, %s, %z) : (tensor<5x1x1xi1>, tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  onnx.Return %5 : tensor<*xui8>
}

// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<?x3xui8> {onnx.name = "a", onnx.dim_params = "0:n"}, %b: tensor<4x?xui8> {onnx.name = "b", onnx.dim_params = "1:m"}, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<*xui8> {
  // CHECK: "onnx.com.microsoft.QLinearConcat"{{.*}}onnx_dim_params = ["0:n+4"]{{.*}} -> tensor<?x3xui8>
  %0 = "onnx.com.microsoft.QLinearConcat"(%s, %z, %a, %s, %z, %b, %s, %z) {axis = -2 : si64} : (tensor<f32>, tensor<ui8>, tensor<?x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x?xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  onnx.Return %0 : tensor<*xui8>
}

// CHECK-LABEL: func.func @reduce_and_pool
func.func @reduce_and_pool(%x: tensor<1x3x8x?xi8> {onnx.name = "x", onnx.dim_params = "3:w"}, %s: tensor<f32>, %z: tensor<i8>) -> tensor<*xi8> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QLinearReduceMean"{{.*}} -> tensor<1x8x?xi8>
  %0 = "onnx.com.microsoft.QLinearReduceMean"(%x, %s, %z, %s, %z) {axes = [1], keepdims = 0 : si64} : (tensor<1x3x8x?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  // CHECK: "onnx.com.microsoft.QLinearReduceMean"{{.*}} -> tensor<1x1x1x1xi8>
  %1 = "onnx.com.microsoft.QLinearReduceMean"(%x, %s, %z, %s, %z) : (tensor<1x3x8x?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  // CHECK: "onnx.com.microsoft.QLinearAveragePool"{{.*}}onnx_dim_params = ["3:w-1"]{{.*}} -> tensor<1x3x7x?xi8>
  %2 = "onnx.com.microsoft.QLinearAveragePool"(%x, %s, %z, %s, %none) {kernel_shape = [2, 2]} : (tensor<1x3x8x?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, none) -> tensor<*xi8>
  // CHECK: "onnx.com.microsoft.QLinearAveragePool"{{.*}} -> tensor<1x2x7x?xi8>
  %3 = "onnx.com.microsoft.QLinearAveragePool"(%x, %s, %z, %s, %none) {channels_last = 1 : si64, kernel_shape = [2, 2]} : (tensor<1x3x8x?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, none) -> tensor<*xi8>
  // CHECK: "onnx.com.microsoft.QLinearGlobalAveragePool"{{.*}} -> tensor<1x3x1x1xi8>
  %4 = "onnx.com.microsoft.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) : (tensor<1x3x8x?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  // CHECK: "onnx.com.microsoft.QLinearGlobalAveragePool"{{.*}}onnx_dim_params = ["3:w"]{{.*}} -> tensor<1x1x1x?xi8>
  %5 = "onnx.com.microsoft.QLinearGlobalAveragePool"(%x, %s, %z, %s, %z) {channels_last = 1 : si64} : (tensor<1x3x8x?xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return %5 : tensor<*xi8>
}

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<?x5x6x2xui8> {onnx.name = "x", onnx.dim_params = "0:n"}, %y: tensor<1x2x5x6xui8>, %s: tensor<f32>, %z: tensor<ui8>, %w: tensor<4x2x3x3xi8>, %wz: tensor<i8>) -> tensor<*xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QLinearConv"{{.*}} -> tensor<?x3x4x4xui8>
  %0 = "onnx.com.microsoft.QLinearConv"(%x, %s, %z, %w, %s, %wz, %s, %z, %none) {channels_last = 1 : si64} : (tensor<?x5x6x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  // CHECK: "onnx.com.microsoft.QLinearConv"{{.*}} -> tensor<1x4x3x4xui8>
  %1 = "onnx.com.microsoft.QLinearConv"(%y, %s, %z, %w, %s, %wz, %s, %z, %none) : (tensor<1x2x5x6xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return %0 : tensor<*xui8>
}

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<?x3xui8> {onnx.name = "a", onnx.dim_params = "0:n"}, %f: tensor<?x64xf32> {onnx.name = "f", onnx.dim_params = "0:n"}, %b: tensor<4x3xi8>, %c: tensor<64x2xi8>, %d: tensor<2x64xi8>, %s: tensor<f32>, %z: tensor<ui8>, %bz: tensor<i8>, %p: tensor<8x2x16xui8>, %ps: tensor<16xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QGemm"{{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x4xui8>
  %0 = "onnx.com.microsoft.QGemm"(%a, %s, %z, %b, %s, %bz, %none, %s, %z) {transB = 1 : si64} : (tensor<?x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xi8>, tensor<f32>, tensor<i8>, none, tensor<f32>, tensor<ui8>) -> tensor<*x!onnx.Unknown>
  // CHECK: "onnx.com.microsoft.QGemm"{{.*}} -> tensor<?x4xf32>
  %1 = "onnx.com.microsoft.QGemm"(%a, %s, %z, %b, %s, %bz, %none, %none, %none) {transB = 1 : si64} : (tensor<?x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<*x!onnx.Unknown>
  // CHECK: "onnx.com.microsoft.DynamicQuantizeMatMul"{{.*}} -> tensor<?x2xf32>
  %2 = "onnx.com.microsoft.DynamicQuantizeMatMul"(%f, %c, %s, %none, %none) : (tensor<?x64xf32>, tensor<64x2xi8>, tensor<f32>, none, none) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.MatMulIntegerToFloat"{{.*}} -> tensor<64x64xf32>
  %3 = "onnx.com.microsoft.MatMulIntegerToFloat"(%c, %d, %s, %s, %none, %none, %none) : (tensor<64x2xi8>, tensor<2x64xi8>, tensor<f32>, tensor<f32>, none, none, none) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.MatMulNBits"{{.*}} -> tensor<?x8xf32>
  %4 = "onnx.com.microsoft.MatMulNBits"(%f, %p, %ps, %none, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<?x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return %4 : tensor<*xf32>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%x: tensor<?x?x8xui8> {onnx.name = "x", onnx.dim_params = "0:n,1:s"}, %w: tensor<8x24xi8>, %b: tensor<24xf32>, %s: tensor<f32>, %past: tensor<2x?x2x?x4xf32> {onnx.name = "past", onnx.dim_params = "1:n,3:p"}) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.QAttention"{{.*}}onnx_dim_params = ["0:n,1:s", "1:n,3:s"]{{.*}} -> (tensor<?x?x8xf32>, tensor<2x?x2x?x4xf32>)
  %0:2 = "onnx.com.microsoft.QAttention"(%x, %w, %b, %s, %s, %none, %none, %none, %none) <{num_heads = 2 : si64}> : (tensor<?x?x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  // CHECK: "onnx.com.microsoft.QAttention"{{.*}}onnx_dim_params = ["0:n,1:s", "1:n,3:p+s"]{{.*}} -> (tensor<?x?x8xf32>, tensor<2x?x2x?x4xf32>)
  %1:2 = "onnx.com.microsoft.QAttention"(%x, %w, %b, %s, %s, %none, %none, %none, %past) <{num_heads = 2 : si64}> : (tensor<?x?x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, tensor<2x?x2x?x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0 : tensor<*xf32>
}

// Widths of queries, keys and values; a present that is left out stays so.
// CHECK-LABEL: func.func @float_attention
func.func @float_attention(%x: tensor<1x5x8xf32>, %w: tensor<8x20xf32>, %b: tensor<20xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.Attention"{{.*}} -> (tensor<1x5x4xf32>, none)
  %0:2 = "onnx.com.microsoft.Attention"(%x, %w, %b, %none, %none, %none, %none) <{num_heads = 2 : si64, qkv_hidden_sizes = [8, 8, 4]}> : (tensor<1x5x8xf32>, tensor<8x20xf32>, tensor<20xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %0#0 : tensor<*xf32>
}

// CHECK-LABEL: func.func @lstm
func.func @lstm(%x: tensor<?x2x3xf32> {onnx.name = "x", onnx.dim_params = "0:t"}, %w: tensor<2x3x16xi8>, %r: tensor<2x4x16xi8>, %s: tensor<2xf32>, %z: tensor<2xi8>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.DynamicQuantizeLSTM"{{.*}}-> (tensor<?x2x2x4xf32>, none, tensor<2x2x4xf32>)
  %0:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%x, %w, %r, %none, %none, %none, %none, %none, %s, %z, %s, %z) <{direction = "bidirectional"}> : (tensor<?x2x3xf32>, tensor<2x3x16xi8>, tensor<2x4x16xi8>, none, none, none, none, none, tensor<2xf32>, tensor<2xi8>, tensor<2xf32>, tensor<2xi8>) -> (tensor<*xf32>, none, tensor<*xf32>)
  onnx.Return %0#0 : tensor<*xf32>
}

// CHECK-LABEL: func.func @fused
func.func @fused(%x: tensor<1x2x5x5xf32>, %w: tensor<4x2x3x3xf32>, %a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %q: tensor<6x2x4x8xf32>, %k: tensor<2x4x9x8xf32>, %h: tensor<1x4x8xf32>, %g: tensor<8xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.com.microsoft.FusedConv"{{.*}} -> tensor<1x4x3x3xf32>
  %0 = "onnx.com.microsoft.FusedConv"(%x, %w, %none, %none) {activation = "Relu"} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, none, none) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.FusedGemm"{{.*}} -> tensor<2x4xf32>
  %1 = "onnx.com.microsoft.FusedGemm"(%a, %b, %none) {activation = "Relu", transB = 1 : si64} : (tensor<2x3xf32>, tensor<4x3xf32>, none) -> tensor<*xf32>
  // The first dimension of A becomes the rows.
  // CHECK: "onnx.com.microsoft.FusedMatMul"{{.*}} -> tensor<2x4x6x9xf32>
  %2 = "onnx.com.microsoft.FusedMatMul"(%q, %k) {transB = 1 : si64, transBatchA = 1 : si64} : (tensor<6x2x4x8xf32>, tensor<2x4x9x8xf32>) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.SkipLayerNormalization"{{.*}} -> (tensor<1x4x8xf32>, tensor<1x4x1xf32>, none, tensor<1x4x8xf32>)
  %3:4 = "onnx.com.microsoft.SkipLayerNormalization"(%h, %h, %g, %none, %none) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<8xf32>, none, none) -> (tensor<*xf32>, tensor<*xf32>, none, tensor<*xf32>)
  // CHECK: "onnx.com.microsoft.BiasGelu"{{.*}} -> tensor<1x4x8xf32>
  %4 = "onnx.com.microsoft.BiasGelu"(%3#0, %g) : (tensor<*xf32>, tensor<8xf32>) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.FastGelu"{{.*}} -> tensor<1x4x8xf32>
  %5 = "onnx.com.microsoft.FastGelu"(%4, %none) : (tensor<*xf32>, none) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.Gelu"{{.*}} -> tensor<1x4x8xf32>
  %6 = "onnx.com.microsoft.Gelu"(%5) : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: "onnx.com.microsoft.QuickGelu"{{.*}} -> tensor<1x4x8xf32>
  %7 = "onnx.com.microsoft.QuickGelu"(%6) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %7 : tensor<*xf32>
}
