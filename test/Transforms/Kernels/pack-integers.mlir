// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=alderlake" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: onnxq-opt %s --onnxq-set-target="triple=aarch64-linux-gnu features=+dotprod" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,SDOT
// RUN: onnxq-opt %s --onnxq-set-target="triple=aarch64-linux-gnu features=+dotprod,+i8mm" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,I8MM
// RUN: onnxq-opt %s --onnxq-set-target="triple=riscv64-linux-gnu features=+v" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,OUTER

#columns = affine_map<(d0, d1) -> (d1)>

// Small weights: pairs stay within 16 bits. Bytes without sign are read as they
// are where the step takes them.
// CHECK-LABEL: func.func @small
// AVX2-NOT: onnxq.stage
// AVX2: packing = #onnxq.packing<groups = 1, depth = 4, columns = 16, mr = 4, nr = 16, step = 4, kind = pairs>
// VNNI-NOT: onnxq.stage
// VNNI: kind = vnni
// SDOT: onnxq.stage
// SDOT: %[[MASK:.*]] = arith.constant -128 : i8
// SDOT: arith.xori %{{.*}}, %[[MASK]]
// SDOT: kind = sdot
// I8MM-NOT: onnxq.stage
// I8MM: kind = usdot
// OUTER: onnxq.stage
// OUTER: arith.extui %{{.*}} : i8 to i16
// OUTER: kind = outer
func.func @small(%x: tensor<8x4xi8>, %e: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %w = arith.constant dense<64> : tensor<1x4x16xi8>
  %y = onnxq.contract ins(%x, %w : tensor<8x4xi8>, tensor<1x4x16xi8>) outs(%e : tensor<8x16xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<8x16xi32>
  return %y : tensor<8x16xi32>
}

// Large weights: 16 bits on x86 without a dot product. Three channels become
// four; a sign that the step doesn't take is flipped, and 128 times the sum of
// each column taken away.
// CHECK-LABEL: func.func @large
// AVX2: onnxq.stage {{.*}}outs(%{{.*}} : tensor<8x4xi16>)
// AVX2: arith.extsi %{{.*}} : i8 to i16
// AVX2: packing = #onnxq.packing<groups = 1, depth = 4, columns = 16, mr = 4, nr = 16, step = 2, kind = madd>
// VNNI: %[[C:.*]] = arith.constant dense<-24960> : tensor<16xi32>
// VNNI: onnxq.contract {{.*}}extras(%[[C]] : tensor<16xi32>)
// VNNI-SAME: input_unsigned
// VNNI-SAME: kind = vnni
// VNNI: ^bb0(%[[ACC:.*]]: i32, %[[SUM:.*]]: i32):
// VNNI: arith.addi %[[ACC]], %[[SUM]]
// SDOT: kind = sdot
// I8MM: kind = sdot
func.func @large(%x: tensor<8x3xi8>, %e: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %w = arith.constant dense<65> : tensor<1x3x16xi8>
  %y = onnxq.contract ins(%x, %w : tensor<8x3xi8>, tensor<1x3x16xi8>) outs(%e : tensor<8x16xi32>) {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<8x16xi32>
  return %y : tensor<8x16xi32>
}
