// One refusal per constraint of the Signal family.
//
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// BlackmanWindow C1
func.func @blackman_size(%n: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a scalar as size, but got 'tensor<2xi64>' (C1)}}
  %y = "onnx.BlackmanWindow"(%n) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// BlackmanWindow C2
func.func @blackman_type(%n: tensor<i64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects output_datatype to stand for a number type, but got 14 (C2)}}
  %y = "onnx.BlackmanWindow"(%n) {output_datatype = 14 : si64} : (tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// BlackmanWindow C3
func.func @blackman_result(%n: tensor<i64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an output with elements of type 'f64', but got 'f32' (C3)}}
  %y = "onnx.BlackmanWindow"(%n) {output_datatype = 11 : si64} : (tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// HammingWindow C1
func.func @hamming_size(%n: tensor<1x1xi32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a scalar as size, but got 'tensor<1x1xi32>' (C1)}}
  %y = "onnx.HammingWindow"(%n) : (tensor<1x1xi32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// HammingWindow C2
func.func @hamming_type(%n: tensor<i64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects output_datatype to stand for a number type, but got 9 (C2)}}
  %y = "onnx.HammingWindow"(%n) {output_datatype = 9 : si64} : (tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// HammingWindow C3
func.func @hamming_result(%n: tensor<i64>) -> tensor<*xi32> {
  // expected-error @+1 {{expects an output with elements of type 'f32', but got 'i32' (C3)}}
  %y = "onnx.HammingWindow"(%n) : (tensor<i64>) -> tensor<*xi32>
  onnx.Return %y : tensor<*xi32>
}

// -----

// HannWindow C1
func.func @hann_size(%n: tensor<0xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a scalar as size, but got 'tensor<0xi64>' (C1)}}
  %y = "onnx.HannWindow"(%n) : (tensor<0xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// HannWindow C2
func.func @hann_type(%n: tensor<i64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects output_datatype to stand for a number type, but got 0 (C2)}}
  %y = "onnx.HannWindow"(%n) {output_datatype = 0 : si64} : (tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// HannWindow C3
func.func @hann_result(%n: tensor<i64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an output with elements of type 'f16', but got 'f32' (C3)}}
  %y = "onnx.HannWindow"(%n) {output_datatype = 10 : si64} : (tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// DFT C1
func.func @dft_input(%x: tensor<1x8x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects an input of rank 2 at least with a last dimension of 1 or 2, but got 'tensor<1x8x3xf32>' (C1)}}
  %y = "onnx.DFT"(%x, %none, %none) : (tensor<1x8x3xf32>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// DFT C2
func.func @dft_length(%x: tensor<1x8x1xf32>, %n: tensor<2xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a scalar as dft_length, but got 'tensor<2xi64>' (C2)}}
  %y = "onnx.DFT"(%x, %n, %none) : (tensor<1x8x1xf32>, tensor<2xi64>, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// DFT C3
func.func @dft_axis(%x: tensor<1x8x1xf32>, %n: tensor<2xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a scalar as axis, but got 'tensor<2xi64>' (C3)}}
  %y = "onnx.DFT"(%x, %none, %n) : (tensor<1x8x1xf32>, none, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// DFT C4
func.func @dft_onesided_inverse(%x: tensor<1x8x1xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects one of inverse and onesided, but got both (C4)}}
  %y = "onnx.DFT"(%x, %none, %none) {inverse = 1 : si64, onesided = 1 : si64} : (tensor<1x8x1xf32>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// DFT C5
func.func @dft_onesided_complex(%x: tensor<1x8x2xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a real input with onesided, but got 'tensor<1x8x2xf32>' (C5)}}
  %y = "onnx.DFT"(%x, %none, %none) {onesided = 1 : si64} : (tensor<1x8x2xf32>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// STFT C1
func.func @stft_signal(%x: tensor<8xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a signal of batch and samples, or with a third dimension of 1 or 2, but got 'tensor<8xf32>' (C1)}}
  %y = "onnx.STFT"(%x, %n, %none, %n) : (tensor<8xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// STFT C2
func.func @stft_step(%x: tensor<1x8x1xf32>, %n: tensor<3xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a scalar as frame_step, but got 'tensor<3xi64>' (C2)}}
  %y = "onnx.STFT"(%x, %n, %none, %none) : (tensor<1x8x1xf32>, tensor<3xi64>, none, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// STFT C3
func.func @stft_window(%x: tensor<1x8x1xf32>, %n: tensor<i64>, %w: tensor<2x2xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a window of rank 1, but got 'tensor<2x2xf32>' (C3)}}
  %y = "onnx.STFT"(%x, %n, %w, %none) : (tensor<1x8x1xf32>, tensor<i64>, tensor<2x2xf32>, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// STFT C4
func.func @stft_length(%x: tensor<1x8x1xf32>, %n: tensor<i64>, %l: tensor<2xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a scalar as frame_length, but got 'tensor<2xi64>' (C4)}}
  %y = "onnx.STFT"(%x, %n, %none, %l) : (tensor<1x8x1xf32>, tensor<i64>, none, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// MelWeightMatrix C1
func.func @mel_scalars(%n: tensor<i64>, %f: tensor<f32>, %g: tensor<2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects scalars, but got 'tensor<2xf32>' (C1)}}
  %y = "onnx.MelWeightMatrix"(%n, %n, %n, %f, %g)
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<2xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// MelWeightMatrix C2
func.func @mel_type(%n: tensor<i64>, %f: tensor<f32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects output_datatype to stand for a number type, but got 22 (C2)}}
  %y = "onnx.MelWeightMatrix"(%n, %n, %n, %f, %f) {output_datatype = 22 : si64}
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// MelWeightMatrix C3
func.func @mel_result(%n: tensor<i64>, %f: tensor<f32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an output with elements of type 'f64', but got 'f32' (C3)}}
  %y = "onnx.MelWeightMatrix"(%n, %n, %n, %f, %f) {output_datatype = 11 : si64}
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
