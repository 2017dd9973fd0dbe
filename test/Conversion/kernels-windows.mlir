// Depthwise convolutions and poolings become windows, channels last.
// RUN: onnxq-opt %s --onnx-to-kernels --split-input-file | FileCheck %s

// CHECK-LABEL: @depthwise(
// CHECK: [[X:%.+]] = "onnx.Transpose"(%arg0) {{.*}}perm = [0, 2, 3, 1]
// CHECK: onnxq.window <mul_add> ins([[X]] : tensor<1x9x9x8xf32>) weights(%{{.+}} : tensor<9x8xf32>)
// CHECK-SAME: epilogue(%{{.+}} : tensor<8xf32>)
// CHECK: "onnx.Transpose"({{.*}}perm = [0, 3, 1, 2]
func.func @depthwise(%x: tensor<1x8x9x9xf32>, %b: tensor<8xf32>) -> tensor<1x8x5x5xf32> {
  %w = onnx.Constant dense<0.5> : tensor<8x1x3x3xf32>
  %y = "onnx.Conv"(%x, %w, %b) {group = 8 : si64, pads = [1, 1, 1, 1], strides = [2, 2]} : (tensor<1x8x9x9xf32>, tensor<8x1x3x3xf32>, tensor<8xf32>) -> tensor<1x8x5x5xf32>
  onnx.Return %y : tensor<1x8x5x5xf32>
}

// -----

// Two filters per channel: every channel is read twice.
// CHECK-LABEL: @multiplier(
// CHECK: [[X:%.+]] = "onnx.Gather"(%{{.+}}) <{axis = 2 : si64}> : (tensor<1x9x4xf32>, tensor<8xi64>) -> tensor<1x9x8xf32>
// CHECK: onnxq.window <mul_add> ins([[X]] : tensor<1x9x8xf32>)
func.func @multiplier(%x: tensor<1x4x9xf32>) -> tensor<1x8x7xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<0.5> : tensor<8x1x3xf32>
  %y = "onnx.Conv"(%x, %w, %none) {group = 4 : si64} : (tensor<1x4x9xf32>, tensor<8x1x3xf32>, none) -> tensor<1x8x7xf32>
  onnx.Return %y : tensor<1x8x7xf32>
}

// -----

// CHECK-LABEL: @maxima(
// CHECK: onnxq.window <max> ins(%{{.+}} : tensor<?x?x?x8xui8>) outs(%{{.+}} : tensor<?x?x?x8xui8>)
// CHECK-SAME: input_unsigned
func.func @maxima(%x: tensor<?x8x?x?xui8>) -> tensor<?x8x?x?xui8> {
  %y, %i = "onnx.MaxPool"(%x) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]} : (tensor<?x8x?x?xui8>) -> (tensor<?x8x?x?xui8>, none)
  onnx.Return %y : tensor<?x8x?x?xui8>
}

// -----

// What an average divides by is a number where all taps count.
// CHECK-LABEL: @average(
// CHECK: onnxq.window <sum> ins(%{{.+}} : tensor<1x8x8x8xf32>) outs(
// CHECK: arith.constant 4.000000e+00 : f32
// CHECK: arith.divf
func.func @average(%x: tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
  onnx.Return %y : tensor<1x8x4x4xf32>
}

// -----

// Else a count per row and column.
// CHECK-LABEL: @edges(
// CHECK-COUNT-2: linalg.generic
// CHECK: onnxq.window <sum> {{.*}}epilogue(%{{.+}}, %{{.+}} : tensor<8xf32>, tensor<8xf32>)
func.func @edges(%x: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %y = "onnx.AveragePool"(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  onnx.Return %y : tensor<1x8x8x8xf32>
}

// -----

// CHECK-LABEL: @quantized_average(
// CHECK: onnxq.window <sum> ins(%{{.+}} : tensor<1x8x8x8xui8>) pad(%{{.+}} : i8)
// CHECK: onnxq.requantize %{{.+}} scale %{{.+}} zero_point %{{.+}} in[0, 255] : i32 -> i8
func.func @quantized_average(%x: tensor<1x8x8x8xui8>) -> tensor<1x8x4x4xui8> {
  %scale = onnx.Constant dense<0.5> : tensor<f32>
  %zero = onnx.Constant dense<3> : tensor<ui8>
  %y = "onnx.com.microsoft.QLinearAveragePool"(%x, %scale, %zero, %scale, %zero) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x8x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x8x4x4xui8>
  onnx.Return %y : tensor<1x8x4x4xui8>
}

// -----

// Places of maxima are no kernel's matter, and neither are open channels.
// CHECK-LABEL: @left(
// CHECK-NOT: onnxq.window
// CHECK: onnx.Return
func.func @left(%x: tensor<1x8x8x8xf32>, %o: tensor<1x?x8x8xf32>) -> (tensor<1x8x4x4xi64>, tensor<1x?x4x4xf32>) {
  %y, %i = "onnx.MaxPool"(%x) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x8x8x8xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xi64>)
  %z, %n = "onnx.MaxPool"(%o) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x?x8x8xf32>) -> (tensor<1x?x4x4xf32>, none)
  onnx.Return %i, %z : tensor<1x8x4x4xi64>, tensor<1x?x4x4xf32>
}
