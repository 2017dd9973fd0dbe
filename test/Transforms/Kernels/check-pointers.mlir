// What is read and written by pointers, such as tiles, is checked where it is.
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4 features=-prefer-256-bit,+amx-tile,+amx-int8" --onnxq-lower-kernels="check-bounds" | FileCheck %s
// RUN: onnxq-opt %s --onnxq-set-target="triple=x86_64-unknown-linux-gnu cpu=x86-64-v4 features=-prefer-256-bit,+amx-tile,+amx-int8" --onnxq-lower-kernels | FileCheck %s --check-prefix=PLAIN

// CHECK-NOT: onnxq.check_pointers
// PLAIN-NOT: cf.assert

// The first and the last byte of each tile: 16 rows of 52 bytes, then 13 lines of
// 64, and sums of 16 rows.
// CHECK-LABEL: func.func @product
// CHECK: cf.assert %{{.*}}, "node 'product': access out of a buffer's bounds"
// CHECK: cf.assert %{{.*}}, "node 'product': access out of a buffer's bounds"
// CHECK-NOT: cf.assert
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: cf.assert
// CHECK: cf.assert
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"
// CHECK: cf.assert
// CHECK: cf.assert
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
func.func @product(%x: memref<64x100xi8>, %w: memref<3328xi8>, %y: memref<64x32xi32>) {
  onnxq.contract ins(%x, %w : memref<64x100xi8>, memref<3328xi8>) outs(%y : memref<64x32xi32>)
      attributes {packing = #onnxq.packing<groups = 1, k = 100, n = 32, mr = 32, nr = 32, step = 4, kind = amx, run = 100>} {
  ^bb0(%acc: i32):
    onnxq.yield %acc : i32
  } loc("product")
  return
}
