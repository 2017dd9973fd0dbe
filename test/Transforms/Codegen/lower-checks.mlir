// RUN: onnxq-opt %s --onnxq-lower-checks --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnxq-lower-checks=remove --split-input-file | FileCheck %s --check-prefix=GONE

// GONE-NOT: {{cf.assert|onnxq_fail}}

// Equal messages are one string. The run's context is the first argument, which
// kernels that check get from their callers.
// CHECK-DAG: llvm.mlir.global private constant @[[RANGE:.*]]("index is out of range\00")
// CHECK-DAG: llvm.mlir.global private constant @[[SIZE:.*]]("sizes differ\00")
// CHECK: llvm.func @onnxq_fail(!llvm.ptr, !llvm.ptr) attributes {passthrough = ["noreturn", "cold"], sym_visibility = "private"}
// CHECK-LABEL: func.func @graph
// CHECK-SAME: (%[[CONTEXT:.*]]: !llvm.ptr, %[[OK:.*]]: i1)
// CHECK: %[[BAD:.*]] = arith.xori %[[OK]]
// CHECK: scf.if %[[BAD]] {
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @[[RANGE]]
// CHECK: llvm.call @onnxq_fail(%[[CONTEXT]], %[[TEXT]])
// CHECK-NOT: cf.assert
// CHECK: call @checks(%[[CONTEXT]], %[[OK]])
// CHECK: call @computes(%[[OK]])
func.func @graph(%context: !llvm.ptr, %ok: i1) {
  cf.assert %ok, "index is out of range"
  func.call @checks(%ok) : (i1) -> ()
  func.call @computes(%ok) : (i1) -> ()
  return
}
// CHECK: func.func private @checks(%[[CONTEXT:.*]]: !llvm.ptr, %{{.*}}: i1)
// CHECK: llvm.mlir.addressof @[[SIZE]]
// CHECK: llvm.call @onnxq_fail(%[[CONTEXT]],
// CHECK: llvm.mlir.addressof @[[RANGE]]
func.func private @checks(%ok: i1) attributes {onnxq.kernel = "linalg.exp"} {
  cf.assert %ok, "sizes differ"
  cf.assert %ok, "index is out of range"
  return
}
// CHECK: func.func private @computes(%{{[^,]*}}: i1)
func.func private @computes(%ok: i1) attributes {onnxq.kernel = "linalg.exp"} {
  return
}

// -----

// Nothing is declared where nothing is checked.
// CHECK-NOT: onnxq_fail
// CHECK: func.func @unchecked
func.func @unchecked(%context: !llvm.ptr) {
  return
}
