// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// QuantizeLinear C1
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %a2: tensor<3xi8>) {
  // expected-error @+1 {{expects axis in [-2, 2), but got 2 (C1)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) {axis = 2 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C2
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>, %a2: tensor<i8>) {
  // expected-error @+1 {{expects block_size to be 0 or positive, but got -1 (C2)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) {block_size = -1 : si64} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C3, per axis
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %a2: tensor<3xi8>) {
  // expected-error @+1 {{expects y_scale of one element or shape [2], but got shape [3] (C3)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) {axis = 0 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C3, a matrix without blocks
func.func @f(%a0: tensor<*xf32>, %a1: tensor<2x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects y_scale of rank 0 or 1, but got shape [2, 3] (C3)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %none) : (tensor<*xf32>, tensor<2x3xf32>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QuantizeLinear C3, blocked
func.func @f(%a0: tensor<4x5xf32>, %a1: tensor<4x2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects y_scale of one element or shape [4, 3], but got shape [4, 2] (C3)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %none) {axis = 1 : si64, block_size = 2 : si64} : (tensor<4x5xf32>, tensor<4x2xf32>, none) -> tensor<4x5xui8>
  onnx.Return
}

// -----

// QuantizeLinear C4
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %a2: tensor<i8>) {
  // expected-error @+1 {{expects y_zero_point of shape [3], but got shape [] (C4)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) : (tensor<2x3xf32>, tensor<3xf32>, tensor<i8>) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C5, ui8 by default
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects y of element type 'ui8', but got 'i8' (C5)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %none) : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C5, no such type
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output_dtype to be the number of a type, but got 99 (C5)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %none) {output_dtype = 99 : si64} : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C5, two types
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>, %a2: tensor<i8>) {
  // expected-error @+1 {{expects y_zero_point of element type 'ui8', but got 'i8' (C5)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) {output_dtype = 2 : si64} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear C6
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>, %a2: tensor<i8>) {
  // expected-error @+1 {{expects precision to be 0 or the number of a float type, but got 3 (C6)}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) {precision = 3 : si64} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  onnx.Return
}

// -----

// QuantizeLinear: one type of zero point and result
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>, %a2: tensor<i8>) {
  // expected-error @+1 {{failed to verify that y_zero_point, y have the same element type}}
  %y = "onnx.QuantizeLinear"(%a0, %a1, %a2) : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xui8>
  onnx.Return
}

// -----

// DequantizeLinear C1
func.func @f(%a0: tensor<2x3xi8>, %a1: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects axis in [-2, 2), but got -3 (C1)}}
  %y = "onnx.DequantizeLinear"(%a0, %a1, %none) {axis = -3 : si64} : (tensor<2x3xi8>, tensor<3xf32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// DequantizeLinear C2
func.func @f(%a0: tensor<2x3xi8>, %a1: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects block_size to be 0 or positive, but got -9223372036854775808 (C2)}}
  %y = "onnx.DequantizeLinear"(%a0, %a1, %none) {block_size = -9223372036854775808 : si64} : (tensor<2x3xi8>, tensor<f32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// DequantizeLinear C3
func.func @f(%a0: tensor<2x3xi8>, %a1: tensor<4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects x_scale of one element or shape [3], but got shape [4] (C3)}}
  %y = "onnx.DequantizeLinear"(%a0, %a1, %none) : (tensor<2x3xi8>, tensor<4xf32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// DequantizeLinear C3, a block of any size
func.func @f(%a0: tensor<4x3xi4>, %a1: tensor<2x3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects x_scale of one element or shape [1, 3], but got shape [2, 3] (C3)}}
  %y = "onnx.DequantizeLinear"(%a0, %a1, %none) {axis = 0 : si64, block_size = 9223372036854775807 : si64} : (tensor<4x3xi4>, tensor<2x3xf32>, none) -> tensor<4x3xf32>
  onnx.Return
}

// -----

// DequantizeLinear C4
func.func @f(%a0: tensor<2x3xi8>, %a1: tensor<3xf32>, %a2: tensor<2xi8>) {
  // expected-error @+1 {{expects x_zero_point of shape [3], but got shape [2] (C4)}}
  %y = "onnx.DequantizeLinear"(%a0, %a1, %a2) : (tensor<2x3xi8>, tensor<3xf32>, tensor<2xi8>) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// DequantizeLinear C5
func.func @f(%a0: tensor<2x3xi8>, %a1: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects y of element type 'f16', but got 'f32' (C5)}}
  %y = "onnx.DequantizeLinear"(%a0, %a1, %none) {output_dtype = 10 : si64} : (tensor<2x3xi8>, tensor<f32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// MatMulInteger C1
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<4x2xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects B with 3 rows, but got 4 (C1)}}
  %y = "onnx.MatMulInteger"(%a0, %a1, %none, %none) : (tensor<4x3xui8>, tensor<4x2xi8>, none, none) -> tensor<4x2xi32>
  onnx.Return
}

// -----

// MatMulInteger C1, a scalar
func.func @f(%a0: tensor<ui8>, %a1: tensor<4x2xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects A of rank 1 or more, but got rank 0 (C1)}}
  %y = "onnx.MatMulInteger"(%a0, %a1, %none, %none) : (tensor<ui8>, tensor<4x2xi8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// MatMulInteger C2
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<3x2xi8>, %a2: tensor<3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a_zero_point of one element or shape [4], but got shape [3] (C2)}}
  %y = "onnx.MatMulInteger"(%a0, %a1, %a2, %none) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<3xui8>, none) -> tensor<4x2xi32>
  onnx.Return
}

// -----

// MatMulInteger C3
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<3x2xi8>, %a3: tensor<3xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects b_zero_point of one element or shape [2], but got shape [3] (C3)}}
  %y = "onnx.MatMulInteger"(%a0, %a1, %none, %a3) : (tensor<4x3xui8>, tensor<3x2xi8>, none, tensor<3xi8>) -> tensor<4x2xi32>
  onnx.Return
}

// -----

// ConvInteger C1
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %none) {auto_pad = "SOME"} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C2
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %none) {kernel_shape = [3, 0]} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C3
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %none) {strides = [0, 1]} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C4
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %none) {pads = [1, 1]} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C5
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C5)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %none) : (tensor<1x2x5x5xui8>, tensor<4x2x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C6
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C6)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %none) {group = 2 : si64} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C8
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>, %a2: tensor<2xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects x_zero_point of one element, but got shape [2] (C8)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %a2, %none) : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, tensor<2xui8>, none) -> tensor<*xi32>
  onnx.Return
}

// -----

// ConvInteger C9
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<4x2x3x3xui8>, %a3: tensor<3xui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects w_zero_point of one element or shape [4], but got shape [3] (C9)}}
  %y = "onnx.ConvInteger"(%a0, %a1, %none, %a3) : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, none, tensor<3xui8>) -> tensor<*xi32>
  onnx.Return
}

// -----

// QLinearMatMul C1
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  // expected-error @+1 {{expects b with 3 rows, but got 4 (C1)}}
  %y = "onnx.QLinearMatMul"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  onnx.Return
}

// -----

// QLinearMatMul C2
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<3xf32>, %a2: tensor<ui8>, %a3: tensor<3x2xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  // expected-error @+1 {{expects a_scale of one element or shape [4], but got shape [3] (C2)}}
  %y = "onnx.QLinearMatMul"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4x3xui8>, tensor<3xf32>, tensor<ui8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  onnx.Return
}

// -----

// QLinearMatMul C3
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x2xi8>, %a4: tensor<f32>, %a5: tensor<3xi8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  // expected-error @+1 {{expects b_zero_point of one element or shape [2], but got shape [3] (C3)}}
  %y = "onnx.QLinearMatMul"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<f32>, tensor<3xi8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
  onnx.Return
}

// -----

// QLinearMatMul C4
func.func @f(%a0: tensor<4x3xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<3x2xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<2xf32>, %a7: tensor<ui8>) {
  // expected-error @+1 {{expects y_scale of one element or shape [4], but got shape [2] (C4)}}
  %y = "onnx.QLinearMatMul"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<f32>, tensor<i8>, tensor<2xf32>, tensor<ui8>) -> tensor<4x2xui8>
  onnx.Return
}

// -----

// QLinearConv C1
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {auto_pad = "valid"} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C2
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {kernel_shape = [3]} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C3
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {dilations = [-1, 1]} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C4
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {pads = [0, 0, 0, -1]} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C5
func.func @f(%a0: tensor<2x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C5)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) : (tensor<2x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C6, channels
func.func @f(%a0: tensor<1x3x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C6)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) : (tensor<1x3x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C6, group
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C6)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {group = 0 : si64} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C7
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>, %a8: tensor<3xi32>) {
  // expected-error @+1 {{(C7)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, tensor<3xi32>) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C8
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<2xf32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects x_scale of one element, but got shape [2] (C8)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) : (tensor<1x2x5x5xui8>, tensor<2xf32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// QLinearConv C9
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<2xf32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects w_scale of one element or shape [4], but got shape [2] (C9)}}
  %y = "onnx.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}
