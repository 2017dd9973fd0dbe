// What is expanded from constants is computed when code is loaded.
// RUN: onnxq-opt %s --onnxq-expand-at-load --split-input-file | FileCheck %s
// RUN: onnxq-opt %s --onnxq-expand-at-load --onnxq-outline-kernels --onnxq-plan-memory --onnxq-profile-kernels --split-input-file | FileCheck %s --check-prefix=PLANNED

// Equal results share memory, others don't, whatever memory they had in a run.
// The memory begins at a page, its parts at lines of cache.
// CHECK-NOT: madvise
// CHECK: memref.global "private" @onnxq_expanded : memref<832xi8> = dense<0> {alignment = 4096 : i64}
// CHECK-LABEL: func.func @graph
// CHECK-NOT: memref.alloc
// CHECK-NOT: onnxq.expand
// CHECK: %[[M:.*]] = memref.get_global @onnxq_expanded
// CHECK: %[[AT:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[M]][%[[AT]]][] : memref<832xi8> to memref<128xi16>
// CHECK: arith.constant 256 : index
// CHECK: memref.view %{{.*}} : memref<832xi8> to memref<288xi16>
// CHECK: scf.for
// CHECK: arith.constant 0 : index
// CHECK: memref.view %{{.*}} : memref<832xi8> to memref<128xi16>
// CHECK-NOT: onnxq.expand
// CHECK-LABEL: func.func private @onnxq_load() attributes {onnxq.load_bytes = 832 : i64}
// CHECK: %[[M:.*]] = memref.get_global @onnxq_expanded
// CHECK: %[[A:.*]] = memref.get_global @a
// CHECK: %[[V:.*]] = memref.view %[[M]]
// CHECK: onnxq.expand ins(%[[A]] : memref<72xi8>) outs(%[[V]] : memref<128xi16>)
// CHECK: %[[B:.*]] = memref.get_global @b
// CHECK: %[[V:.*]] = memref.view %[[M]]
// CHECK: onnxq.expand ins(%[[B]] : memref<72xi16>) outs(%[[V]] : memref<288xi16>)
// CHECK-NOT: onnxq.expand
// CHECK: return

// A run neither plans nor measures it.
// PLANNED-LABEL: func.func @graph
// PLANNED-SAME: onnxq.workspace_bytes = 0
// PLANNED: llvm.call @onnxq_clock
// PLANNED: func.func private @onnxq_load() attributes
// PLANNED-NOT: onnxq_clock
// PLANNED: call @kernel_expand_[[A:[0-9]+]](
// PLANNED: call @kernel_expand_[[B:[0-9]+]](
// PLANNED-NOT: onnxq_record
// PLANNED: return
module {
  memref.global "private" constant @a : memref<72xi8> = dense<1>
  memref.global "private" constant @b : memref<72xi16> = dense<-255>
  func.func @graph(%x: memref<128xi16>, %y: memref<288xi16>) {
    %a = memref.get_global @a : memref<72xi8>
    %m = memref.alloc() : memref<128xi16>
    onnxq.expand ins(%a : memref<72xi8>) outs(%m : memref<128xi16>) attributes {panels = 1 : i64}
    linalg.add ins(%x, %m : memref<128xi16>, memref<128xi16>) outs(%x : memref<128xi16>)
    %b = memref.get_global @b : memref<72xi16>
    %n = memref.alloc() : memref<288xi16>
    onnxq.expand ins(%b : memref<72xi16>) outs(%n : memref<288xi16>) attributes {panels = 1 : i64}
    linalg.add ins(%y, %n : memref<288xi16>, memref<288xi16>) outs(%y : memref<288xi16>)
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c1 step %c1 {
      %o = memref.alloc() : memref<128xi16>
      onnxq.expand ins(%a : memref<72xi8>) outs(%o : memref<128xi16>) attributes {panels = 1 : i64}
      linalg.add ins(%x, %o : memref<128xi16>, memref<128xi16>) outs(%x : memref<128xi16>)
    }
    return
  }
}

// -----

// What isn't a constant, and memory that is used for something else as well,
// are expanded in each run.
// CHECK-LABEL: func.func @run
// CHECK-COUNT-2: onnxq.expand
// CHECK-NOT: @onnxq_load
module {
  memref.global "private" constant @a : memref<72xi8> = dense<1>
  func.func @run(%w: memref<72xi8>, %x: memref<128xi16>) {
    %m = memref.alloc() : memref<128xi16>
    onnxq.expand ins(%w : memref<72xi8>) outs(%m : memref<128xi16>) attributes {panels = 1 : i64}
    linalg.add ins(%x, %m : memref<128xi16>, memref<128xi16>) outs(%x : memref<128xi16>)
    %a = memref.get_global @a : memref<72xi8>
    %n = memref.alloc() : memref<128xi16>
    onnxq.expand ins(%a : memref<72xi8>) outs(%n : memref<128xi16>) attributes {panels = 1 : i64}
    linalg.add ins(%x, %n : memref<128xi16>, memref<128xi16>) outs(%n : memref<128xi16>)
    memref.copy %n, %x : memref<128xi16> to memref<128xi16>
    return
  }
}

// -----

// Much memory asks Linux for large pages, if the program has the call.
// CHECK: llvm.func extern_weak @madvise(!llvm.ptr, i64, i32) -> i32
// CHECK-LABEL: func.func private @onnxq_load
// CHECK: %[[CALL:.*]] = llvm.mlir.addressof @madvise
// CHECK: %[[THERE:.*]] = llvm.icmp "ne" %[[CALL]]
// CHECK: scf.if %[[THERE]]
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(4194304 : i64)
// CHECK: %[[LARGE:.*]] = llvm.mlir.constant(14 : i32)
// CHECK: llvm.call @madvise(%{{.*}}, %[[BYTES]], %[[LARGE]])
// CHECK: onnxq.expand
module attributes {onnxq.target = {cpu = "x86-64-v3", features = "", triple = "x86_64-unknown-linux-gnu"}} {
  memref.global "private" constant @a : memref<1179720xi8> = dense<1>
  func.func @many(%x: memref<2097280xi16>) {
    %a = memref.get_global @a : memref<1179720xi8>
    %m = memref.alloc() : memref<2097280xi16>
    onnxq.expand ins(%a : memref<1179720xi8>) outs(%m : memref<2097280xi16>) attributes {panels = 1 : i64}
    linalg.add ins(%x, %m : memref<2097280xi16>, memref<2097280xi16>) outs(%x : memref<2097280xi16>)
    return
  }
}
