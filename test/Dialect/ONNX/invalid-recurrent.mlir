// What the verifiers of recurrent ops refuse, one case per constraint.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// RNN C1
func.func @rnn_c1(%a: tensor<5x3x2xf32>,
                  %b: tensor<1x4x2xf32>,
                  %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects direction to be forward, reverse or bidirectional, but got 'both' (C1)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {direction = "both"}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C2
func.func @rnn_c2(%a: tensor<5x3x2xf32>,
                  %b: tensor<1x4x2xf32>,
                  %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects layout to be 0 or 1, but got 2 (C2)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {layout = 2 : si64}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C3
func.func @rnn_c3(%a: tensor<5x3x2xf32>,
                  %b: tensor<1x4x2xf32>,
                  %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive hidden_size, but got 0 (C3)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {hidden_size = 0 : si64}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C4
func.func @rnn_c4_count(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x4x2xf32>,
                        %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects 1 activations, but got 5 (C4)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {activations = ["Tanh", "Tanh", "Tanh", "Tanh", "Tanh"]}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C4
func.func @rnn_c4_name(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x4x2xf32>,
                       %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a known activation, but got 'Gelu' (C4)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {activations = ["Gelu"]}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C5
func.func @rnn_c5_input(%a: tensor<5x2xf32>,
                        %b: tensor<1x4x2xf32>,
                        %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X to have rank 3, but got rank 2 (C5)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C5
func.func @rnn_c5_bias(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x4x2xf32>,
                       %c: tensor<1x4x4xf32>,
                       %d: tensor<8xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects B to have rank 2, but got rank 1 (C5)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %d, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, tensor<8xf32>, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_directions(%a: tensor<5x3x2xf32>,
                             %b: tensor<1x4x2xf32>,
                             %c: tensor<2x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of R to be the number of directions (1), but got 2 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<2x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_hidden(%a: tensor<5x3x2xf32>,
                         %b: tensor<1x4x2xf32>,
                         %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be hidden_size (5), but got 4 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {hidden_size = 5 : si64}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_inputs(%a: tensor<5x3x2xf32>,
                         %b: tensor<1x4x3xf32>,
                         %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 2 of W to be the number of inputs (2), but got 3 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_bias(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x4x2xf32>,
                       %c: tensor<1x4x4xf32>,
                       %d: tensor<1x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of B to be 2 times hidden_size (4), but got 4 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %d, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, tensor<1x4xf32>, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_lens(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x4x2xf32>,
                       %c: tensor<1x4x4xf32>,
                       %d: tensor<5xi32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of sequence_lens to be the number of sequences (3), but got 5 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %d, %none)
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, tensor<5xi32>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_state(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x4x2xf32>,
                        %c: tensor<1x4x4xf32>,
                        %d: tensor<1x5x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of initial_h to be the number of sequences (3), but got 5 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %d)
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, tensor<1x5x4xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// RNN C6
func.func @rnn_c6_huge(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x4x2xf32>,
                       %c: tensor<1x4x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be hidden_size (9223372036854775807), but got 4 (C6)}}
  %r0, %r1 = "onnx.RNN"(%a, %b, %c, %none, %none, %none) {hidden_size = 9223372036854775807 : si64}
      : (tensor<5x3x2xf32>, tensor<1x4x2xf32>, tensor<1x4x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C1
func.func @gru_c1(%a: tensor<5x3x2xf32>,
                  %b: tensor<1x12x2xf32>,
                  %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects direction to be forward, reverse or bidirectional, but got 'both' (C1)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {direction = "both"}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C2
func.func @gru_c2(%a: tensor<5x3x2xf32>,
                  %b: tensor<1x12x2xf32>,
                  %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects layout to be 0 or 1, but got 2 (C2)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {layout = 2 : si64}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C3
func.func @gru_c3(%a: tensor<5x3x2xf32>,
                  %b: tensor<1x12x2xf32>,
                  %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive hidden_size, but got 0 (C3)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {hidden_size = 0 : si64}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C4
func.func @gru_c4_count(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x12x2xf32>,
                        %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects 2 activations, but got 6 (C4)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {activations = ["Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh"]}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C4
func.func @gru_c4_name(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x12x2xf32>,
                       %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a known activation, but got 'Gelu' (C4)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {activations = ["Gelu", "Gelu"]}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C5
func.func @gru_c5_input(%a: tensor<5x2xf32>,
                        %b: tensor<1x12x2xf32>,
                        %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X to have rank 3, but got rank 2 (C5)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C5
func.func @gru_c5_bias(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x12x2xf32>,
                       %c: tensor<1x12x4xf32>,
                       %d: tensor<24xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects B to have rank 2, but got rank 1 (C5)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %d, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, tensor<24xf32>, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_directions(%a: tensor<5x3x2xf32>,
                             %b: tensor<1x12x2xf32>,
                             %c: tensor<2x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of R to be the number of directions (1), but got 2 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<2x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_hidden(%a: tensor<5x3x2xf32>,
                         %b: tensor<1x12x2xf32>,
                         %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be 3 times hidden_size (5), but got 12 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {hidden_size = 5 : si64}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_inputs(%a: tensor<5x3x2xf32>,
                         %b: tensor<1x12x3xf32>,
                         %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 2 of W to be the number of inputs (2), but got 3 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_bias(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x12x2xf32>,
                       %c: tensor<1x12x4xf32>,
                       %d: tensor<1x12xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of B to be 6 times hidden_size (4), but got 12 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %d, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, tensor<1x12xf32>, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_lens(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x12x2xf32>,
                       %c: tensor<1x12x4xf32>,
                       %d: tensor<5xi32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of sequence_lens to be the number of sequences (3), but got 5 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %d, %none)
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, tensor<5xi32>, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_state(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x12x2xf32>,
                        %c: tensor<1x12x4xf32>,
                        %d: tensor<1x5x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of initial_h to be the number of sequences (3), but got 5 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %d)
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, tensor<1x5x4xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_unknown(%a: tensor<5x3x2xf32>,
                          %b: tensor<1x?x2xf32>,
                          %c: tensor<1x7x?xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be 3 times hidden_size, but got 7 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x?x2xf32>, tensor<1x7x?xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// GRU C6
func.func @gru_c6_huge(%a: tensor<5x3x2xf32>,
                       %b: tensor<1x12x2xf32>,
                       %c: tensor<1x12x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be 3 times hidden_size (9223372036854775807), but got 12 (C6)}}
  %r0, %r1 = "onnx.GRU"(%a, %b, %c, %none, %none, %none) {hidden_size = 9223372036854775807 : si64}
      : (tensor<5x3x2xf32>, tensor<1x12x2xf32>, tensor<1x12x4xf32>, none, none, none) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C1
func.func @lstm_c1(%a: tensor<5x3x2xf32>,
                   %b: tensor<1x16x2xf32>,
                   %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects direction to be forward, reverse or bidirectional, but got 'both' (C1)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {direction = "both"}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C2
func.func @lstm_c2(%a: tensor<5x3x2xf32>,
                   %b: tensor<1x16x2xf32>,
                   %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects layout to be 0 or 1, but got 2 (C2)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {layout = 2 : si64}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C3
func.func @lstm_c3(%a: tensor<5x3x2xf32>,
                   %b: tensor<1x16x2xf32>,
                   %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive hidden_size, but got 0 (C3)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {hidden_size = 0 : si64}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C4
func.func @lstm_c4_count(%a: tensor<5x3x2xf32>,
                         %b: tensor<1x16x2xf32>,
                         %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects 3 activations, but got 7 (C4)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {activations = ["Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh", "Tanh"]}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C4
func.func @lstm_c4_name(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x16x2xf32>,
                        %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a known activation, but got 'Gelu' (C4)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {activations = ["Gelu", "Gelu", "Gelu"]}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C5
func.func @lstm_c5_input(%a: tensor<5x2xf32>,
                         %b: tensor<1x16x2xf32>,
                         %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X to have rank 3, but got rank 2 (C5)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none)
      : (tensor<5x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C5
func.func @lstm_c5_bias(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x16x2xf32>,
                        %c: tensor<1x16x4xf32>,
                        %d: tensor<32xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects B to have rank 2, but got rank 1 (C5)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %d, %none, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, tensor<32xf32>, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_directions(%a: tensor<5x3x2xf32>,
                              %b: tensor<1x16x2xf32>,
                              %c: tensor<2x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of R to be the number of directions (1), but got 2 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<2x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_hidden(%a: tensor<5x3x2xf32>,
                          %b: tensor<1x16x2xf32>,
                          %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be 4 times hidden_size (5), but got 16 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {hidden_size = 5 : si64}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_inputs(%a: tensor<5x3x2xf32>,
                          %b: tensor<1x16x3xf32>,
                          %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 2 of W to be the number of inputs (2), but got 3 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_bias(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x16x2xf32>,
                        %c: tensor<1x16x4xf32>,
                        %d: tensor<1x16xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of B to be 8 times hidden_size (4), but got 16 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %d, %none, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, tensor<1x16xf32>, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_lens(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x16x2xf32>,
                        %c: tensor<1x16x4xf32>,
                        %d: tensor<5xi32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of sequence_lens to be the number of sequences (3), but got 5 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %d, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, tensor<5xi32>, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_state(%a: tensor<5x3x2xf32>,
                         %b: tensor<1x16x2xf32>,
                         %c: tensor<1x16x4xf32>,
                         %d: tensor<1x5x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of initial_h to be the number of sequences (3), but got 5 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %d, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, tensor<1x5x4xf32>, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_unknown(%a: tensor<5x3x2xf32>,
                           %b: tensor<1x?x2xf32>,
                           %c: tensor<1x7x?xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be 4 times hidden_size, but got 7 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none)
      : (tensor<5x3x2xf32>, tensor<1x?x2xf32>, tensor<1x7x?xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_huge(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x16x2xf32>,
                        %c: tensor<1x16x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of R to be 4 times hidden_size (9223372036854775807), but got 16 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %none) {hidden_size = 9223372036854775807 : si64}
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_peephole(%a: tensor<5x3x2xf32>,
                            %b: tensor<1x16x2xf32>,
                            %c: tensor<1x16x4xf32>,
                            %d: tensor<1x16xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of P to be 3 times hidden_size (4), but got 16 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %none, %d)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, none, tensor<1x16xf32>) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// LSTM C6
func.func @lstm_c6_cell(%a: tensor<5x3x2xf32>,
                        %b: tensor<1x16x2xf32>,
                        %c: tensor<1x16x4xf32>,
                        %d: tensor<3x1x4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of initial_c to be the number of directions (1), but got 3 (C6)}}
  %r0, %r1, %r2 = "onnx.LSTM"(%a, %b, %c, %none, %none, %none, %d, %none)
      : (tensor<5x3x2xf32>, tensor<1x16x2xf32>, tensor<1x16x4xf32>, none, none, none, tensor<3x1x4xf32>, none) -> (tensor<*xf32>, none, none)
  onnx.Return %r0 : tensor<*xf32>
}
