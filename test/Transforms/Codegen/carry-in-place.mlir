// Buffers that loops carry have one place each, where they are the loop's own.
// RUN: onnxq-opt %s --onnxq-carry-in-place --split-input-file | FileCheck %s

// An iteration's new buffer of static size is copied to where the loop began.
// CHECK-LABEL: func.func @counted
// CHECK-SAME: %[[X:.*]]: memref<4xf32>
func.func @counted(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[PLACE:.*]] = memref.alloc() : memref<4xf32>
  // CHECK: memref.copy %[[X]], %[[PLACE]]
  // CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[PLACE]])
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    // CHECK: %[[NEW:.*]] = memref.alloc()
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    // CHECK: memref.copy %[[NEW]], %[[A]]
    // CHECK-NEXT: scf.yield %[[A]]
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// What the loop owns from the beginning needs no other place.
// CHECK-LABEL: func.func @owned
func.func @owned(%x: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[OWN:.*]] = memref.alloc()
  // CHECK-NEXT: memref.copy
  // CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[OWN]])
  %own = memref.alloc() : memref<4xf32>
  memref.copy %x, %own : memref<4xf32> to memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %own) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    scf.yield %b : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// Two buffers that change places stay as they are: a copy would lose one.
// CHECK-LABEL: func.func @swapped
func.func @swapped(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: memref.copy
  // CHECK: scf.yield %[[B:.*]], %[[A:.*]] : memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %b, %a : memref<4xf32>, memref<4xf32>
  }
  return %r#0 : memref<4xf32>
}

// -----

// A buffer from outside isn't the loop's.
// CHECK-LABEL: func.func @outside
func.func @outside(%x: memref<4xf32>, %y: memref<4xf32>, %n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: memref.copy
  // CHECK: scf.yield %{{.*}} : memref<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<4xf32>) {
    scf.yield %y : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

// A while loop's condition hands a buffer of open size on without a copy.
// CHECK-LABEL: func.func @handed_on
func.func @handed_on(%x: memref<?xf32>, %n: index, %more: i1) -> memref<?xf32> {
  // CHECK: %[[OWN:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK-NEXT: memref.copy %{{.*}}, %[[OWN]]
  // CHECK: scf.while (%[[A:.*]] = %[[OWN]])
  // CHECK-NOT: memref.copy
  // CHECK: scf.condition(%{{.*}}) %[[A]]
  %r = scf.while (%a = %x) : (memref<?xf32>) -> memref<?xf32> {
    %copy = memref.alloc(%n) : memref<?xf32>
    memref.copy %a, %copy : memref<?xf32> to memref<?xf32>
    scf.condition(%more) %copy : memref<?xf32>
  } do {
  ^bb0(%a: memref<?xf32>):
    %b = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
    scf.yield %b : memref<?xf32>
  }
  return %r : memref<?xf32>
}
