// The C interface of a graph: what a caller sees of it, and how the caller's
// arrays become operands and results.
// RUN: onnxq-opt %s --onnxq-emit-entry-point=name=net --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: module attributes {onnxq.model = "net"}
// The graph is no symbol of the library, and takes its inputs from an array.
// CHECK: llvm.func internal @main_graph(%{{.*}}: !llvm.ptr, %[[WORKSPACE:.*]]: !llvm.ptr, %[[INPUTS:.*]]: !llvm.ptr, %[[OUTPUTS:.*]]: !llvm.ptr)
// CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[INPUTS]][0]
// CHECK: llvm.load %[[FIELD]]
// A result of static size goes to the caller's memory.
// CHECK: "llvm.intr.memcpy"(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: llvm.func @net_run(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK: llvm.call @main_graph(
// CHECK-DAG: llvm.mlir.global {{.*}} @net_inputs_0_name("x\00")
// CHECK-DAG: llvm.mlir.global {{.*}} @net_inputs_0_dims(dense<4> : tensor<1xi64>)
// CHECK-DAG: llvm.mlir.global {{.*}} @net_outputs_0_name("y\00")
// CHECK-DAG: llvm.mlir.global external constant @net_model()
module {
  llvm.func @main_graph(%context: !llvm.ptr, %allocated: !llvm.ptr, %workspace: !llvm.ptr, %w0: i64, %w1: i64, %w2: i64,
                        %input: !llvm.ptr, %data: !llvm.ptr, %offset: i64, %size: i64, %stride: i64)
      -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
      attributes {onnxq.signature = {inputs = [{name = "x", type = tensor<4xf32>}], outputs = [{name = "y", type = tensor<4xf32>}]},
                  onnxq.workspace_bytes = 16 : i64} {
    %none = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %0 = llvm.insertvalue %workspace, %none[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    llvm.return %0 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  }
}

// -----

// What has a dynamic size is written to the caller's memory, or to new one.
// CHECK-LABEL: module attributes {onnxq.model = "net"}
// CHECK: llvm.call @malloc
// CHECK: "llvm.intr.memcpy"
// CHECK: llvm.func @net_run(
// CHECK-DAG: llvm.mlir.global {{.*}} @net_inputs_0_dims(dense<-1> : tensor<1xi64>)
module {
  llvm.func @main_graph(%context: !llvm.ptr, %allocated: !llvm.ptr, %workspace: !llvm.ptr, %w0: i64, %w1: i64, %w2: i64,
                        %input: !llvm.ptr, %data: !llvm.ptr, %offset: i64, %size: i64, %stride: i64)
      -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
      attributes {onnxq.signature = {inputs = [{name = "x", type = tensor<?xf32>}], outputs = [{name = "y", type = tensor<?xf32>}]},
                  onnxq.workspace_bytes = 0 : i64} {
    %none = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %0 = llvm.insertvalue %data, %none[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %1 = llvm.insertvalue %size, %0[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    llvm.return %1 : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  }
}

// -----

// expected-error @below {{expects a planned graph}}
module {
  llvm.func @main_graph() {
    llvm.return
  }
}

// -----

module {
  // expected-error @below {{expects the description of the graph's ends}}
  llvm.func @main_graph(%context: !llvm.ptr) attributes {onnxq.workspace_bytes = 0 : i64} {
    llvm.return
  }
}
