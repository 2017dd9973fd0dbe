// RUN: onnxq-opt %s --onnx-quantize="nodes-to-exclude=first" | FileCheck %s --check-prefix=EXCLUDE
// RUN: onnxq-opt %s --onnx-quantize="nodes-to-quantize=sec.*" | FileCheck %s --check-prefix=EXCLUDE
// RUN: onnxq-opt %s --onnx-quantize="op-types-to-quantize=Gemm" | FileCheck %s --check-prefix=GEMM
// RUN: onnxq-opt %s --onnx-quantize="nodes-to-exclude=first remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: onnxq-opt %s --onnx-quantize="nodes-to-exclude=first report=%t.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT < %t.json

// A node that is excluded stays float, to the last constant.
// EXCLUDE-LABEL: func.func @main_graph
// EXCLUDE-SAME: (%[[X:[a-z0-9]+]]: tensor<1x2xf32>
// EXCLUDE: %[[W:.*]] = onnx.Constant {onnx_result_names = ["w"], value = dense<5.000000e-01>
// EXCLUDE: %[[V:.*]] = "onnx.DequantizeLinear"({{.*}}"w_DequantizeLinear"
// EXCLUDE: "onnx.MatMul"(%[[X]], %[[W]])
// EXCLUDE: "onnx.QuantizeLinear"
// EXCLUDE: "onnx.MatMul"(%{{.*}}, %[[V]])

// GEMM-LABEL: func.func @main_graph
// GEMM: "onnx.MatMul"
// GEMM: "onnx.MatMul"
// GEMM: "onnx.QuantizeLinear"
// GEMM: "onnx.Gemm"

// REMARK: remark: first: float, excluded by nodes-to-exclude
// REMARK: remark: second: quantized

// REPORT: "mode": "qdq static"
// REPORT: "name": "first"
// REPORT: "quantized": false
// REPORT: "reason": "excluded by nodes-to-exclude"
// REPORT: "name": "second"
// REPORT: "quantized": true
// REPORT: "constant_bytes_after"
module attributes {onnxq.calibration = {
    x = {min = -1.0 : f64, max = 1.0 : f64}, a = {min = -1.0 : f64, max = 1.0 : f64}, b = {min = -1.0 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<2x2xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<0.25> : tensor<2x2xf32>
    %c = onnx.Constant {onnx_result_names = ["c"]} dense<0.25> : tensor<2xf32>
    %a = "onnx.MatMul"(%x, %w) {onnx_node_name = "first", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %b = "onnx.MatMul"(%a, %w) {onnx_node_name = "second", onnx_result_names = ["b"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %y = "onnx.Gemm"(%b, %v, %c) {onnx_node_name = "third", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
    onnx.Return %y : tensor<1x2xf32>
  }
}
