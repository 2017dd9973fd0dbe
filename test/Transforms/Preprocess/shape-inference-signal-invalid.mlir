// Lengths and axes that make no shape, in the Signal family.
//
// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics

func.func @negative_window() -> tensor<*xf32> {
  %size = onnx.Constant dense<-4> : tensor<i64>
  // expected-error @+1 {{infers dimension 0 of result 0 as -4}}
  %y = "onnx.HannWindow"(%size) : (tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @dft_last_axis(%x: tensor<1x8x2xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %axis = onnx.Constant dense<-1> : tensor<i64>
  // expected-error @+1 {{expects an axis before the last one of 3, but got -1}}
  %y = "onnx.DFT"(%x, %none, %axis) : (tensor<1x8x2xf32>, none, tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @dft_length(%x: tensor<1x8x2xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %length = onnx.Constant dense<0> : tensor<i64>
  // expected-error @+1 {{expects a positive length, but got 0}}
  %y = "onnx.DFT"(%x, %length, %none) : (tensor<1x8x2xf32>, tensor<i64>, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @stft_step(%x: tensor<1x8xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %zero = onnx.Constant dense<0> : tensor<i64>
  // expected-error @+1 {{expects a positive frame_step, but got 0}}
  %y = "onnx.STFT"(%x, %zero, %none, %n) : (tensor<1x8xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @stft_length(%x: tensor<1x8xf32>, %n: tensor<i64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %length = onnx.Constant dense<-2> : tensor<i64>
  // expected-error @+1 {{expects a positive frame length, but got -2}}
  %y = "onnx.STFT"(%x, %n, %none, %length) : (tensor<1x8xf32>, tensor<i64>, none, tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @stft_window(%x: tensor<1x8xf32>, %n: tensor<i64>, %w: tensor<5xf32>) -> tensor<*xf32> {
  %length = onnx.Constant dense<4> : tensor<i64>
  // expected-error @+1 {{expects a window of the frame's length 4, but got 5}}
  %y = "onnx.STFT"(%x, %n, %w, %length) : (tensor<1x8xf32>, tensor<i64>, tensor<5xf32>, tensor<i64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @stft_short_signal(%x: tensor<1x8xf32>, %n: tensor<i64>, %w: tensor<9xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a signal of one frame at least, but got 8 samples for frames of 9}}
  %y = "onnx.STFT"(%x, %n, %w, %none) : (tensor<1x8xf32>, tensor<i64>, tensor<9xf32>, none) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
