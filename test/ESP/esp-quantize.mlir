// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-esp-quantize | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-esp-quantize="chip=esp32p4" | FileCheck %s --check-prefix=P4

// Scales are powers of two: 1.0 needs 2^-6 (2/255 is more than 2^-7), the
// weights 0.5 and 3.0 per tensor 2^-5, per channel 2^-7 and 2^-5.
module attributes {onnxq.calibration = {x = {min = -1.0 : f64, max = 0.5 : f64}, y = {min = -2.0 : f64, max = 3.9 : f64}}} {
  // CHECK-LABEL: onnx.graph_name = "gemm"
  // CHECK: dense<1.562500e-02> : tensor<f32>
  // CHECK: "onnx.QuantizeLinear"
  // CHECK-SAME: tensor<1x2xi8>
  // CHECK: dense<{{\[\[}}16, 8], [96, -32]]> : tensor<2x2xi8>
  // CHECK: dense<3.125000e-02> : tensor<f32>
  // CHECK: "onnx.Gemm"
  // CHECK: onnx.Return
  // P4-LABEL: onnx.graph_name = "gemm"
  // P4: dense<[7.812500e-03, 3.125000e-02]> : tensor<2xf32>
  func.func @gemm(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[0.5, 3.0], [0.25, -1.0]]> : tensor<2x2xf32>
    %none = "onnx.NoValue"() {value} : () -> none
    %y = "onnx.Gemm"(%x, %w, %none) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// A Relu is part of the convolution before it, whose result has its exponent;
// the order of axes is ONNX's again.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 1.9 : f64}, c = {min = -9.0 : f64, max = 2.0 : f64}, y = {min = 0.0 : f64, max = 1.9 : f64}}} {
  // CHECK-LABEL: onnx.graph_name = "conv"
  // CHECK-NOT: onnx.Transpose
  // CHECK: "onnx.Conv"
  // CHECK-NEXT: "onnx.Relu"
  // CHECK: "onnx.QuantizeLinear"
  func.func @conv(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x3x2x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<3x2x3x3xf32>
    %none = "onnx.NoValue"() {value} : () -> none
    %c = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "conv", onnx_result_names = ["c"], kernel_shape = [3, 3]} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>, none) -> tensor<1x3x2x2xf32>
    %y = "onnx.Relu"(%c) {onnx_node_name = "relu", onnx_result_names = ["y"]} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
    onnx.Return %y : tensor<1x3x2x2xf32>
  }
}

// -----

// expected-error @below {{node 'cos' (Cos) isn't an operator that ESP-DL's runtime quantizes}}
module {
  func.func @unknown(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %y = "onnx.Cos"(%x) {onnx_node_name = "cos", onnx_result_names = ["y"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}

// -----

// expected-error @below {{input 'x' has no exponent}}
module {
  func.func @unmeasured(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %y = "onnx.Relu"(%x) {onnx_node_name = "relu", onnx_result_names = ["y"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
