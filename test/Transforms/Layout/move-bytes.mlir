// Quantized numbers are moved as bytes.
// RUN: onnxq-opt %s --onnx-move-bytes --split-input-file | FileCheck %s

// All have one scale and zero point: only bytes are left.
// CHECK-LABEL: @concat(
// CHECK-SAME: %[[A:.*]]: tensor<1x2x4xui8>, %[[B:.*]]: tensor<1x3x4xui8>
// CHECK-NOT: QuantizeLinear
// CHECK: %[[Y:.*]] = "onnx.Concat"(%[[A]], %[[B]]) <{axis = 1 : si64}> {onnx_result_names = ["y"]} : {{.*}} -> tensor<1x5x4xui8>
// CHECK: onnx.Return %[[Y]]
func.func @concat(%a: tensor<1x2x4xui8>, %b: tensor<1x3x4xui8>) -> tensor<1x5x4xui8> {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %z = onnx.Constant dense<128> : tensor<ui8>
  %t = onnx.Constant dense<0.1> : tensor<f32>
  %0 = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<1x2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4xf32>
  %1 = "onnx.DequantizeLinear"(%b, %t, %z) : (tensor<1x3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 1 : si64} : (tensor<1x2x4xf32>, tensor<1x3x4xf32>) -> tensor<1x5x4xf32>
  %y = "onnx.QuantizeLinear"(%2, %s, %z) {onnx_result_names = ["y"]} : (tensor<1x5x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x5x4xui8>
  onnx.Return %y : tensor<1x5x4xui8>
}

// -----

// One operand has another scale: it alone is quantized again.
// CHECK-LABEL: @scales(
// CHECK-SAME: %[[A:.*]]: tensor<4xui8>, %[[B:.*]]: tensor<4xui8>
// CHECK: %[[R:.*]] = "onnx.DequantizeLinear"(%[[B]],
// CHECK: %[[Q:.*]] = "onnx.QuantizeLinear"(%[[R]],
// CHECK: "onnx.Concat"(%[[A]], %[[Q]])
func.func @scales(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<8xui8> {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %t = onnx.Constant dense<0.2> : tensor<f32>
  %z = onnx.Constant dense<128> : tensor<ui8>
  %0 = "onnx.DequantizeLinear"(%a, %s, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %1 = "onnx.DequantizeLinear"(%b, %t, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  %2 = "onnx.Concat"(%0, %1) {axis = 0 : si64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %y = "onnx.QuantizeLinear"(%2, %s, %z) : (tensor<8xf32>, tensor<f32>, tensor<ui8>) -> tensor<8xui8>
  onnx.Return %y : tensor<8xui8>
}

// -----

// The nearest are moved; what reads them as numbers gets numbers.
// CHECK-LABEL: @resize(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4x4xi8>
// CHECK: %[[M:.*]] = "onnx.Resize"(%[[X]], {{.*}}mode = "nearest"{{.*}} -> tensor<1x2x8x8xi8>
// CHECK: %[[Y:.*]] = "onnx.DequantizeLinear"(%[[M]], {{.*}}onnx_result_names = ["y"]
// CHECK: onnx.Return %[[Y]]
func.func @resize(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x8x8xf32> {
  %s = onnx.Constant dense<0.1> : tensor<1xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %by = onnx.Constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = "onnx.DequantizeLinear"(%x, %s, %none) : (tensor<1x2x4x4xi8>, tensor<1xf32>, none) -> tensor<1x2x4x4xf32>
  %y = "onnx.Resize"(%0, %none, %by, %none) {mode = "nearest", onnx_result_names = ["y"]} : (tensor<1x2x4x4xf32>, none, tensor<4xf32>, none) -> tensor<1x2x8x8xf32>
  onnx.Return %y : tensor<1x2x8x8xf32>
}

// -----

// Interpolation computes, scales per channel move with their channels, and
// scales that depend on an input aren't known to be the same.
// CHECK-LABEL: @stay(
// CHECK: "onnx.Resize"({{.*}} -> tensor<1x2x8x8xf32>
// CHECK: "onnx.Transpose"({{.*}} -> tensor<4x1x2x4xf32>
// CHECK: "onnx.Flatten"({{.*}} -> tensor<1x32xf32>
func.func @stay(%x: tensor<1x2x4x4xi8>, %t: tensor<f32>) -> (tensor<1x2x8x8xf32>, tensor<4x1x2x4xf32>, tensor<1x32xf32>) {
  %s = onnx.Constant dense<0.1> : tensor<f32>
  %c = onnx.Constant dense<[0.1, 0.2]> : tensor<2xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %by = onnx.Constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %0 = "onnx.DequantizeLinear"(%x, %s, %none) : (tensor<1x2x4x4xi8>, tensor<f32>, none) -> tensor<1x2x4x4xf32>
  %1 = "onnx.Resize"(%0, %none, %by, %none) {mode = "linear"} : (tensor<1x2x4x4xf32>, none, tensor<4xf32>, none) -> tensor<1x2x8x8xf32>
  %2 = "onnx.DequantizeLinear"(%x, %c, %none) {axis = 1 : si64} : (tensor<1x2x4x4xi8>, tensor<2xf32>, none) -> tensor<1x2x4x4xf32>
  %3 = "onnx.Transpose"(%2) {perm = [3, 0, 1, 2]} : (tensor<1x2x4x4xf32>) -> tensor<4x1x2x4xf32>
  %4 = "onnx.DequantizeLinear"(%x, %t, %none) : (tensor<1x2x4x4xi8>, tensor<f32>, none) -> tensor<1x2x4x4xf32>
  %5 = "onnx.Flatten"(%4) : (tensor<1x2x4x4xf32>) -> tensor<1x32xf32>
  onnx.Return %1, %3, %5 : tensor<1x2x8x8xf32>, tensor<4x1x2x4xf32>, tensor<1x32xf32>
}

// -----

// With a negative scale the greatest byte is the least number.
// CHECK-LABEL: @negative(
// CHECK: "onnx.MaxPool"({{.*}} -> (tensor<1x2x2x2xf32>
func.func @negative(%x: tensor<1x2x4x4xi8>) -> tensor<1x2x2x2xf32> {
  %s = onnx.Constant dense<-0.1> : tensor<f32>
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.DequantizeLinear"(%x, %s, %none) : (tensor<1x2x4x4xi8>, tensor<f32>, none) -> tensor<1x2x4x4xf32>
  %1:2 = "onnx.MaxPool"(%0) <{kernel_shape = [2, 2], strides = [2, 2]}> : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, none)
  onnx.Return %1#0 : tensor<1x2x2x2xf32>
}
