// One refusal per constraint of the Math family.
//
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// Operands and results of one element type, said by the definition.
func.func @add_element_types(%a: tensor<2xf32>, %b: tensor<2xf16>) -> tensor<2xf32> {
  // expected-error @+1 {{failed to verify that A, B, C have the same element type}}
  %c = "onnx.Add"(%a, %b) : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// -----

func.func @acos_integers(%x: tensor<2xi32>) -> tensor<2xi32> {
  // expected-error @+1 {{operand #0 must be tensor of float values}}
  %y = "onnx.Acos"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  onnx.Return %y : tensor<2xi32>
}

// -----

func.func @less_result(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{result #0 must be tensor of bool values}}
  %c = "onnx.Less"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// -----

// Mod C1
func.func @mod_fmod(%a: tensor<2xi32>) -> tensor<2xi32> {
  // expected-error @+1 {{expects fmod 0 or 1, but got 2 (C1)}}
  %c = "onnx.Mod"(%a, %a) {fmod = 2 : si64} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  onnx.Return %c : tensor<2xi32>
}

// -----

// Mod C2
func.func @mod_floats(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expects fmod 1 for elements of type 'f32', but got 0 (C2)}}
  %c = "onnx.Mod"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %c : tensor<2xf32>
}

// -----

// BitShift C1
func.func @bit_shift_direction(%a: tensor<2xui8>) -> tensor<2xui8> {
  // expected-error @+1 {{expects direction "LEFT" or "RIGHT", but got "left" (C1)}}
  %c = "onnx.BitShift"(%a, %a) {direction = "left"} : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  onnx.Return %c : tensor<2xui8>
}

// -----

// Gelu C1
func.func @gelu_approximate(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expects approximate "none" or "tanh", but got "" (C1)}}
  %y = "onnx.Gelu"(%x) {approximate = ""} : (tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// Max C1
func.func @max_of_nothing() -> tensor<2xf32> {
  // expected-error @+1 {{expects at least one operand, but got none (C1)}}
  %y = "onnx.Max"() : () -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// Min C1
func.func @min_of_nothing() -> tensor<2xf32> {
  // expected-error @+1 {{expects at least one operand, but got none (C1)}}
  %y = "onnx.Min"() : () -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// Sum C1
func.func @sum_of_nothing() -> tensor<2xf32> {
  // expected-error @+1 {{expects at least one operand, but got none (C1)}}
  %y = "onnx.Sum"() : () -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// Mean C1
func.func @mean_of_nothing() -> tensor<2xf32> {
  // expected-error @+1 {{expects at least one operand, but got none (C1)}}
  %y = "onnx.Mean"() : () -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

func.func @max_element_types(%a: tensor<2xf32>, %b: tensor<2xi32>) -> tensor<2xf32> {
  // expected-error @+1 {{failed to verify that data_0, max have the same element type}}
  %y = "onnx.Max"(%a, %b) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// Cast C1
func.func @cast_to_index(%x: tensor<2xf32>) -> tensor<*x!onnx.Unknown> {
  // expected-error @+1 {{expects an element type of ONNX to cast to, but got 'index' (C1)}}
  %y = "onnx.Cast"(%x) {to = index} : (tensor<2xf32>) -> tensor<*x!onnx.Unknown>
  onnx.Return %y : tensor<*x!onnx.Unknown>
}

// -----

// Cast C2
func.func @cast_result(%x: tensor<2xf32>) -> tensor<2xi32> {
  // expected-error @+1 {{expects an output with elements of type 'i64', but got 'i32' (C2)}}
  %y = "onnx.Cast"(%x) {to = i64} : (tensor<2xf32>) -> tensor<2xi32>
  onnx.Return %y : tensor<2xi32>
}

// -----

func.func @cast_like_result(%x: tensor<2xf32>, %t: tensor<i8>) -> tensor<2xi32> {
  // expected-error @+1 {{failed to verify that target_type, output have the same element type}}
  %y = "onnx.CastLike"(%x, %t) : (tensor<2xf32>, tensor<i8>) -> tensor<2xi32>
  onnx.Return %y : tensor<2xi32>
}

// -----

// Clip C1
func.func @clip_min(%x: tensor<2xf32>, %min: tensor<2xf32>, %max: tensor<f32>) -> tensor<2xf32> {
  // expected-error @+1 {{expects a scalar as min, but got 'tensor<2xf32>' (C1)}}
  %y = "onnx.Clip"(%x, %min, %max) : (tensor<2xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// Clip C2
func.func @clip_max(%x: tensor<2xf32>, %min: tensor<1xf32>, %max: tensor<1x1xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{expects a scalar as max, but got 'tensor<1x1xf32>' (C2)}}
  %y = "onnx.Clip"(%x, %min, %max) : (tensor<2xf32>, tensor<1xf32>, tensor<1x1xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}
