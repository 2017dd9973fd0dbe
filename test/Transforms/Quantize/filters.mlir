// RUN: onnxq-opt %s --onnx-quantize=report=%t.json | FileCheck %s && FileCheck %s --check-prefix=REPORT < %t.json
// RUN: onnxq-opt %s --onnx-quantize=mode=integer | FileCheck %s --check-prefix=ALL
// RUN: onnxq-opt %s --onnx-quantize=keep-cheap-in-float=false | FileCheck %s --check-prefix=ALL

// What a depthwise convolution reads stays float, however many products it
// makes, up to 8 MB. What another convolution reads as well does not.
module attributes {onnxq.calibration = {
    x = {min = 0.0 : f64, max = 1.0 : f64}, a = {min = -1.0 : f64, max = 1.0 : f64},
    b = {min = -1.0 : f64, max = 1.0 : f64}, z = {min = -1.0 : f64, max = 1.0 : f64}}} {
  // CHECK-LABEL: func.func @filters
  // CHECK: "onnx.QuantizeLinear"(%arg1
  // CHECK: %[[A:.*]] = "onnx.Conv"(%arg0, {{.*}}onnx_node_name = "first"
  // CHECK: "onnx.QuantizeLinear"(%[[A]]
  // CHECK: "onnx.Conv"({{.*}}onnx_node_name = "second"
  // CHECK: "onnx.Conv"({{.*}}onnx_node_name = "dense"
  // CHECK-NOT: "onnx.Conv"(%arg1
  // ALL-LABEL: func.func @filters
  // ALL: "onnx.QuantizeLinear"(%arg0
  // REPORT: "weights only: filters of channels take as long in integers"
  func.func @filters(%x: tensor<1x16x32x32xf32> {onnx.name = "x"}, %z: tensor<1x2x1024x1025xf32> {onnx.name = "z"}) -> (tensor<1x16x30x30xf32> {onnx.name = "b"}, tensor<1x256x32x32xf32> {onnx.name = "c"}, tensor<1x2x1022x1023xf32> {onnx.name = "l"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<16x1x3x3xf32>
    %u = onnx.Constant {onnx_result_names = ["u"]} dense<0.25> : tensor<256x16x1x1xf32>
    %t = onnx.Constant {onnx_result_names = ["t"]} dense<0.25> : tensor<2x1x3x3xf32>
    %a = "onnx.Conv"(%x, %w, %none) {group = 16 : si64, pads = [1, 1, 1, 1], onnx_node_name = "first", onnx_result_names = ["a"]} : (tensor<1x16x32x32xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x32x32xf32>
    %b = "onnx.Conv"(%a, %w, %none) {group = 16 : si64, onnx_node_name = "second", onnx_result_names = ["b"]} : (tensor<1x16x32x32xf32>, tensor<16x1x3x3xf32>, none) -> tensor<1x16x30x30xf32>
    %c = "onnx.Conv"(%a, %u, %none) {onnx_node_name = "dense", onnx_result_names = ["c"]} : (tensor<1x16x32x32xf32>, tensor<256x16x1x1xf32>, none) -> tensor<1x256x32x32xf32>
    %l = "onnx.Conv"(%z, %t, %none) {group = 2 : si64, onnx_node_name = "large", onnx_result_names = ["l"]} : (tensor<1x2x1024x1025xf32>, tensor<2x1x3x3xf32>, none) -> tensor<1x2x1022x1023xf32>
    onnx.Return %b, %c, %l : tensor<1x16x30x30xf32>, tensor<1x256x32x32xf32>, tensor<1x2x1022x1023xf32>
  }
}
