// RUN: onnxq-opt %s --onnxq-check-bounds | FileCheck %s

// CHECK-LABEL: func @access
// CHECK: %[[SIZE:.*]] = memref.dim %arg0
// CHECK: %[[IN:.*]] = arith.cmpi ult, %arg1, %[[SIZE]]
// CHECK: cf.assert %[[IN]], "node 'n': access out of a buffer's bounds"
// CHECK: memref.load
func.func @access(%m: memref<?xf32>, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<?xf32> loc("n")
  return %0 : f32
}

// CHECK-LABEL: func @view
// CHECK: cf.assert %{{.*}}, "node 'n': view out of a buffer's bounds"
// CHECK: memref.subview
func.func @view(%m: memref<?xf32>, %i: index, %n: index) -> memref<?xf32, strided<[1], offset: ?>> {
  %0 = memref.subview %m[%i] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>> loc("n")
  return %0 : memref<?xf32, strided<[1], offset: ?>>
}

// CHECK-LABEL: func @copy
// CHECK: cf.assert %{{.*}}, "node 'n': copy between buffers of different sizes"
// CHECK: memref.copy
func.func @copy(%a: memref<?xf32>, %b: memref<?xf32>) {
  memref.copy %a, %b : memref<?xf32> to memref<?xf32> loc("n")
  return
}
