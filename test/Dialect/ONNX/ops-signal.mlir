// Every op of the Signal family parses, prints and parses again, as text and as
// bytecode.
//
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @blackman_window(
// CHECK-SAME: %[[SIZE:.*]]: tensor<i64>
func.func @blackman_window(%size: tensor<i64>) -> tensor<?xf32> {
  // CHECK: "onnx.BlackmanWindow"(%[[SIZE]]) <{output_datatype = 1 : si64, periodic = 0 : si64}> : (tensor<i64>) -> tensor<?xf32>
  %y = "onnx.BlackmanWindow"(%size) {output_datatype = 1 : si64, periodic = 0 : si64}
      : (tensor<i64>) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @dft(
// CHECK-SAME: %[[X:.*]]: tensor<1x10x1xf32>, %[[LENGTH:.*]]: tensor<i64>, %[[AXIS:.*]]: tensor<i64>
func.func @dft(%x: tensor<1x10x1xf32>, %length: tensor<i64>, %axis: tensor<i64>) -> tensor<1x?x2xf32> {
  // CHECK: "onnx.DFT"(%[[X]], %[[LENGTH]], %[[AXIS]]) <{inverse = 0 : si64, onesided = 1 : si64}> : (tensor<1x10x1xf32>, tensor<i64>, tensor<i64>) -> tensor<1x?x2xf32>
  %y = "onnx.DFT"(%x, %length, %axis) {inverse = 0 : si64, onesided = 1 : si64}
      : (tensor<1x10x1xf32>, tensor<i64>, tensor<i64>) -> tensor<1x?x2xf32>
  onnx.Return %y : tensor<1x?x2xf32>
}

// CHECK-LABEL: func.func @hamming_window(
// CHECK-SAME: %[[SIZE:.*]]: tensor<i64>
func.func @hamming_window(%size: tensor<i64>) -> tensor<?xf32> {
  // CHECK: "onnx.HammingWindow"(%[[SIZE]]) <{output_datatype = 1 : si64, periodic = 0 : si64}> : (tensor<i64>) -> tensor<?xf32>
  %y = "onnx.HammingWindow"(%size) {output_datatype = 1 : si64, periodic = 0 : si64}
      : (tensor<i64>) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @hann_window(
// CHECK-SAME: %[[SIZE:.*]]: tensor<i64>
func.func @hann_window(%size: tensor<i64>) -> tensor<?xf32> {
  // CHECK: "onnx.HannWindow"(%[[SIZE]]) <{output_datatype = 1 : si64, periodic = 0 : si64}> : (tensor<i64>) -> tensor<?xf32>
  %y = "onnx.HannWindow"(%size) {output_datatype = 1 : si64, periodic = 0 : si64}
      : (tensor<i64>) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @mel_weight_matrix(
// CHECK-SAME: %[[BINS:.*]]: tensor<i64>, %[[LENGTH:.*]]: tensor<i64>, %[[RATE:.*]]: tensor<i64>, %[[LOW:.*]]: tensor<f32>, %[[HIGH:.*]]: tensor<f32>
func.func @mel_weight_matrix(%bins: tensor<i64>, %length: tensor<i64>, %rate: tensor<i64>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<?x?xf32> {
  // CHECK: "onnx.MelWeightMatrix"(%[[BINS]], %[[LENGTH]], %[[RATE]], %[[LOW]], %[[HIGH]]) <{output_datatype = 1 : si64}> : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
  %y = "onnx.MelWeightMatrix"(%bins, %length, %rate, %low, %high) {output_datatype = 1 : si64}
      : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
  onnx.Return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @stft(
// CHECK-SAME: %[[SIGNAL:.*]]: tensor<1x128x1xf32>, %[[STEP:.*]]: tensor<i64>, %[[WINDOW:.*]]: tensor<16xf32>, %[[LENGTH:.*]]: tensor<i64>
func.func @stft(%signal: tensor<1x128x1xf32>, %step: tensor<i64>, %window: tensor<16xf32>, %length: tensor<i64>) -> tensor<1x?x9x2xf32> {
  // CHECK: "onnx.STFT"(%[[SIGNAL]], %[[STEP]], %[[WINDOW]], %[[LENGTH]]) <{onesided = 1 : si64}> : (tensor<1x128x1xf32>, tensor<i64>, tensor<16xf32>, tensor<i64>) -> tensor<1x?x9x2xf32>
  %y = "onnx.STFT"(%signal, %step, %window, %length) {onesided = 1 : si64}
      : (tensor<1x128x1xf32>, tensor<i64>, tensor<16xf32>, tensor<i64>) -> tensor<1x?x9x2xf32>
  onnx.Return %y : tensor<1x?x9x2xf32>
}
