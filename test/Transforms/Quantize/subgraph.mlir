// RUN: onnxq-opt %s --onnx-quantize="mode=integer dynamic=true" | FileCheck %s
// RUN: not onnxq-opt %s --onnx-quantize="mode=integer dynamic=true nodes-to-quantize=inner enable-subgraph=false" 2>&1 | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @main_graph
// CHECK: "onnx.If"
// CHECK: "onnx.DynamicQuantizeLinear"
// CHECK: "onnx.MatMulInteger"
// CHECK: onnx.Yield
// CHECK: onnx.Yield
// OFF: the options leave no node that can be quantized
module {
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}, %cond: tensor<i1> {onnx.name = "cond"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %y = "onnx.If"(%cond) ({
      %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
      %r = "onnx.Relu"(%x) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
      %a = "onnx.MatMul"(%r, %w) {onnx_node_name = "inner", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      onnx.Yield %a : tensor<1x2xf32>
    }, {
      onnx.Yield %x : tensor<1x2xf32>
    }) {onnx_node_name = "if", onnx_result_names = ["y"]} : (tensor<i1>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
