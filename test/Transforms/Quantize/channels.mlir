// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none keep-cheap-in-float=false" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none channel-scaling=none keep-cheap-in-float=false" | FileCheck %s --check-prefix=NONE
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none per-channel=false keep-cheap-in-float=false" | FileCheck %s --check-prefix=NONE
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="channel-scaling=depthwise placement=every-op" 2>&1 | FileCheck %s --check-prefix=EVERY
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="channel-scaling=depthwise dynamic=true" 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="channel-scaling=depthwise per-channel=false" 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="channel-scaling=all" 2>&1 | FileCheck %s --check-prefix=WORD
// EVERY: channel-scaling=depthwise contradicts placement=every-op
// DYNAMIC: channel-scaling=depthwise contradicts dynamic
// TENSOR: channel-scaling=depthwise contradicts weights without a scale for each channel
// WORD: channel-scaling expects depthwise, products, none or auto, but got 'all'

// The channels reach 2.55, 0.6 and 0.05: factors are 1, 2 (4 would leave too
// little room) and 8 (the most). A HardSwish doesn't let them through to the convolution
// before, so that there is a product. What the depthwise weights lose is in
// their scales.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 2.55 : f64},
    s = {min = 0.0 : f64, max = 2.55 : f64, channel_axis = 1 : i64, channel_mins = array<f64: 0.0, 0.0, 0.0>,
         channel_maxs = array<f64: 2.55, 0.6, 0.05>, channel_means = array<f64: 1.0, 0.2, 0.02>}}} {
  // CHECK: onnx.metadata = {{.*}}onnxquant.scaled_channels{{.*}}exponents{{.*}}013{{.*}}true{{.*}}depthwise
  // CHECK-LABEL: func.func @product
  // CHECK: w_scale"], value = dense<[0.00999999977, 5.000000e-03, 1.250000e-03]>
  // CHECK: w_quantized"], value = dense<127>
  // CHECK: %[[S:.*]] = "onnx.HardSwish"
  // CHECK: %[[F:.*]] = onnx.Constant {onnx_result_names = ["s_factors"], value = dense<{{\[}}{{\[}}[1.000000e+00]], {{\[}}[2.000000e+00]], {{\[}}[8.000000e+00]]]>
  // CHECK: %[[P:.*]] = "onnx.Mul"(%[[S]], %[[F]]){{.*}}"s_scaled"
  // CHECK: onnx.Constant {onnx_result_names = ["s_scaled_scale"], value = dense<0.00999999977>
  // CHECK: "onnx.QuantizeLinear"(%[[P]]
  // NONE-LABEL: func.func @product
  // NONE-NOT: factors
  func.func @product(%x: tensor<1x3x4x4xf32> {onnx.name = "x"}) -> (tensor<1x3x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27]]], [[[1.27]]], [[[1.27]]]]> : tensor<3x1x1x1xf32>
    %s = "onnx.HardSwish"(%x) {onnx_node_name = "swish", onnx_result_names = ["s"]} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
    %y = "onnx.Conv"(%s, %w, %none) {group = 3 : si64, onnx_node_name = "depthwise", onnx_result_names = ["y"]} : (tensor<1x3x4x4xf32>, tensor<3x1x1x1xf32>, none) -> tensor<1x3x4x4xf32>
    onnx.Return %y : tensor<1x3x4x4xf32>
  }
}

// -----

// Through a Relu, factors go into weights and bias of the convolution before.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 2.55 : f64},
    c = {min = -1.0 : f64, max = 2.55 : f64},
    r = {min = 0.0 : f64, max = 2.55 : f64, channel_axis = 1 : i64, channel_mins = array<f64: 0.0, 0.0>,
         channel_maxs = array<f64: 2.55, 0.6>, channel_means = array<f64: 1.0, 0.2>}}} {
  // CHECK-LABEL: func.func @folded
  // CHECK-NOT: "onnx.Mul"
  // CHECK-DAG: onnx.Constant {onnx_result_names = ["v_scale"], value = dense<[0.00999999977, 2.000000e-02]>
  // CHECK-DAG: onnx.Constant {onnx_result_names = ["b_quantized"], value = dense<10000>
  // CHECK-DAG: onnx.Constant {onnx_result_names = ["w_scale"], value = dense<[0.00999999977, 5.000000e-03]>
  // CHECK-NOT: "onnx.Mul"
  // CHECK: onnx.Return
  // NONE-LABEL: func.func @folded
  // NONE-NOT: _scaled
  func.func @folded(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<[[[[1.27]]], [[[1.27]]]]> : tensor<2x1x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[1.0, 1.0]> : tensor<2xf32>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27]]], [[[1.27]]]]> : tensor<2x1x1x1xf32>
    %c = "onnx.Conv"(%x, %v, %b) {onnx_node_name = "before", onnx_result_names = ["c"]} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    %r = "onnx.Relu"(%c) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %y = "onnx.Conv"(%r, %w, %none) {group = 2 : si64, onnx_node_name = "depthwise", onnx_result_names = ["y"]} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    onnx.Return %y : tensor<1x2x4x4xf32>
  }
}

// -----

// A second reader that isn't depthwise keeps all channels as they are, and so
// do parameters that were given.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 2.55 : f64, channel_axis = 1 : i64, channel_mins = array<f64: 0.0, 0.0>,
         channel_maxs = array<f64: 2.55, 0.1>, channel_means = array<f64: 1.0, 0.02>},
    a = {min = 0.0 : f64, max = 1.0 : f64}, b = {min = 0.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @shared
  // CHECK-NOT: _factors
  // NONE-LABEL: func.func @shared
  func.func @shared(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "a"}, tensor<1x1x4x4xf32> {onnx.name = "b"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27]]], [[[1.27]]]]> : tensor<2x1x1x1xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<[[[[1.27]], [[1.27]]]]> : tensor<1x2x1x1xf32>
    %a = "onnx.Conv"(%x, %w, %none) {group = 2 : si64, onnx_node_name = "depthwise", onnx_result_names = ["a"]} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    %b = "onnx.Conv"(%x, %v, %none) {onnx_node_name = "dense", onnx_result_names = ["b"]} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, none) -> tensor<1x1x4x4xf32>
    onnx.Return %a, %b : tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>
  }
}
