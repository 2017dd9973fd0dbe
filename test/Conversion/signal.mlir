// RUN: onnxq-opt %s --onnx-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @window
func.func @window(%size: tensor<i32>) -> tensor<?xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'HannWindow': the size is negative or too large"
  // CHECK: math.cos
  %y = "onnx.HannWindow"(%size) {output_datatype = 1 : si64, periodic = 1 : si64} : (tensor<i32>) -> tensor<?xf32>
  onnx.Return %y : tensor<?xf32>
}

// 12 = 4 * 3: a pass for each factor.
// CHECK-LABEL: func.func @dft
func.func @dft(%x: tensor<5x12x1xf32>) -> tensor<5x7x2xf32> {
  // CHECK-NOT: scf.while
  // CHECK: tensor.empty() : tensor<5x3x4x1x2xf64>
  // CHECK: tensor.empty() : tensor<5x1x3x4x2xf64>
  // CHECK-NOT: scf.while
  // CHECK: return
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.DFT"(%x, %none, %none) {inverse = 0 : si64, onesided = 1 : si64} : (tensor<5x12x1xf32>, none, none) -> tensor<5x7x2xf32>
  onnx.Return %y : tensor<5x7x2xf32>
}

// The factors of an unknown length are found at run time.
// CHECK-LABEL: func.func @dft_dynamic
func.func @dft_dynamic(%x: tensor<5x12x2xf32>, %length: tensor<i64>) -> tensor<5x?x2xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'DFT': the length of the transform is not positive"
  // CHECK: scf.while
  // CHECK: scf.while
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.DFT"(%x, %length, %none) {inverse = 1 : si64, onesided = 0 : si64} : (tensor<5x12x2xf32>, tensor<i64>, none) -> tensor<5x?x2xf32>
  onnx.Return %y : tensor<5x?x2xf32>
}

// CHECK-LABEL: func.func @stft
func.func @stft(%x: tensor<?x?x1xf32>, %step: tensor<i64>, %window: tensor<16xf32>) -> tensor<?x?x9x2xf32> {
  // CHECK: "node 'STFT': the step between frames is not positive"
  // CHECK: "node 'STFT': the signal is shorter than a frame"
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.STFT"(%x, %step, %window, %none) {onesided = 1 : si64} : (tensor<?x?x1xf32>, tensor<i64>, tensor<16xf32>, none) -> tensor<?x?x9x2xf32>
  onnx.Return %y : tensor<?x?x9x2xf32>
}
