// Work goes to functions; equal work shares one.
// RUN: onnxq-opt %s --onnxq-outline-kernels --split-input-file | FileCheck %s

// Weights and buffers are arguments of one function; their pointers are on
// their own.
// CHECK-LABEL: func.func @shared
memref.global "private" constant @w : memref<4xf32> = dense<1.0>
memref.global "private" constant @v : memref<4xf32> = dense<2.0>
func.func @shared(%x: memref<4xf32>) -> memref<4xf32> {
  %w = memref.get_global @w : memref<4xf32>
  %v = memref.get_global @v : memref<4xf32>
  %a = memref.alloc() : memref<4xf32>
  // CHECK: call @[[K:kernel_add_0]](%{{.*}}, %{{.*}}, %[[A:.*]]) {onnxq.node = "first"}
  linalg.add ins(%x, %w : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>) loc("first")
  %b = memref.alloc() : memref<4xf32>
  // CHECK: call @[[K]](%[[A]], %{{.*}}, %{{.*}}) {onnxq.node = "second"}
  linalg.add ins(%a, %v : memref<4xf32>, memref<4xf32>) outs(%b : memref<4xf32>) loc("second")
  return %b : memref<4xf32>
}
// CHECK: func.func private @[[K]](%[[X:.*]]: memref<4xf32> {llvm.noalias}, %[[W:.*]]: memref<4xf32> {llvm.noalias}, %[[Y:.*]]: memref<4xf32> {llvm.noalias})
// CHECK-SAME: llvm.bareptr
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK-SAME: onnxq.kernel = "linalg.add"
// CHECK: linalg.add ins(%[[X]], %[[W]] : {{.*}}) outs(%[[Y]] : {{.*}})
// CHECK-NOT: func.func private

// -----

// An update in place passes the buffer once.
// CHECK-LABEL: func.func @in_place
func.func @in_place(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  // CHECK: call @kernel_exp_0(%{{[^,]*}}) {onnxq.node = ""} : (memref<4xf32>) -> ()
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a : memref<4xf32>
}

// -----

// Slices of one buffer may overlap; two inputs of the graph may be one tensor,
// but nothing is written to them. The place of a slice is an argument.
// CHECK-LABEL: func.func @slices
func.func @slices(%x: memref<8xf32>, %z: memref<8xf32>) -> memref<16xf32> {
  %a = memref.alloc() : memref<16xf32>
  %low = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %high = memref.subview %a[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  // CHECK: call @kernel_add_0
  linalg.add ins(%x, %z : memref<8xf32>, memref<8xf32>) outs(%high : memref<8xf32, strided<[1], offset: 8>>)
  // CHECK: call @kernel_exp_1
  linalg.exp ins(%high : memref<8xf32, strided<[1], offset: 8>>) outs(%low : memref<8xf32, strided<[1]>>)
  return %a : memref<16xf32>
}
// CHECK: func.func private @kernel_add_0(%{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}, %[[BASE:.*]]: memref<f32> {llvm.noalias}, %[[OFFSET:.*]]: index)
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [8], strides: [1]
// CHECK: func.func private @kernel_exp_1(%{{.*}}: memref<f32>, %{{.*}}: index, %{{.*}}: memref<8xf32, strided<[1]>>)

// -----

// Open sizes are arguments, constants belong to the function, other scalars
// are arguments too.
// CHECK-LABEL: func.func @open
#id = affine_map<(d0) -> (d0)>
func.func @open(%x: memref<?xf32>, %s: f32) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%a : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.mulf %in, %two : f32
    %u = arith.addf %t, %s : f32
    linalg.yield %u : f32
  }
  return %a : memref<?xf32>
}
// CHECK: func.func private @kernel_generic_0(%{{.*}}: memref<f32> {llvm.noalias}, %{{.*}}: index, %{{.*}}: memref<f32> {llvm.noalias}, %{{.*}}: index, %[[S:.*]]: f32)
// CHECK: arith.constant 2.0

// -----

// Small work in a loop stays there; loops over buffers move as they are, those
// that allocate don't.
// CHECK-LABEL: func.func @loops
func.func @loops(%x: memref<4xf32>, %y: memref<4096xf32>, %n: index) -> (memref<4xf32>, memref<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4096xf32>
  // CHECK: call @kernel_for_0
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<4xf32>
    memref.store %v, %a[%i] : memref<4xf32>
  }
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.alloc() : memref<4xf32>
    // CHECK: linalg.exp
    linalg.exp ins(%a : memref<4xf32>) outs(%t : memref<4xf32>)
    memref.copy %t, %a : memref<4xf32> to memref<4xf32>
    // CHECK: call @kernel_exp_1
    linalg.exp ins(%y : memref<4096xf32>) outs(%b : memref<4096xf32>)
  }
  return %a, %b : memref<4xf32>, memref<4096xf32>
}
// CHECK: func.func private @kernel_for_0(%{{.*}}: index, %{{.*}}: memref<4xf32> {llvm.noalias}, %{{.*}}: memref<4xf32> {llvm.noalias})
