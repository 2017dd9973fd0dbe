// RUN: onnxq-opt %s --onnx-quantize="mode=qlinear" | FileCheck %s --check-prefix=QLINEAR
// RUN: onnxq-opt %s --onnx-quantize="mode=qlinear dynamic=true" | FileCheck %s --check-prefix=QDYNAMIC
// RUN: onnxq-opt %s --onnx-quantize="mode=integer" | FileCheck %s --check-prefix=INTEGER
// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=IntegerOps_Dynamic" | FileCheck %s --check-prefix=IDYNAMIC
// RUN: onnxq-opt %s --onnx-quantize="dynamic=true" | FileCheck %s --check-prefix=DYNAMIC

module attributes {onnxq.calibration = {
    x = {min = -1.0 : f64, max = 1.55 : f64}, c = {min = -3.0 : f64, max = 4.0 : f64},
    r = {min = 0.0 : f64, max = 2.55 : f64}, f = {min = 0.0 : f64, max = 2.55 : f64}, y = {min = -1.28 : f64, max = 1.27 : f64}}} {
  // The Relu is part of the convolution: its result begins at the zero point.
  // QLINEAR-LABEL: func.func @main_graph
  // QLINEAR: %[[RS:.*]] = onnx.Constant {onnx_result_names = ["r_scale"], value = dense<0.00999999977>
  // QLINEAR: %[[RZ:.*]] = onnx.Constant {onnx_result_names = ["r_zero_point"], value = dense<0> : tensor<ui8>
  // QLINEAR: %[[R:.*]] = "onnx.QLinearConv"({{.*}}%[[RS]], %[[RZ]], %{{.*}}) {{.*}}"conv_quant"
  // QLINEAR-NOT: onnx.Relu
  // QLINEAR: %[[F:.*]] = "onnx.Flatten"(%[[R]]) {{.*}} -> tensor<1x32xui8>
  // QLINEAR: %[[Y:.*]] = "onnx.QLinearMatMul"(%[[F]]
  // QLINEAR: %[[D:.*]] = "onnx.DequantizeLinear"(%[[Y]]
  // QLINEAR: onnx.Return %[[D]]

  // Scales of inputs come from the graph, those of results from the table.
  // QDYNAMIC-LABEL: func.func @main_graph
  // QDYNAMIC: %[[X:.*]], %[[XS:.*]], %[[XZ:.*]] = "onnx.DynamicQuantizeLinear"
  // QDYNAMIC: %[[SCALE:.*]] = "onnx.Mul"(%[[XS]], %[[WS:.*]]) {onnx_node_name = "conv_bias_scale"
  // QDYNAMIC: %[[QUOTIENT:.*]] = "onnx.Div"(%{{.*}}, %[[SCALE]])
  // QDYNAMIC: %[[ROUNDED:.*]] = "onnx.Round"(%[[QUOTIENT]])
  // QDYNAMIC: %[[CLIPPED:.*]] = "onnx.Clip"(%[[ROUNDED]],
  // QDYNAMIC: %[[BIAS:.*]] = "onnx.Cast"(%[[CLIPPED]])
  // QDYNAMIC: "onnx.QLinearConv"(%[[X]], %[[XS]], %[[XZ]], %{{.*}}, %[[WS]], {{.*}}, %[[BIAS]])
  // QDYNAMIC: "onnx.QLinearMatMul"

  // Weights of convolutions are unsigned in this form, with one zero point.
  // INTEGER-LABEL: func.func @main_graph
  // INTEGER: %[[Q:.*]] = "onnx.QuantizeLinear"
  // INTEGER: %[[W:.*]] = onnx.Constant {onnx_result_names = ["w_quantized"], value = {{.*}}xui8>
  // INTEGER: %[[WZ:.*]] = onnx.Constant {{.*}} dense<128> : tensor<ui8>
  // INTEGER: %[[SUM:.*]] = "onnx.ConvInteger"(%[[Q]], %[[W]], %{{.*}}, %[[WZ]])
  // INTEGER: %[[F:.*]] = "onnx.Cast"(%[[SUM]])
  // INTEGER: %[[P:.*]] = "onnx.Mul"(%[[F]]
  // INTEGER: %[[C:.*]] = "onnx.Add"(%[[P]]{{.*}}onnx_result_names = ["c"]
  // INTEGER: "onnx.Relu"(%[[C]])
  // INTEGER: "onnx.MatMulInteger"{{.*}}tensor<32x3xi8>

  // IDYNAMIC-LABEL: func.func @main_graph
  // IDYNAMIC: "onnx.DynamicQuantizeLinear"
  // IDYNAMIC: "onnx.ConvInteger"
  // IDYNAMIC: "onnx.DynamicQuantizeLinear"
  // IDYNAMIC: "onnx.MatMulInteger"

  // DYNAMIC-LABEL: func.func @main_graph
  // DYNAMIC: %[[X:.*]], %[[XS:.*]], %[[XZ:.*]] = "onnx.DynamicQuantizeLinear"
  // DYNAMIC: %[[D:.*]] = "onnx.DequantizeLinear"(%[[X]], %[[XS]], %[[XZ]])
  // DYNAMIC: "onnx.Conv"(%[[D]]
  func.func @main_graph(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> (tensor<1x3xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27]]], [[[-2.54]]]]> : tensor<2x1x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[0.1, -0.2]> : tensor<2xf32>
    %m = onnx.Constant {onnx_result_names = ["m"]} dense<0.25> : tensor<32x3xf32>
    %c = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "conv", onnx_result_names = ["c"]} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    %r = "onnx.Relu"(%c) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %f = "onnx.Flatten"(%r) {axis = 1 : si64, onnx_node_name = "flat", onnx_result_names = ["f"]} : (tensor<1x2x4x4xf32>) -> tensor<1x32xf32>
    %y = "onnx.MatMul"(%f, %m) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<1x32xf32>, tensor<32x3xf32>) -> tensor<1x3xf32>
    onnx.Return %y : tensor<1x3xf32>
  }
}
