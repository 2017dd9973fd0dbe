// Outliers of channels go into the weights: s = sqrt(max|x| / max|w|) for each.
// RUN: onnxq-opt %s --onnx-quantize="smooth-quant=true per-channel=false weight-rounding=nearest bias-correction=none keep-cheap-in-float=false" | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="smooth-quant=true smooth-quant-folding=false per-channel=false weight-rounding=nearest bias-correction=none keep-cheap-in-float=false" | FileCheck %s --check-prefix=PRODUCT
// RUN: not onnxq-opt %s --onnx-quantize="smooth-quant-alpha=0.3" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not onnxq-opt %s --onnx-quantize="smooth-quant=true smooth-quant-alpha=1.5" 2>&1 | FileCheck %s --check-prefix=ALPHA
// RUN: not onnxq-opt %s --onnx-quantize="smooth-quant=true dynamic=true" 2>&1 | FileCheck %s --check-prefix=DYNAMIC

// ALONE: error: smooth-quant-alpha and smooth-quant-folding are for smooth-quant
// ALPHA: error: smooth-quant-alpha expects a number from 0 to 1
// DYNAMIC: error: smooth-quant is for static modes

// Factors are sqrt(16 / 1) and sqrt(1 / 4): the gains 8 and 1 become 2 and 2,
// the weights 1 and 4 become 4 and 2, and x covers 4 instead of 16.
module attributes {onnxq.calibration = {
    x = {min = -2.0 : f64, max = 2.0 : f64, channel_axis = 1 : i64, channel_mins = array<f64: -2.0, -1.0>, channel_maxs = array<f64: 2.0, 1.0>, channel_means = array<f64: 0.0, 0.0>},
    wide = {min = -16.0 : f64, max = 16.0 : f64, channel_axis = 1 : i64, channel_mins = array<f64: -16.0, -1.0>, channel_maxs = array<f64: 16.0, 1.0>, channel_means = array<f64: 0.0, 0.0>}}} {
  // CHECK-LABEL: func.func @main_graph
  // CHECK: %[[GAIN:.*]] = onnx.Constant {{.*}}value = dense<2.000000e+00> : tensor<2xf32>}
  // CHECK: "onnx.Mul"(%{{.*}}, %[[GAIN]]) {{.*}}onnx_result_names = ["wide_smoothed"]
  // Wider by half, as all vectors are: 12 / 255, and 4 / 127.
  // CHECK: onnx_result_names = ["wide_smoothed_scale"], value = dense<0.0470588244>
  // CHECK: onnx_result_names = ["w_smoothed_scale"], value = dense<0.0314960629>
  // CHECK: dense<{{\[\[}}127, -64], [64, 32]]> : tensor<2x2xi8>
  // PRODUCT-LABEL: func.func @main_graph
  // PRODUCT: onnx_result_names = ["wide"]
  // PRODUCT: value = dense<[2.500000e-01, 2.000000e+00]> : tensor<2xf32>}
  // PRODUCT: onnx_result_names = ["wide_smoothed"]
  func.func @main_graph(%x: tensor<4x2xf32> {onnx.name = "x"}) -> (tensor<4x2xf32> {onnx.name = "y"}) {
    %gain = onnx.Constant dense<[8.0, 1.0]> : tensor<2xf32>
    %wide = "onnx.Mul"(%x, %gain) {onnx_node_name = "gain", onnx_result_names = ["wide"]} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    %w = "onnx.Constant"() {value = dense<[[1.0, -0.5], [4.0, 2.0]]> : tensor<2x2xf32>, onnx_result_names = ["w"]} : () -> tensor<2x2xf32>
    %y = "onnx.MatMul"(%wide, %w) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    onnx.Return %y : tensor<4x2xf32>
  }
}
