// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none channel-scaling=products" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none channel-scaling=depthwise" | FileCheck %s --check-prefix=NONE
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none smooth-quant" | FileCheck %s --check-prefix=NONE
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="channel-scaling=products smooth-quant" 2>&1 | FileCheck %s --check-prefix=SMOOTH
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="channel-scaling=products dynamic=true" 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// SMOOTH: channel-scaling=products contradicts smooth-quant
// DYNAMIC: channel-scaling=products contradicts dynamic

// The first channel reaches 8, the others 1. Its weights are an eighth of the
// largest ones, so that it is divided by 8 for nothing: the others are
// multiplied, and their weights divided.
module attributes {onnxq.calibration = {
    x = {min = -8.0 : f64, max = 8.0 : f64},
    n = {min = -8.0 : f64, max = 8.0 : f64, channel_axis = 2 : i64, channel_mins = array<f64: -8.0, -1.0, -1.0, -1.0>,
         channel_maxs = array<f64: 8.0, 1.0, 1.0, 1.0>, channel_means = array<f64: 0.0, 0.0, 0.0, 0.0>},
    m = {min = -1.0 : f64, max = 1.0 : f64}}} {
  // CHECK: onnx.metadata = {{.*}}onnxquant.scaled_channels{{.*}}exponents{{.*}}0333{{.*}}true{{.*}}product
  // CHECK-LABEL: func.func @outlier
  // CHECK: w_scale"], value = dense<9.842520e-04>
  // CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = "onnx.LayerNormalization"
  // CHECK: onnx.Constant {onnx_result_names = ["n_factors"], value = dense<[1.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00]>
  // CHECK: %[[P:.*]] = "onnx.Mul"(%[[N]], %{{.*}}){{.*}}"n_scaled"
  // CHECK: "onnx.QuantizeLinear"(%[[P]]
  // CHECK: "onnx.Add"(%[[N]], %{{.*}})
  // NONE-LABEL: func.func @outlier
  // NONE-NOT: n_factors
  func.func @outlier(%x: tensor<1x5x4xf32> {onnx.name = "x"}) -> (tensor<1x5x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %g = onnx.Constant {onnx_result_names = ["g"]} dense<1.0> : tensor<4xf32>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[0.125, 0.125, 0.125, 0.125], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]> : tensor<4x4xf32>
    %n, %mean, %deviation = "onnx.LayerNormalization"(%x, %g, %none) {axis = -1 : si64, onnx_node_name = "norm", onnx_result_names = ["n"]} : (tensor<1x5x4xf32>, tensor<4xf32>, none) -> (tensor<1x5x4xf32>, none, none)
    %m = "onnx.MatMul"(%n, %w) {onnx_node_name = "product", onnx_result_names = ["m"]} : (tensor<1x5x4xf32>, tensor<4x4xf32>) -> tensor<1x5x4xf32>
    %y = "onnx.Add"(%n, %m) {onnx_node_name = "sum", onnx_result_names = ["y"]} : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
    onnx.Return %y : tensor<1x5x4xf32>
  }
}
