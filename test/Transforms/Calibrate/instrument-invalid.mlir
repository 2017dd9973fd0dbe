// onnx-instrument refuses what it can't do.
// RUN: not onnxq-opt %s --onnx-instrument=nodes=conv9 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not onnxq-opt %s --onnx-instrument=bins=1000 2>&1 | FileCheck %s --check-prefix=BINS
// RUN: not onnxq-opt %s --onnx-instrument=batch=0 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not onnxq-opt %s --onnx-instrument=form=numpy 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: onnxq-opt %s --onnx-instrument=nodes=relu1 | FileCheck %s

// NODE: error: has no node 'conv9' to observe
// BINS: error: bins expects a power of two from 16 to 65536, but got 1000
// FORM: error: form expects observers or onnx, but got 'numpy'
// BATCH: error: batch expects a number from 1 to 65536, but got 0

// CHECK-LABEL: func.func @main
// CHECK: onnxq.observe "x"
// CHECK: onnxq.observe "y"
func.func @main(%x: tensor<4xf32> {onnx.name = "x"}) -> tensor<4xf32> {
  %y = "onnx.Relu"(%x) {onnx_node_name = "relu1", onnx_result_names = ["y"]} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}
