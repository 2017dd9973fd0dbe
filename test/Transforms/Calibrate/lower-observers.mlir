// onnxq-lower-observers: a call with the tensor as rows of channels.
// RUN: onnxq-opt %s --onnxq-lower-observers --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnxq-lower-observers=fma=false --split-input-file | FileCheck %s --check-prefix=SPLIT
// RUN: onnxq-opt %s --onnxq-lower-observers=ifma=true --split-input-file | FileCheck %s --check-prefix=IFMA

// Channels of 16 elements each.
// CHECK-LABEL: func.func @channels
// CHECK-SAME: %[[X:.*]]: memref<2x8x4x4xf32>, %[[S:.*]]: memref<999xi64>
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<2x8x4x4xf32> to memref<?xf32>
// CHECK: %[[STATE:.*]] = memref.reinterpret_cast %[[S]] to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<999xi64> to memref<?xi64>
// CHECK: call @onnxq_observe(%[[FLAT]], {{.*}}, %[[STATE]],
// CHECK-NOT: onnxq.observe
// CHECK: func.func private @onnxq_extent
// CHECK: func.func private @onnxq_tile
// CHECK: math.fma
// CHECK-NOT: call @onnxq_bump
// CHECK: func.func private @onnxq_observe
// IFMA-LABEL: func.func @channels
// IFMA-NOT: math.fma
// IFMA: func.func private @onnxq_add_groups
// IFMA: llvm.call_intrinsic "llvm.x86.avx512.vpmadd52l.uq.512"
// IFMA: llvm.call_intrinsic "llvm.x86.avx512.vpmadd52h.uq.512"
// SPLIT-LABEL: func.func @channels
// SPLIT-NOT: math.fma
// SPLIT: func.func private @onnxq_tile
// SPLIT-NOT: math.fma
func.func @channels(%x: memref<2x8x4x4xf32>, %state: memref<999xi64>) {
  onnxq.observe "x" %x into %state {bins = 16 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : memref<2x8x4x4xf32>, memref<999xi64>
  return
}

// -----

// Rows of a block, each with an element for every channel.
// CHECK-LABEL: func.func @rows
// CHECK: call @onnxq_tile(%{{.*}}, %[[PLACE:.*]], %c4{{.*}}, %[[ROW:.*]], %c16{{.*}}, %c8{{.*}},
func.func @rows(%x: memref<1x4x4x8xf32>, %place: index, %row: index, %scratch: memref<156xi32>, %state: memref<999xi64>) {
  onnxq.observe_rows %x[%place] at %row with %scratch into %state {bins = 16 : i64, channels = 8 : i64, offset = 1 : i64, outer = 16 : i64, parts = 1 : i64, rows = 4 : i64} : memref<1x4x4x8xf32>, memref<156xi32>, memref<999xi64>
  return
}

// -----

// Nothing is added where nothing is observed.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: @onnxq_observe
func.func @nothing(%x: memref<4xf32>) {
  return
}

// -----

// Bins only: the record has one channel, and elements are a row.
// CHECK-LABEL: func.func @bins
// CHECK: call @onnxq_observe_bins(
// CHECK: call @onnxq_begin(%c1{{[_0-9]*}}, %c1{{[_0-9]*}}, %
// CHECK: call @onnxq_bins(%{{[a-z_0-9]+}}, %arg1, %c32{{[_0-9]*}}, %
// CHECK: call @onnxq_end(%c1{{[_0-9]*}}, %
// CHECK: return
func.func @bins(%x: memref<1x4x4x8xf32>, %place: index, %row: index, %scratch: memref<408xi32>, %state: memref<999xi64>) {
  onnxq.observe "x" %x into %state {bins = 16 : i64, bins_only, channel_axis = 3 : i64, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : memref<1x4x4x8xf32>, memref<999xi64>
  onnxq.observe_begin %scratch into %state {bins = 16 : i64, bins_only, channels = 8 : i64, first = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<408xi32>, memref<999xi64>
  onnxq.observe_rows %x[%place] at %row with %scratch into %state {bins = 16 : i64, bins_only, channels = 8 : i64, offset = 1 : i64, outer = 16 : i64, parts = 1 : i64, rows = 4 : i64} : memref<1x4x4x8xf32>, memref<408xi32>, memref<999xi64>
  onnxq.observe_end %scratch into %state {bins = 16 : i64, bins_only, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : memref<408xi32>, memref<999xi64>
  return
}

// -----

// Histograms made together: places and numbers of all members.
// CHECK-LABEL: func.func @family
// CHECK-DAG: %[[A1:.*]] = arith.constant 2.500000e+00 : f32
// CHECK-DAG: %[[B2:.*]] = arith.constant 1.100000e+00 : f32
// CHECK: call @onnxq_observe_family(%{{.*}}, %{{.*}}, %{{.*}}, %c1{{[_0-9]*}}, %c170{{[_0-9]*}}, %c300{{[_0-9]*}}, %c350{{[_0-9]*}}, %c0{{[_0-9]*}}, %[[A1]], %{{.*}}, %{{.*}}, %{{.*}}, %c400{{[_0-9]*}}, %c569{{[_0-9]*}}, %c8{{[_0-9]*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[B2]],
// CHECK: call @onnxq_begin_family(
// CHECK: call @onnxq_family(%{{[a-z_0-9]+}}, %arg1, %c32{{[_0-9]*}}, %
// CHECK: call @onnxq_settle_family(
// CHECK: return
func.func @family(%x: memref<1x4x4x8xf32>, %place: index, %row: index, %scratch: memref<880xi32>, %state: memref<999xi64>) {
  onnxq.observe "x" %x into %state {bins = 16 : i64, bins_only, channel_axis = 3 : i64, channels = 8 : i64, members = #onnxq.members<offsets = [300, 400], channels = [0, 8], factors = [2.5 : f32, 1.0 : f32], addends = [-0.0 : f32, -0.0 : f32], lowers = [-3.4028235e38 : f32, 0.5 : f32], uppers = [3.4028235e38 : f32, 1.1 : f32]>, offset = 1 : i64, parts = 1 : i64} : memref<1x4x4x8xf32>, memref<999xi64>
  onnxq.observe_begin %scratch into %state {bins = 16 : i64, bins_only, channels = 8 : i64, members = #onnxq.members<offsets = [300], channels = [0], factors = [2.5 : f32], addends = [-0.0 : f32], lowers = [-3.4028235e38 : f32], uppers = [3.4028235e38 : f32]>, first = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<880xi32>, memref<999xi64>
  onnxq.observe_rows %x[%place] at %row with %scratch into %state {bins = 16 : i64, bins_only, channels = 8 : i64, members = #onnxq.members<offsets = [300], channels = [0], factors = [2.5 : f32], addends = [-0.0 : f32], lowers = [-3.4028235e38 : f32], uppers = [3.4028235e38 : f32]>, offset = 1 : i64, outer = 16 : i64, parts = 1 : i64, rows = 4 : i64} : memref<1x4x4x8xf32>, memref<880xi32>, memref<999xi64>
  onnxq.observe_end %scratch into %state {bins = 16 : i64, bins_only, channels = 8 : i64, members = #onnxq.members<offsets = [300], channels = [0], factors = [2.5 : f32], addends = [-0.0 : f32], lowers = [-3.4028235e38 : f32], uppers = [3.4028235e38 : f32]>, offset = 1 : i64, parts = 1 : i64} : memref<880xi32>, memref<999xi64>
  return
}
