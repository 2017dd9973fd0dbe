// RUN: onnxq-opt %s --onnxq-lower-copies | FileCheck %s

// Threads may share all dimensions but the last.
// CHECK-LABEL: func @strided
// CHECK-SAME: (%[[FROM:.*]]: memref<2x3x4xf32, {{.*}}>, %[[TO:.*]]: memref<2x3x4xf32>)
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = (%{{.*}}, %{{.*}}) to (%c2, %c3)
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c4
// CHECK: %[[X:.*]] = memref.load %[[FROM]][%[[I]], %[[J]], %[[K]]]
// CHECK: memref.store %[[X]], %[[TO]][%[[I]], %[[J]], %[[K]]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @strided(%from: memref<2x3x4xf32, strided<[24, 8, 1]>>, %to: memref<2x3x4xf32>) {
  memref.copy %from, %to : memref<2x3x4xf32, strided<[24, 8, 1]>> to memref<2x3x4xf32>
  return
}

// CHECK-LABEL: func @dynamic_vector
// CHECK: %[[SIZE:.*]] = memref.dim
// CHECK-NOT: scf.parallel
// CHECK: scf.for {{.*}} to %[[SIZE]]
func.func @dynamic_vector(%from: memref<?xf32, strided<[2]>>, %to: memref<?xf32>) {
  memref.copy %from, %to : memref<?xf32, strided<[2]>> to memref<?xf32>
  return
}

// CHECK-LABEL: func @scalar
// CHECK-NOT: scf
// CHECK: memref.load %{{.*}}[]
// CHECK: memref.store
func.func @scalar(%from: memref<f32, strided<[], offset: ?>>, %to: memref<f32>) {
  memref.copy %from, %to : memref<f32, strided<[], offset: ?>> to memref<f32>
  return
}

// One block of memory stays one copy.
// CHECK-LABEL: func @contiguous
// CHECK: memref.copy
func.func @contiguous(%from: memref<2x4xf32>, %to: memref<2x4xf32>) {
  memref.copy %from, %to : memref<2x4xf32> to memref<2x4xf32>
  return
}
