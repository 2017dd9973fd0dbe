// Loops of kernels are shared between threads where that is worth it.
// RUN: onnxq-opt %s --onnxq-parallelize=threads=4 --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnxq-parallelize --split-input-file | FileCheck %s --check-prefix=ONE

// ONE-NOT: omp.
// ONE-NOT: scf.parallel (
// ONE-NOT: onnxq.threads

// The dimension with equal shares is the second one.
// CHECK-LABEL: module attributes {onnxq.threads = 4 : i64}
// CHECK: func.func private @large
// CHECK-SAME: %[[X:.*]]: memref<3x65536xf32> {llvm.noalias}, %[[Y:.*]]: memref<3x65536xf32> {llvm.noalias}
// CHECK-DAG: %[[N:.*]] = arith.constant 65536 : index
// CHECK: omp.parallel num_threads(%{{.*}} : i32)
// CHECK: omp.wsloop
// CHECK: omp.loop_nest (%[[I:.*]]) : index
// CHECK: %[[FROM:.*]] = arith.divui
// CHECK: %[[TO:.*]] = arith.divui
// CHECK: func.call @large_share(%{{.*}}, %{{.*}}, %[[FROM]], %[[TO]])
// CHECK: func.func private @large_share(%{{.*}}: memref<3x65536xf32> {llvm.noalias}, %{{.*}}: memref<3x65536xf32> {llvm.noalias}, %{{.*}}: index, %{{.*}}: index)
// CHECK-NOT: scf.parallel (
func.func private @large(%x: memref<3x65536xf32> {llvm.noalias}, %y: memref<3x65536xf32> {llvm.noalias}) attributes {onnxq.kernel = "linalg.generic"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant 65536 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c3, %n) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<3x65536xf32>
    memref.store %v, %y[%i, %j] : memref<3x65536xf32>
    scf.reduce
  }
  return
}

// -----

// A small one isn't.
// CHECK-LABEL: @small
// CHECK-NOT: omp.parallel
// CHECK: scf.for
func.func private @small(%x: memref<64xf32>, %y: memref<64xf32>) attributes {onnxq.kernel = "linalg.generic"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<64xf32>
    memref.store %v, %y[%i] : memref<64xf32>
    scf.reduce
  }
  return
}

// -----

// An open size is compared when it is known.
// CHECK-LABEL: @open
// CHECK: arith.cmpi sge
// CHECK: scf.if
// CHECK: omp.parallel
// CHECK: } else {
// CHECK: func.call @open_share
func.func private @open(%x: memref<f32>, %n: index) attributes {onnxq.kernel = "linalg.generic"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32>
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %m[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// -----

// A check leaves the run, which only its own thread may do; scratch memory of
// the function belongs to all iterations.
// CHECK-LABEL: @checks
// CHECK-NOT: omp.parallel
// CHECK: func.func private @scratch
// CHECK-NOT: omp.parallel
func.func private @checks(%x: memref<1048576xf32>, %holds: i1) attributes {onnxq.kernel = "linalg.generic"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    cf.assert %holds, "no"
    memref.store %zero, %x[%i] : memref<1048576xf32>
    scf.reduce
  }
  return
}
func.func private @scratch(%x: memref<1048576xf32>) attributes {onnxq.kernel = "linalg.generic"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  %s = memref.alloca() : memref<f32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<1048576xf32>
    memref.store %v, %s[] : memref<f32>
    scf.reduce
  }
  return
}

// -----

// Scratch memory that is only read, by whichever view, may be read by all.
// CHECK-LABEL: @border
// CHECK: memref.alloca
// CHECK: omp.parallel
func.func private @border(%x: memref<1048576xf32>, %y: memref<1048576xf32>, %inside: i1) attributes {onnxq.kernel = "linalg.generic"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1048576 : index
  %zero = arith.constant 0.0 : f32
  %s = memref.alloca() : memref<8xf32>
  memref.store %zero, %s[%c0] : memref<8xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.cast %x : memref<1048576xf32> to memref<?xf32>
    %b = memref.cast %s : memref<8xf32> to memref<?xf32>
    %from = arith.select %inside, %a, %b : memref<?xf32>
    %at = arith.select %inside, %i, %c0 : index
    %v = vector.load %from[%at] : memref<?xf32>, vector<1xf32>
    vector.store %v, %y[%i] : memref<1048576xf32>, vector<1xf32>
    scf.reduce
  }
  return
}
