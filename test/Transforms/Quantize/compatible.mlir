// RUN: onnxq-opt %s --onnx-quantize="compatible=onnxruntime" | FileCheck %s --check-prefix=PAIRS
// RUN: onnxq-opt %s --onnx-quantize="compatible=onnxruntime mode=qlinear" | FileCheck %s --check-prefix=OPERATORS
// RUN: onnxq-opt %s --onnx-quantize="compatible=onnxruntime mode=integer dynamic=true" | FileCheck %s --check-prefix=INTEGERS
// RUN: onnxq-opt %s --onnx-quantize="compatible=onnxruntime restricted-asymmetric=true" | FileCheck %s --check-prefix=RESTRICTED
// RUN: onnxq-opt %s --onnx-quantize="compatible=onnxruntime op-types-to-exclude-output=MatMul" | FileCheck %s --check-prefix=EXCLUDED
// RUN: onnxq-opt %s --onnx-quantize="compatible=onnxruntime per-channel=true channel-axes=MatMul:0" | FileCheck %s --check-prefix=AXES
// RUN: not onnxq-opt %s --onnx-quantize="compatible=tensorrt" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not onnxq-opt %s --onnx-quantize="channel-axes=MatMul" 2>&1 | FileCheck %s --check-prefix=NO-AXIS

// UNKNOWN: compatible expects onnxruntime, but got 'tensorrt'
// NO-AXIS: channel-axes expects OP:AXIS, but got 'MatMul'

// PAIRS: onnx.producer_name = "onnx.quantize"
// PAIRS: onnx_node_name = "x_QuantizeLinear", onnx_result_names = ["x_QuantizeLinear_Output"]
// A Relu whose quantizer saturates is gone, and leaves its name.
// PAIRS: "onnx.MatMul"{{.*}}onnx_result_names = ["r_QuantizeLinear_Input"]
// PAIRS-NOT: "onnx.Relu"
// PAIRS: onnx_node_name = "r_QuantizeLinear"

// OPERATORS: onnx_result_names = ["x_quantized"]
// OPERATORS: "onnx.QLinearMatMul"{{.*}}onnx_node_name = "product_quant", onnx_result_names = ["y_quantized"]
// OPERATORS-NOT: "onnx.Relu"

// INTEGERS: "onnx.DynamicQuantizeLinear"{{.*}}onnx_node_name = "x_QuantizeLinear"
// INTEGERS: onnx_node_name = "product_quant_scales_mul", onnx_result_names = ["product_quant_scales_mul:0"]
// INTEGERS: "onnx.MatMulInteger"{{.*}}onnx_result_names = ["y_output_quantized"]
// INTEGERS: onnx_node_name = "y_output_quantized_cast"
// INTEGERS: onnx_node_name = "product_quant_output_scale_mul", onnx_result_names = ["y"]

// The range of x is -1 to 2: the zero point is in the middle, 2/127 a step.
// Parameters come first, those of what is read before those of what is made.
// RESTRICTED: "x_zero_point"]{{.*}}dense<128>
// RESTRICTED-NEXT: "x_scale"]{{.*}}dense<0.0157480314>
// RESTRICTED-NEXT: "w_zero_point"]
// RESTRICTED-NEXT: "w_scale"]
// RESTRICTED-NEXT: "r_zero_point"]
// RESTRICTED-NEXT: "r_scale"]

// EXCLUDED: onnx_node_name = "x_QuantizeLinear"
// EXCLUDED-NOT: "y_QuantizeLinear"

// AXES: "w_scale"]{{.*}} : tensor<3xf32>

module attributes {onnxq.calibration = {r = {min = 0.0, max = 4.0}, x = {min = -1.0, max = 2.0}, y = {min = -3.0, max = 4.0}}} {
  func.func @main_graph(%x: tensor<1x3xf32> {onnx.name = "x"}) -> (tensor<1x2xf32> {onnx.name = "r"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.0, 0.5], [-1.0, 0.25], [0.5, 0.5]]> : tensor<3x2xf32>
    %y = "onnx.MatMul"(%x, %w) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
    %r = "onnx.Relu"(%y) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2xf32>) -> tensor<1x2xf32>
    onnx.Return %r : tensor<1x2xf32>
  }
}
