// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics

// Shapes that only inference can see go wrong here.
func.func @matmul_inner(%x: tensor<4x3xf32>, %b: tensor<4x2xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %y:3 = "onnx.DynamicQuantizeLinear"(%x) : (tensor<4x3xf32>) -> (tensor<*xui8>, tensor<f32>, tensor<ui8>)
  // expected-error @+1 {{expects equal inner dimensions, but got 3 and 4}}
  %z = "onnx.MatMulInteger"(%y#0, %b, %none, %none) : (tensor<*xui8>, tensor<4x2xi8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

func.func @matmul_batch(%a: tensor<2x4x3xui8>, %b: tensor<5x3x2xi8>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects batch dimensions that broadcast}}
  %z = "onnx.MatMulInteger"(%a, %b, %none, %none) : (tensor<2x4x3xui8>, tensor<5x3x2xi8>, none, none) -> tensor<*xi32>
  onnx.Return
}

// -----

func.func @concat(%a: tensor<2x3xui8>, %b: tensor<2x4xui8>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{expects dimension 1 to be 3, but got 4}}
  %y = "onnx.com.microsoft.QLinearConcat"(%s, %z, %a, %s, %z, %b, %s, %z) {axis = 0 : si64} : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  onnx.Return
}

// -----

func.func @add(%a: tensor<2xi8>, %b: tensor<3xi8>, %s: tensor<f32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects operands that broadcast, but got 'tensor<2xi8>', 'tensor<3xi8>'}}
  %y = "onnx.com.microsoft.QLinearAdd"(%a, %s, %none, %b, %s, %none, %s, %none) : (tensor<2xi8>, tensor<f32>, none, tensor<3xi8>, tensor<f32>, none, tensor<f32>, none) -> tensor<*xi8>
  onnx.Return
}
