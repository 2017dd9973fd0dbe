// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// com.microsoft.QGemm C1, rank
func.func @f(%a0: tensor<3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects A of rank 2, but got rank 1 (C1)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %none, %none) : (tensor<3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QGemm C1, inner
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects equal inner dimensions, but got 3 and 4 (C1)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %none, %none) {transB = 1 : si64} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QGemm C2
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<2xf32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %none, %none) : (tensor<2x3xui8>, tensor<2xf32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QGemm C3
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<3xf32>, %a5: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects b_scale of one element or shape [4], but got shape [3] (C3)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %none, %none) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<3xf32>, tensor<i8>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QGemm C4
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<3xi32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects C that broadcasts to [2, 4], but got shape [3] (C4)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %none, %none) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, tensor<3xi32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QGemm C5
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a7: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects both of y_scale and y_zero_point or none, but got one (C5)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %a7, %none) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, tensor<f32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QGemm C5, shape
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a7: tensor<4xf32>, %a8: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C5)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %a7, %a8) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, tensor<4xf32>, tensor<ui8>) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QGemm C6
func.func @f(%a0: tensor<2x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x4xi8>, %a4: tensor<f32>, %a5: tensor<i8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects Y of element type 'f32', but got 'ui8' (C6)}}
  %y = "onnx.com.microsoft.QGemm"(%a0, %a1, %a2, %a3, %a4, %a5, %none, %none, %none) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xi8>, tensor<f32>, tensor<i8>, none, none, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeMatMul C1
func.func @f(%a0: tensor<4x3xf32>, %a1: tensor<4x2xi8>, %a2: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.DynamicQuantizeMatMul"(%a0, %a1, %a2, %none, %none) : (tensor<4x3xf32>, tensor<4x2xi8>, tensor<f32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeMatMul C2
func.func @f(%a0: tensor<4x3xf32>, %a1: tensor<3x2xi8>, %a2: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects b_scale of one element or shape [2], but got shape [3] (C2)}}
  %y = "onnx.com.microsoft.DynamicQuantizeMatMul"(%a0, %a1, %a2, %none, %none) : (tensor<4x3xf32>, tensor<3x2xi8>, tensor<3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeMatMul C3
func.func @f(%a0: tensor<4x3xf32>, %a1: tensor<3x2xi8>, %a2: tensor<f32>, %a4: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects bias of shape [2], but got shape [4] (C3)}}
  %y = "onnx.com.microsoft.DynamicQuantizeMatMul"(%a0, %a1, %a2, %none, %a4) : (tensor<4x3xf32>, tensor<3x2xi8>, tensor<f32>, none, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulIntegerToFloat C1
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<4x2xi8>, %a2: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.MatMulIntegerToFloat"(%a0, %a1, %a2, %a3, %none, %none, %none) : (tensor<4x3xui8>, tensor<4x2xi8>, tensor<f32>, tensor<f32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulIntegerToFloat C2
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<3x2xi8>, %a2: tensor<4xf32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.MatMulIntegerToFloat"(%a0, %a1, %a2, %a3, %none, %none, %none) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<4xf32>, tensor<f32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulIntegerToFloat C3
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<3x2xi8>, %a2: tensor<f32>, %a3: tensor<f32>, %a5: tensor<4xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.com.microsoft.MatMulIntegerToFloat"(%a0, %a1, %a2, %a3, %none, %a5, %none) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<f32>, none, tensor<4xi8>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulIntegerToFloat C4
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<3x2xi8>, %a2: tensor<f32>, %a3: tensor<f32>, %a6: tensor<2x1xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y = "onnx.com.microsoft.MatMulIntegerToFloat"(%a0, %a1, %a2, %a3, %none, %none, %a6) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<f32>, none, none, tensor<2x1xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C1, block size
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects block_size to be a power of two in [16, 2^30], but got 24 (C1)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 24 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C1, bits
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects bits in [2, 8], but got 9 (C1)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64, bits = 9 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C1, size
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects K in [1, 2147483647], but got 9223372036854775807 (C1)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %none) {K = 9223372036854775807 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C2
func.func @f(%a0: tensor<2x32xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects A with a last dimension of 64, but got shape [2, 32] (C2)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x32xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C3
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x32xui8>, %a2: tensor<16xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects B of shape [8, 2, 16], but got shape [8, 32] (C3)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x32xui8>, tensor<16xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C4
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<8xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects scales of 16 elements, but got shape [8] (C4)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<8xf32>, none, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C5
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>, %a3: tensor<16xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects zero_points of 8 elements, but got shape [16] (C5)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %a3, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, tensor<16xui8>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C5, float
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>, %a3: tensor<8xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects zero_points of 16 elements, but got shape [8] (C5)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %a3, %none, %none) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, tensor<8xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.MatMulNBits C6
func.func @f(%a0: tensor<2x64xf32>, %a1: tensor<8x2x16xui8>, %a2: tensor<16xf32>, %a5: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects bias of shape [8], but got shape [4] (C6)}}
  %y = "onnx.com.microsoft.MatMulNBits"(%a0, %a1, %a2, %none, %none, %a5) {K = 64 : si64, N = 8 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, none, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.QAttention C1
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects num_heads to be positive, but got 0 (C1)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 0 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C1, divides
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects num_heads to divide 8, but got 3 (C1)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 3 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C2, rank
func.func @f(%a0: tensor<5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input of rank 3, but got rank 2 (C2)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C2, rows
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<9x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects weight with 8 rows, but got 9 (C2)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xui8>, tensor<9x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C2, thirds
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x25xi8>, %a2: tensor<25xf32>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects weight with a multiple of 3 columns, but got 25 (C2)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xui8>, tensor<8x25xi8>, tensor<25xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C3
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<8xf32>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<8xf32>, tensor<f32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C4
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<8xf32>, %a4: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<8xf32>, tensor<f32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C5
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<8xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C5)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<8xf32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.QAttention C6
func.func @f(%a0: tensor<1x5x8xui8>, %a1: tensor<8x24xi8>, %a2: tensor<24xf32>, %a3: tensor<f32>, %a4: tensor<f32>, %a8: tensor<2x1x2x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects past of rank 5, but got rank 4 (C6)}}
  %y:2 = "onnx.com.microsoft.QAttention"(%a0, %a1, %a2, %a3, %a4, %none, %none, %none, %a8) {num_heads = 2 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, none, none, tensor<2x1x2x4xf32>) -> (tensor<1x5x8xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeLSTM C1
func.func @f(%a0: tensor<7x2x3xf32>, %a1: tensor<1x3x16xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<1xf32>, %a9: tensor<1xi8>, %a10: tensor<1xf32>, %a11: tensor<1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects direction to be forward, reverse or bidirectional, but got "both" (C1)}}
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) {direction = "both"} : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<*xf32>, none, none)
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeLSTM C2, directions
func.func @f(%a0: tensor<7x2x3xf32>, %a1: tensor<1x3x16xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<1xf32>, %a9: tensor<1xi8>, %a10: tensor<1xf32>, %a11: tensor<1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects W with a first dimension of 2, but got 1 (C2)}}
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) {direction = "bidirectional"} : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<*xf32>, none, none)
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeLSTM C2, hidden size
func.func @f(%a0: tensor<7x2x3xf32>, %a1: tensor<1x3x16xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<1xf32>, %a9: tensor<1xi8>, %a10: tensor<1xf32>, %a11: tensor<1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects hidden_size to be R's second dimension, but got 5 (C2)}}
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) {hidden_size = 5 : si64} : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<*xf32>, none, none)
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeLSTM C2, columns
func.func @f(%a0: tensor<7x2x3xf32>, %a1: tensor<1x3x15xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<1xf32>, %a9: tensor<1xi8>, %a10: tensor<1xf32>, %a11: tensor<1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects W with 4 times 4 columns, but got 15 (C2)}}
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) : (tensor<7x2x3xf32>, tensor<1x3x15xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<*xf32>, none, none)
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeLSTM C3
func.func @f(%a0: tensor<7x2x3xf32>, %a1: tensor<1x3x16xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<4xf32>, %a9: tensor<1xi8>, %a10: tensor<1xf32>, %a11: tensor<1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects W_scale of shape [1] or [1, 16], but got shape [4] (C3)}}
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<4xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<*xf32>, none, none)
  onnx.Return
}

// -----

// com.microsoft.DynamicQuantizeLSTM C4
func.func @f(%a0: tensor<7x2x4xf32>, %a1: tensor<1x3x16xi8>, %a2: tensor<1x4x16xi8>, %a8: tensor<1xf32>, %a9: tensor<1xi8>, %a10: tensor<1xf32>, %a11: tensor<1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X with a last dimension of 3, but got 4 (C4)}}
  %y:3 = "onnx.com.microsoft.DynamicQuantizeLSTM"(%a0, %a1, %a2, %none, %none, %none, %none, %none, %a8, %a9, %a10, %a11) : (tensor<7x2x4xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<*xf32>, none, none)
  onnx.Return
}

// -----

// com.microsoft.BiasGelu C1
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<2xf32>) {
  // expected-error @+1 {{expects B of shape [3], but got shape [2] (C1)}}
  %y = "onnx.com.microsoft.BiasGelu"(%a0, %a1) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// com.microsoft.FastGelu C1
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<2xf32>) {
  // expected-error @+1 {{expects bias of shape [3], but got shape [2] (C1)}}
  %y = "onnx.com.microsoft.FastGelu"(%a0, %a1) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// com.microsoft.SkipLayerNormalization C1
func.func @f(%a0: tensor<1x4x8xf32>, %a1: tensor<1x4x8xf32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects gamma of shape [8], but got shape [4] (C1)}}
  %y:4 = "onnx.com.microsoft.SkipLayerNormalization"(%a0, %a1, %a2, %none, %none) : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<4xf32>, none, none) -> (tensor<*xf32>, none, none, none)
  onnx.Return
}

// -----

// com.microsoft.SkipLayerNormalization C2
func.func @f(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input of rank 1 or more, but got rank 0 (C2)}}
  %y:4 = "onnx.com.microsoft.SkipLayerNormalization"(%a0, %a1, %a2, %none, %none) : (tensor<f32>, tensor<f32>, tensor<4xf32>, none, none) -> (tensor<*xf32>, none, none, none)
  onnx.Return
}

// -----

// com.microsoft.FusedConv C1
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %none, %none) {auto_pad = "X"} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedConv C2
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %none, %none) {kernel_shape = [1, 3]} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedConv C3
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %none, %none) {strides = [1, -1]} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedConv C4
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %none, %none) {pads = [1]} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedConv C5
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C5)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %none, %none) : (tensor<1x2x5x5xf32>, tensor<4x2x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedConv C6
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C6)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %none, %none) {group = -1 : si64} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedConv C7
func.func @f(%a0: tensor<1x2x5x5xf32>, %a1: tensor<4x2x3x3xf32>, %a2: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C7)}}
  %y = "onnx.com.microsoft.FusedConv"(%a0, %a1, %a2, %none) : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, tensor<3xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedGemm C1
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<4x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects equal inner dimensions, but got 3 and 4 (C1)}}
  %y = "onnx.com.microsoft.FusedGemm"(%a0, %a1, %none) : (tensor<2x3xf32>, tensor<4x3xf32>, none) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedGemm C2
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>, %a2: tensor<3x4xf32>) {
  // expected-error @+1 {{expects C that broadcasts to [2, 4], but got shape [3, 4] (C2)}}
  %y = "onnx.com.microsoft.FusedGemm"(%a0, %a1, %a2) : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.FusedMatMul C1
func.func @f(%a0: tensor<f32>, %a1: tensor<3x4xf32>) {
  // expected-error @+1 {{expects A of rank 1 or more, but got rank 0 (C1)}}
  %y = "onnx.com.microsoft.FusedMatMul"(%a0, %a1) : (tensor<f32>, tensor<3x4xf32>) -> tensor<*xf32>
  onnx.Return
}

// -----

// com.microsoft.Attention C1
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8x24xf32>, %a2: tensor<24xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects num_heads to be positive, but got -2 (C1)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {num_heads = -2 : si64} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.Attention C2
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8xf32>, %a2: tensor<24xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects weights of rank 2, but got rank 1 (C2)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xf32>, tensor<8xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.Attention C3
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8x24xf32>, %a2: tensor<8xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects bias of shape [24], but got shape [8] (C3)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<8xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.Attention C4
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8x25xf32>, %a2: tensor<25xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects weights with a multiple of 3 columns, but got 25 (C4)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xf32>, tensor<8x25xf32>, tensor<25xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.Attention C4, sizes
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8x24xf32>, %a2: tensor<24xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects qkv_hidden_sizes to be three positive sizes that add up to [24], but got [8, 8, 4] (C4)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {num_heads = 2 : si64, qkv_hidden_sizes = [8, 8, 4]} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.Attention C4, overflow
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8x24xf32>, %a2: tensor<24xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %none, %none, %none) {num_heads = 2 : si64, qkv_hidden_sizes = [9223372036854775807, 9223372036854775807, 4]} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}

// -----

// com.microsoft.Attention C5
func.func @f(%a0: tensor<1x5x8xf32>, %a1: tensor<8x24xf32>, %a2: tensor<24xf32>, %a4: tensor<2x1x2x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects past of rank 5, but got rank 4 (C5)}}
  %y:2 = "onnx.com.microsoft.Attention"(%a0, %a1, %a2, %none, %a4, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, tensor<2x1x2x4xf32>, none, none) -> (tensor<*xf32>, none)
  onnx.Return
}
