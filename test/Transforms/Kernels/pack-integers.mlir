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
// AVX2: packing = #onnxq.packing<groups = 1, k = 4, n = 16, mr = 4, nr = 16, step = 4, kind = pairs>
// VNNI-NOT: onnxq.stage
// VNNI: kind = vnni
// SDOT: onnxq.stage
// SDOT: %[[MASK:.*]] = arith.constant -128 : i8
// SDOT: arith.xori %{{.*}}, %[[MASK]]
// SDOT: kind = sdot
// Four channels are half of a product of small matrices.
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
// AVX2: packing = #onnxq.packing<groups = 1, k = 4, n = 16, mr = 4, nr = 16, step = 2, kind = madd>
// VNNI: %[[C:.*]] = arith.constant dense<-24960> : tensor<16xi32>
// VNNI: onnxq.contract {{.*}}epilogue(%[[C]] : tensor<16xi32>)
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

// Three columns of taps with three channels are nine products next to each
// other, ten with the one that fills up the last step; the border has three
// numbers per pixel.
// CHECK-LABEL: func.func @row
// AVX2: tensor.expand_shape {{.*}} into tensor<1x9x27x1xi8>
// AVX2: onnxq.stage {{.*}}outs(%{{.*}} : tensor<1x11x34x1xi16>) attributes {pads = array<i64: 1, 3, 1, 4>}
// AVX2: kernel = array<i64: 3, 10>
// AVX2-SAME: k = 30
// AVX2-SAME: strides = array<i64: 2, 6>
// VNNI: outs(%{{.*}} : tensor<1x11x36x1xi8>)
// VNNI: kernel = array<i64: 3, 12>
// SDOT: kernel = array<i64: 3, 12>
// I8MM: kernel = array<i64: 3, 16>
// OUTER: kernel = array<i64: 3, 3>
func.func @row(%x: tensor<1x9x9x3xi8>, %e: tensor<1x5x5x16xi32>) -> tensor<1x5x5x16xi32> {
  %w = arith.constant dense<65> : tensor<1x27x16xi8>
  %y = onnxq.contract ins(%x, %w : tensor<1x9x9x3xi8>, tensor<1x27x16xi8>) outs(%e : tensor<1x5x5x16xi32>)
      attributes {input_unsigned, kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
        pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x5x5x16xi32>
  return %y : tensor<1x5x5x16xi32>
}

// A filter per channel: with AVX2 rows of weights in pairs, in front of them
// what the zero point and the bias add to the sums: 1000 - 128 * 9 * 7.
// CHECK-LABEL: func.func @depthwise
// AVX2: onnxq.window {{.*}}weights(%{{.*}} : tensor<256xi16>) pad(%{{.*}} : i8) outs
// AVX2-SAME: packed
// AVX2: ^bb0(%[[ACC:.*]]: i32):
// AVX2-NEXT: onnxq.yield %[[ACC]] : i32
// VNNI: packed
// SDOT-NOT: , packed,
// I8MM-NOT: , packed,
// OUTER-NOT: , packed,
func.func @depthwise(%x: tensor<1x8x8x16xi8>, %e: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<7> : tensor<9x16xi16>
  %b = arith.constant dense<1000> : tensor<16xi32>
  %z = arith.constant -128 : i8
  %y = onnxq.window <mul_add> ins(%x : tensor<1x8x8x16xi8>) weights(%w : tensor<9x16xi16>) pad(%z : i8)
      epilogue(%b : tensor<16xi32>) outs(%e : tensor<1x8x8x16xi32>)
      attributes {input_unsigned, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        pads = array<i64: 1, 1, 1, 1>, epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
  ^bb0(%acc: i32, %bias: i32):
    %s = arith.addi %acc, %bias : i32
    onnxq.yield %s : i32
  } -> tensor<1x8x8x16xi32>
  return %y : tensor<1x8x8x16xi32>
}

// A zero point that is only known at run time stays with the elements.
// CHECK-LABEL: func.func @open_zero
// CHECK: onnxq.window
// CHECK-SAME: tensor<9x16xi16>
// CHECK-NOT: , packed,
func.func @open_zero(%x: tensor<1x8x8x16xi8>, %z: i8, %e: tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32> {
  %w = arith.constant dense<7> : tensor<9x16xi16>
  %y = onnxq.window <mul_add> ins(%x : tensor<1x8x8x16xi8>) weights(%w : tensor<9x16xi16>) pad(%z : i8)
      outs(%e : tensor<1x8x8x16xi32>)
      attributes {input_unsigned, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x8x8x16xi32>
  return %y : tensor<1x8x8x16xi32>
}

// Whole matrices of eight products; a single row has no partner. Signs are as
// they are.
// CHECK-LABEL: func.func @matrices
// I8MM-NOT: onnxq.stage
// I8MM: packing = #onnxq.packing<groups = 1, k = 64, n = 16, mr = 4, nr = 16, step = 8, kind = usmmla>
// I8MM-NOT: onnxq.stage
// I8MM: step = 8, kind = smmla
// I8MM: kind = usdot
func.func @matrices(%x: tensor<8x64xi8>, %r: tensor<1x64xi8>, %e: tensor<8x16xi32>, %f: tensor<1x16xi32>) -> (tensor<8x16xi32>, tensor<8x16xi32>, tensor<1x16xi32>) {
  %w = arith.constant dense<64> : tensor<1x64x16xi8>
  %u = onnxq.contract ins(%x, %w : tensor<8x64xi8>, tensor<1x64x16xi8>) outs(%e : tensor<8x16xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<8x16xi32>
  %s = onnxq.contract ins(%x, %w : tensor<8x64xi8>, tensor<1x64x16xi8>) outs(%e : tensor<8x16xi32>) {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<8x16xi32>
  %y = onnxq.contract ins(%r, %w : tensor<1x64xi8>, tensor<1x64x16xi8>) outs(%f : tensor<1x16xi32>) attributes {input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x16xi32>
  return %u, %s, %y : tensor<8x16xi32>, tensor<8x16xi32>, tensor<1x16xi32>
}
