// RUN: onnxq-opt %s --onnx-quantize="mode=integer dynamic=true" | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="mode=integer dynamic=true contrib-ops=true" | FileCheck %s --check-prefix=CONTRIB

// CHECK-LABEL: func.func @main_graph
// CHECK: %[[W:.*]] = "onnx.DequantizeLinear"({{.*}}axis = 1 : si64{{.*}}tensor<1x8x3xi8>
// CHECK: %[[R:.*]] = "onnx.DequantizeLinear"({{.*}}axis = 1 : si64{{.*}}tensor<1x8x2xi8>
// CHECK: "onnx.LSTM"(%{{.*}}, %[[W]], %[[R]]

// CONTRIB-LABEL: func.func @main_graph
// CONTRIB: "onnx.com.microsoft.DynamicQuantizeLSTM"({{.*}}tensor<1x3x8xi8>, tensor<1x2x8xi8>{{.*}}tensor<1x8xf32>, tensor<1x8xi8>
// CONTRIB-NOT: "onnx.LSTM"
module {
  func.func @main_graph(%x: tensor<5x1x3xf32> {onnx.name = "x"}) -> (tensor<5x1x1x2xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<1x8x3xf32>
    %r = onnx.Constant {onnx_result_names = ["r"]} dense<0.25> : tensor<1x8x2xf32>
    %y, %h, %c = "onnx.LSTM"(%x, %w, %r, %none, %none, %none, %none, %none) {hidden_size = 2 : si64, onnx_node_name = "lstm", onnx_result_names = ["y", "", ""]} : (tensor<5x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, none, none, none, none, none) -> (tensor<5x1x1x2xf32>, none, none)
    onnx.Return %y : tensor<5x1x1x2xf32>
  }
}
