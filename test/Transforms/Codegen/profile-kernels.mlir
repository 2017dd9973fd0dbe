// Calls of kernels are measured.
// RUN: onnxq-opt %s --onnxq-profile-kernels | FileCheck %s

// CHECK: func.func @graph
// CHECK: %[[ENTRY:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: %[[START:.*]] = llvm.call @onnxq_clock()
// CHECK: call @kernel
// CHECK: llvm.call @onnxq_record(%[[ENTRY]], %[[START]])
func.func @graph(%x: memref<4xf32>) {
  call @kernel(%x) {onnxq.node = "relu"} : (memref<4xf32>) -> ()
  return
}
func.func private @kernel(%x: memref<4xf32>) attributes {onnxq.kernel = "linalg.exp"} {
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
// CHECK: llvm.func internal @onnxq_clock
// CHECK: llvm.call @clock_gettime
// CHECK: llvm.func internal @onnxq_record
// CHECK: llvm.mlir.global private constant @onnxq_profile_text_0("relu\09linalg.exp\00")
// CHECK: llvm.mlir.global external constant @onnxq_profile()
