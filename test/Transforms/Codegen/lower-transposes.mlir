// Buffers are transposed by blocks.
// RUN: onnxq-opt %s --onnxq-lower-transposes --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @blocks
// CHECK-SAME: %[[X:.*]]: memref<2x20x16xf32>, %[[Y:.*]]: memref<2x16x20xf32>
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: scf.parallel (%[[B:.*]], %[[Q:.*]], %[[P:.*]]) = {{.*}} step (%{{.*}}, %[[C8]], %[[C8]])
// CHECK: vector.load %[[X]][%[[B]], %[[P]], %[[Q]]] : memref<2x20x16xf32>, vector<8xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: vector.store %{{.*}}, %[[Y]][%[[B]], %[[Q]], %[[P]]]
// CHECK: scf.parallel
// CHECK: memref.store
// CHECK: scf.parallel
// CHECK: memref.store
// CHECK-NOT: linalg.transpose
func.func @blocks(%x: memref<2x20x16xf32>, %y: memref<2x16x20xf32>) {
  linalg.transpose ins(%x : memref<2x20x16xf32>) outs(%y : memref<2x16x20xf32>) permutation = [0, 2, 1]
  return
}

// -----

// Rows that stay rows, short ones, wide elements and elements that lie apart
// stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: linalg.transpose
func.func @others(%a: memref<8x9x16xf32>, %b: memref<9x8x16xf32>, %c: memref<16x3xf32>, %d: memref<3x16xf32>,
                  %e: memref<16x16xf64>, %f: memref<16x16xf64>, %g: memref<16x16xf32, strided<[64, 2]>>, %h: memref<16x16xf32>) {
  linalg.transpose ins(%a : memref<8x9x16xf32>) outs(%b : memref<9x8x16xf32>) permutation = [1, 0, 2]
  linalg.transpose ins(%c : memref<16x3xf32>) outs(%d : memref<3x16xf32>) permutation = [1, 0]
  linalg.transpose ins(%e : memref<16x16xf64>) outs(%f : memref<16x16xf64>) permutation = [1, 0]
  linalg.transpose ins(%g : memref<16x16xf32, strided<[64, 2]>>) outs(%h : memref<16x16xf32>) permutation = [1, 0]
  return
}
