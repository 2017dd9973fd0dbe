// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-quantize | FileCheck %s

// A branch that ran is quantized; one without ranges stays float, with a word.
// expected-warning@+1 {{node 'if' (If): no sample took its else branch, which stays float (1 node); samples that take it let it be quantized}}
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 1.0 : f64}, r = {min = 0.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @main_graph
  // CHECK: "onnx.If"
  // CHECK: "onnx.QuantizeLinear"
  // CHECK: "onnx.MatMul"
  // CHECK: onnx.Yield
  // CHECK-NOT: "onnx.QuantizeLinear"
  // CHECK: onnx_node_name = "other"
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}, %cond: tensor<i1> {onnx.name = "cond"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
    %y = "onnx.If"(%cond) ({
      %r = "onnx.Relu"(%x) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
      %a = "onnx.MatMul"(%r, %w) {onnx_node_name = "inner", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      onnx.Yield %a : tensor<1x2xf32>
    }, {
      %r = "onnx.Relu"(%x) {onnx_node_name = "relu2", onnx_result_names = ["r2"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
      %a = "onnx.MatMul"(%r, %w) {onnx_node_name = "other", onnx_result_names = ["a2"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      onnx.Yield %a : tensor<1x2xf32>
    }) {onnx_node_name = "if", onnx_result_names = ["y"]} : (tensor<i1>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// What a branch reads from outside has a range, whether the branch ran or not.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @captured
  // CHECK: "onnx.QuantizeLinear"
  // CHECK: "onnx.If"
  // CHECK: "onnx.DequantizeLinear"
  // CHECK: "onnx.MatMul"
  func.func @captured(%x: tensor<1x2xf32> {onnx.name = "x"}, %cond: tensor<i1> {onnx.name = "cond"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %y = "onnx.If"(%cond) ({
      %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
      %a = "onnx.MatMul"(%x, %w) {onnx_node_name = "inner", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      onnx.Yield %a : tensor<1x2xf32>
    }, {
      onnx.Yield %x : tensor<1x2xf32>
    }) {onnx_node_name = "if", onnx_result_names = ["y"]} : (tensor<i1>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
