// Nodes that plain loops compute are told with the reason.
// RUN: onnxq-opt %s --onnx-to-kernels=report=true -verify-diagnostics | FileCheck %s

// CHECK: module attributes {onnxq.without_kernel = [{as = "loops", op = "Conv"}, {as = "loops", op = "MatMul"}, {as = "loops", op = "Einsum"}]}

func.func @main_graph(%x: tensor<1x8x9x9xf32>, %w: tensor<4x8x3x3xf32>, %a: tensor<5x16xf32>) -> (tensor<1x4x7x7xf32>, tensor<5x1xf32>, tensor<5x4xf32>, tensor<5x5xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-remark @below {{its weights aren't constant}}
  %0 = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64} : (tensor<1x8x9x9xf32>, tensor<4x8x3x3xf32>, none) -> tensor<1x4x7x7xf32>
  %c = onnx.Constant dense<0.5> : tensor<16x1xf32>
  // expected-remark @below {{has no kernel: its sizes are open (see --input-shape) or small}}
  %1 = "onnx.MatMul"(%a, %c) : (tensor<5x16xf32>, tensor<16x1xf32>) -> tensor<5x1xf32>
  %d = onnx.Constant dense<0.5> : tensor<16x4xf32>
  %2 = "onnx.MatMul"(%a, %d) : (tensor<5x16xf32>, tensor<16x4xf32>) -> tensor<5x4xf32>
  // expected-remark @below {{has no kernel: there is none for this op}}
  %3 = "onnx.Einsum"(%a, %a) {equation = "ij,kl->ik"} : (tensor<5x16xf32>, tensor<5x16xf32>) -> tensor<5x5xf32>
  onnx.Return %0, %1, %2, %3 : tensor<1x4x7x7xf32>, tensor<5x1xf32>, tensor<5x4xf32>, tensor<5x5xf32>
}
