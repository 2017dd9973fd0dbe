// RUN: onnxq-opt %s --split-input-file --onnx-quantize | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="placement=every-op" | FileCheck %s --check-prefix=EVERY
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="placement=every-op exclude-output-quantization=true keep-removable-activations=true" | FileCheck %s --check-prefix=KEEP

// Elementwise ops and the head stay float; every op has quantizers otherwise.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 1.0 : f64},
    s = {min = 0.0 : f64, max = 1.0 : f64}, p = {min = -1.0 : f64, max = 1.0 : f64}, y = {min = 0.0 : f64, max = 3.0 : f64}}} {
  // CHECK-LABEL: func.func @main_graph
  // CHECK-COUNT-1: "onnx.QuantizeLinear"
  // CHECK: %[[C:.*]] = "onnx.Conv"
  // CHECK-NEXT: %[[S:.*]] = "onnx.Sigmoid"(%[[C]])
  // CHECK-NEXT: %[[P:.*]] = "onnx.Mul"(%[[C]], %[[S]])
  // CHECK-NEXT: %[[Y:.*]] = "onnx.Relu"(%[[P]])
  // CHECK-NEXT: onnx.Return %[[Y]]

  // The Relu's input takes the range of its result, so that it can go.
  // EVERY-LABEL: func.func @main_graph
  // EVERY: "onnx.Conv"
  // EVERY: "onnx.Sigmoid"
  // EVERY: %[[P:.*]] = "onnx.Mul"
  // EVERY-NOT: onnx.Relu
  // EVERY: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[P]]
  // EVERY: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Q]]
  // EVERY: onnx.Return %[[D]]

  // KEEP-LABEL: func.func @main_graph
  // KEEP: %[[Y:.*]] = "onnx.Relu"
  // KEEP-NEXT: onnx.Return %[[Y]]
  func.func @main_graph(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> (tensor<1x1x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<1x1x1x1xf32>
    %c = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "conv", onnx_result_names = ["c"]} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, none) -> tensor<1x1x4x4xf32>
    %s = "onnx.Sigmoid"(%c) {onnx_node_name = "sigmoid", onnx_result_names = ["s"]} : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %p = "onnx.Mul"(%c, %s) {onnx_node_name = "mul", onnx_result_names = ["p"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    %y = "onnx.Relu"(%p) {onnx_node_name = "relu", onnx_result_names = ["y"]} : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    onnx.Return %y : tensor<1x1x4x4xf32>
  }
}

// -----

// Ops that move data have one scale for all they touch: that of the wider input.
module attributes {onnxq.calibration = {
    a = {min = 0.0 : f64, max = 1.0 : f64}, b = {min = 0.0 : f64, max = 2.55 : f64}, c = {min = 0.0 : f64, max = 2.55 : f64}, y = {min = 0.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @concat
  // CHECK-DAG: "a_scale"], value = dense<0.00999999977>
  // CHECK-DAG: "b_scale"], value = dense<0.00999999977>
  // CHECK-DAG: "c_scale"], value = dense<0.00999999977>
  // CHECK: "onnx.MatMul"
  // EVERY-LABEL: func.func @concat
  // KEEP-LABEL: func.func @concat
  func.func @concat(%a: tensor<1x2xf32> {onnx.name = "a"}, %b: tensor<1x2xf32> {onnx.name = "b"}) -> (tensor<1x1xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<4x1xf32>
    %c = "onnx.Concat"(%a, %b) {axis = 1 : si64, onnx_node_name = "concat", onnx_result_names = ["c"]} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
    %y = "onnx.MatMul"(%c, %w) {onnx_node_name = "mul", onnx_result_names = ["y"]} : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
    onnx.Return %y : tensor<1x1xf32>
  }
}
