// 3x3 convolutions of bytes are transformed on x86 without a dot product of its
// own, where that costs less.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v2" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,SSE
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=x86-64-v3" --onnxq-pack-weights=winograd=false | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=alderlake" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-linux-gnu cpu=icelake-server" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: onnxq-opt %s --onnxq-set-target="triple=aarch64-linux-gnu features=+dotprod" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: onnxq-opt %s --onnxq-set-target="triple=riscv64-linux-gnu features=+v" --onnxq-pack-weights | FileCheck %s --check-prefixes=CHECK,PLAIN

// The input is read as it is, and what is around it. Weights are stored in eight
// bits, in panels, and expanded.
// CHECK-LABEL: func.func @transformed
// AVX2-NOT: onnxq.stage
// AVX2: %[[STORED:.*]] = arith.constant dense_resource<{{.*}}> : tensor<9216xi8>
// AVX2: %[[MEMORY:.*]] = bufferization.alloc_tensor() : tensor<36864xi16>
// AVX2: %[[WEIGHTS:.*]] = onnxq.expand ins(%[[STORED]] : tensor<9216xi8>) outs(%[[MEMORY]] : tensor<36864xi16>) attributes {panels = 2 : i64}
// AVX2-NOT: onnxq.stage
// AVX2: onnxq.contract ins(%{{.*}}, %[[WEIGHTS]] : {{.*}}pad(
// AVX2-SAME: packing = #onnxq.packing<groups = 1, k = 288, n = 32, mr = 4, nr = 16, step = 2, kind = winograd>
// SSE: onnxq.expand ins({{.*}} : tensor<9216xi8>) {{.*}} attributes {panels = 4 : i64}
// SSE: onnxq.contract
// SSE-SAME: mr = 4, nr = 8, step = 2, kind = winograd
// PLAIN: onnxq.contract
// PLAIN-NOT: winograd
func.func @transformed(%x: tensor<1x?x8x32xi8>, %e: tensor<1x?x8x32xi32>, %p: i8) -> tensor<1x?x8x32xi32> {
  %w = arith.constant dense<100> : tensor<1x288x32xi8>
  %y = onnxq.contract ins(%x, %w : tensor<1x?x8x32xi8>, tensor<1x288x32xi8>) pad(%p : i8) outs(%e : tensor<1x?x8x32xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x?x8x32xi32>
  return %y : tensor<1x?x8x32xi32>
}

// Sums that 64 times wouldn't fit 32 bits: tiles of 2x2 places. Weights of nine
// bits, in 16. Tiles are 49: five at a time repeat one only.
// CHECK-LABEL: func.func @nine
// AVX2: arith.constant dense_resource<{{.*}}> : tensor<36864xi16>
// AVX2: onnxq.expand {{.*}} outs({{.*}} : tensor<65536xi16>) attributes {panels = 4 : i64}
// AVX2: onnxq.contract
// AVX2-SAME: mr = 5, nr = 16, step = 2, kind = winograd
// PLAIN-NOT: winograd
func.func @nine(%x: tensor<1x16x16x64xi8>, %e: tensor<1x14x14x64xi32>) -> tensor<1x14x14x64xi32> {
  %w = arith.constant dense<-255> : tensor<1x576x64xi16>
  %y = onnxq.contract ins(%x, %w : tensor<1x16x16x64xi8>, tensor<1x576x64xi16>) outs(%e : tensor<1x14x14x64xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, input_unsigned} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x14x14x64xi32>
  return %y : tensor<1x14x14x64xi32>
}

// Many weights: tiles of 2x2 places, which have fewer numbers.
// CHECK-LABEL: func.func @many
// AVX2: onnxq.expand ins({{.*}} : tensor<589824xi8>) outs({{.*}} : tensor<1048576xi16>) attributes {panels = 16 : i64}
// AVX2: kind = winograd
func.func @many(%x: tensor<1x30x30x256xi8>, %e: tensor<1x28x28x256xi32>) -> tensor<1x28x28x256xi32> {
  %w = arith.constant dense<100> : tensor<1x2304x256xi8>
  %y = onnxq.contract ins(%x, %w : tensor<1x30x30x256xi8>, tensor<1x2304x256xi8>) outs(%e : tensor<1x28x28x256xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x28x28x256xi32>
  return %y : tensor<1x28x28x256xi32>
}

// Larger weights, strides, few places, and channels that fill no vector.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: winograd
func.func @plain(%x: tensor<1x9x9x32xi8>, %e: tensor<1x9x9x32xi32>, %f: tensor<1x5x5x32xi32>, %s: tensor<1x2x2x32xi8>, %t: tensor<1x2x2x32xi32>,
                 %z: tensor<1x9x9x20xi8>) -> (tensor<1x9x9x32xi32>, tensor<1x5x5x32xi32>, tensor<1x2x2x32xi32>, tensor<1x9x9x32xi32>) {
  %large = arith.constant dense<256> : tensor<1x288x32xi16>
  %a = onnxq.contract ins(%x, %large : tensor<1x9x9x32xi8>, tensor<1x288x32xi16>) outs(%e : tensor<1x9x9x32xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x9x9x32xi32>
  %w = arith.constant dense<100> : tensor<1x288x32xi8>
  %b = onnxq.contract ins(%x, %w : tensor<1x9x9x32xi8>, tensor<1x288x32xi8>) outs(%f : tensor<1x5x5x32xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x5x5x32xi32>
  %c = onnxq.contract ins(%s, %w : tensor<1x2x2x32xi8>, tensor<1x288x32xi8>) outs(%t : tensor<1x2x2x32xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x2x2x32xi32>
  %odd = arith.constant dense<100> : tensor<1x180x32xi8>
  %d = onnxq.contract ins(%z, %odd : tensor<1x9x9x20xi8>, tensor<1x180x32xi8>) outs(%e : tensor<1x9x9x32xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x9x9x32xi32>
  return %a, %b, %c, %d : tensor<1x9x9x32xi32>, tensor<1x5x5x32xi32>, tensor<1x2x2x32xi32>, tensor<1x9x9x32xi32>
}

// More weights than the places are worth, where quads are fast.
// CHECK-LABEL: func.func @late
// AVX2: kind = quads
func.func @late(%v: tensor<1x7x7x512xi8>, %r: tensor<1x7x7x512xi32>) -> tensor<1x7x7x512xi32> {
  %many = arith.constant dense<30> : tensor<1x4608x512xi8>
  %g = onnxq.contract ins(%v, %many : tensor<1x7x7x512xi8>, tensor<1x4608x512xi8>) outs(%r : tensor<1x7x7x512xi32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } -> tensor<1x7x7x512xi32>
  return %g : tensor<1x7x7x512xi32>
}
