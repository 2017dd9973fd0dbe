// Shapes of the Math family, and the contents of small integer tensors that are
// followed through it.
//
// RUN: onnxq-opt %s --onnx-shape-inference | FileCheck %s

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @unary(
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<?x3xf16> {onnx.dim_params = "0:batch"}, tensor<2x3xi1>, tensor<*xf32>)
func.func @unary(%x: tensor<2x3xf32>, %y: tensor<?x3xf16> {onnx.name = "y", onnx.dim_params = "0:batch"}, %z: tensor<*xf32>)
    -> (tensor<*xf32>, tensor<*xf16>, tensor<*xi1>, tensor<*xf32>) {
  // CHECK: "onnx.Relu"({{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Gelu"({{.*}}){{.*}}onnx_dim_params = ["0:batch"]{{.*}}} : (tensor<?x3xf16>) -> tensor<?x3xf16>
  %1 = "onnx.Gelu"(%y) : (tensor<?x3xf16>) -> tensor<*xf16>
  // CHECK: "onnx.IsNaN"({{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %2 = "onnx.IsNaN"(%x) : (tensor<2x3xf32>) -> tensor<*xi1>
  // CHECK: "onnx.Exp"({{.*}}) : (tensor<*xf32>) -> tensor<*xf32>
  %3 = "onnx.Exp"(%z) : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %0, %1, %2, %3 : tensor<*xf32>, tensor<*xf16>, tensor<*xi1>, tensor<*xf32>
}

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(%a: tensor<?x1x4xf32> {onnx.name = "a", onnx.dim_params = "0:batch"}, %b: tensor<3x1xf32>, %c: tensor<?x3x4xf32> {onnx.name = "c", onnx.dim_params = "0:batch"})
    -> (tensor<*xf32>, tensor<*xi1>, tensor<*xf32>) {
  // CHECK: %[[SUM:.*]] = "onnx.Add"({{.*}}) {onnx_dim_params = ["0:batch"]} : ({{.*}}) -> tensor<?x3x4xf32>
  %0 = "onnx.Add"(%a, %b) : (tensor<?x1x4xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Less"(%[[SUM]], {{.*}}) {onnx_dim_params = ["0:batch"]} : ({{.*}}) -> tensor<?x3x4xi1>
  %1 = "onnx.Less"(%0, %c) : (tensor<*xf32>, tensor<?x3x4xf32>) -> tensor<*xi1>
  // CHECK: "onnx.Max"({{.*}}) {onnx_dim_params = ["0:batch"]} : ({{.*}}) -> tensor<?x3x4xf32>
  %2 = "onnx.Max"(%a, %b, %c) : (tensor<?x1x4xf32>, tensor<3x1xf32>, tensor<?x3x4xf32>) -> tensor<*xf32>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xi1>, tensor<*xf32>
}

// Two unknown sizes that may be different give a third; one that isn't known
// decides together with a number.
// CHECK-LABEL: func.func @broadcast_dynamic(
// CHECK-SAME: -> (tensor<?xf32>, tensor<5xf32>)
func.func @broadcast_dynamic(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<5xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %0 = "onnx.Mul"(%a, %b) : (tensor<?xf32>, tensor<?xf32>) -> tensor<*xf32>
  %1 = "onnx.Mul"(%a, %c) : (tensor<?xf32>, tensor<5xf32>) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

// Element types are known where ranks are not.
// CHECK-LABEL: func.func @element_types(
// CHECK-SAME: -> (tensor<*xf16>, tensor<*xi1>, tensor<*xi64>, tensor<*xf16>, tensor<*xi32>)
func.func @element_types(%x: tensor<*xf16>, %u: tensor<*x!onnx.Unknown>, %p: tensor<i64>)
    -> (tensor<*x!onnx.Unknown>, tensor<*xi1>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>) {
  %0 = "onnx.Sub"(%u, %x) : (tensor<*x!onnx.Unknown>, tensor<*xf16>) -> tensor<*x!onnx.Unknown>
  %1 = "onnx.Equal"(%u, %u) : (tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>) -> tensor<*xi1>
  %2 = "onnx.CastLike"(%x, %p) : (tensor<*xf16>, tensor<i64>) -> tensor<*x!onnx.Unknown>
  %3 = "onnx.Pow"(%x, %p) : (tensor<*xf16>, tensor<i64>) -> tensor<*x!onnx.Unknown>
  %4 = "onnx.Cast"(%u) {to = i32} : (tensor<*x!onnx.Unknown>) -> tensor<*x!onnx.Unknown>
  onnx.Return %0, %1, %2, %3, %4 : tensor<*x!onnx.Unknown>, tensor<*xi1>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>, tensor<*x!onnx.Unknown>
}

// The slope broadcasts to the input only.
// CHECK-LABEL: func.func @prelu(
// CHECK-SAME: -> tensor<1x3x?x4xf32>
func.func @prelu(%x: tensor<1x3x?x4xf32>, %slope: tensor<3x1x1xf32>) -> tensor<*xf32> {
  %y = "onnx.PRelu"(%x, %slope) : (tensor<1x3x?x4xf32>, tensor<3x1x1xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @clip_where(
// CHECK-SAME: -> (tensor<2x3xf32>, tensor<2x3xf32>)
func.func @clip_where(%x: tensor<2x3xf32>, %m: tensor<f32>, %c: tensor<2x1xi1>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Clip"(%x, %m, %none) : (tensor<2x3xf32>, tensor<f32>, none) -> tensor<*xf32>
  %1 = "onnx.Where"(%c, %x, %m) : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<*xf32>
  onnx.Return %0, %1 : tensor<*xf32>, tensor<*xf32>
}

//===----------------------------------------------------------------------===//
// Contents: seen as the shape of a tensor made of them
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @integer_arithmetic(
func.func @integer_arithmetic() -> tensor<*xf32> {
  %a = onnx.Constant dense<[7, -7, 6, 5]> : tensor<4xi64>
  %two = onnx.Constant dense<2> : tensor<i64>
  // [3, -3, 3, 2]: quotients are cut off toward zero.
  %quotient = "onnx.Div"(%a, %two) : (tensor<4xi64>, tensor<i64>) -> tensor<*xi64>
  // [3, 3, 3, 2]
  %absolute = "onnx.Abs"(%quotient) : (tensor<*xi64>) -> tensor<*xi64>
  // [1, 1, 0, 1]: the remainder has the sign of the divisor.
  %modulo = "onnx.Mod"(%a, %two) {fmod = 0 : si64} : (tensor<4xi64>, tensor<i64>) -> tensor<*xi64>
  // [4, 4, 3, 3]
  %sum = "onnx.Add"(%absolute, %modulo) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  // [16, 16, 9, 9]
  %square = "onnx.Pow"(%sum, %two) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  %ten = onnx.Constant dense<10> : tensor<1xi64>
  %most = "onnx.Max"(%square, %ten) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %least = "onnx.Min"(%square, %ten) : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  // [6, 6, 1, 1]
  %gap = "onnx.Sub"(%most, %least) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  // [12, 12, 2, 2]
  %product = "onnx.Mul"(%gap, %two) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape({{.*}}) : (tensor<4xi64>) -> tensor<12x12x2x2xf32>
  %y = "onnx.ConstantOfShape"(%product) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// fmod takes the sign of the dividend: -7 % 2 = -1.
// CHECK-LABEL: func.func @remainder(
// CHECK-SAME: -> tensor<1xf32>
func.func @remainder() -> tensor<*xf32> {
  %a = onnx.Constant dense<[-7]> : tensor<1xi64>
  %two = onnx.Constant dense<2> : tensor<i64>
  %0 = "onnx.Mod"(%a, %two) {fmod = 1 : si64} : (tensor<1xi64>, tensor<i64>) -> tensor<*xi64>
  %1 = "onnx.Neg"(%0) : (tensor<*xi64>) -> tensor<*xi64>
  %y = "onnx.ConstantOfShape"(%1) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// Narrow integers wrap around, and division by zero is nobody's size: nothing
// is known then but the rank.
// CHECK-LABEL: func.func @not_followed(
// CHECK-SAME: -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
func.func @not_followed() -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %a = onnx.Constant dense<[100]> : tensor<1xi8>
  %0 = "onnx.Add"(%a, %a) : (tensor<1xi8>, tensor<1xi8>) -> tensor<*xi8>
  %1 = "onnx.Cast"(%0) {to = i64} : (tensor<*xi8>) -> tensor<*xi64>
  %2 = "onnx.ConstantOfShape"(%1) : (tensor<*xi64>) -> tensor<*xf32>
  %b = onnx.Constant dense<[0]> : tensor<1xi64>
  %3 = "onnx.Div"(%b, %b) : (tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %4 = "onnx.ConstantOfShape"(%3) : (tensor<*xi64>) -> tensor<*xf32>
  %min = onnx.Constant dense<[-9223372036854775808]> : tensor<1xi64>
  %minus = onnx.Constant dense<[-1]> : tensor<1xi64>
  %5 = "onnx.Div"(%min, %minus) : (tensor<1xi64>, tensor<1xi64>) -> tensor<*xi64>
  %6 = "onnx.ConstantOfShape"(%5) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %2, %4, %6 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @symbolic_arithmetic(
func.func @symbolic_arithmetic(%x: tensor<?x?xf32> {onnx.name = "x", onnx.dim_params = "0:h,1:w"}) -> tensor<*xf32> {
  %shape = "onnx.Shape"(%x) {start = 0 : si64} : (tensor<?x?xf32>) -> tensor<*xi64>
  %two = onnx.Constant dense<2> : tensor<i64>
  %factors = onnx.Constant dense<[4, 3]> : tensor<2xi64>
  %0 = "onnx.Mul"(%shape, %factors) : (tensor<*xi64>, tensor<2xi64>) -> tensor<*xi64>
  %1 = "onnx.Div"(%0, %two) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape({{.*}}) {onnx_dim_params = ["0:2*h,1:floor((3*w)/2)"]} : (tensor<2xi64>) -> tensor<?x?xf32>
  %y = "onnx.ConstantOfShape"(%1) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// The target of an Expand: -1 becomes 1.
// CHECK-LABEL: func.func @expand_target(
func.func @expand_target(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> tensor<*xf32> {
  %shape = "onnx.Shape"(%x) {start = 0 : si64} : (tensor<?x4xf32>) -> tensor<*xi64>
  %open = onnx.Constant dense<[-1]> : tensor<1xi64>
  %target = "onnx.Concat"(%shape, %open) {axis = 0 : si64} : (tensor<*xi64>, tensor<1xi64>) -> tensor<*xi64>
  %three = onnx.Constant dense<3> : tensor<1xi64>
  %ones = "onnx.ConstantOfShape"(%three) {value = dense<1> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  %minus = onnx.Constant dense<-1> : tensor<i64>
  %mask = "onnx.Equal"(%target, %minus) : (tensor<*xi64>, tensor<i64>) -> tensor<*xi1>
  %sizes = "onnx.Where"(%mask, %ones, %target) : (tensor<*xi1>, tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape(%{{.*}}) {onnx_dim_params = ["0:batch"]} : (tensor<3xi64>) -> tensor<?x4x1xf32>
  %y = "onnx.ConstantOfShape"(%sizes) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// Comparisons and logic: [2 < 3 && !(2 >= 3), 5 == 5 || 5 > 5, ...].
// CHECK-LABEL: func.func @logic(
// CHECK-SAME: -> tensor<1x1x0x8xf32>
func.func @logic() -> tensor<*xf32> {
  %a = onnx.Constant dense<[2, 5, 9, 8]> : tensor<4xi64>
  %b = onnx.Constant dense<[3, 5, 7, 8]> : tensor<4xi64>
  %less = "onnx.Less"(%a, %b) : (tensor<4xi64>, tensor<4xi64>) -> tensor<*xi1>
  %atLeast = "onnx.GreaterOrEqual"(%a, %b) : (tensor<4xi64>, tensor<4xi64>) -> tensor<*xi1>
  %not = "onnx.Not"(%atLeast) : (tensor<*xi1>) -> tensor<*xi1>
  %and = "onnx.And"(%less, %not) : (tensor<*xi1>, tensor<*xi1>) -> tensor<*xi1>
  %equal = "onnx.Equal"(%a, %b) : (tensor<4xi64>, tensor<4xi64>) -> tensor<*xi1>
  %or = "onnx.Or"(%and, %equal) : (tensor<*xi1>, tensor<*xi1>) -> tensor<*xi1>
  %greater = "onnx.Greater"(%a, %b) : (tensor<4xi64>, tensor<4xi64>) -> tensor<*xi1>
  // True where exactly one holds: all four.
  %all = "onnx.Xor"(%or, %greater) : (tensor<*xi1>, tensor<*xi1>) -> tensor<*xi1>
  %bits = "onnx.Cast"(%or) {to = i64} : (tensor<*xi1>) -> tensor<*xi64>
  %scale = onnx.Constant dense<[1, 1, 1, 8]> : tensor<4xi64>
  %chosen = "onnx.Where"(%all, %scale, %a) : (tensor<*xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<*xi64>
  %sizes = "onnx.Mul"(%bits, %chosen) : (tensor<*xi64>, tensor<*xi64>) -> tensor<*xi64>
  %y = "onnx.ConstantOfShape"(%sizes) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// Sizes scaled in floats, as upsampling is exported.
// CHECK-LABEL: func.func @scaled_in_floats(
func.func @scaled_in_floats(%x: tensor<?x?xf32> {onnx.name = "x", onnx.dim_params = "0:h,1:w"}) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %shape = "onnx.Shape"(%x) {start = 0 : si64} : (tensor<?x?xf32>) -> tensor<*xi64>
  %floats = "onnx.Cast"(%shape) {to = f32} : (tensor<*xi64>) -> tensor<*xf32>
  %scale = onnx.Constant dense<[2.0, 1.5]> : tensor<2xf32>
  %scaled = "onnx.Mul"(%floats, %scale) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xf32>
  %down = "onnx.Floor"(%scaled) : (tensor<*xf32>) -> tensor<*xf32>
  %0 = "onnx.Cast"(%down) {to = i64} : (tensor<*xf32>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape({{.*}}) {onnx_dim_params = ["0:2*h,1:floor((3*w)/2)"]}
  %1 = "onnx.ConstantOfShape"(%0) : (tensor<*xi64>) -> tensor<*xf32>
  // Without rounding, the cast cuts off.
  %2 = "onnx.Cast"(%scaled) {to = i64} : (tensor<*xf32>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape({{.*}}) {onnx_dim_params = ["0:2*h,1:floor((3*w)/2)"]}
  %3 = "onnx.ConstantOfShape"(%2) : (tensor<*xi64>) -> tensor<*xf32>
  %four = onnx.Constant dense<4.0> : tensor<f32>
  %4 = "onnx.Div"(%floats, %four) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %up = "onnx.Ceil"(%4) : (tensor<*xf32>) -> tensor<*xf32>
  %5 = "onnx.Cast"(%up) {to = i64} : (tensor<*xf32>) -> tensor<*xi64>
  // CHECK: onnx.ConstantOfShape({{.*}}) {onnx_dim_params = ["0:floor((h+3)/4),1:floor((w+3)/4)"]}
  %6 = "onnx.ConstantOfShape"(%5) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %1, %3, %6 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// A factor that isn't a binary fraction isn't followed.
// CHECK-LABEL: func.func @inexact_scale(
// CHECK-SAME: -> tensor<?xf32>
func.func @inexact_scale(%x: tensor<10xf32>) -> tensor<*xf32> {
  %shape = "onnx.Shape"(%x) {start = 0 : si64} : (tensor<10xf32>) -> tensor<*xi64>
  %floats = "onnx.Cast"(%shape) {to = f32} : (tensor<*xi64>) -> tensor<*xf32>
  %scale = onnx.Constant dense<0.1> : tensor<f32>
  %scaled = "onnx.Mul"(%floats, %scale) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  %0 = "onnx.Cast"(%scaled) {to = i64} : (tensor<*xf32>) -> tensor<*xi64>
  // CHECK-NOT: onnx_dim_params
  %y = "onnx.ConstantOfShape"(%0) : (tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}
