// RUN: onnxq-opt %s --split-input-file --onnx-quantize="mode=qat" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="mode=qat qat-form=qlinear" | FileCheck %s --check-prefix=QLINEAR
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="mode=qat quantize-bias=false" | FileCheck %s --check-prefix=BIAS

// Weights and bias become integers, equal pairs one, and data moves as integers.
module {
  // CHECK-LABEL: func.func @main_graph
  // CHECK-COUNT-1: "onnx.QuantizeLinear"
  // CHECK: %[[R:.*]] = "onnx.Reshape"({{.*}} -> tensor<1x2x1x1xui8>
  // CHECK: %[[X:.*]] = "onnx.DequantizeLinear"(%[[R]]
  // CHECK: %[[W:.*]] = "onnx.DequantizeLinear"({{.*}}tensor<1x2x1x1xi8>
  // CHECK: %[[B:.*]] = "onnx.DequantizeLinear"({{.*}}tensor<1xi32>
  // CHECK: "onnx.Conv"(%[[X]], %[[W]], %[[B]])
  // CHECK: "onnx.QuantizeLinear"
  // QLINEAR-LABEL: func.func @main_graph
  // QLINEAR: "onnx.QLinearConv"
  // BIAS-LABEL: func.func @main_graph
  // BIAS: %[[B:.*]] = onnx.Constant {onnx_result_names = ["b"], value = dense<5.000000e-01> : tensor<1xf32>
  // BIAS: "onnx.Conv"({{.*}}, {{.*}}, %[[B]])
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x1x1x1xf32> {onnx.name = "y"}, tensor<1x2xf32> {onnx.name = "z"}) {
    %s = onnx.Constant {onnx_result_names = ["s"]} dense<0.125> : tensor<f32>
    %z = onnx.Constant {onnx_result_names = ["zp"]} dense<3> : tensor<ui8>
    %wz = onnx.Constant {onnx_result_names = ["wz"]} dense<0> : tensor<i8>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.0]], [[-0.5]]]]> : tensor<1x2x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[0.5]> : tensor<1xf32>
    %shape = onnx.Constant {onnx_result_names = ["shape"]} dense<[1, 2, 1, 1]> : tensor<4xi64>
    %q = "onnx.QuantizeLinear"(%x, %s, %z) {onnx_node_name = "q1"} : (tensor<1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2xui8>
    %d = "onnx.DequantizeLinear"(%q, %s, %z) {onnx_node_name = "d1"} : (tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2xf32>
    %q2 = "onnx.QuantizeLinear"(%x, %s, %z) {onnx_node_name = "q2"} : (tensor<1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2xui8>
    %d2 = "onnx.DequantizeLinear"(%q2, %s, %z) {onnx_node_name = "d2"} : (tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2xf32>
    %r = "onnx.Reshape"(%d, %shape) {onnx_node_name = "reshape"} : (tensor<1x2xf32>, tensor<4xi64>) -> tensor<1x2x1x1xf32>
    %wq = "onnx.QuantizeLinear"(%w, %s, %wz) {onnx_node_name = "qw"} : (tensor<1x2x1x1xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xi8>
    %wd = "onnx.DequantizeLinear"(%wq, %s, %wz) {onnx_node_name = "dw"} : (tensor<1x2x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x1x1xf32>
    %c = "onnx.Conv"(%r, %wd, %b) {onnx_node_name = "conv"} : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
    %yq = "onnx.QuantizeLinear"(%c, %s, %z) {onnx_node_name = "q3"} : (tensor<1x1x1x1xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x1xui8>
    %y = "onnx.DequantizeLinear"(%yq, %s, %z) {onnx_node_name = "d3"} : (tensor<1x1x1x1xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x1xf32>
    onnx.Return %y, %d2 : tensor<1x1x1x1xf32>, tensor<1x2xf32>
  }
}

// -----

// A fake quantizer is a pair.
module {
  // CHECK-LABEL: func.func @fake
  // CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"
  // CHECK: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Q]]
  // CHECK: onnx.Return %[[D]]
  // QLINEAR-LABEL: func.func @fake
  func.func @fake(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %s = onnx.Constant {onnx_result_names = ["s"]} dense<0.125> : tensor<f32>
    %z = onnx.Constant {onnx_result_names = ["zp"]} dense<3.0> : tensor<f32>
    %y = "onnx.Custom"(%x, %s, %z) {function_name = "FakeQuant", domain_name = "com.microsoft", onnx_node_name = "fake"} : (tensor<1x2xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// Quantizers in branches are taken over too.
module {
  // CHECK-LABEL: func.func @main_graph
  // CHECK: "onnx.If"
  // CHECK: "onnx.QuantizeLinear"
  // CHECK: onnx.Constant {onnx_result_names = ["w_quantized"], value = dense<4> : tensor<2x2xi8>
  // CHECK: "onnx.MatMul"
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}, %cond: tensor<i1> {onnx.name = "cond"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %s = onnx.Constant {onnx_result_names = ["s"]} dense<0.125> : tensor<f32>
    %z = onnx.Constant {onnx_result_names = ["zp"]} dense<3> : tensor<ui8>
    %wz = onnx.Constant {onnx_result_names = ["wz"]} dense<0> : tensor<i8>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
    %y = "onnx.If"(%cond) ({
      %q = "onnx.QuantizeLinear"(%x, %s, %z) {onnx_node_name = "q1"} : (tensor<1x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2xui8>
      %d = "onnx.DequantizeLinear"(%q, %s, %z) {onnx_node_name = "d1"} : (tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2xf32>
      %wq = "onnx.QuantizeLinear"(%w, %s, %wz) {onnx_node_name = "qw"} : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
      %wd = "onnx.DequantizeLinear"(%wq, %s, %wz) {onnx_node_name = "dw"} : (tensor<2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2xf32>
      %a = "onnx.MatMul"(%d, %wd) {onnx_node_name = "inner", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      onnx.Yield %a : tensor<1x2xf32>
    }, {
      onnx.Yield %x : tensor<1x2xf32>
    }) {onnx_node_name = "if", onnx_result_names = ["y"]} : (tensor<i1>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
