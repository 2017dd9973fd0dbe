// RUN: onnxq-opt %s --split-input-file --onnx-quantize | FileCheck %s

// The weight 0.304 becomes 30 steps of 0.01: 0.3. With a mean of 2 the product is
// 0.008 too small on average, which the bias gets: 0.108 in steps of 0.0001.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 2.55 : f64,
    channel_axis = 1 : i64, channel_means = array<f64: 1.0, 2.0>}}} {
  // CHECK-LABEL: func.func @correct
  // CHECK: "b_quantized"], value = dense<1080> : tensor<1xi32>
  func.func @correct(%x: tensor<1x2x1x1xf32> {onnx.name = "x"}) -> (tensor<1x1x1x1xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27]], [[0.304]]]]> : tensor<1x2x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[0.1]> : tensor<1xf32>
    %y = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "conv", onnx_result_names = ["y"]} : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
    onnx.Return %y : tensor<1x1x1x1xf32>
  }
}

// -----

// A product without a bias hands its correction to the Add that follows.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 2.55 : f64,
    channel_axis = 1 : i64, channel_means = array<f64: 1.0, 2.0>}}} {
  // CHECK-LABEL: func.func @add
  // CHECK: "b_corrected"], value = dense<1.080000e-01> : tensor<1xf32>
  func.func @add(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x1xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.27], [0.304]]> : tensor<2x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[0.1]> : tensor<1xf32>
    %p = "onnx.MatMul"(%x, %w) {onnx_node_name = "mm", onnx_result_names = ["p"]} : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
    %y = "onnx.Add"(%p, %b) {onnx_node_name = "add", onnx_result_names = ["y"]} : (tensor<1x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
    onnx.Return %y : tensor<1x1xf32>
  }
}

// -----

// A bias that wouldn't fit 32 bits enlarges its channel's scale: 1.0001 * 2 * 100 / (2^32 - 2)
// over 0.01 is the weight's scale then.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 2.55 : f64}}} {
  // CHECK-LABEL: func.func @safe
  // CHECK: "w_scale"], value = dense<[4.65707{{[0-9]+}}E-6, 0.00999999977]>
  // CHECK: "b_quantized"], value = dense<[214726{{[0-9]+}}, 1000]>
  func.func @safe(%x: tensor<1x1x1x1xf32> {onnx.name = "x"}) -> (tensor<1x2x1x1xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27e-6]]], [[[1.27]]]]> : tensor<2x1x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[100.0, 0.1]> : tensor<2xf32>
    %y = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "conv", onnx_result_names = ["y"]} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x1x1xf32>
    onnx.Return %y : tensor<1x2x1x1xf32>
  }
}
