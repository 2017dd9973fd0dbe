// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x12x?x64xf32>, %k: tensor<1x4x?x64xf32>, %v: tensor<1x4x?x64xf32>, %m: tensor<1x1x1x?xf32>, %e: tensor<1x?x12x64xf32>) -> tensor<1x?x12x64xf32> {
  // CHECK: onnxq.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x12x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>) bias(%{{.*}} : tensor<1x1x1x?xf32>) outs(%{{.*}} : tensor<1x?x12x64xf32>) attributes {scale = 1.250000e-01 : f32, tokens_first = array<i1: false, false, false, true>} -> tensor<1x?x12x64xf32>
  %y = onnxq.attention ins(%q, %k, %v : tensor<1x12x?x64xf32>, tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32>)
      bias(%m : tensor<1x1x1x?xf32>) outs(%e : tensor<1x?x12x64xf32>)
      attributes {scale = 1.250000e-01 : f32, tokens_first = array<i1: false, false, false, true>} -> tensor<1x?x12x64xf32>
  return %y : tensor<1x?x12x64xf32>
}

// CHECK-LABEL: func.func @buffers
func.func @buffers(%q: memref<2x3x5x8xf32>, %k: memref<2x3x7x8xf32>, %v: memref<2x3x7x4xf32>, %e: memref<2x3x5x4xf32>) {
  // CHECK: onnxq.attention ins
  onnxq.attention ins(%q, %k, %v : memref<2x3x5x8xf32>, memref<2x3x7x8xf32>, memref<2x3x7x4xf32>) outs(%e : memref<2x3x5x4xf32>)
      attributes {scale = 1.0 : f32, tokens_first = array<i1: false, false, false, false>}
  return
}
