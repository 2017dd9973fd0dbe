// RUN: onnxq-opt %s --onnx-quantize="mode=qlinear placement=every-op contrib-ops=true" | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="mode=qlinear placement=every-op" | FileCheck %s --check-prefix=STANDARD

// CHECK-LABEL: func.func @main_graph
// CHECK: "onnx.com.microsoft.QGemm"
// CHECK: "onnx.com.microsoft.QLinearSigmoid"
// CHECK: "onnx.com.microsoft.QLinearMul"
// CHECK: "onnx.com.microsoft.QLinearAdd"
// CHECK: "onnx.com.microsoft.QLinearLeakyRelu"
// CHECK: dense<3.906250e-03>
// CHECK: "onnx.com.microsoft.QLinearSoftmax"
// CHECK-SAME: opset = 13

// Without them, quantizers stay around what has no form in ai.onnx.
// STANDARD-LABEL: func.func @main_graph
// STANDARD-NOT: com.microsoft
// STANDARD: "onnx.Gemm"
// STANDARD: "onnx.Sigmoid"
module attributes {onnxq.calibration = {
    x = {min = -1.0 : f64, max = 1.0 : f64}, g = {min = -1.0 : f64, max = 1.0 : f64}, s = {min = 0.0 : f64, max = 1.0 : f64},
    m = {min = -1.0 : f64, max = 1.0 : f64}, a = {min = -1.0 : f64, max = 1.0 : f64}, l = {min = -1.0 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
    %c = onnx.Constant {onnx_result_names = ["c"]} dense<0.25> : tensor<2xf32>
    %g = "onnx.Gemm"(%x, %w, %c) {onnx_node_name = "gemm", onnx_result_names = ["g"]} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
    %s = "onnx.Sigmoid"(%g) {onnx_node_name = "sigmoid", onnx_result_names = ["s"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %m = "onnx.Mul"(%g, %s) {onnx_node_name = "mul", onnx_result_names = ["m"]} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
    %a = "onnx.Add"(%m, %c) {onnx_node_name = "add", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
    %l = "onnx.LeakyRelu"(%a) {alpha = 0.1 : f32, onnx_node_name = "leaky", onnx_result_names = ["l"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %y = "onnx.Softmax"(%l) {axis = 1 : si64, onnx_node_name = "softmax", onnx_result_names = ["y"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
