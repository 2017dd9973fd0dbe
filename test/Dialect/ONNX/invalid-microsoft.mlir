// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// com.microsoft.QuantizeLinear C1
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %a2: tensor<3xi16>) {
  // expected-error @+1 {{expects axis in [-2, 2), but got 2 (C1)}}
  %y = "onnx.com.microsoft.QuantizeLinear"(%a0, %a1, %a2) {axis = 2 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi16>) -> tensor<2x3xi16>
  onnx.Return
}

// -----

// com.microsoft.QuantizeLinear C2
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>, %a2: tensor<i16>) {
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.QuantizeLinear"(%a0, %a1, %a2) {block_size = -1 : si64} : (tensor<2x3xf32>, tensor<f32>, tensor<i16>) -> tensor<2x3xi16>
  onnx.Return
}

// -----

// com.microsoft.QuantizeLinear C3
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %a2: tensor<3xi16>) {
  // expected-error @+1 {{expects y_scale of one element or shape [2], but got shape [3] (C3)}}
  %y = "onnx.com.microsoft.QuantizeLinear"(%a0, %a1, %a2) {axis = 0 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi16>) -> tensor<2x3xi16>
  onnx.Return
}

// -----

// com.microsoft.QuantizeLinear C4
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>, %a2: tensor<i16>) {
  // expected-error @+1 {{(C4)}}
  %y = "onnx.com.microsoft.QuantizeLinear"(%a0, %a1, %a2) : (tensor<2x3xf32>, tensor<3xf32>, tensor<i16>) -> tensor<2x3xi16>
  onnx.Return
}

// -----

// com.microsoft.QuantizeLinear C5
func.func @f(%a0: tensor<2x3xf32>, %a1: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects y of element type 'ui8', but got 'i16' (C5)}}
  %y = "onnx.com.microsoft.QuantizeLinear"(%a0, %a1, %none) : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<2x3xi16>
  onnx.Return
}

// -----

// com.microsoft.DequantizeLinear C1
func.func @f(%a0: tensor<2x3xui16>, %a1: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.DequantizeLinear"(%a0, %a1, %none) {axis = 2 : si64} : (tensor<2x3xui16>, tensor<3xf32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// com.microsoft.DequantizeLinear C2
func.func @f(%a0: tensor<2x3xui16>, %a1: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.DequantizeLinear"(%a0, %a1, %none) {block_size = -1 : si64} : (tensor<2x3xui16>, tensor<f32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// com.microsoft.DequantizeLinear C3
func.func @f(%a0: tensor<2x3xui16>, %a1: tensor<2xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.com.microsoft.DequantizeLinear"(%a0, %a1, %none) : (tensor<2x3xui16>, tensor<2xf32>, none) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// com.microsoft.DequantizeLinear C4
func.func @f(%a0: tensor<2x3xui16>, %a1: tensor<3xf32>, %a2: tensor<2xui16>) {
  // expected-error @+1 {{(C4)}}
  %y = "onnx.com.microsoft.DequantizeLinear"(%a0, %a1, %a2) : (tensor<2x3xui16>, tensor<3xf32>, tensor<2xui16>) -> tensor<2x3xf32>
  onnx.Return
}

// -----

// com.microsoft.QLinearAdd C1
func.func @f(%a0: tensor<3xi8>, %a1: tensor<f32>, %a3: tensor<3xi8>, %a4: tensor<3xf32>, %a6: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects B_scale of one element, but got shape [3] (C1)}}
  %y = "onnx.com.microsoft.QLinearAdd"(%a0, %a1, %none, %a3, %a4, %none, %a6, %none) : (tensor<3xi8>, tensor<f32>, none, tensor<3xi8>, tensor<3xf32>, none, tensor<f32>, none) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearMul C1
func.func @f(%a0: tensor<3xi8>, %a1: tensor<f32>, %a3: tensor<3xi8>, %a4: tensor<f32>, %a6: tensor<f32>, %a7: tensor<1x1xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects C_zero_point of one element, but got shape [1, 1] (C1)}}
  %y = "onnx.com.microsoft.QLinearMul"(%a0, %a1, %none, %a3, %a4, %none, %a6, %a7) : (tensor<3xi8>, tensor<f32>, none, tensor<3xi8>, tensor<f32>, none, tensor<f32>, tensor<1x1xi8>) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearLeakyRelu C1
func.func @f(%a0: tensor<3xi8>, %a1: tensor<3xf32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X_scale of one element, but got shape [3] (C1)}}
  %y = "onnx.com.microsoft.QLinearLeakyRelu"(%a0, %a1, %none, %a3, %none) : (tensor<3xi8>, tensor<3xf32>, none, tensor<f32>, none) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearSigmoid C1
func.func @f(%a0: tensor<3xi8>, %a1: tensor<f32>, %a3: tensor<3xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects Y_scale of one element, but got shape [3] (C1)}}
  %y = "onnx.com.microsoft.QLinearSigmoid"(%a0, %a1, %none, %a3, %none) : (tensor<3xi8>, tensor<f32>, none, tensor<3xf32>, none) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearSoftmax C1
func.func @f(%a0: tensor<3xi8>, %a1: tensor<f32>, %a2: tensor<3xi8>, %a3: tensor<f32>, %a4: tensor<i8>) {
  // expected-error @+1 {{expects x_zero_point of one element, but got shape [3] (C1)}}
  %y = "onnx.com.microsoft.QLinearSoftmax"(%a0, %a1, %a2, %a3, %a4) {opset = 13 : si64} : (tensor<3xi8>, tensor<f32>, tensor<3xi8>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearSoftmax C2
func.func @f(%a0: tensor<3xi8>, %a1: tensor<f32>, %a2: tensor<i8>, %a3: tensor<f32>, %a4: tensor<i8>) {
  // expected-error @+1 {{expects axis in [-1, 1), but got 1 (C2)}}
  %y = "onnx.com.microsoft.QLinearSoftmax"(%a0, %a1, %a2, %a3, %a4) {axis = 1 : si64, opset = 13 : si64} : (tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearWhere C1
func.func @f(%a0: tensor<3xi1>, %a1: tensor<3xi8>, %a2: tensor<f32>, %a3: tensor<i8>, %a4: tensor<3xi8>, %a5: tensor<f32>, %a6: tensor<i8>, %a7: tensor<2xf32>, %a8: tensor<i8>) {
  // expected-error @+1 {{expects z_scale of one element, but got shape [2] (C1)}}
  %y = "onnx.com.microsoft.QLinearWhere"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) : (tensor<3xi1>, tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<2xf32>, tensor<i8>) -> tensor<3xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C1
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>, %a2: tensor<3xi8>, %a3: tensor<f32>) {
  // expected-error @+1 {{expects triples of tensor, scale and zero point, but got 2 inputs (C1)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3) {axis = 0 : si64} : (tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C1, none
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>) {
  // expected-error @+1 {{but got 0 inputs (C1)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1) {axis = 0 : si64} : (tensor<f32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C2, order
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>, %a2: tensor<f32>, %a3: tensor<3xi8>, %a4: tensor<i8>) {
  // expected-error @+1 {{expects data of 8-bit integers at input 0, but got 'f32' (C2)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3, %a4) {axis = 0 : si64} : (tensor<f32>, tensor<i8>, tensor<f32>, tensor<3xi8>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C2, zero point
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>, %a2: tensor<3xi8>, %a3: tensor<f32>, %a4: tensor<ui8>) {
  // expected-error @+1 {{expects zero point of element type 'i8', but got 'ui8' (C2)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3, %a4) {axis = 0 : si64} : (tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>, tensor<ui8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C3
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>, %a2: tensor<3xi8>, %a3: tensor<3xf32>, %a4: tensor<i8>) {
  // expected-error @+1 {{expects scale of one element, but got shape [3] (C3)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3, %a4) {axis = 0 : si64} : (tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<3xf32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C4, axis
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>, %a2: tensor<3xi8>, %a3: tensor<f32>, %a4: tensor<i8>) {
  // expected-error @+1 {{expects axis in [-1, 1), but got 1 (C4)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3, %a4) {axis = 1 : si64} : (tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConcat C4, rank
func.func @f(%a0: tensor<f32>, %a1: tensor<i8>, %a2: tensor<3xi8>, %a3: tensor<f32>, %a4: tensor<i8>, %a5: tensor<3x1xi8>, %a6: tensor<f32>, %a7: tensor<i8>) {
  // expected-error @+1 {{expects tensors of rank 1, but got rank 2 (C4)}}
  %y = "onnx.com.microsoft.QLinearConcat"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7) {axis = 0 : si64} : (tensor<f32>, tensor<i8>, tensor<3xi8>, tensor<f32>, tensor<i8>, tensor<3x1xi8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearReduceMean C1
func.func @f(%a0: tensor<3xi8>, %a1: tensor<3xf32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.QLinearReduceMean"(%a0, %a1, %none, %a3, %none) : (tensor<3xi8>, tensor<3xf32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearReduceMean C2
func.func @f(%a0: tensor<3xi8>, %a1: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects axes in [-1, 1), but got -2 (C2)}}
  %y = "onnx.com.microsoft.QLinearReduceMean"(%a0, %a1, %none, %a3, %none) {axes = [0, -2]} : (tensor<3xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearAveragePool C1
func.func @f(%a0: tensor<1x2x5xi8>, %a1: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %none, %a3, %none) {auto_pad = "", kernel_shape = [2]} : (tensor<1x2x5xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearAveragePool C2
func.func @f(%a0: tensor<1x2x5xi8>, %a1: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %none, %a3, %none) {kernel_shape = [2, 2]} : (tensor<1x2x5xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearAveragePool C3
func.func @f(%a0: tensor<1x2x5xi8>, %a1: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %none, %a3, %none) {kernel_shape = [2], strides = [0]} : (tensor<1x2x5xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearAveragePool C4
func.func @f(%a0: tensor<1x2x5xi8>, %a1: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %none, %a3, %none) {kernel_shape = [2], pads = [-1, 0]} : (tensor<1x2x5xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearAveragePool C5
func.func @f(%a0: tensor<1x2x5xi8>, %a1: tensor<2xf32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C5)}}
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %none, %a3, %none) {kernel_shape = [2]} : (tensor<1x2x5xi8>, tensor<2xf32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearAveragePool C6
func.func @f(%a0: tensor<2x5xi8>, %a1: tensor<f32>, %a3: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X of rank 3 or more, but got rank 2 (C6)}}
  %y = "onnx.com.microsoft.QLinearAveragePool"(%a0, %a1, %none, %a3, %none) {kernel_shape = [2]} : (tensor<2x5xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearGlobalAveragePool C1
func.func @f(%a0: tensor<1x2x5xi8>, %a1: tensor<2xf32>, %a2: tensor<i8>, %a3: tensor<f32>, %a4: tensor<i8>) {
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.QLinearGlobalAveragePool"(%a0, %a1, %a2, %a3, %a4) : (tensor<1x2x5xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearGlobalAveragePool C2
func.func @f(%a0: tensor<2x5xi8>, %a1: tensor<f32>, %a2: tensor<i8>, %a3: tensor<f32>, %a4: tensor<i8>) {
  // expected-error @+1 {{(C2)}}
  %y = "onnx.com.microsoft.QLinearGlobalAveragePool"(%a0, %a1, %a2, %a3, %a4) : (tensor<2x5xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<*xi8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C1
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C1)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64, auto_pad = "SAME"} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C2
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to be w's, but got 2 for a dimension of 3 (C2)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64, kernel_shape = [3, 2]} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C3
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C3)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64, strides = [1]} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C4
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C4)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64, pads = [0]} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C5
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects x and w of the same rank, but got ranks 4 and 3 (C5)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C6, channels
func.func @f(%a0: tensor<1x2x5x5xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{but got 5 for 2 times 1 (C6)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C6, group
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output channels that are a multiple of group, but got 4 for group 3 (C6)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64, group = 3 : si64} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C6, the other layout
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C6)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C7
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>, %a8: tensor<3xi32>) {
  // expected-error @+1 {{expects B of shape [4], but got shape [3] (C7)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) {channels_last = 1 : si64} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, tensor<3xi32>) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C8
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<2xf32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<f32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C8)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64} : (tensor<1x5x5x2xui8>, tensor<2xf32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}

// -----

// com.microsoft.QLinearConv C9
func.func @f(%a0: tensor<1x5x5x2xui8>, %a1: tensor<f32>, %a2: tensor<ui8>, %a3: tensor<4x2x3x3xi8>, %a4: tensor<2xf32>, %a5: tensor<i8>, %a6: tensor<f32>, %a7: tensor<ui8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{(C9)}}
  %y = "onnx.com.microsoft.QLinearConv"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %none) {channels_last = 1 : si64} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<2xf32>, tensor<i8>, tensor<f32>, tensor<ui8>, none) -> tensor<*xui8>
  onnx.Return
}
