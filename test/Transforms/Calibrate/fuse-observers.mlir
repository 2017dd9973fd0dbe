// onnxq-fuse-observers: ops and observers share loops over parts of buffers.
// RUN: onnxq-opt %s --onnxq-fuse-observers --split-input-file | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d3)>

// Channels last: blocks of 128 rows of 32 channels. The buffer between the two
// ops is one block, and what is overwritten is read as the old result.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[X:.*]]: memref<1x64x64x32xf32>, %[[B:.*]]: memref<32xf32>
// CHECK-NOT: memref.alloc() : memref<1x64x64x32xf32>
// CHECK: %[[SX:.*]] = memref.alloc() {alignment = 64 : i64} : memref<{{[0-9]+}}xi64>
// CHECK: onnxq.observe_begin %[[SX]]
// CHECK: %[[SY:.*]] = memref.alloc() {alignment = 64 : i64} : memref<{{[0-9]+}}xi64>
// CHECK: %[[SMALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4096xf32>
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %c4096{{.*}} step %c128
// CHECK: onnxq.observe_rows %[[X]][%[[PLACE:.*]]] at %[[ROW:.*]] with %[[SX]]
// CHECK-SAME: outer = 4096 : i64
// CHECK-SAME: rows = 128 : i64
// CHECK: %[[BIAS:.*]] = memref.subview %[[B]][0] [32] [1]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BIAS]] : {{.*}} outs(%{{.*}} : memref<128x32xf32>)
// CHECK: onnxq.observe_rows %[[SMALL]][%c0{{.*}}] at %[[ROW]] with %[[SY]]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel"]} ins(%[[SMALL]] : memref<4096xf32>) outs(%{{.*}} : memref<4096xf32, strided<[1], offset: ?>>)
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %[[OLD:.*]]: f32)
// CHECK-NEXT: arith.mulf %[[Y]], %[[OLD]]
// CHECK: onnxq.observe_end %[[SX]]
// CHECK: onnxq.observe_end %[[SY]]
func.func @rows(%x: memref<1x64x64x32xf32>, %b: memref<32xf32>, %state: memref<9999xi64>) {
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 3 : i64, channels = 32 : i64, offset = 1 : i64, parts = 1 : i64} : memref<1x64x64x32xf32>, memref<9999xi64>
  %y = memref.alloc() : memref<1x64x64x32xf32>
  linalg.generic {indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %b : memref<1x64x64x32xf32>, memref<32xf32>) outs(%y : memref<1x64x64x32xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %0 = arith.addf %in, %bias : f32
    linalg.yield %0 : f32
  }
  onnxq.observe "y" %y into %state {bins = 0 : i64, channel_axis = 3 : i64, channels = 32 : i64, offset = 2000 : i64, parts = 1 : i64} : memref<1x64x64x32xf32>, memref<9999xi64>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %x : memref<1x64x64x32xf32>, memref<1x64x64x32xf32>) outs(%x : memref<1x64x64x32xf32>) {
  ^bb0(%in: f32, %same: f32, %out: f32):
    %0 = arith.mulf %in, %same : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// Channels second: slices of the first two dimensions.
// CHECK-LABEL: func.func @slices
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK: onnxq.observe_slice
func.func @slices(%x: memref<1x32x64x64xf32>, %state: memref<9999xi64>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%x : memref<1x32x64x64xf32>) {
  ^bb0(%old: f32):
    %0 = math.absf %old : f32
    linalg.yield %0 : f32
  }
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 1 : i64, channels = 32 : i64, offset = 1 : i64, parts = 1 : i64} : memref<1x32x64x64xf32>, memref<9999xi64>
  return
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d1, d3)>

// An operand with a number for each row of the image isn't cut.
// CHECK-LABEL: func.func @not_cut
// CHECK-NOT: scf.for
// CHECK: onnxq.observe "x"
func.func @not_cut(%x: memref<1x64x64x32xf32>, %b: memref<64x32xf32>, %state: memref<9999xi64>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : memref<64x32xf32>) outs(%x : memref<1x64x64x32xf32>) {
  ^bb0(%in: f32, %old: f32):
    %0 = arith.addf %in, %old : f32
    linalg.yield %0 : f32
  }
  onnxq.observe "x" %x into %state {bins = 0 : i64, channel_axis = 3 : i64, channels = 32 : i64, offset = 1 : i64, parts = 1 : i64} : memref<1x64x64x32xf32>, memref<9999xi64>
  return
}
