// RUN: onnxq-opt %s --split-input-file --onnx-quantize="mode=qat qat-form=qlinear" | FileCheck %s --check-prefix=QLINEAR
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="mode=qat qat-form=integer" | FileCheck %s --check-prefix=INTEGER
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="mode=qat" | FileCheck %s --check-prefix=QDQ

// A block as PyTorch trains it: Conv and Clip to 6 with a scale of 6 / 255, a
// Conv and Relu, a bias that is integer already. Only the last Relu does
// something: its zero point isn't the least number.
module {
  // QLINEAR-LABEL: func.func @main_graph
  // QLINEAR-NOT: "onnx.Clip"
  // QLINEAR: "onnx.QLinearConv"
  // QLINEAR-NOT: "onnx.Relu"
  // QLINEAR: "onnx.QLinearConv"
  // QLINEAR: "onnx.Conv"
  // QLINEAR: "onnx.Relu"
  // INTEGER-LABEL: func.func @main_graph
  // INTEGER: onnx.Constant {{.*}} dense<{{.*}}> : tensor<2x2x1x1xui8>
  // INTEGER: "onnx.ConvInteger"({{.*}}) {{.*}}(tensor<1x2x4x4xui8>, tensor<2x2x1x1xui8>, tensor<ui8>, tensor<ui8>)
  // INTEGER: "onnx.Add"
  // INTEGER: "onnx.Clip"
  // INTEGER: "onnx.ConvInteger"
  // INTEGER: "onnx.Add"
  // INTEGER: "onnx.ConvInteger"
  // QDQ-LABEL: func.func @main_graph
  // QDQ: "onnx.Clip"
  func.func @main_graph(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %zero = onnx.Constant {onnx_result_names = ["zero"]} dense<0.0> : tensor<f32>
    %six = onnx.Constant {onnx_result_names = ["six"]} dense<6.0> : tensor<f32>
    %s = onnx.Constant {onnx_result_names = ["s"]} dense<0.0235294122> : tensor<f32>
    %z = onnx.Constant {onnx_result_names = ["z"]} dense<0> : tensor<ui8>
    %mid = onnx.Constant {onnx_result_names = ["mid"]} dense<100> : tensor<ui8>
    %ws = onnx.Constant {onnx_result_names = ["ws"]} dense<[0.5, 0.25]> : tensor<2xf32>
    %wz = onnx.Constant {onnx_result_names = ["wz"]} dense<0> : tensor<2xi8>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1]], [[-2]]], [[[3]], [[-4]]]]> : tensor<2x2x1x1xi8>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[5, -7]> : tensor<2xi32>
    %bs = onnx.Constant {onnx_result_names = ["bs"]} dense<[0.0117647061, 0.00588235306]> : tensor<2xf32>
    %bz = onnx.Constant {onnx_result_names = ["bz"]} dense<0> : tensor<2xi32>
    %wd = "onnx.DequantizeLinear"(%w, %ws, %wz) {axis = 0 : si64, onnx_node_name = "dw"} : (tensor<2x2x1x1xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2x1x1xf32>
    %bd = "onnx.DequantizeLinear"(%b, %bs, %bz) {axis = 0 : si64, onnx_node_name = "db"} : (tensor<2xi32>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
    %q0 = "onnx.QuantizeLinear"(%x, %s, %z) {onnx_node_name = "q0"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
    %d0 = "onnx.DequantizeLinear"(%q0, %s, %z) {onnx_node_name = "d0"} : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
    %c1 = "onnx.Conv"(%d0, %wd, %bd) {onnx_node_name = "conv1"} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    %r1 = "onnx.Clip"(%c1, %zero, %six) {onnx_node_name = "clip"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xf32>
    %q1 = "onnx.QuantizeLinear"(%r1, %s, %z) {onnx_node_name = "q1"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
    %d1 = "onnx.DequantizeLinear"(%q1, %s, %z) {onnx_node_name = "d1"} : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
    %c2 = "onnx.Conv"(%d1, %wd, %bd) {onnx_node_name = "conv2"} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    %r2 = "onnx.Relu"(%c2) {onnx_node_name = "relu"} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %q2 = "onnx.QuantizeLinear"(%r2, %s, %z) {onnx_node_name = "q2"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
    %d2 = "onnx.DequantizeLinear"(%q2, %s, %z) {onnx_node_name = "d2"} : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
    %c3 = "onnx.Conv"(%d2, %wd, %none) {onnx_node_name = "conv3"} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    %r3 = "onnx.Relu"(%c3) {onnx_node_name = "relu3"} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %q3 = "onnx.QuantizeLinear"(%r3, %s, %mid) {onnx_node_name = "q3"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
    %d3 = "onnx.DequantizeLinear"(%q3, %s, %mid) {onnx_node_name = "d3"} : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
    onnx.Return %d3 : tensor<1x2x4x4xf32>
  }
}

// -----

// Quantizers of com.microsoft are quantizers, zero points left out are zero, and
// a bias of another scale is quantized again: 0.5 * 4 / (0.125 * 0.5) = 32.
module {
  // QLINEAR-LABEL: func.func @contrib
  // QLINEAR-NOT: com.microsoft
  // QLINEAR: dense<[32, -16]> : tensor<2xi32>
  // QLINEAR: "onnx.QLinearConv"
  // INTEGER-LABEL: func.func @contrib
  // INTEGER: "onnx.ConvInteger"
  // QDQ-LABEL: func.func @contrib
  // QDQ: "onnx.QuantizeLinear"
  // QDQ-NOT: com.microsoft
  // QDQ: "onnx.Conv"
  func.func @contrib(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %s = onnx.Constant {onnx_result_names = ["s"]} dense<0.125> : tensor<f32>
    %h = onnx.Constant {onnx_result_names = ["h"]} dense<0.5> : tensor<f32>
    %z = onnx.Constant {onnx_result_names = ["z"]} dense<3> : tensor<ui8>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1]], [[-2]]], [[[3]], [[-4]]]]> : tensor<2x2x1x1xi8>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[4, -2]> : tensor<2xi32>
    %wd = "onnx.com.microsoft.DequantizeLinear"(%w, %h, %none) {onnx_node_name = "dw"} : (tensor<2x2x1x1xi8>, tensor<f32>, none) -> tensor<2x2x1x1xf32>
    %bd = "onnx.com.microsoft.DequantizeLinear"(%b, %h, %none) {onnx_node_name = "db"} : (tensor<2xi32>, tensor<f32>, none) -> tensor<2xf32>
    %q0 = "onnx.com.microsoft.QuantizeLinear"(%x, %s, %z) {onnx_node_name = "q0"} : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
    %d0 = "onnx.com.microsoft.DequantizeLinear"(%q0, %s, %z) {onnx_node_name = "d0"} : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
    %c1 = "onnx.Conv"(%d0, %wd, %bd) {onnx_node_name = "conv1"} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    %q1 = "onnx.com.microsoft.QuantizeLinear"(%c1, %s, %none) {onnx_node_name = "q1"} : (tensor<1x2x4x4xf32>, tensor<f32>, none) -> tensor<1x2x4x4xui8>
    %d1 = "onnx.com.microsoft.DequantizeLinear"(%q1, %s, %none) {onnx_node_name = "d1"} : (tensor<1x2x4x4xui8>, tensor<f32>, none) -> tensor<1x2x4x4xf32>
    onnx.Return %d1 : tensor<1x2x4x4xf32>
  }
}
