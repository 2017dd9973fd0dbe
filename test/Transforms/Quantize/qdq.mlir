// RUN: onnxq-opt %s --onnx-quantize | FileCheck %s
// RUN: onnxq-opt %s --onnx-quantize="per-channel=false bias-correction=none" | FileCheck %s --check-prefix=TENSOR
// RUN: onnxq-opt %s --onnx-quantize="quantize-bias=false" | FileCheck %s --check-prefix=FLOATBIAS
// RUN: onnxq-opt %s --onnx-quantize="add-qdq-pair-to-weight=true" | FileCheck %s --check-prefix=PAIR
// RUN: onnxq-opt %s --onnx-quantize="activation-type=s8" | FileCheck %s --check-prefix=SIGNED
// RUN: onnxq-opt %s --onnx-quantize="nbits=16" | FileCheck %s --check-prefix=WIDE
// RUN: onnxq-opt %s --onnx-quantize="nbits=4 block-size=2" | FileCheck %s --check-prefix=BLOCKS

// The range -1 .. 1.55 is 255 steps of 0.01; the weight's greatest number is 127
// steps in each channel.
module attributes {onnxq.calibration = {x = {min = -1.0 : f64, max = 1.55 : f64}}} {
  // CHECK-LABEL: func.func @main_graph
  // CHECK: %[[SCALE:.*]] = onnx.Constant {onnx_result_names = ["x_scale"], value = dense<0.00999999977>
  // CHECK: %[[ZERO:.*]] = onnx.Constant {onnx_result_names = ["x_zero_point"], value = dense<100> : tensor<ui8>
  // CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%{{.*}}, %[[SCALE]], %[[ZERO]])
  // CHECK: %[[X:.*]] = "onnx.DequantizeLinear"(%[[Q]], %[[SCALE]], %[[ZERO]])
  // CHECK: %[[WS:.*]] = onnx.Constant {onnx_result_names = ["w_scale"], value = dense<[0.00999999977, 2.000000e-02]>
  // CHECK: %[[WQ:.*]] = onnx.Constant {onnx_result_names = ["w_quantized"], value = dense<{{\[\[\[\[}}127{{.*}}-30{{.*}}-127{{.*}}50{{.*}}tensor<2x2x1x1xi8>
  // CHECK: %[[W:.*]] = "onnx.DequantizeLinear"(%[[WQ]], %[[WS]], {{.*}}axis = 0 : si64
  // CHECK: %[[BQ:.*]] = onnx.Constant {onnx_result_names = ["b_quantized"], value = dense<[1000, -1000]> : tensor<2xi32>
  // CHECK: %[[B:.*]] = "onnx.DequantizeLinear"(%[[BQ]]
  // CHECK: "onnx.Conv"(%[[X]], %[[W]], %[[B]])

  // One scale: 2.54 / 127 for both channels.
  // TENSOR: "w_scale"], value = dense<2.000000e-02> : tensor<f32>
  // TENSOR: "w_quantized"], value = dense<{{\[\[\[\[}}64{{.*}}-15{{.*}}-127{{.*}}50
  // TENSOR: "b_quantized"], value = dense<[500, -1000]>

  // FLOATBIAS: %[[B:.*]] = onnx.Constant {onnx_result_names = ["b"], value = dense<[1.000000e-01, -2.000000e-01]>
  // FLOATBIAS: "onnx.Conv"({{.*}}, %[[B]])

  // PAIR: %[[W:.*]] = onnx.Constant {onnx_result_names = ["w"], value = {{.*}}tensor<2x2x1x1xf32>
  // PAIR: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[W]]
  // PAIR: "onnx.DequantizeLinear"(%[[Q]]

  // SIGNED: "x_zero_point"], value = dense<-28> : tensor<i8>

  // WIDE: "x_scale"], value = dense<7.78210{{.*}}E-5>
  // WIDE: "x_zero_point"], value = dense<25700> : tensor<ui16>
  // WIDE: "w_quantized"], value = dense<{{.*}}32767{{.*}}tensor<2x2x1x1xi16>

  // A block along the sum is a channel here; symmetric s4 goes from -8 to 7.
  // BLOCKS: "w_scale"], value = dense<{{.*}}tensor<2x1x1x1xf32>
  // BLOCKS: "w_quantized"], value = dense<{{\[\[\[\[}}7]], {{\[\[}}-2{{.*}}-8]], {{\[\[}}3{{.*}}tensor<2x2x1x1xi4>
  // BLOCKS: block_size = 2 : si64
  func.func @main_graph(%x: tensor<1x2x4x4xf32> {onnx.name = "x"}) -> (tensor<1x2x4x4xf32> {onnx.name = "y"}) {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[1.27]], [[-0.3]]], [[[-2.54]], [[1.0]]]]> : tensor<2x2x1x1xf32>
    %b = onnx.Constant {onnx_result_names = ["b"]} dense<[0.1, -0.2]> : tensor<2xf32>
    %y = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "conv", onnx_result_names = ["y"]} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
    onnx.Return %y : tensor<1x2x4x4xf32>
  }
}
