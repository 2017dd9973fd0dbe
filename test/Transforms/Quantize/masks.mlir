// RUN: onnxq-opt %s --split-input-file --onnx-quantize="remarks=true" 2>&1 >/dev/null | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="remarks=true placement=every-op" 2>&1 >/dev/null | FileCheck %s

// Zeros and ones become 0 and -10000, by a chain that is shared and broadcast.
// CHECK-DAG: chain: float, it holds an attention mask
// CHECK-DAG: masked: float, it holds an attention mask
// CHECK-DAG: soft: float, it holds an attention mask
// CHECK-DAG: scores: quantized
// CHECK-DAG: context: quantized
module attributes {onnxq.calibration = {q = {min = -1.0 : f64, max = 1.0 : f64}, k = {min = -1.0 : f64, max = 1.0 : f64}, s = {min = -4.0 : f64, max = 4.0 : f64}, p = {min = 0.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 1.0 : f64}, f = {min = 0.0 : f64, max = 1.0 : f64}, i = {min = 0.0 : f64, max = 1.0 : f64}}} {
  func.func @chain(%q: tensor<2x4x8xf32> {onnx.name = "q"}, %k: tensor<2x8x4xf32> {onnx.name = "k"}, %mask: tensor<2x1x4xi64> {onnx.name = "mask"}) -> (tensor<2x4x8xf32> {onnx.name = "y"}) {
    %one = onnx.Constant {onnx_result_names = ["one"]} dense<1.0> : tensor<f32>
    %low = onnx.Constant {onnx_result_names = ["low"]} dense<-1.0e4> : tensor<f32>
    %f = "onnx.Cast"(%mask) {to = f32, onnx_node_name = "cast", onnx_result_names = ["f"]} : (tensor<2x1x4xi64>) -> tensor<2x1x4xf32>
    %i = "onnx.Sub"(%one, %f) {onnx_node_name = "sub", onnx_result_names = ["i"]} : (tensor<f32>, tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
    %m = "onnx.Mul"(%i, %low) {onnx_node_name = "chain", onnx_result_names = ["m"]} : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x1x4xf32>
    %s = "onnx.MatMul"(%q, %k) {onnx_node_name = "scores", onnx_result_names = ["s"]} : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
    %a = "onnx.Add"(%s, %m) {onnx_node_name = "masked", onnx_result_names = ["a"]} : (tensor<2x4x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
    %p = "onnx.Softmax"(%a) {axis = -1 : si64, onnx_node_name = "soft", onnx_result_names = ["p"]} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %y = "onnx.MatMul"(%p, %q) {onnx_node_name = "context", onnx_result_names = ["c"]} : (tensor<2x4x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    onnx.Return %y : tensor<2x4x8xf32>
  }
}

// -----

// A Where puts minus infinity, and a Max keeps it finite.
// CHECK-DAG: where: float, it holds an attention mask
// CHECK-DAG: bounded: float
// CHECK-DAG: soft2: float, it holds an attention mask
// CHECK-DAG: scores2: quantized
module attributes {onnxq.calibration = {q = {min = -1.0 : f64, max = 1.0 : f64}, k = {min = -1.0 : f64, max = 1.0 : f64}, s = {min = -4.0 : f64, max = 4.0 : f64}, p = {min = 0.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 1.0 : f64}}} {
  func.func @where(%q: tensor<2x4x8xf32> {onnx.name = "q"}, %k: tensor<2x8x4xf32> {onnx.name = "k"}, %mask: tensor<2x1x4xi1> {onnx.name = "mask"}) -> (tensor<2x4x8xf32> {onnx.name = "y"}) {
    %low = onnx.Constant {onnx_result_names = ["low"]} dense<0xFF800000> : tensor<f32>
    %least = onnx.Constant {onnx_result_names = ["least"]} dense<-3.40282347E+38> : tensor<f32>
    %s = "onnx.MatMul"(%q, %k) {onnx_node_name = "scores2", onnx_result_names = ["s"]} : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
    %a = "onnx.Where"(%mask, %s, %low) {onnx_node_name = "where", onnx_result_names = ["a"]} : (tensor<2x1x4xi1>, tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %b = "onnx.Max"(%a, %least) {onnx_node_name = "bounded", onnx_result_names = ["b"]} : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %p = "onnx.Softmax"(%b) {axis = -1 : si64, onnx_node_name = "soft2", onnx_result_names = ["p"]} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %y = "onnx.MatMul"(%p, %q) {onnx_node_name = "context2", onnx_result_names = ["c"]} : (tensor<2x4x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    onnx.Return %y : tensor<2x4x8xf32>
  }
}

// -----

// A mask that the caller gives, moved and scaled before the Softmax.
// CHECK-DAG: spread: float
// CHECK-DAG: given: float, it holds an attention mask
// CHECK-DAG: scaled: float, it holds an attention mask
// CHECK-DAG: soft3: float, it holds an attention mask
module attributes {onnxq.calibration = {q = {min = -1.0 : f64, max = 1.0 : f64}, k = {min = -1.0 : f64, max = 1.0 : f64}, s = {min = -4.0 : f64, max = 4.0 : f64}, p = {min = 0.0 : f64, max = 1.0 : f64}, c = {min = -1.0 : f64, max = 1.0 : f64}}} {
  func.func @input(%q: tensor<2x4x8xf32> {onnx.name = "q"}, %k: tensor<2x8x4xf32> {onnx.name = "k"}, %mask: tensor<2x4xf32> {onnx.name = "mask"}) -> (tensor<2x4x8xf32> {onnx.name = "y"}) {
    %axes = onnx.Constant {onnx_result_names = ["axes"]} dense<1> : tensor<1xi64>
    %half = onnx.Constant {onnx_result_names = ["half"]} dense<0.5> : tensor<f32>
    %m = "onnx.Unsqueeze"(%mask, %axes) {onnx_node_name = "spread", onnx_result_names = ["m"]} : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
    %s = "onnx.MatMul"(%q, %k) {onnx_node_name = "scores3", onnx_result_names = ["s"]} : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
    %a = "onnx.Add"(%m, %s) {onnx_node_name = "given", onnx_result_names = ["a"]} : (tensor<2x1x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %b = "onnx.Mul"(%a, %half) {onnx_node_name = "scaled", onnx_result_names = ["b"]} : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x4xf32>
    %p = "onnx.Softmax"(%b) {axis = -1 : si64, onnx_node_name = "soft3", onnx_result_names = ["p"]} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %y = "onnx.MatMul"(%p, %q) {onnx_node_name = "context3", onnx_result_names = ["c"]} : (tensor<2x4x4xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    onnx.Return %y : tensor<2x4x8xf32>
  }
}

// -----

// Large factors of what is no mask are numbers as others: pixels, then a Conv.
// CHECK-DAG: pixels: {{(quantized|float, float between contractions)}}
// CHECK-DAG: conv: quantized
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 1.0 : f64}, a = {min = 0.0 : f64, max = 255.0 : f64}, c = {min = -4.0 : f64, max = 4.0 : f64}, y = {min = 0.0 : f64, max = 1.0 : f64}}} {
  func.func @pixels(%x: tensor<1x16x64x64xf32> {onnx.name = "x"}) -> (tensor<1x16x64x64xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<16x16x1x1xf32>
    %none = "onnx.NoValue"() {value} : () -> none
    %all = onnx.Constant {onnx_result_names = ["all"]} dense<255.0> : tensor<f32>
    %a = "onnx.Mul"(%x, %all) {onnx_node_name = "pixels", onnx_result_names = ["a"]} : (tensor<1x16x64x64xf32>, tensor<f32>) -> tensor<1x16x64x64xf32>
    %c = "onnx.Conv"(%a, %w, %none) {onnx_node_name = "conv", onnx_result_names = ["c"]} : (tensor<1x16x64x64xf32>, tensor<16x16x1x1xf32>, none) -> tensor<1x16x64x64xf32>
    %y = "onnx.Softmax"(%c) {axis = 1 : si64, onnx_node_name = "soft4", onnx_result_names = ["y"]} : (tensor<1x16x64x64xf32>) -> tensor<1x16x64x64xf32>
    onnx.Return %y : tensor<1x16x64x64xf32>
  }
}
