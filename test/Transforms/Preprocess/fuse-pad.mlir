// Paddings become part of windows.
// RUN: onnxq-opt %s --onnx-fuse-pad | FileCheck %s

// CHECK-LABEL: @conv(
// CHECK: "onnx.Conv"(%arg0, {{.*}}auto_pad = "NOTSET"{{.*}}pads = [2, 3, 4, 5]
// CHECK-NOT: onnx.Pad
func.func @conv(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x12x14xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 2, 0, 0, 3, 4]> : tensor<8xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) {mode = "constant"} : (tensor<1x1x8x8xf32>, tensor<8xi64>, none, none) -> tensor<1x1x12x14xf32>
  %y = "onnx.Conv"(%0, %w, %none) {pads = [1, 1, 1, 1]} : (tensor<1x1x12x14xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x12x14xf32>
  onnx.Return %y : tensor<1x1x12x14xf32>
}

// Only the axes that are named, and one of them from the end.
// CHECK-LABEL: @conv_axes(
// CHECK: onnx.Conv{{.*}}pads = [0, 1, 0, 1]
// CHECK-NOT: onnx.Pad
func.func @conv_axes(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x6x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %pads = onnx.Constant dense<[1, 1]> : tensor<2xi64>
  %axes = onnx.Constant dense<[-1]> : tensor<1xi64>
  %0 = "onnx.Pad"(%x, %pads, %zero, %axes) : (tensor<1x1x8x8xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<1x1x8x10xf32>
  %y = "onnx.Conv"(%0, %w, %none) {auto_pad = "VALID"} : (tensor<1x1x8x10xf32>, tensor<1x1x3x3xf32>, none) -> tensor<1x1x6x8xf32>
  onnx.Return %y : tensor<1x1x6x8xf32>
}

// CHECK-LABEL: @average(
// CHECK: "onnx.AveragePool"(%arg0) {{.*}}count_include_pad = 1 : si64{{.*}}pads = [1, 1]
// CHECK-NOT: onnx.Pad
func.func @average(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y = "onnx.AveragePool"(%0) {kernel_shape = [3]} : (tensor<1x1x10xf32>) -> tensor<1x1x8xf32>
  onnx.Return %y : tensor<1x1x8xf32>
}

// CHECK-LABEL: @max_of_lowest(
// CHECK: "onnx.MaxPool"(%arg0) {{.*}}pads = [1, 1]
// CHECK-NOT: onnx.Pad
func.func @max_of_lowest(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %lowest = onnx.Constant dense<0xFF7FFFFF> : tensor<f32>
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %lowest, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x10xf32>
  %y, %i = "onnx.MaxPool"(%0) {kernel_shape = [3]} : (tensor<1x1x10xf32>) -> (tensor<1x1x8xf32>, none)
  onnx.Return %y : tensor<1x1x8xf32>
}

// CHECK-LABEL: @max_of_zero_after_relu(
// CHECK-NOT: onnx.Pad
func.func @max_of_zero_after_relu(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %r = "onnx.Relu"(%x) : (tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  %0 = "onnx.Pad"(%r, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y, %i = "onnx.MaxPool"(%0) {kernel_shape = [3]} : (tensor<1x1x10xf32>) -> (tensor<1x1x8xf32>, none)
  onnx.Return %y : tensor<1x1x8xf32>
}

// Zero may be the largest.
// CHECK-LABEL: @max_of_zero(
// CHECK: onnx.Pad
func.func @max_of_zero(%x: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y, %i = "onnx.MaxPool"(%0) {kernel_shape = [3]} : (tensor<1x1x10xf32>) -> (tensor<1x1x8xf32>, none)
  onnx.Return %y : tensor<1x1x8xf32>
}

// CHECK-LABEL: @conv_of_ones(
// CHECK: onnx.Pad
func.func @conv_of_ones(%x: tensor<1x1x8xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %one, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, tensor<f32>, none) -> tensor<1x1x10xf32>
  %y = "onnx.Conv"(%0, %w, %none) : (tensor<1x1x10xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x8xf32>
  onnx.Return %y : tensor<1x1x8xf32>
}

// CHECK-LABEL: @conv_mirrored(
// CHECK: onnx.Pad
func.func @conv_mirrored(%x: tensor<1x1x8xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) {mode = "reflect"} : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y = "onnx.Conv"(%0, %w, %none) : (tensor<1x1x10xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x8xf32>
  onnx.Return %y : tensor<1x1x8xf32>
}

// Channels are not spatial.
// CHECK-LABEL: @conv_channels(
// CHECK: onnx.Pad
func.func @conv_channels(%x: tensor<1x1x8xf32>, %w: tensor<1x2x3xf32>) -> tensor<1x1x6xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 1, 0, 0, 0, 0]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x2x8xf32>
  %y = "onnx.Conv"(%0, %w, %none) : (tensor<1x2x8xf32>, tensor<1x2x3xf32>, none) -> tensor<1x1x6xf32>
  onnx.Return %y : tensor<1x1x6xf32>
}

// CHECK-LABEL: @conv_same(
// CHECK: onnx.Pad
func.func @conv_same(%x: tensor<1x1x8xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x10xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y = "onnx.Conv"(%0, %w, %none) {auto_pad = "SAME_UPPER"} : (tensor<1x1x10xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x10xf32>
  onnx.Return %y : tensor<1x1x10xf32>
}

// The average's own padding isn't counted.
// CHECK-LABEL: @average_padded(
// CHECK: onnx.Pad
func.func @average_padded(%x: tensor<1x1x8xf32>) -> tensor<1x1x10xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y = "onnx.AveragePool"(%0) {kernel_shape = [3], pads = [1, 1]} : (tensor<1x1x10xf32>) -> tensor<1x1x10xf32>
  onnx.Return %y : tensor<1x1x10xf32>
}

// With ceil_mode a window may begin in what was appended.
// CHECK-LABEL: @average_ceil(
// CHECK: onnx.Pad
func.func @average_ceil(%x: tensor<1x1x7xf32>) -> tensor<1x1x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 0, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x7xf32>, tensor<6xi64>, none, none) -> tensor<1x1x8xf32>
  %y = "onnx.AveragePool"(%0) {ceil_mode = 1 : si64, kernel_shape = [2], strides = [2]} : (tensor<1x1x8xf32>) -> tensor<1x1x4xf32>
  onnx.Return %y : tensor<1x1x4xf32>
}

// CHECK-LABEL: @read_twice(
// CHECK: onnx.Pad
func.func @read_twice(%x: tensor<1x1x8xf32>, %w: tensor<1x1x3xf32>) -> (tensor<1x1x8xf32>, tensor<1x1x10xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %pads = onnx.Constant dense<[0, 0, 1, 0, 0, 1]> : tensor<6xi64>
  %0 = "onnx.Pad"(%x, %pads, %none, %none) : (tensor<1x1x8xf32>, tensor<6xi64>, none, none) -> tensor<1x1x10xf32>
  %y = "onnx.Conv"(%0, %w, %none) : (tensor<1x1x10xf32>, tensor<1x1x3xf32>, none) -> tensor<1x1x8xf32>
  onnx.Return %y, %0 : tensor<1x1x8xf32>, tensor<1x1x10xf32>
}
