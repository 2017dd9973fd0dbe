// Checks stand right after what they look at.
// RUN: onnxq-opt %s --onnxq-hoist-checks --split-input-file | FileCheck %s

// A size is checked before the loop that takes it for granted.
// CHECK-LABEL: func.func @size
// CHECK-SAME: %[[A:.*]]: memref<?xf32>
func.func @size(%a: memref<?xf32>, %b: memref<10xf32>, %n: memref<index>) {
  %c10 = arith.constant 10 : index
  // CHECK: %[[SIZE:.*]] = memref.load
  // CHECK-NEXT: %[[FITS:.*]] = arith.cmpi eq, %[[SIZE]]
  // CHECK-NEXT: cf.assert %[[FITS]], "ten"
  // CHECK: linalg.exp
  %size = memref.load %n[] : memref<index>
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<10xf32>)
  %fits = arith.cmpi eq, %size, %c10 : index
  cf.assert %fits, "ten"
  return
}

// -----

// A check of arguments comes first.
// CHECK-LABEL: func.func @arguments
// CHECK-NOT: linalg.exp
// CHECK: cf.assert
// CHECK: linalg.exp
func.func @arguments(%a: memref<?xf32>, %b: memref<10xf32>, %size: index) {
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<10xf32>)
  %c10 = arith.constant 10 : index
  %fits = arith.cmpi eq, %size, %c10 : index
  cf.assert %fits, "ten"
  return
}

// -----

// A division doesn't pass the check that guards it, nor a load the store.
// CHECK-LABEL: func.func @guarded
func.func @guarded(%m: memref<index>, %d: index, %e: index) {
  %c0 = arith.constant 0 : index
  // CHECK: cf.assert %{{.*}}, "zero"
  // CHECK: arith.divsi
  // CHECK: arith.floordivsi
  // CHECK: cf.assert %{{.*}}, "quotient"
  // CHECK: memref.store
  // CHECK: memref.load
  // CHECK: cf.assert %{{.*}}, "stored"
  %nonzero = arith.cmpi ne, %d, %c0 : index
  cf.assert %nonzero, "zero"
  %p = arith.divsi %e, %d : index
  %q = arith.floordivsi %p, %d : index
  %small = arith.cmpi slt, %q, %e : index
  cf.assert %small, "quotient"
  memref.store %q, %m[] : memref<index>
  %again = memref.load %m[] : memref<index>
  %same = arith.cmpi eq, %again, %d : index
  cf.assert %same, "stored"
  return
}
