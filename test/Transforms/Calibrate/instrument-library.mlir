// Observers are functions of the process that calibrates: a library would miss
// them, an object may be linked with them.
// RUN: onnxq-opt %s --onnx-instrument -o %t.mlir
// RUN: not onnxq compile %t.mlir -o %t.so 2>&1 | FileCheck %s
// RUN: test ! -e %t.so
// RUN: not onnxq-opt %s --onnx-instrument -o %t.onnx 2>&1 | FileCheck %s --check-prefix=EXPORT
// RUN: onnxq compile %t.mlir -o %t.o
// RUN: llvm-nm --undefined-only %t.o | FileCheck %s --check-prefix=OBJECT

// CHECK: error: {{.*}}.so: cannot be linked: observers are functions of the process that calibrates
// OBJECT: onnxq_observe
// EXPORT: error: {{.*}}cannot be exported: ONNX has no such operator; --onnx-instrument=form=onnx
func.func @main_graph(%x: tensor<1x4xf32> {onnx.name = "x"}) -> (tensor<1x4xf32> {onnx.name = "y"}) {
  %y = "onnx.Relu"(%x) {onnx_result_names = ["y"]} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  onnx.Return %y : tensor<1x4xf32>
}
"onnx.EntryPoint"() {func = @main_graph} : () -> ()
