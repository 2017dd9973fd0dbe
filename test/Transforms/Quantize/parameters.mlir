// RUN: onnxq-opt %s --onnx-quantize="input-quantization-params={\"x\":[7,0.125]}" | FileCheck %s --check-prefix=GIVEN
// RUN: onnxq-opt %s --onnx-quantize="tensor-overrides={\"x\":{\"type\":\"s8\",\"min\":-1.28,\"max\":1.27},\"w\":{\"scale\":[0.25,0.5],\"axis\":1}}" | FileCheck %s --check-prefix=OVERRIDE
// RUN: onnxq-opt %s --onnx-quantize="output-quantization-params={\"y\":[7,0.125]}" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: onnxq-opt %s --onnx-quantize="mode=qlinear tensor-overrides={\"x\":{\"type\":\"s8\"}} input-quantization-params={\"y\":[7,0.125],\"z\":[8,0.25]}" | FileCheck %s --check-prefix=MIXED
// RUN: onnxq-opt %s --onnx-quantize="int16-first=1" | FileCheck %s --check-prefix=FIRST
// RUN: onnxq-opt %s --onnx-quantize="int16-tensors=a" | FileCheck %s --check-prefix=SECOND
// RUN: onnxq-opt %s --onnx-quantize="symmetric-activations=true reduce-range=true" | FileCheck %s --check-prefix=SYMMETRIC
// RUN: onnxq-opt %s --onnx-quantize="minimum-real-range=25.5" | FileCheck %s --check-prefix=MINIMUM
// RUN: onnxq-opt %s --onnx-quantize="dedicated-qdq-pair=true" | FileCheck %s --check-prefix=DEDICATED
// RUN: onnxq-opt %s --onnx-quantize="activation-type=u16 contrib-qdq=true" | FileCheck %s --check-prefix=CONTRIB

// Given parameters are taken to the bit.
// GIVEN: "x_scale"], value = dense<1.250000e-01>
// GIVEN: "x_zero_point"], value = dense<7> : tensor<ui8>

// UNUSED: warning: nothing uses the parameters given for tensor 'y': it is not quantized

// Signed activations with an unsigned result have no kernels.
// MIXED: "onnx.MatMul"
// MIXED: "onnx.QLinearMatMul"
// MIXED-NOT: onnx.QLinearMatMul
// MIXED: "onnx.MatMul"

// OVERRIDE: "x_scale"], value = dense<0.00999999977>
// OVERRIDE: "x_zero_point"], value = dense<0> : tensor<i8>
// OVERRIDE: "w_scale"], value = dense<[2.500000e-01, 5.000000e-01]>
// OVERRIDE: "w_quantized"], value = dense<{{\[\[}}2, 1], [-4, -2]]>

// FIRST: "x_zero_point"], value = dense<32768> : tensor<ui16>
// FIRST: "a_zero_point"], value = dense<0> : tensor<ui8>
// SECOND: "x_zero_point"], value = {{.*}}tensor<ui8>
// SECOND: "a_zero_point"], value = {{.*}}tensor<ui16>

// 2 / 255 around zero; weights up to 64.
// SYMMETRIC: "x_scale"], value = dense<0.00784313772>
// SYMMETRIC: "x_zero_point"], value = dense<128> : tensor<ui8>
// SYMMETRIC: "w_quantized"], value = dense<{{\[\[}}32, 32], [-64, -64]]>

// MINIMUM: "x_scale"], value = dense<1.000000e-01>

// DEDICATED: "x_1_QuantizeLinear"
// DEDICATED: "x_2_QuantizeLinear"

// CONTRIB: "onnx.com.microsoft.QuantizeLinear"
// CONTRIB: "onnx.com.microsoft.DequantizeLinear"
module attributes {onnxq.calibration = {
    x = {min = -1.0 : f64, max = 1.0 : f64}, a = {min = 0.5 : f64, max = 1.0 : f64}}} {
  func.func @main_graph(%x: tensor<1x2xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "y"}, tensor<1x2xf32> {onnx.name = "z"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[0.5, 0.5], [-1.0, -1.0]]> : tensor<2x2xf32>
    %v = onnx.Constant {onnx_result_names = ["v"]} dense<0.25> : tensor<2x2xf32>
    %a = "onnx.MatMul"(%x, %w) {onnx_node_name = "first", onnx_result_names = ["a"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %y = "onnx.MatMul"(%a, %v) {onnx_node_name = "second", onnx_result_names = ["y"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %z = "onnx.MatMul"(%x, %v) {onnx_node_name = "third", onnx_result_names = ["z"]} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    onnx.Return %y, %z : tensor<1x2xf32>, tensor<1x2xf32>
  }
}
