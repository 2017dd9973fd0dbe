// RUN: onnxq-opt %s --onnxq-copy-strided-casts | FileCheck %s

// CHECK-LABEL: func @slice_of_open_sizes
// CHECK-SAME: (%[[VIEW:.*]]: memref<?x?xf32, strided<[?, 1]>>)
// CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?xf32>
// CHECK: memref.copy %[[VIEW]], %[[COPY]]
// CHECK: return %[[COPY]]
func.func @slice_of_open_sizes(%view: memref<?x?xf32, strided<[?, 1]>>) -> memref<?x?xf32> {
  %0 = memref.cast %view : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
  return %0 : memref<?x?xf32>
}

// CHECK-LABEL: func @known_sizes_far_apart
// CHECK: memref.alloc() : memref<2x4xf32>
// CHECK: memref.cast %{{.*}} : memref<2x4xf32> to memref<?x4xf32>
func.func @known_sizes_far_apart(%view: memref<2x4xf32, strided<[8, 1], offset: ?>>) -> memref<?x4xf32> {
  %0 = memref.cast %view : memref<2x4xf32, strided<[8, 1], offset: ?>> to memref<2x4xf32, strided<[?, 1]>>
  %1 = memref.cast %0 : memref<2x4xf32, strided<[?, 1]>> to memref<?x4xf32>
  return %1 : memref<?x4xf32>
}

// Strides that the sizes prove, and sizes only.
// CHECK-LABEL: func @proven
// CHECK-NOT: memref.copy
// CHECK: return
func.func @proven(%a: memref<?x4xf32, strided<[4, 1]>>, %b: memref<2x?xf32>) -> (memref<?x4xf32>, memref<?x?xf32>) {
  %0 = memref.cast %a : memref<?x4xf32, strided<[4, 1]>> to memref<?x4xf32>
  %1 = memref.cast %b : memref<2x?xf32> to memref<?x?xf32>
  return %0, %1 : memref<?x4xf32>, memref<?x?xf32>
}

// A stride along a dimension of one element doesn't matter.
// CHECK-LABEL: func @one_row
// CHECK-NOT: memref.copy
// CHECK: return
func.func @one_row(%a: memref<1x?xf32, strided<[?, 1]>>) -> memref<1x?xf32> {
  %0 = memref.cast %a : memref<1x?xf32, strided<[?, 1]>> to memref<1x?xf32>
  return %0 : memref<1x?xf32>
}
