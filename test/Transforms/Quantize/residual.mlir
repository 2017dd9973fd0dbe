// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none keep-cheap-in-float=false" | FileCheck %s --check-prefix=ALL
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="bias-correction=none tensor-overrides={\"n\":{\"min\":-8,\"max\":8},\"s\":{\"min\":-8,\"max\":8}}" | FileCheck %s --check-prefix=ALL

// What a normalization makes is read in 8 bits by the product only.
module attributes {onnxq.calibration = {
    x = {min = -8.0 : f64, max = 8.0 : f64}, n = {min = -8.0 : f64, max = 8.0 : f64},
    m = {min = -1.0 : f64, max = 1.0 : f64}, s = {min = -8.0 : f64, max = 8.0 : f64}, a = {min = -8.0 : f64, max = 8.0 : f64}}} {
  // CHECK-LABEL: func.func @behind
  // CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = "onnx.LayerNormalization"
  // CHECK: "onnx.QuantizeLinear"(%[[N]]
  // CHECK: "onnx.Add"(%[[N]], %{{.*}})
  // ALL-LABEL: func.func @behind
  // ALL: "onnx.QuantizeLinear"{{.*}}"n_QuantizeLinear"
  // ALL: %[[D:.*]] = "onnx.DequantizeLinear"{{.*}}"n_DequantizeLinear"
  // ALL: "onnx.Add"(%[[D]], %{{.*}})
  func.func @behind(%x: tensor<1x5x4xf32> {onnx.name = "x"}) -> (tensor<1x5x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %g = onnx.Constant {onnx_result_names = ["g"]} dense<1.0> : tensor<4xf32>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<4x4xf32>
    %n, %mean, %deviation = "onnx.LayerNormalization"(%x, %g, %none) {axis = -1 : si64, onnx_node_name = "norm", onnx_result_names = ["n"]} : (tensor<1x5x4xf32>, tensor<4xf32>, none) -> (tensor<1x5x4xf32>, none, none)
    %m = "onnx.MatMul"(%n, %w) {onnx_node_name = "product", onnx_result_names = ["m"]} : (tensor<1x5x4xf32>, tensor<4x4xf32>) -> tensor<1x5x4xf32>
    %s = "onnx.Add"(%n, %m) {onnx_node_name = "sum", onnx_result_names = ["s"]} : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
    onnx.Return %s : tensor<1x5x4xf32>
  }

  // A sum that is normalized and waits for the next one stays float.
  // CHECK-LABEL: func.func @before
  // CHECK: %[[S:.*]] = "onnx.Add"{{.*}}"s"
  // CHECK-NOT: "onnx.QuantizeLinear"(%[[S]]
  // CHECK: "onnx.LayerNormalization"(%[[S]],
  // CHECK: "onnx.Add"(%[[S]], %{{.*}})
  // ALL-LABEL: func.func @before
  // ALL: "onnx.QuantizeLinear"{{.*}}"s_QuantizeLinear"
  // ALL: %[[D:.*]] = "onnx.DequantizeLinear"{{.*}}"s_DequantizeLinear"
  // ALL: "onnx.LayerNormalization"(%[[D]],
  func.func @before(%x: tensor<1x5x4xf32> {onnx.name = "x"}) -> (tensor<1x5x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %g = onnx.Constant {onnx_result_names = ["g"]} dense<1.0> : tensor<4xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<0.5> : tensor<4x4xf32>
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<4x4xf32>
    %m = "onnx.MatMul"(%x, %v) {onnx_node_name = "first", onnx_result_names = ["m"]} : (tensor<1x5x4xf32>, tensor<4x4xf32>) -> tensor<1x5x4xf32>
    %s = "onnx.Add"(%x, %m) {onnx_node_name = "sum", onnx_result_names = ["s"]} : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
    %n, %mean, %deviation = "onnx.LayerNormalization"(%s, %g, %none) {axis = -1 : si64, onnx_node_name = "norm", onnx_result_names = ["n"]} : (tensor<1x5x4xf32>, tensor<4xf32>, none) -> (tensor<1x5x4xf32>, none, none)
    %p = "onnx.MatMul"(%n, %w) {onnx_node_name = "second", onnx_result_names = ["p"]} : (tensor<1x5x4xf32>, tensor<4x4xf32>) -> tensor<1x5x4xf32>
    %y = "onnx.Add"(%s, %p) {onnx_node_name = "total", onnx_result_names = ["a"]} : (tensor<1x5x4xf32>, tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
    onnx.Return %y : tensor<1x5x4xf32>
  }
}
