// Kernels on buffers become grids of tiles.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v3" --onnxq-lower-kernels --canonicalize | FileCheck %s
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v2" --onnxq-lower-kernels | FileCheck %s --check-prefix=PLAIN

// Fused multiply-adds only where the target has them.
// PLAIN-NOT: vector.fma
// PLAIN: arith.mulf
// PLAIN-NOT: vector.fma

// CHECK-LABEL: func.func @product
func.func @product(%x: memref<64x32xf32>, %w: memref<512xf32>, %b: memref<16xf32>, %y: memref<64x16xf32>) {
  // CHECK: scf.parallel (%[[TILE:.*]]) = (%{{.*}}) to (%c11)
  // CHECK: %[[TALL:.*]] = arith.cmpi ult, %[[TILE]], %c9
  // CHECK: scf.if %[[TALL]]
  // CHECK-COUNT-6: memref.prefetch %{{.*}}, write
  // CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args
  // CHECK-COUNT-96: vector.fma
  // CHECK: scf.yield
  // CHECK: vector.load
  // CHECK: arith.addf %{{.*}} : vector<8xf32>
  // CHECK: vector.store
  // The last two tiles have five rows.
  // CHECK: } else {
  // CHECK: %[[FIRST:.*]] = arith.muli %[[TILE]], %c5
  // CHECK: arith.addi %[[FIRST]], %c9
  // CHECK-COUNT-5: memref.prefetch %{{.*}}, write
  // CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args
  // CHECK-COUNT-80: vector.fma
  // CHECK-NEXT: scf.yield
  onnxq.contract ins(%x, %w : memref<64x32xf32>, memref<512xf32>) epilogue(%b : memref<16xf32>) outs(%y : memref<64x16xf32>)
      attributes {epilogue_maps = [affine_map<(m, n) -> (n)>], packing = #onnxq.packing<groups = 1, k = 32, n = 16, mr = 6, nr = 16, step = 1, kind = fma>} {
  ^bb0(%acc: f32, %bias: f32):
    %s = arith.addf %acc, %bias : f32
    onnxq.yield %s : f32
  }
  return
}

// The last columns are written in pieces; taps outside read zeros.
// CHECK-LABEL: func.func @ragged
func.func @ragged(%x: memref<1x9x9x32xf32>, %w: memref<4608xf32>, %y: memref<1x9x9x10xf32>) {
  // CHECK: memref.get_global @onnxq_zeros_64xf32
  // CHECK: arith.cmpi ult
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : memref<?xf32, strided<[1], offset: ?>>
  // CHECK: vector.store %{{.*}} : memref<{{.*}}>, vector<8xf32>
  // CHECK: vector.store %{{.*}} : memref<{{.*}}>, vector<2xf32>
  onnxq.contract ins(%x, %w : memref<1x9x9x32xf32>, memref<4608xf32>) outs(%y : memref<1x9x9x10xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        packing = #onnxq.packing<groups = 1, k = 288, n = 10, mr = 6, nr = 16, step = 1, kind = fma>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// Sums over many products are computed in blocks; those that aren't complete
// wait on the stack, while the weights that come next are asked for.
// CHECK-LABEL: func.func @deep
func.func @deep(%x: memref<64x3072xf32>, %w: memref<98304xf32>, %y: memref<64x32xf32>) {
  // CHECK: scf.parallel
  // CHECK: %[[KEPT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1056xf32>
  // CHECK: scf.for %[[BLOCK:.*]] = %c0 to %c8 step %c1
  // CHECK: scf.if
  // CHECK: vector.load %[[KEPT]]
  // CHECK: scf.for %{{.*}} = %c0 to %c192 step %c1 iter_args
  // CHECK: memref.prefetch %{{.*}}, read
  // CHECK-COUNT-24: vector.fma
  // CHECK: scf.if
  // CHECK: vector.store %{{.*}} : memref<2048xf32, strided<[1]>>
  // CHECK: } else {
  // CHECK: vector.store %{{.*}}, %[[KEPT]]
  onnxq.contract ins(%x, %w : memref<64x3072xf32>, memref<98304xf32>) outs(%y : memref<64x32xf32>)
      attributes {packing = #onnxq.packing<groups = 1, k = 3072, n = 32, mr = 6, nr = 16, step = 1, kind = fma>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// One row of 197 that is computed twice isn't worth tiles of two heights. The
// last block has fewer tiles than the others.
// CHECK-LABEL: func.func @tall
func.func @tall(%x: memref<197x640xf32>, %w: memref<20480xf32>, %y: memref<197x32xf32>) {
  // CHECK: scf.parallel (%[[BLOCK:.*]], %{{.*}}, %[[NUMBER:.*]]) = ({{.*}}) to (%c2, %c2, %c17)
  // CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c17
  // CHECK: %[[TILE:.*]] = arith.addi %[[FIRST]], %[[NUMBER]]
  // CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[TILE]], %c33
  // CHECK: scf.if %[[THERE]]
  // CHECK: arith.minsi %{{.*}}, %c191
  // CHECK-COUNT-24: vector.fma
  // CHECK-NOT: vector.fma
  onnxq.contract ins(%x, %w : memref<197x640xf32>, memref<20480xf32>) outs(%y : memref<197x32xf32>)
      attributes {packing = #onnxq.packing<groups = 1, k = 640, n = 32, mr = 6, nr = 16, step = 1, kind = fma>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// Fewer rows than a tile's have tiles of their own.
// CHECK-LABEL: func.func @open
func.func @open(%x: memref<?x32xf32>, %w: memref<512xf32>, %y: memref<?x16xf32>) {
  // CHECK: scf.if
  // CHECK: vector.fma
  // CHECK: } else {
  // CHECK: vector.fma
  onnxq.contract ins(%x, %w : memref<?x32xf32>, memref<512xf32>) outs(%y : memref<?x16xf32>)
      attributes {packing = #onnxq.packing<groups = 1, k = 32, n = 16, mr = 6, nr = 16, step = 1, kind = fma>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func.func @stage
func.func @stage(%x: memref<1x8x8x3xf32>, %y: memref<1x10x10x3xf32>) {
  // CHECK: scf.parallel
  // CHECK: scf.if
  // CHECK: vector.load
  // CHECK: } else {
  // CHECK: vector.store
  onnxq.stage ins(%x : memref<1x8x8x3xf32>) outs(%y : memref<1x10x10x3xf32>) attributes {pads = array<i64: 1, 1, 1, 1>} {
  ^bb0(%a: f32):
    onnxq.yield %a : f32
  }
  return
}

// A block of tiles is transformed, multiplied by 16 matrices and transformed
// back; places beyond an odd size aren't written.
// CHECK-LABEL: func.func @transformed
func.func @transformed(%x: memref<1x9x8x32xf32>, %w: memref<8192xf32>, %y: memref<1x9x8x16xf32>) {
  // CHECK: %[[IN:.*]] = memref.alloca() {alignment = 64 : i64} : memref<10496xf32>
  // CHECK: %[[OUT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<5376xf32>
  // CHECK: scf.for %{{.*}} = %c0 to %c20
  // CHECK: scf.if
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[IN]]
  // CHECK: } else {
  // CHECK-COUNT-16: vector.store %{{.*}}, %[[IN]]
  // CHECK: scf.for %{{.*}} = %c0 to %c16
  // CHECK: vector.fma
  // CHECK: vector.store %{{.*}}, %[[OUT]]
  // CHECK: scf.for %{{.*}} = %c0 to %c20
  // CHECK-COUNT-32: vector.load %[[OUT]]
  // CHECK-COUNT-4: vector.store %{{.*}} : memref<1152xf32, strided<[1]>>
  // CHECK: scf.if
  // CHECK-COUNT-2: vector.store %{{.*}} : memref<1152xf32, strided<[1]>>
  onnxq.contract ins(%x, %w : memref<1x9x8x32xf32>, memref<8192xf32>) outs(%y : memref<1x9x8x16xf32>)
      attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
        packing = #onnxq.packing<groups = 1, k = 288, n = 16, mr = 5, nr = 16, step = 1, kind = winograd>} {
  ^bb0(%acc: f32):
    onnxq.yield %acc : f32
  }
  return
}

// A line of memory of each number at a time, by one thread.
// CHECK-LABEL: func.func @expand
// CHECK-NOT: scf.parallel
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK-COUNT-9: vector.load %{{.*}} : memref<9216xi8>, vector<32xi8>
// CHECK-NOT: vector.load
// CHECK-COUNT-36: vector.store %{{.*}} : memref<36864xi16>, vector<32xi16>
// CHECK-NOT: vector.store
func.func @expand(%w: memref<9216xi8>, %y: memref<36864xi16>) {
  onnxq.expand ins(%w : memref<9216xi8>) outs(%y : memref<36864xi16>) attributes {panels = 2 : i64}
  return
}

// Weights of 16 bits need no widening; few are a shorter vector.
// CHECK-LABEL: func.func @expand_wide
// CHECK-COUNT-9: vector.load %{{.*}} vector<8xi16>
// CHECK-NOT: arith.extsi
// CHECK-COUNT-16: vector.store %{{.*}} vector<8xi16>
func.func @expand_wide(%w: memref<72xi16>, %y: memref<128xi16>) {
  onnxq.expand ins(%w : memref<72xi16>) outs(%y : memref<128xi16>) attributes {panels = 1 : i64}
  return
}
