// The text of recurrent ops, read, printed and read again.
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: @rnn(
// CHECK: "onnx.RNN"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{activation_alpha = [1.000000e+00 : f32], activation_beta = [5.000000e-01 : f32], activations = ["HardSigmoid"], clip = 2.000000e+00 : f32, direction = "reverse", hidden_size = 4 : si64, layout = 0 : si64}>
// CHECK-SAME: (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, tensor<1x8xf32>, tensor<3xi32>, tensor<1x3x4xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
func.func @rnn(%a: tensor<5x3x2xf32>,
               %b: tensor<1x4x2xf32>,
               %c: tensor<1x4x4xf32>,
               %d: tensor<1x8xf32>,
               %e: tensor<3xi32>,
               %f: tensor<1x3x4xf32>)
    -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>) {
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %d, %e, %f) {activation_alpha = [1.000000e+00 : f32], activation_beta = [5.000000e-01 : f32], activations = ["HardSigmoid"], clip = 2.000000e+00 : f32, direction = "reverse", hidden_size = 4 : si64, layout = 0 : si64}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, tensor<1x8xf32>, tensor<3xi32>, tensor<1x3x4xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
  onnx.Return %r0, %r1 : tensor<5x1x3x4xf32>, tensor<1x3x4xf32>
}

// CHECK-LABEL: @rnn_both_defaults(
// CHECK: "onnx.RNN"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}})
// CHECK-SAME: activations = ["tanh", "Tanh"]
// CHECK-SAME: (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, none, none, none) -> (none, tensor<*xf32>)
func.func @rnn_both_defaults(%a: tensor<*xf32>,
                             %b: tensor<*xf32>,
                             %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {activations = ["tanh", "Tanh"]}
      : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, none, none, none) -> (none, tensor<*xf32>)
  onnx.Return %r1 : tensor<*xf32>
}

// CHECK-LABEL: @gru(
// CHECK: "onnx.GRU"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{direction = "bidirectional", hidden_size = 4 : si64, layout = 1 : si64, linear_before_reset = 1 : si64}>
// CHECK-SAME: (tensor<3x5x2xf16>, tensor<2x12x2xf16>, tensor<2x12x4xf16>, tensor<2x24xf16>, none, tensor<3x2x4xf16>) -> (tensor<3x5x2x4xf16>, tensor<3x2x4xf16>)
func.func @gru(%a: tensor<3x5x2xf16>,
               %b: tensor<2x12x2xf16>,
               %c: tensor<2x12x4xf16>,
               %d: tensor<2x24xf16>,
               %e: tensor<3x2x4xf16>)
    -> (tensor<3x5x2x4xf16>, tensor<3x2x4xf16>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %d, %none, %e) {direction = "bidirectional", hidden_size = 4 : si64, layout = 1 : si64, linear_before_reset = 1 : si64}
      : (tensor<3x5x2xf16>, tensor<2x12x2xf16>, tensor<2x12x4xf16>, tensor<2x24xf16>, none, tensor<3x2x4xf16>) -> (tensor<3x5x2x4xf16>, tensor<3x2x4xf16>)
  onnx.Return %r0, %r1 : tensor<3x5x2x4xf16>, tensor<3x2x4xf16>
}

// CHECK-LABEL: @lstm(
// CHECK: "onnx.LSTM"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{activations = ["Sigmoid", "Tanh", "Tanh"], direction = "forward", hidden_size = 4 : si64, input_forget = 1 : si64, layout = 0 : si64}>
// CHECK-SAME: (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none, tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x12xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
func.func @lstm(%a: tensor<5x3x2xf32>,
                %b: tensor<1x16x2xf32>,
                %c: tensor<1x16x4xf32>,
                %d: tensor<1x32xf32>,
                %e: tensor<1x3x4xf32>,
                %f: tensor<1x3x4xf32>,
                %g: tensor<1x12xf32>)
    -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %d, %none, %e, %f, %g) {activations = ["Sigmoid", "Tanh", "Tanh"], direction = "forward", hidden_size = 4 : si64, input_forget = 1 : si64, layout = 0 : si64}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, none, tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x12xf32>) -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<5x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>
}

// CHECK-LABEL: @lstm_left_out(
// CHECK: "onnx.LSTM"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}})
// CHECK-SAME: hidden_size = 4 : si64
// CHECK-SAME: (tensor<5x?x2x!onnx.Unknown>, tensor<?x?x?xf32>, tensor<*xf32>, none, none, none, none, none) -> (none, tensor<*xf32>, none)
func.func @lstm_left_out(%a: tensor<5x?x2x!onnx.Unknown>,
                         %b: tensor<?x?x?xf32>,
                         %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {hidden_size = 4 : si64}
      : (tensor<5x?x2x!onnx.Unknown>, tensor<?x?x?xf32>, tensor<*xf32>, none, none, none, none, none) -> (none, tensor<*xf32>, none)
  onnx.Return %r1 : tensor<*xf32>
}
