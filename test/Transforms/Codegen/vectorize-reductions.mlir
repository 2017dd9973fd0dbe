// RUN: onnxq-opt %s --onnxq-vectorize-reductions | FileCheck %s

// CHECK-LABEL: func @sum_of_squares
// CHECK-SAME: (%[[X:.*]]: memref<8x?xf32>, %[[SUM:.*]]: memref<8xf32>, %[[I:.*]]: index, %[[N:.*]]: index)
// CHECK: %[[MANY:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}}
// CHECK: scf.if %[[MANY]]
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<16xf32>
// CHECK: %[[LANES:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[S:.*]] = %[[NONE]]) -> (vector<16xf32>)
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[I]], %[[K]]]
// CHECK: %[[Q:.*]] = arith.mulf %[[V]], %[[V]] : vector<16xf32>
// CHECK: %[[T:.*]] = arith.addf %[[S]], %[[Q]] : vector<16xf32>
// CHECK: scf.yield %[[T]]
// CHECK: vector.extract_strided_slice %[[LANES]] {offsets = [0], sizes = [8]
// CHECK: vector.extract_strided_slice %[[LANES]] {offsets = [8], sizes = [8]
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: memref.store {{.*}}, %[[SUM]][%[[I]]]
// The rest.
// CHECK: %[[FROM:.*]] = arith.select %[[MANY]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[N]]
// CHECK: memref.load %[[X]]
func.func @sum_of_squares(%x: memref<8x?xf32>, %sum: memref<8xf32>, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %v = memref.load %x[%i, %k] : memref<8x?xf32>
    %s = memref.load %sum[%i] : memref<8xf32>
    %q = arith.mulf %v, %v : f32
    %t = arith.addf %s, %q : f32
    memref.store %t, %sum[%i] : memref<8xf32>
  }
  return
}

// Few elements stay as they are.
// CHECK-LABEL: func @few
// CHECK-NOT: vector
// CHECK: return
func.func @few(%x: memref<7xf32>, %sum: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %k = %c0 to %c7 step %c1 {
    %s = memref.load %sum[] : memref<f32>
    %v = memref.load %x[%k] : memref<7xf32>
    %t = arith.maximumf %s, %v : f32
    memref.store %t, %sum[] : memref<f32>
  }
  return
}

// Elements that lie apart, and a value that each element needs the last of.
// CHECK-LABEL: func @not_in_lanes
// CHECK-NOT: vector
// CHECK: return
func.func @not_in_lanes(%x: memref<64x64xf32>, %y: memref<64xf32>, %sum: memref<f32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %k = %c0 to %c64 step %c1 {
    %s = memref.load %sum[] : memref<f32>
    %v = memref.load %x[%k, %i] : memref<64x64xf32>
    %t = arith.addf %s, %v : f32
    memref.store %t, %sum[] : memref<f32>
  }
  scf.for %k = %c0 to %c64 step %c1 {
    %s = memref.load %sum[] : memref<f32>
    %v = memref.load %y[%k] : memref<64xf32>
    %t = arith.divf %s, %v : f32
    memref.store %t, %sum[] : memref<f32>
  }
  return
}
