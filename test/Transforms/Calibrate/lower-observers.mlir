// onnxq-lower-observers: a call with the tensor as rows of channels.
// RUN: onnxq-opt %s --onnxq-lower-observers --split-input-file | FileCheck %s

// Channels of 16 elements each.
// CHECK-LABEL: func.func @channels
// CHECK-SAME: %[[X:.*]]: memref<2x8x4x4xf32>, %[[S:.*]]: memref<999xi64>
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<2x8x4x4xf32> to memref<?xf32>
// CHECK: %[[STATE:.*]] = memref.reinterpret_cast %[[S]] to offset: [0], sizes: [%{{.*}}], strides: [1] : memref<999xi64> to memref<?xi64>
// CHECK: call @onnxq_observe(%[[FLAT]], {{.*}}, %[[STATE]],
// CHECK-NOT: onnxq.observe
// CHECK: func.func private @onnxq_extent
// CHECK: func.func private @onnxq_observe
func.func @channels(%x: memref<2x8x4x4xf32>, %state: memref<999xi64>) {
  onnxq.observe "x" %x into %state {bins = 16 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : memref<2x8x4x4xf32>, memref<999xi64>
  return
}

// -----

// Nothing is added where nothing is observed.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: @onnxq_observe
func.func @nothing(%x: memref<4xf32>) {
  return
}
