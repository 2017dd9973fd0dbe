// Float8: scales cover the range with its greatest number, 448; biases stay
// float. As ONNX Runtime's tool does it, weights deviate as float8 numbers do.
// RUN: onnxq-opt %s --onnx-quantize="activation-type=f8e4m3fn weight-type=f8e4m3fn per-channel=false bias-correction=none keep-cheap-in-float=false" | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="activation-type=f8e4m3fn weight-type=f8e4m3fn per-channel=false compatible=onnxruntime" | FileCheck %s --check-prefix=THEIRS
// RUN: not onnxq-opt %s --onnx-quantize="activation-type=f8e4m3fn" 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: not onnxq-opt %s --onnx-quantize="activation-type=f8e4m3fn weight-type=f8e4m3fn mode=qlinear" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not onnxq-opt %s --onnx-quantize="activation-type=f8e4m3fn weight-type=f8e4m3fn reduce-range=true" 2>&1 | FileCheck %s --check-prefix=REDUCED

// MIXED: error: activation-type=f8e4m3fn and weight-type=f8e4m3fn go together
// FORM: error: activation-type=f8e4m3fn is for static mode=qdq
// REDUCED: error: float8 goes with none of reduce-range

module attributes {onnxq.calibration = {x = {min = -3.0, max = 4.48}, y = {min = -4.48, max = 1.0}}} {
  // CHECK-LABEL: func.func @main_graph
  // CHECK: onnx_result_names = ["x_scale"], value = dense<0.00999999977>
  // CHECK: onnx_result_names = ["x_zero_point"], value = dense<0.000000e+00> : tensor<f8E4M3FN>
  // CHECK: "onnx.QuantizeLinear"{{.*}} -> tensor<4x2xf8E4M3FN>
  // CHECK: onnx_result_names = ["w_scale"], value = dense<0.001953125>
  // CHECK: dense<{{\[\[}}4.480000e+02, -1.120000e+02], [0.000000e+00, 2.240000e+02]]> : tensor<2x2xf8E4M3FN>
  // CHECK: "onnx.Gemm"{{.*}}onnx_node_name = "product"
  // THEIRS-LABEL: func.func @main_graph
  // The weights deviate by 0.42006; that of float8 is 100.058.
  // THEIRS-DAG: onnx_result_names = ["w_scale"], onnx_typed_data, value = dense<0.00419{{[0-9]*}}>
  // THEIRS: "onnx.Cast"{{.*}}onnx_node_name = "b_DequantizeLinear"
  // THEIRS: "onnx.Gemm"
  func.func @main_graph(%x: tensor<4x2xf32> {onnx.name = "x"}) -> (tensor<4x2xf32> {onnx.name = "y"}) {
    %w = "onnx.Constant"() {value = dense<[[0.875, -0.21875], [0.0, 0.4375]]> : tensor<2x2xf32>, onnx_result_names = ["w"]} : () -> tensor<2x2xf32>
    %b = "onnx.Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf32>, onnx_result_names = ["b"]} : () -> tensor<2xf32>
    %y = "onnx.Gemm"(%x, %w, %b) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    onnx.Return %y : tensor<4x2xf32>
  }
}
