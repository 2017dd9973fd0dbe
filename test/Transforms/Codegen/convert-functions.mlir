// Buffers, branches and numbers become the LLVM dialect in one step.
// RUN: onnxq-opt %s --onnxq-convert-functions | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-NOT: {{(arith|cf|memref)[.]}}
// CHECK: llvm.br
// CHECK: llvm.icmp "slt"
// CHECK: llvm.cond_br
// CHECK: llvm.getelementptr
// CHECK: llvm.load
// CHECK: llvm.fadd
// CHECK: return
func.func @sum(%x: memref<4xf32>, %n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^head(%first, %zero : index, f32)
^head(%i: index, %sum: f32):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %v = memref.load %x[%i] : memref<4xf32>
  %next = arith.addf %sum, %v : f32
  %j = arith.addi %i, %one : index
  cf.br ^head(%j, %next : index, f32)
^end:
  return %sum : f32
}

// What allocations call and constants name is in the module: not for this pass.
memref.global "private" constant @w : memref<4xf32> = dense<1.0>
// CHECK-LABEL: func.func @module
// CHECK: %[[W:.*]] = memref.get_global @w
// CHECK: builtin.unrealized_conversion_cast %[[W]]
// CHECK: memref.alloc
// CHECK: llvm.load
// CHECK: memref.dealloc
func.func @module(%n: index, %i: index) -> f32 {
  %w = memref.get_global @w : memref<4xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  %v = memref.load %w[%i] : memref<4xf32>
  memref.dealloc %a : memref<?xf32>
  return %v : f32
}
