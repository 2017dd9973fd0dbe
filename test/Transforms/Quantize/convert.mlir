// RUN: onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"y\":{\"type\":\"u8\",\"convert\":{\"type\":\"s16\"}}}" | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"y\":{\"convert\":{\"type\":\"s16\",\"recv_nodes\":[\"second\"]}}}" | FileCheck %s --check-prefixes=CHECK,SOME
// RUN: onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"w\":{\"axis\":1,\"min\":[-2,null],\"max\":[2,null]}}" | FileCheck %s --check-prefix=BOUNDS
// RUN: not onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"w\":{\"convert\":{\"type\":\"s16\"}}}" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"y\":{\"convert\":{\"type\":\"s16\",\"recv_nodes\":[\"third\"]}}}" 2>&1 | FileCheck %s --check-prefix=NODE
// RUN: not onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"y\":{\"convert\":{\"scale\":1}}}" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not onnxq-opt %s --onnx-quantize="mode=qlinear tensor-overrides={\"y\":{\"convert\":{\"type\":\"s16\"}}}" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not onnxq-opt %s --onnx-quantize="placement=every-op tensor-overrides={\"w\":{\"axis\":1,\"min\":[-2],\"max\":[2,3]}}" 2>&1 | FileCheck %s --check-prefix=COUNT

// The second quantizer reads what the first leaves, of the same range.
// CHECK: "y_scale"], value = dense<0.0274509806> : tensor<f32>
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"({{.*}}onnx_node_name = "y_QuantizeLinear"
// CHECK: %[[FIRST:.*]] = "onnx.DequantizeLinear"(%[[Q]]{{.*}}onnx_node_name = "y_DequantizeLinear"
// Nodes that keep the first type have a dequantizer of their own.
// SOME: %[[CLONE:.*]] = "onnx.DequantizeLinear"(%[[Q]]{{.*}}"y_convert_clone_DequantizeLinear", onnx_result_names = ["y_convert_QuantizeLinear_Input"]
// CHECK: "y_scale_convert"]
// CHECK: "y_zero_point_convert"]{{.*}}tensor<i16>
// ALL: "onnx.QuantizeLinear"(%[[FIRST]]{{.*}}onnx_node_name = "y_convert_QuantizeLinear"
// SOME: "onnx.QuantizeLinear"(%[[CLONE]]{{.*}}onnx_node_name = "y_convert_QuantizeLinear"
// CHECK: %[[SECOND:.*]] = "onnx.DequantizeLinear"({{.*}}onnx_node_name = "y_convert_DequantizeLinear"
// ALL: "onnx.Sigmoid"(%[[SECOND]])
// SOME: "onnx.Sigmoid"(%[[FIRST]])
// CHECK: "onnx.Sigmoid"(%[[SECOND]])

// 2/127 of the given bounds, and 1/127 of the channel's own.
// BOUNDS: "w_scale"], value = dense<[0.0157480314, 0.00393700786]>

// WEIGHT: tensor 'w' is a constant, and convert is for activations
// NODE: tensor 'y': convert expects nodes that read it, but got 'third'
// TYPE: tensor 'y': convert expects a quant_type
// FORM: tensor 'y' is an activation, and expects no convert here
// COUNT: tensor 'w' expects min and max together

module attributes {onnxq.calibration = {x = {min = -1.0, max = 2.0}, y = {min = -3.0, max = 4.0}, a = {min = 0.0, max = 1.0}, b = {min = 0.0, max = 1.0}}} {
  func.func @main_graph(%x: tensor<1x3xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "a"}, tensor<1x2xf32> {onnx.name = "b"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.0, 0.5], [-1.0, 0.25], [0.5, 0.5]]> : tensor<3x2xf32>
    %y = "onnx.MatMul"(%x, %w) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
    %a = "onnx.Sigmoid"(%y) {onnx_node_name = "first", onnx_result_names = ["a"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %b = "onnx.Sigmoid"(%y) {onnx_node_name = "second", onnx_result_names = ["b"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    onnx.Return %a, %b : tensor<1x2xf32>, tensor<1x2xf32>
  }
}
