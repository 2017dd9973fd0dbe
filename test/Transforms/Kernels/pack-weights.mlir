// Tiles by target, packed weights and staged inputs.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=znver4" --onnxq-pack-weights | FileCheck %s --check-prefix=AVX512
// RUN: onnxq-opt %s --onnxq-set-target="triple=aarch64-unknown-linux-gnu cpu=cortex-a76" --onnxq-pack-weights | FileCheck %s --check-prefix=NEON
// RUN: onnxq-opt %s --onnxq-set-target="triple=riscv64-unknown-linux-gnu cpu=spacemit-x60" --onnxq-pack-weights | FileCheck %s --check-prefix=RVV

// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights=winograd=false | FileCheck %s --check-prefix=PLAIN

// CHECK-LABEL: func.func @many
func.func @many(%x: tensor<3000x2xf32>, %e: tensor<3000x64xf32>) -> tensor<3000x64xf32> {
  // CHECK: arith.constant dense_resource<packed{{.*}}> : tensor<128xf32>
  // AVX2: mr = 6, nr = 16, step = 1, kind = fma
  // AVX512: mr = {{[678]}}, nr = {{32|64}}
  // NEON: nr = {{8|12|16}}, step = 1
  // RVV: nr = 32, step = 1
  %w = arith.constant dense<1.0> : tensor<1x2x64xf32>
  %c = onnxq.contract ins(%x, %w : tensor<3000x2xf32>, tensor<1x2x64xf32>) outs(%e : tensor<3000x64xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<3000x64xf32>
  return %c : tensor<3000x64xf32>
}

// One row: as many columns as there are registers for.
// CHECK-LABEL: func.func @one
func.func @one(%x: tensor<1x2xf32>, %e: tensor<1x640xf32>) -> tensor<1x640xf32> {
  // AVX2: mr = 1, nr = 64
  %w = arith.constant dense<1.0> : tensor<1x2x640xf32>
  %c = onnxq.contract ins(%x, %w : tensor<1x2xf32>, tensor<1x2x640xf32>) outs(%e : tensor<1x640xf32>) {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x640xf32>
  return %c : tensor<1x640xf32>
}

// Weights of a run stay where they are.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<2x9x4xf32>, %w: tensor<2x4x16xf32>, %e: tensor<2x9x16xf32>) -> tensor<2x9x16xf32> {
  // CHECK: onnxq.contract ins(%{{.*}}, %{{.*}} : tensor<2x9x4xf32>, tensor<2x4x16xf32>)
  // CHECK-SAME: kind = rows
  %c = onnxq.contract ins(%x, %w : tensor<2x9x4xf32>, tensor<2x4x16xf32>) outs(%e : tensor<2x9x16xf32>) attributes {batched} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<2x9x16xf32>
  return %c : tensor<2x9x16xf32>
}

// CHECK-LABEL: func.func @staged
func.func @staged(%x: tensor<1x?x8x3xf32>, %e: tensor<1x?x8x16xf32>) -> tensor<1x?x8x16xf32> {
  // CHECK: %[[S:.*]] = onnxq.stage ins(%{{.*}} : tensor<1x?x8x3xf32>) outs(%{{.*}} : tensor<1x?x10x3xf32>) attributes {pads = array<i64: 1, 1, 1, 1>}
  // CHECK: onnxq.contract ins(%[[S]], {{.*}} pads = array<i64: 0, 0, 0, 0>
  %w = arith.constant dense<1.0> : tensor<1x27x16xf32>
  %c = onnxq.contract ins(%x, %w : tensor<1x?x8x3xf32>, tensor<1x27x16xf32>) outs(%e : tensor<1x?x8x16xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x?x8x16xf32>
  return %c : tensor<1x?x8x16xf32>
}

// 3x3 with a stride of 1: transformed, 16 numbers for 9.
// CHECK-LABEL: func.func @transformed
// PLAIN-LABEL: func.func @transformed
func.func @transformed(%x: tensor<1x?x8x32xf32>, %e: tensor<1x?x8x32xf32>) -> tensor<1x?x8x32xf32> {
  // CHECK: arith.constant dense_resource<packed{{.*}}> : tensor<16384xf32>
  // CHECK: onnxq.contract
  // CHECK-SAME: k = 288, n = 32, {{.*}}, kind = winograd
  // PLAIN: arith.constant dense_resource<packed{{.*}}> : tensor<9216xf32>
  // PLAIN: kind = fma
  %w = arith.constant dense<1.0> : tensor<1x288x32xf32>
  %c = onnxq.contract ins(%x, %w : tensor<1x?x8x32xf32>, tensor<1x288x32xf32>) outs(%e : tensor<1x?x8x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x?x8x32xf32>
  return %c : tensor<1x?x8x32xf32>
}

// Few channels, or a stride: plain sums.
// CHECK-LABEL: func.func @untransformed
func.func @untransformed(%x: tensor<1x9x9x16xf32>, %e: tensor<1x9x9x32xf32>, %z: tensor<1x9x9x32xf32>, %f: tensor<1x5x5x32xf32>) -> (tensor<1x9x9x32xf32>, tensor<1x5x5x32xf32>) {
  // CHECK-COUNT-2: kind = fma
  %w = arith.constant dense<1.0> : tensor<1x144x32xf32>
  %c = onnxq.contract ins(%x, %w : tensor<1x9x9x16xf32>, tensor<1x144x32xf32>) outs(%e : tensor<1x9x9x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x9x9x32xf32>
  %v = arith.constant dense<1.0> : tensor<1x288x32xf32>
  %d = onnxq.contract ins(%z, %v : tensor<1x9x9x32xf32>, tensor<1x288x32xf32>) outs(%f : tensor<1x5x5x32xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  } -> tensor<1x5x5x32xf32>
  return %c, %d : tensor<1x9x9x32xf32>, tensor<1x5x5x32xf32>
}
