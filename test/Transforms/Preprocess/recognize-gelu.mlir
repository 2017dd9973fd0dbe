// Gelu found in its parts.
// RUN: onnxq-opt %s --onnx-recognize-gelu | FileCheck %s
// RUN: onnxq-opt %s --onnx-recognize-gelu=max-opset=19 | FileCheck %s --check-prefix=OLD

// OLD-NOT: onnx.Gelu

// CHECK-LABEL: @erf(
// CHECK: "onnx.Gelu"(%arg0) <{approximate = "none"}> {onnx_node_name = "last", onnx_result_names = ["y"]}
// CHECK-NOT: onnx.Erf
func.func @erf(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %sqrt2 = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.Div"(%x, %sqrt2) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %1 = "onnx.Erf"(%0) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %3 = "onnx.Mul"(%x, %2) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = "onnx.Mul"(%3, %half) {onnx_node_name = "last", onnx_result_names = ["y"]} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  onnx.Return %y : tensor<?x8xf32>
}

// The half at x, and the root as a factor; f16 says both less exactly.
// CHECK-LABEL: @erf_f16(
// CHECK: "onnx.Gelu"(%arg0)
func.func @erf_f16(%x: tensor<8xf16>) -> tensor<8xf16> {
  %root = onnx.Constant dense<0.70703125> : tensor<f16>
  %one = onnx.Constant dense<1.0> : tensor<f16>
  %half = onnx.Constant dense<0.5> : tensor<f16>
  %0 = "onnx.Mul"(%x, %root) : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %1 = "onnx.Erf"(%0) : (tensor<8xf16>) -> tensor<8xf16>
  %2 = "onnx.Add"(%one, %1) : (tensor<f16>, tensor<8xf16>) -> tensor<8xf16>
  %3 = "onnx.Mul"(%half, %x) : (tensor<f16>, tensor<8xf16>) -> tensor<8xf16>
  %y = "onnx.Mul"(%3, %2) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  onnx.Return %y : tensor<8xf16>
}

// CHECK-LABEL: @tanh(
// CHECK: "onnx.Gelu"(%arg0) <{approximate = "tanh"}>
func.func @tanh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %cube = onnx.Constant dense<0.044715> : tensor<f32>
  %root = onnx.Constant dense<0.797884583> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.Pow"(%x, %three) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Mul"(%0, %cube) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%x, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = "onnx.Mul"(%2, %root) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = "onnx.Tanh"(%3) : (tensor<8xf32>) -> tensor<8xf32>
  %5 = "onnx.Add"(%4, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = "onnx.Mul"(%x, %5) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%6, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// The cube as products.
// CHECK-LABEL: @tanh_of_products(
// CHECK: "onnx.Gelu"(%arg0) <{approximate = "tanh"}>
func.func @tanh_of_products(%x: tensor<8xf32>) -> tensor<8xf32> {
  %cube = onnx.Constant dense<0.044715> : tensor<f32>
  %root = onnx.Constant dense<0.797884583> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.Mul"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Mul"(%0, %cube) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = "onnx.Mul"(%x, %root) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = "onnx.Mul"(%3, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = "onnx.Tanh"(%4) : (tensor<8xf32>) -> tensor<8xf32>
  %6 = "onnx.Add"(%5, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = "onnx.Mul"(%x, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%7, %6) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// Another number than the root of 2.
// CHECK-LABEL: @other_number(
// CHECK: onnx.Erf
func.func @other_number(%x: tensor<8xf32>) -> tensor<8xf32> {
  %sqrt2 = onnx.Constant dense<1.42> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.Div"(%x, %sqrt2) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Erf"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = "onnx.Mul"(%x, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%3, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// Of something else than the factor.
// CHECK-LABEL: @other_input(
// CHECK: onnx.Erf
func.func @other_input(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %sqrt2 = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.Div"(%z, %sqrt2) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Erf"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = "onnx.Mul"(%x, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%3, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// CHECK-LABEL: @read_twice(
// CHECK: onnx.Erf
func.func @read_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %sqrt2 = onnx.Constant dense<1.41421354> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %0 = "onnx.Div"(%x, %sqrt2) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Erf"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = "onnx.Mul"(%x, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%3, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y, %1 : tensor<8xf32>, tensor<8xf32>
}
