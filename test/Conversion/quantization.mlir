// RUN: onnxq-opt %s --onnx-to-linalg | FileCheck %s

// One scale is read before the loop; the quotient is rounded before the zero
// point is added.
// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<?x3xf32>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<?x3xui8> {
  // CHECK-NOT: cf.assert
  // CHECK: tensor.extract
  // CHECK: linalg.generic
  // CHECK-NOT: tensor.extract
  // CHECK: arith.divf
  // CHECK: onnxq.requantize %{{.*}} zero_point %{{.*}} in[0, 255] : f32 -> i8
  %y = "onnx.QuantizeLinear"(%x, %s, %z) : (tensor<?x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x3xui8>
  onnx.Return %y : tensor<?x3xui8>
}

// Scales per block are as many as the blocks.
// CHECK-LABEL: func.func @dequantize_blocks
func.func @dequantize_blocks(%x: tensor<?x3xi4>, %s: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: cf.assert %{{.*}}, "node 'DequantizeLinear': a scale or zero point has another size than the blocks"
  // CHECK: linalg.generic
  // CHECK: arith.floordivsi
  // CHECK: arith.sitofp
  %y = "onnx.DequantizeLinear"(%x, %s, %none) {axis = 0 : si64, block_size = 2 : si64} : (tensor<?x3xi4>, tensor<?x3xf32>, none) -> tensor<?x3xf32>
  onnx.Return %y : tensor<?x3xf32>
}

// Sums are integers, and the multiplier of a channel is computed once.
// CHECK-LABEL: func.func @qlinear_conv
func.func @qlinear_conv(%x: tensor<1x2x5x5xui8>, %xs: tensor<f32>, %xz: tensor<ui8>, %w: tensor<4x2x3x3xi8>, %ws: tensor<4xf32>, %wz: tensor<4xi8>, %ys: tensor<f32>, %yz: tensor<ui8>) -> tensor<1x4x3x3xui8> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: arith.extui {{.*}} : i8 to i32
  // CHECK: arith.muli {{.*}} : i32
  // CHECK: arith.divf
  // CHECK: linalg.generic
  // CHECK: arith.sitofp
  // CHECK-NOT: arith.divf
  // CHECK: onnxq.requantize
  %y = "onnx.QLinearConv"(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %none) : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, none) -> tensor<1x4x3x3xui8>
  onnx.Return %y : tensor<1x4x3x3xui8>
}

// CHECK-LABEL: func.func @nbits
func.func @nbits(%a: tensor<?x64xf32>, %b: tensor<8x2x16xui8>, %s: tensor<16xf32>, %g: tensor<64xi32>) -> tensor<?x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: cf.assert %{{.*}}, "node 'com.microsoft.MatMulNBits': g_idx names a block that isn't there"
  // CHECK: linalg.generic
  // CHECK: arith.shrui
  %y = "onnx.com.microsoft.MatMulNBits"(%a, %b, %s, %none, %g, %none) {K = 64 : si64, N = 8 : si64, bits = 4 : si64, block_size = 32 : si64} : (tensor<?x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, none, tensor<64xi32>, none) -> tensor<?x8xf32>
  onnx.Return %y : tensor<?x8xf32>
}
