// RUN: onnxq-opt %s --split-input-file --onnx-quantize="weight-rounding=sums" | FileCheck %s --check-prefix=SUMS
// RUN: onnxq-opt %s --split-input-file --onnx-quantize | FileCheck %s --check-prefix=SUMS
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="weight-rounding=nearest" | FileCheck %s --check-prefix=NEAREST
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="placement=every-op" | FileCheck %s --check-prefix=NEAREST
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="dynamic=true" | FileCheck %s --check-prefix=NEAREST
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="int16-first=1 weight-rounding=sums" | FileCheck %s --check-prefix=SUMS
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="int16-first=1 weight-rounding=nearest" | FileCheck %s --check-prefix=NEAREST
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="weight-rounding=up" 2>&1 | FileCheck %s --check-prefix=UP
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="weight-rounding=sums add-qdq-pair-to-weight=true" 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not onnxq-opt %s --split-input-file --onnx-quantize="weight-rounding=sums mode=qat" 2>&1 | FileCheck %s --check-prefix=QAT
// UP: weight-rounding expects nearest, sums or auto, but got 'up'
// PAIR: weight-rounding=sums contradicts add-qdq-pair-to-weight
// QAT: weight-rounding=sums contradicts mode=qat

// The scale is 1. A kernel's errors sum to -1.25: one number is moved up, the
// one that is farthest below. The second kernel's sum to 0.5, which moving
// would not lessen.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 255.0 : f64}, y = {min = 0.0 : f64, max = 255.0 : f64}}} {
  // SUMS-LABEL: func.func @main_graph
  // SUMS: w_quantized
  // SUMS-SAME: [127, 10, 21, 30]
  // SUMS-SAME: [127, 11, 20, 30]
  // NEAREST-LABEL: func.func @main_graph
  // NEAREST: w_quantized
  // NEAREST-SAME: [127, 10, 20, 30]
  // NEAREST-SAME: [127, 11, 20, 30]
  func.func @main_graph(%x: tensor<1x2x1x8xf32> {onnx.name = "x"}) -> (tensor<1x1x1x5xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[127.0, 10.375, 20.5, 30.375]], [[127.0, 10.75, 19.875, 29.875]]]]> : tensor<1x2x1x4xf32>
    %y = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "conv", onnx_result_names = ["y"]} : (tensor<1x2x1x8xf32>, tensor<1x2x1x4xf32>, none) -> tensor<1x1x1x5xf32>
    onnx.Return %y : tensor<1x1x1x5xf32>
  }
}

// -----

// A product has no kernels.
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 255.0 : f64}, y = {min = 0.0 : f64, max = 255.0 : f64}}} {
  // SUMS-LABEL: func.func @main_graph
  // SUMS: w_quantized
  // SUMS-SAME: [127], [10], [20], [30]
  // NEAREST-LABEL: func.func @main_graph
  // NEAREST: w_quantized
  // NEAREST-SAME: [127], [10], [20], [30]
  func.func @main_graph(%x: tensor<1x4xf32> {onnx.name = "x"}) -> (tensor<1x1xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[127.0], [10.375], [20.5], [30.375]]> : tensor<4x1xf32>
    %y = "onnx.MatMul"(%x, %w) {onnx_node_name = "matmul", onnx_result_names = ["y"]} : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
    onnx.Return %y : tensor<1x1xf32>
  }
}
