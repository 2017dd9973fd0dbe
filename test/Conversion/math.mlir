// RUN: onnxq-opt %s --onnx-to-linalg | FileCheck %s

// One loop, and the smaller operand is read by its own map.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @add
func.func @add(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK-NOT: cf.assert
  // CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ROW]], #[[$ID]]]
  // CHECK: arith.addf
  // CHECK-NOT: linalg.generic
  %c = "onnx.Add"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return %c : tensor<2x3xf32>
}

// Whether open sizes go together is checked once, before the loop.
// CHECK-LABEL: func.func @add_dynamic
func.func @add_dynamic(%a: tensor<?xi32>, %b: tensor<?xi32>) -> tensor<?xi32> {
  // CHECK: cf.assert %{{.*}}, "node 'Add': sizes of operands don't go together"
  // CHECK: linalg.generic
  // CHECK: arith.addi
  %c = "onnx.Add"(%a, %b) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  onnx.Return %c : tensor<?xi32>
}

// Zeros are looked for before dividing, and -1 is no overflow.
// CHECK-LABEL: func.func @div
func.func @div(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: arith.cmpi ne
  // CHECK: arith.andi
  // CHECK: cf.assert %{{.*}}, "node 'Div': division of integers by zero"
  // CHECK: linalg.generic
  // CHECK: %[[MINUS:.*]] = arith.cmpi eq
  // CHECK: %[[DIVISOR:.*]] = arith.select %[[MINUS]]
  // CHECK: arith.divsi %{{.*}}, %[[DIVISOR]]
  // CHECK-NOT: cf.assert
  %c = "onnx.Div"(%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  onnx.Return %c : tensor<4xi32>
}

// A constant divisor needs neither.
// CHECK-LABEL: func.func @div_constant
func.func @div_constant(%a: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK-NOT: cf.assert
  // CHECK: linalg.generic
  // CHECK: arith.divui
  // CHECK-NOT: arith.select
  %b = "onnx.Constant"() {value = dense<3> : tensor<ui8>} : () -> tensor<ui8>
  %c = "onnx.Div"(%a, %b) : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
  onnx.Return %c : tensor<4xui8>
}

// CHECK-LABEL: func.func @compare_unsigned
// CHECK-SAME: tensor<4xi8>
func.func @compare_unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xi1> {
  // CHECK: %[[LESS:.*]] = arith.cmpi ult
  // CHECK: arith.extui %[[LESS]] : i1 to i8
  %c = "onnx.Less"(%a, %b) : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  onnx.Return %c : tensor<4xi1>
}

// A square is a product.
// CHECK-LABEL: func.func @square
func.func @square(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x3xf32>)
  // CHECK: arith.mulf
  // CHECK-NOT: math.powf
  %two = "onnx.Constant"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %y = "onnx.Pow"(%x, %two) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  onnx.Return %y : tensor<?x3xf32>
}

// Integers are raised in integers.
// CHECK-LABEL: func.func @power
func.func @power(%x: tensor<4xi64>, %y: tensor<4xui32>) -> tensor<4xi64> {
  // CHECK: scf.while
  // CHECK: arith.muli
  // CHECK-NOT: math.powf
  %z = "onnx.Pow"(%x, %y) : (tensor<4xi64>, tensor<4xui32>) -> tensor<4xi64>
  onnx.Return %z : tensor<4xi64>
}

// Shifting by the width or more leaves zero.
// CHECK-LABEL: func.func @shift
func.func @shift(%x: tensor<4xui16>, %y: tensor<4xui16>) -> tensor<4xui16> {
  // CHECK: %[[FITS:.*]] = arith.cmpi ult
  // CHECK: %[[SHIFTED:.*]] = arith.shrui
  // CHECK: arith.select %[[FITS]], %[[SHIFTED]]
  %z = "onnx.BitShift"(%x, %y) {direction = "RIGHT"} : (tensor<4xui16>, tensor<4xui16>) -> tensor<4xui16>
  onnx.Return %z : tensor<4xui16>
}

// Elements are moved without being converted.
// CHECK-LABEL: func.func @where
func.func @where(%c: tensor<4xi1>, %x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i16
  // CHECK-NEXT: linalg.yield
  %z = "onnx.Where"(%c, %x, %y) : (tensor<4xi1>, tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  onnx.Return %z : tensor<4xf16>
}

// What is lost on the way from f64 to f32 still decides how f16 rounds.
// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<4xf64>) -> tensor<4xf16> {
  // CHECK: arith.truncf %{{.*}} : f64 to f32
  // CHECK: %[[LOST:.*]] = arith.cmpf one
  // CHECK: arith.extui %[[LOST]]
  %y = "onnx.Cast"(%x) {saturate = 1 : si64, to = f16} : (tensor<4xf64>) -> tensor<4xf16>
  onnx.Return %y : tensor<4xf16>
}

// CHECK-LABEL: func.func @gelu
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: math.erfc
  %y = "onnx.Gelu"(%x) {approximate = "none"} : (tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}

// A limit that is left out costs nothing.
// CHECK-LABEL: func.func @clip
func.func @clip(%x: tensor<4xf32>, %max: tensor<f32>) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK-NOT: arith.maximumf
  // CHECK: arith.minimumf
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Clip"(%x, %none, %max) : (tensor<4xf32>, none, tensor<f32>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}
