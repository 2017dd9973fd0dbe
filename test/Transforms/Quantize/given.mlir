// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=QLinearOps_Static input-quantization-params={\"x\":[0,0.125],\"c\":[0,0.25]} output-quantization-params={\"c\":[0,0.25],\"y\":[-118,0.5]}" 2>&1 | FileCheck %s --check-prefixes=CHECK,QLINEAR --implicit-check-not=warning
// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=QLinearOps_Dynamic output-quantization-params={\"c\":[0,0.25],\"y\":[10,0.5]}" 2>&1 | FileCheck %s --check-prefixes=CHECK,QLINEAR --implicit-check-not=warning
// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=IntegerOps_Static input-quantization-params={\"x\":[0,0.125],\"r\":[0,0.25]} output-quantization-params={\"c\":[0,0.25]}" 2>&1 | FileCheck %s --check-prefixes=CHECK,INTEGER --implicit-check-not=warning
// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=IntegerOps_Dynamic input-quantization-params={\"c\":[0,0.25]}" 2>&1 | FileCheck %s --check-prefixes=CHECK,INTEGER --implicit-check-not=warning
// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=IntegerOps_Static asymmetric-input-types=true input-quantization-params={\"x\":[0,0.125],\"c\":[0,0.25]}" | FileCheck %s --check-prefix=SIGNED
// RUN: onnxq-opt %s --onnx-quantize="quantization-mode=QLinearOps_Static activation-type=s8 input-quantization-params={\"x\":[0,0.125,\"u8\"],\"c\":[-128,0.25]} output-quantization-params={\"y\":[-118,0.5]}" | FileCheck %s --check-prefix=ACTIVATION

// Parameters of what only a Relu reads are those of what it leaves. The same
// entry may stand in both lists. A zero point below zero is that of s8 numbers,
// which are the same as u8 ones with 128 added.
// CHECK: dense<2.500000e-01> : tensor<f32>
// QLINEAR: "onnx.QLinearConv"
// QLINEAR-NOT: "onnx.Relu"
// QLINEAR: dense<10> : tensor<ui8>
// QLINEAR: "onnx.QLinearConv"
// Modes by these names are unsigned.
// INTEGER: "onnx.ConvInteger"({{.*}}) {{.*}}tensor<2x2x1x1xui8>
// SIGNED: "onnx.ConvInteger"({{.*}}) {{.*}}tensor<2x2x1x1xi8>
// ACTIVATION: "x_zero_point"], value = dense<-128> : tensor<i8>
// ACTIVATION: dense<-118> : tensor<i8>
module {
  func.func @main_graph(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %none = "onnx.NoValue"() {value} : () -> none
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.0]], [[-0.5]]], [[[0.25]], [[2.0]]]]> : tensor<2x2x1x1xf32>
    %c = "onnx.Conv"(%x, %w, %none) {onnx_node_name = "conv1", onnx_result_names = ["c"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    %r = "onnx.Relu"(%c) {onnx_node_name = "relu", onnx_result_names = ["r"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %y = "onnx.Conv"(%r, %w, %none) {onnx_node_name = "conv2", onnx_result_names = ["y"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, none) -> tensor<1x2x4x4xf32>
    onnx.Return %y : tensor<1x2x4x4xf32>
  }
}
