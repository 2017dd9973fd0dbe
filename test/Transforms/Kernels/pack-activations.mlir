// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=alderlake" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: onnxq-opt %s --onnxq-set-target="triple=aarch64-linux-gnu features=+dotprod" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,SDOT

// Weights that are known at run time only. In 16 bits both operands are widened,
// signs don't matter; depths become whole steps.
// CHECK-LABEL: func.func @batches
// AVX2: onnxq.stage {{.*}}outs(%{{.*}} : tensor<3x8x64xi16>)
// AVX2: arith.extui %{{.*}} : i8 to i16
// AVX2: onnxq.pack ins(%{{.*}} : tensor<3x63x20xi8>) outs(%{{.*}} : tensor<3x2048xi16>) attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 20, mr = 4, nr = 16, step = 2, kind = madd>}
// AVX2: arith.extsi %{{.*}} : i8 to i16
// AVX2: onnxq.contract {{.*}}outs
// VNNI: onnxq.stage {{.*}}outs(%{{.*}} : tensor<3x8x64xi8>)
// VNNI: onnxq.pack {{.*}}outs(%{{.*}} : tensor<3x2048xi8>)
// VNNI-SAME: kind = vnni
// VNNI-NEXT: ^bb0(%[[X:.*]]: i8):
// VNNI-NEXT: onnxq.yield %[[X]] : i8
// The left operand's sign is flipped: 128 times the sums of columns.
// SDOT: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<3x63x20xi8>) outs(%{{.*}} : tensor<3x20xi32>)
// SDOT: onnxq.stage
// SDOT: arith.xori
// SDOT: onnxq.contract {{.*}}epilogue(%[[SUMS]] : tensor<3x20xi32>)
// SDOT: arith.constant 128 : i32
func.func @batches(%x: tensor<3x8x63xi8>, %w: tensor<3x63x20xi8>, %e: tensor<3x8x20xi32>) -> tensor<3x8x20xi32> {
  %y = onnxq.contract ins(%x, %w : tensor<3x8x63xi8>, tensor<3x63x20xi8>) outs(%e : tensor<3x8x20xi32>) attributes {batched, input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<3x8x20xi32>
  return %y : tensor<3x8x20xi32>
}

// Both signs are flipped: the sums of lines, and what both have in common,
// 4 * 128 * 128.
// CHECK-LABEL: func.func @signs
// VNNI-DAG: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x8xi8>) outs(%{{.*}} : tensor<1x8xi32>)
// VNNI-DAG: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x4xi8>) outs(%{{.*}} : tensor<8xi32>)
// VNNI: onnxq.contract
// VNNI-SAME: input_unsigned
// VNNI: arith.constant 65536 : i32
func.func @signs(%x: tensor<8x4xi8>, %w: tensor<1x4x8xi8>, %e: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %y = onnxq.contract ins(%x, %w : tensor<8x4xi8>, tensor<1x4x8xi8>) outs(%e : tensor<8x8xi32>) attributes {weights_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<8x8xi32>
  return %y : tensor<8x8xi32>
}
