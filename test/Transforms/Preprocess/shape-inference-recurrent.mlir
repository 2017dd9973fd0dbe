// Shapes of recurrent networks, static, symbolic and refused.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: @rnn(
// CHECK: "onnx.RNN"({{.*}}){{.*}} -> (tensor<5x1x3x4xf32>, tensor<1x3x4xf32>)
func.func @rnn(%a: tensor<5x3x2xf32>,
               %b: tensor<1x4x2xf32>,
               %c: tensor<1x4x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {hidden_size = 4 : si64}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @rnn_batch_first(
// CHECK: "onnx.RNN"({{.*}}){{.*}} -> (tensor<3x5x1x4xf32>, tensor<3x1x4xf32>)
func.func @rnn_batch_first(%a: tensor<3x5x2xf32>,
                           %b: tensor<1x4x2xf32>,
                           %c: tensor<1x4x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {layout = 1 : si64}
      : (tensor<3x5x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @gru_bidirectional(
// CHECK: "onnx.GRU"({{.*}}){{.*}} -> (tensor<5x2x3x4xf32>, tensor<2x3x4xf32>)
func.func @gru_bidirectional(%a: tensor<5x3x2xf32>,
                             %b: tensor<2x12x2xf32>,
                             %c: tensor<2x12x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {direction = "bidirectional"}
      : (tensor<5x3x2xf32>, tensor<2x12x2xf32>, tensor<2x12x4xf32>, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @gru_from_weight(
// CHECK: "onnx.GRU"({{.*}}){{.*}} -> (tensor<?x1x?x4xf32>, tensor<1x?x4xf32>)
func.func @gru_from_weight(%a: tensor<*xf32>,
                           %b: tensor<1x12x2xf32>,
                           %c: tensor<*xf32>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none)
      : (tensor<*xf32>, tensor<1x12x2xf32>, tensor<*xf32>, none, none, none) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @lstm(
// CHECK: "onnx.LSTM"({{.*}}){{.*}} -> (tensor<5x1x3x4xf32>, none, tensor<1x3x4xf32>)
func.func @lstm(%a: tensor<5x3x2xf32>,
                %b: tensor<1x16x2xf32>,
                %c: tensor<1x16x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {hidden_size = 4 : si64}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, tensor<*xf32>)
  onnx.Return %r0, %r2 : tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @lstm_symbolic(
// CHECK: "onnx.LSTM"({{.*}}){{.*}}onnx_dim_params = ["0:time,2:batch", "1:batch", "1:batch"]{{.*}} -> (tensor<?x1x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>)
func.func @lstm_symbolic(%a: tensor<?x?x2xf32> {onnx.name = "x", onnx.dim_params = "0:time,1:batch"},
                         %b: tensor<1x16x2xf32>,
                         %c: tensor<1x16x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none)
      : (tensor<?x?x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @lstm_batch_from_state(
// CHECK: "onnx.LSTM"({{.*}}){{.*}} -> (tensor<?x1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
func.func @lstm_batch_from_state(%a: tensor<?x?x2xf32>,
                                 %b: tensor<1x16x2xf32>,
                                 %c: tensor<1x16x4xf32>,
                                 %d: tensor<1x3x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %d, %none, %none)
      : (tensor<?x?x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, tensor<1x3x4xf32>, none, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: @lstm_unranked(
// CHECK: "onnx.LSTM"({{.*}}){{.*}} -> (tensor<?x1x?x?xf32>, none, none)
func.func @lstm_unranked(%a: tensor<*xf32>,
                         %b: tensor<*xf32>,
                         %c: tensor<*xf32>)
    -> tensor<*x!onnx.Unknown> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none)
      : (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, none, none, none, none, none) -> (tensor<*x!onnx.Unknown>, none, none)
  onnx.Return %r0 : tensor<*x!onnx.Unknown>
}

// -----

// What only inference knows of the operands is checked again.
func.func @rnn_rank(%a: tensor<5x6xf32>, %w: tensor<1x4x2xf32>, %r: tensor<1x4x4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %x = "onnx.Softmax"(%a) : (tensor<5x6xf32>) -> tensor<*xf32>
  // expected-error @+1 {{expects X to have rank 3, but got rank 2 (C5)}}
  %y, %h = "onnx.RNN"(%x, %w, %r, %none, %none, %none)
      : (tensor<*xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %y : tensor<*xf32>
}
