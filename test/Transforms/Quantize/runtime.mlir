// RUN: onnxq-opt %s --onnx-quantize="for=onnxruntime report=%t.json" | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAFE < %t.json
// RUN: onnxq-opt %s --onnx-quantize="for=onnxruntime-vnni report=%t.json" | FileCheck %s --check-prefix=VNNI
// RUN: FileCheck %s --check-prefix=COUNT < %t.json
// RUN: onnxq-opt %s --onnx-quantize="for=onnxruntime weight-type=s8 report=%t.json" | FileCheck %s --check-prefix=VNNI
// RUN: FileCheck %s --check-prefix=COUNT < %t.json
// RUN: onnxq-opt %s --onnx-quantize="for=onnxruntime reduce-range=true report=%t.json" | FileCheck %s --check-prefix=REDUCED
// RUN: FileCheck %s --check-prefix=SAFE < %t.json
// RUN: onnxq-opt %s --onnx-quantize="mode=integer report=%t.json weight-type=s8" -o /dev/null
// RUN: FileCheck %s --check-prefix=COUNT < %t.json
// RUN: onnxq-opt %s --onnx-quantize="max-opset=12" | FileCheck %s --check-prefix=OLD

// Unsigned weights don't saturate, signed ones may if two of a column are
// together beyond 128: 127 and 64, but not 127 and -127.
// CHECK: "w_zero_point"], value = dense<128> : tensor<2xui8>
// VNNI: "w_zero_point"], value = dense<0> : tensor<2xi8>
// REDUCED: "w_quantized"], value = dense<{{\[\[}}64, 64], [32, -64]]> : tensor<2x2xi8>
// SAFE: "may_saturate_in_16_bits": 0
// COUNT: "may_saturate_in_16_bits": 1
// Scales for each channel in quantizers need opset 13.
// OLD: "w_zero_point"], value = dense<0> : tensor<i8>
module attributes {onnxq.calibration = {x = {min = 0.0 : f64, max = 1.0 : f64}, a = {min = -1.0 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.0, 1.0], [0.5, -1.0]]> : tensor<2x2xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<[[1.0, 1.0], [-1.0, -1.0]]> : tensor<2x2xf32>
    %a = "onnx.MatMul"(%x, %w) {onnx_node_name = "large", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %y = "onnx.MatMul"(%a, %v) {onnx_node_name = "opposite", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
