// One refusal per constraint of the Generator family.
//
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// ConstantOfShape C1
func.func @constant_of_shape_rank(%s: tensor<2x2xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an input of rank 1, but got 'tensor<2x2xi64>' (C1)}}
  %y = "onnx.ConstantOfShape"(%s) : (tensor<2x2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// ConstantOfShape C2
func.func @constant_of_shape_value(%s: tensor<2xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a value of one element, but got 'tensor<2xf32>' (C2)}}
  %y = "onnx.ConstantOfShape"(%s) {value = dense<1.0> : tensor<2xf32>} : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// ConstantOfShape C3
func.func @constant_of_shape_result(%s: tensor<2xi64>) -> tensor<*xi64> {
  // expected-error @+1 {{expects an output with elements of type 'f32', but got 'i64' (C3)}}
  %y = "onnx.ConstantOfShape"(%s) : (tensor<2xi64>) -> tensor<*xi64>
  onnx.Return %y : tensor<*xi64>
}

// -----

// EyeLike C1
func.func @eye_like_rank(%x: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an input of rank 2, but got 'tensor<3xf32>' (C1)}}
  %y = "onnx.EyeLike"(%x) : (tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// EyeLike C2
func.func @eye_like_dtype(%x: tensor<3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dtype to stand for an element type, but got 8 (C2)}}
  %y = "onnx.EyeLike"(%x) {dtype = 8 : si64} : (tensor<3x3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// EyeLike C3
func.func @eye_like_result(%x: tensor<3x3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an output with elements of type 'i32', but got 'f32' (C3)}}
  %y = "onnx.EyeLike"(%x) {dtype = 6 : si64} : (tensor<3x3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// Range C1
func.func @range_scalars(%a: tensor<i64>, %b: tensor<2xi64>) -> tensor<*xi64> {
  // expected-error @+1 {{expects scalars, but got 'tensor<2xi64>' (C1)}}
  %y = "onnx.Range"(%a, %b, %a) : (tensor<i64>, tensor<2xi64>, tensor<i64>) -> tensor<*xi64>
  onnx.Return %y : tensor<*xi64>
}

// -----

// Bernoulli C1
func.func @bernoulli_dtype(%x: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dtype to stand for an element type, but got -1 (C1)}}
  %y = "onnx.Bernoulli"(%x) {dtype = -1 : si64} : (tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// Bernoulli C2
func.func @bernoulli_result(%x: tensor<3xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects an output with elements of type 'i1', but got 'f32' (C2)}}
  %y = "onnx.Bernoulli"(%x) {dtype = 9 : si64} : (tensor<3xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// Multinomial C1
func.func @multinomial_rank(%x: tensor<3xf32>) -> tensor<*xi32> {
  // expected-error @+1 {{expects an input of rank 2, but got 'tensor<3xf32>' (C1)}}
  %y = "onnx.Multinomial"(%x) : (tensor<3xf32>) -> tensor<*xi32>
  onnx.Return %y : tensor<*xi32>
}

// -----

// Multinomial C2
func.func @multinomial_dtype(%x: tensor<2x3xf32>) -> tensor<*xi32> {
  // expected-error @+1 {{expects dtype to stand for i32 or i64, but got 1 (C2)}}
  %y = "onnx.Multinomial"(%x) {dtype = 1 : si64} : (tensor<2x3xf32>) -> tensor<*xi32>
  onnx.Return %y : tensor<*xi32>
}

// -----

// Multinomial C3
func.func @multinomial_result(%x: tensor<2x3xf32>) -> tensor<*xi32> {
  // expected-error @+1 {{expects an output with elements of type 'i64', but got 'i32' (C3)}}
  %y = "onnx.Multinomial"(%x) {dtype = 7 : si64} : (tensor<2x3xf32>) -> tensor<*xi32>
  onnx.Return %y : tensor<*xi32>
}

// -----

// Multinomial C4
func.func @multinomial_sample_size(%x: tensor<2x3xf32>) -> tensor<*xi32> {
  // expected-error @+1 {{expects a positive sample_size, but got 0 (C4)}}
  %y = "onnx.Multinomial"(%x) {sample_size = 0 : si64} : (tensor<2x3xf32>) -> tensor<*xi32>
  onnx.Return %y : tensor<*xi32>
}

// -----

// RandomNormal C1
func.func @random_normal_dtype() -> tensor<*xf32> {
  // expected-error @+1 {{expects dtype to stand for a float type, but got 7 (C1)}}
  %y = "onnx.RandomNormal"() {dtype = 7 : si64, shape = [2]} : () -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// RandomNormal C2
func.func @random_normal_result() -> tensor<2xf32> {
  // expected-error @+1 {{expects an output with elements of type 'f64', but got 'f32' (C2)}}
  %y = "onnx.RandomNormal"() {dtype = 11 : si64, shape = [2]} : () -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// RandomNormal C3
func.func @random_normal_shape() -> tensor<*xf32> {
  // expected-error @+1 {{expects dimensions that are not negative, but got -2 (C3)}}
  %y = "onnx.RandomNormal"() {shape = [2, -2]} : () -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// RandomUniform C1
func.func @random_uniform_dtype() -> tensor<*xf32> {
  // expected-error @+1 {{expects dtype to stand for a float type, but got 17 (C1)}}
  %y = "onnx.RandomUniform"() {dtype = 17 : si64, shape = [2]} : () -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// RandomUniform C2
func.func @random_uniform_result() -> tensor<2xf32> {
  // expected-error @+1 {{expects an output with elements of type 'bf16', but got 'f32' (C2)}}
  %y = "onnx.RandomUniform"() {dtype = 16 : si64, shape = [2]} : () -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// -----

// RandomUniform C3
func.func @random_uniform_shape() -> tensor<*xf32> {
  // expected-error @+1 {{expects at most 64 dimensions, but got 65 (C3)}}
  %y = "onnx.RandomUniform"() {shape = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
  ]} : () -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// RandomNormalLike C1
func.func @random_normal_like_dtype(%x: tensor<3xi32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a float input without dtype, but got 'tensor<3xi32>' (C1)}}
  %y = "onnx.RandomNormalLike"(%x) : (tensor<3xi32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// RandomNormalLike C2
func.func @random_normal_like_result(%x: tensor<3xf16>) -> tensor<3xf32> {
  // expected-error @+1 {{expects an output with elements of type 'f16', but got 'f32' (C2)}}
  %y = "onnx.RandomNormalLike"(%x) : (tensor<3xf16>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}

// -----

// RandomUniformLike C1
func.func @random_uniform_like_dtype(%x: tensor<3xi32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dtype to stand for a float type, but got 99 (C1)}}
  %y = "onnx.RandomUniformLike"(%x) {dtype = 99 : si64} : (tensor<3xi32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

// RandomUniformLike C2
func.func @random_uniform_like_result(%x: tensor<3xi32>) -> tensor<3xf32> {
  // expected-error @+1 {{expects an output with elements of type 'f16', but got 'f32' (C2)}}
  %y = "onnx.RandomUniformLike"(%x) {dtype = 10 : si64} : (tensor<3xi32>) -> tensor<3xf32>
  onnx.Return %y : tensor<3xf32>
}
