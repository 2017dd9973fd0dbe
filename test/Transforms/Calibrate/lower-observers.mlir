// onnxq-lower-observers: calls of functions that the process has.
// RUN: onnxq-opt %s --onnxq-lower-observers --split-input-file | FileCheck %s

// Channels of 16 elements each: two samples, of which a run can hold three.
// CHECK-LABEL: func.func @channels
// CHECK-SAME: %[[X:.*]]: memref<2x8x4x4xf32>, %[[S:.*]]: memref<999xi64>
// CHECK-DAG: %[[XI:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-DAG: %[[SI:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: call @onnxq_observe(%{{.*}}, %{{.*}}, %{{.*}}, %c8_i64{{.*}}, %{{.*}}, %{{.*}}, %c5_i64{{.*}}, %c16_i64{{.*}}, %c3_i64{{.*}}) : (!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, i64, i64, i64) -> ()
// CHECK-NOT: onnxq.observe
// CHECK: func.func private @onnxq_observe(!llvm.ptr, i64, i64, i64, i64, !llvm.ptr, i64, i64, i64)
func.func @channels(%x: memref<2x8x4x4xf32>, %state: memref<999xi64>) {
  onnxq.observe "x" %x into %state {bins = 16 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 5 : i64, parts = 3 : i64} : memref<2x8x4x4xf32>, memref<999xi64>
  return
}

// -----

// Parts: rows with an element for every channel, and a channel of a sample.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[X:.*]]: memref<1x4x4x8xf32>, %[[PLACE:.*]]: index, %[[ROW:.*]]: index
// CHECK: call @onnxq_observe_begin(%{{.*}}, %{{.*}}, %c1_i64{{.*}}, %c1_i64{{.*}}, %c8_i64{{.*}}, %c16_i64{{.*}}, %c1_i64{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64, i64) -> ()
// CHECK: %[[AT:.*]] = arith.index_cast %[[PLACE]] : index to i64
// CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[AT]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[R:.*]] = arith.index_cast %[[ROW]] : index to i64
// CHECK: call @onnxq_observe_rows(%{{.*}}, %[[P]], %c4_i64{{.*}}, %[[R]], %c16_i64{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> ()
// CHECK: call @onnxq_observe_slice({{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64) -> ()
// CHECK: call @onnxq_observe_end(%{{.*}}) : (!llvm.ptr) -> ()
func.func @parts(%x: memref<1x4x4x8xf32>, %place: index, %row: index, %scratch: memref<256xi64>, %state: memref<999xi64>) {
  onnxq.observe_begin %scratch into %state {bins = 16 : i64, channels = 8 : i64, first = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<256xi64>, memref<999xi64>
  onnxq.observe_rows %x[%place] at %row with %scratch {outer = 16 : i64, rows = 4 : i64} : memref<1x4x4x8xf32>, memref<256xi64>
  onnxq.observe_slice %x[%place, %row] with %scratch : memref<1x4x4x8xf32>, memref<256xi64>
  onnxq.observe_end %scratch : memref<256xi64>
  return
}

// -----

// Nothing is declared where nothing is observed.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: @onnxq_observe
func.func @nothing(%x: memref<4xf32>) {
  return
}
