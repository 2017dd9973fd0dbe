// RUN: onnxq-opt %s --onnx-quantize="mode=integer dynamic=true remarks=true" -o /dev/null 2>&1 | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="dynamic=true remarks=true" -o /dev/null 2>&1 | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="dynamic=true nodes-to-quantize=.* remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NAMED

// What a length is computed from stays float, and what that reads; what has
// this length is quantized, and what only has its shape asked for.
// CHECK: remark: encode: float, it decides sizes, which rounding would change
// CHECK: remark: durations: float, it decides sizes, which rounding would change
// CHECK: remark: shaped: quantized
// CHECK: remark: voice: quantized
// NAMED: remark: encode: quantized
// NAMED: remark: durations: quantized
func.func @main_graph(%x: tensor<4x8xf32> {onnx.name = "x"}, %z: tensor<4x8xf32> {onnx.name = "z"}) -> (tensor<?x8xf32> {onnx.name = "y"}, tensor<4x8xf32> {onnx.name = "s"}) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<8x8xf32>
  %v = onnx.Constant {onnx_result_names = ["v"]} dense<0.25> : tensor<8x2xf32>
  %zero = onnx.Constant {onnx_result_names = ["zero"]} dense<0> : tensor<1xi64>
  %eight = onnx.Constant {onnx_result_names = ["eight"]} dense<8> : tensor<1xi64>
  %e = "onnx.MatMul"(%x, %w) {onnx_node_name = "encode", onnx_result_names = ["e"]} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = "onnx.MatMul"(%e, %v) {onnx_node_name = "durations", onnx_result_names = ["d"]} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %sum = "onnx.ReduceSum"(%d, %none) {keepdims = 0 : si64, onnx_node_name = "total", onnx_result_names = ["sum"]} : (tensor<4x2xf32>, none) -> tensor<f32>
  %n = "onnx.Cast"(%sum) {to = i64, onnx_node_name = "round", onnx_result_names = ["n"]} : (tensor<f32>) -> tensor<i64>
  %n1 = "onnx.Unsqueeze"(%n, %zero) {onnx_node_name = "one", onnx_result_names = ["n1"]} : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
  %shape = "onnx.Concat"(%n1, %eight) {axis = 0 : si64, onnx_node_name = "shape", onnx_result_names = ["shape"]} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  %s = "onnx.MatMul"(%z, %w) {onnx_node_name = "shaped", onnx_result_names = ["s"]} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %of = "onnx.Shape"(%s) {onnx_node_name = "of", onnx_result_names = ["of"]} : (tensor<4x8xf32>) -> tensor<2xi64>
  %same = "onnx.Reshape"(%z, %of) {onnx_node_name = "same", onnx_result_names = ["same"]} : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %filled = "onnx.ConstantOfShape"(%shape) {onnx_node_name = "fill", onnx_result_names = ["filled"], value = dense<1.0> : tensor<1xf32>} : (tensor<2xi64>) -> tensor<?x8xf32>
  %y = "onnx.MatMul"(%filled, %w) {onnx_node_name = "voice", onnx_result_names = ["y"]} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %out = "onnx.Add"(%s, %same) {onnx_node_name = "add", onnx_result_names = ["out"]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  onnx.Return %y, %out : tensor<?x8xf32>, tensor<4x8xf32>
}
