// Buffers have places in the workspace, or come from the run's context.
// RUN: onnxq-opt %s --onnxq-plan-memory --split-input-file | FileCheck %s

// Buffers that aren't alive together share a place.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[WS:.*]]: memref<?xi8>
// CHECK-SAME: onnxq.workspace_bytes = 128
func.func @shared(%x: memref<16xf32>) {
  // CHECK: memref.view %[[WS]][%{{.*}}][] : memref<?xi8> to memref<16xf32>
  %a = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
  %b = memref.alloc() : memref<16xf32>
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  %c = memref.alloc() : memref<16xf32>
  linalg.exp ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  linalg.exp ins(%c : memref<16xf32>) outs(%x : memref<16xf32>)
  return
}

// -----

// A loop frees what an iteration allocates and doesn't carry on.
// CHECK-LABEL: func.func @trimmed
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr
func.func @trimmed(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[MARK:.*]] = call @onnxq_mark(%[[CTX]])
  // CHECK-NEXT: scf.for
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    // CHECK: call @onnxq_alloc(%[[CTX]]
    %b = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
    // CHECK: %[[DATA:.*]] = memref.extract_aligned_pointer_as_index
    // CHECK-NEXT: call @onnxq_keep(%[[CTX]], %[[MARK]], %[[DATA]])
    // CHECK-NEXT: call @onnxq_trim(%[[CTX]], %[[MARK]])
    // CHECK-NEXT: scf.yield
    scf.yield %b : memref<?xf32>
  }
  return %r : memref<?xf32>
}

// -----

// Sizes whose product runs over end the run.
// CHECK-LABEL: func.func @overflow
func.func @overflow(%n: index, %m: index) -> memref<?x?xf32> {
  // CHECK: %{{.*}}, %[[HIGH:.*]] = arith.mului_extended
  // CHECK: arith.cmpi eq, %[[HIGH]]
  // CHECK: arith.cmpi ule
  // CHECK: cf.assert %{{.*}}, "{{.*}}a tensor would have a negative size or more elements than memory holds"
  // CHECK-NEXT: llvm.mlir.addressof @onnxq_memory
  // CHECK-NEXT: call @onnxq_alloc
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  return %a : memref<?x?xf32>
}

// -----

// A large result is computed where the caller says.
// CHECK-LABEL: func.func @placed
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[WS:.*]]: memref<?xi8>, %{{.*}}: memref<4096xf32>, %[[OUT:.*]]: memref<?xi8>)
// CHECK-SAME: onnxq.placed_results = array<i64: 1, 0>
// CHECK-SAME: onnxq.workspace_bytes = 16640
func.func @placed(%x: memref<4096xf32>) -> (memref<64xf32>, memref<64x64xf32>) {
  // CHECK: memref.view %[[WS]]{{.*}} to memref<64xf32>
  %small = memref.alloc() : memref<64xf32>
  // CHECK: memref.view %[[OUT]]{{.*}} to memref<4096xf32>
  %a = memref.alloc() : memref<4096xf32>
  linalg.exp ins(%x : memref<4096xf32>) outs(%a : memref<4096xf32>)
  %b = memref.expand_shape %a [[0, 1]] output_shape [64, 64] : memref<4096xf32> into memref<64x64xf32>
  return %small, %b : memref<64xf32>, memref<64x64xf32>
}

// -----

// Two results that are one buffer, and a result that is an input, are copied.
// CHECK-LABEL: func.func @copied
// CHECK-NOT: onnxq.placed_results
func.func @copied(%x: memref<4096xf32>) -> (memref<4096xf32>, memref<4096xf32>, memref<4096xf32>) {
  %a = memref.alloc() : memref<4096xf32>
  linalg.exp ins(%x : memref<4096xf32>) outs(%a : memref<4096xf32>)
  return %a, %a, %x : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>
}
