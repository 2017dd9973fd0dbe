// Every op of the Math family parses, prints and parses again, as text and as
// bytecode.
//
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @abs(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @abs(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Abs"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Abs"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @acos(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @acos(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Acos"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Acos"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @acosh(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @acosh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Acosh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Acosh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>
func.func @add(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Add"(%[[A]], %[[B]]) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Add"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @and(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi1>, %[[B:.*]]: tensor<3xi1>
func.func @and(%a: tensor<2x3xi1>, %b: tensor<3xi1>) -> tensor<2x3xi1> {
  // CHECK: "onnx.And"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %r = "onnx.And"(%a, %b) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  onnx.Return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @asin(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @asin(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Asin"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Asin"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @asinh(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @asinh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Asinh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Asinh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @atan(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @atan(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Atan"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Atan"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @atanh(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @atanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Atanh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Atanh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @bit_shift(
// CHECK-SAME: %[[X:.*]]: tensor<3xui8>, %[[Y:.*]]: tensor<3xui8>
func.func @bit_shift(%x: tensor<3xui8>, %y: tensor<3xui8>) -> tensor<3xui8> {
  // CHECK: "onnx.BitShift"(%[[X]], %[[Y]]) <{direction = "LEFT"}> : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  %z = "onnx.BitShift"(%x, %y) {direction = "LEFT"}
      : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  onnx.Return %z : tensor<3xui8>
}

// CHECK-LABEL: func.func @bitwise_and(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi32>, %[[B:.*]]: tensor<3xi32>
func.func @bitwise_and(%a: tensor<2x3xi32>, %b: tensor<3xi32>) -> tensor<2x3xi32> {
  // CHECK: "onnx.BitwiseAnd"(%[[A]], %[[B]]) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r = "onnx.BitwiseAnd"(%a, %b) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  onnx.Return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @bitwise_not(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi32>
func.func @bitwise_not(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK: "onnx.BitwiseNot"(%[[X]]) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %r = "onnx.BitwiseNot"(%x) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  onnx.Return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @bitwise_or(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi32>, %[[B:.*]]: tensor<3xi32>
func.func @bitwise_or(%a: tensor<2x3xi32>, %b: tensor<3xi32>) -> tensor<2x3xi32> {
  // CHECK: "onnx.BitwiseOr"(%[[A]], %[[B]]) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r = "onnx.BitwiseOr"(%a, %b) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  onnx.Return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @bitwise_xor(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi32>, %[[B:.*]]: tensor<3xi32>
func.func @bitwise_xor(%a: tensor<2x3xi32>, %b: tensor<3xi32>) -> tensor<2x3xi32> {
  // CHECK: "onnx.BitwiseXor"(%[[A]], %[[B]]) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %r = "onnx.BitwiseXor"(%a, %b) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  onnx.Return %r : tensor<2x3xi32>
}

// CHECK-LABEL: func.func @cast_like(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi64>, %[[T:.*]]: tensor<1xf16>
func.func @cast_like(%x: tensor<2x3xi64>, %t: tensor<1xf16>) -> tensor<2x3xf16> {
  // CHECK: "onnx.CastLike"(%[[X]], %[[T]]) <{saturate = 1 : si64}> : (tensor<2x3xi64>, tensor<1xf16>) -> tensor<2x3xf16>
  %y = "onnx.CastLike"(%x, %t) {saturate = 1 : si64}
      : (tensor<2x3xi64>, tensor<1xf16>) -> tensor<2x3xf16>
  onnx.Return %y : tensor<2x3xf16>
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi64>
func.func @cast(%x: tensor<2x3xi64>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Cast"(%[[X]]) <{saturate = 1 : si64, to = f32}> : (tensor<2x3xi64>) -> tensor<2x3xf32>
  %y = "onnx.Cast"(%x) {saturate = 1 : si64, to = f32} : (tensor<2x3xi64>) -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @ceil(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @ceil(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Ceil"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Ceil"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @celu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @celu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Celu"(%[[X]]) <{alpha = 2.000000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Celu"(%x) {alpha = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @clip(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[MIN:.*]]: tensor<f32>, %[[MAX:.*]]: tensor<f32>
func.func @clip(%x: tensor<2x3xf32>, %min: tensor<f32>, %max: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Clip"(%[[X]], %[[MIN]], %[[MAX]]) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %y = "onnx.Clip"(%x, %min, %max) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  onnx.Return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cos(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @cos(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Cos"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Cos"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @cosh(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @cosh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Cosh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Cosh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @div(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>
func.func @div(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Div"(%[[A]], %[[B]]) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Div"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @elu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @elu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Elu"(%[[X]]) <{alpha = 2.000000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Elu"(%x) {alpha = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @equal(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi64>, %[[B:.*]]: tensor<3xi64>
func.func @equal(%a: tensor<2x3xi64>, %b: tensor<3xi64>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Equal"(%[[A]], %[[B]]) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  %c = "onnx.Equal"(%a, %b) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  onnx.Return %c : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @erf(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @erf(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Erf"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Erf"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @exp(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Exp"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Exp"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @floor(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @floor(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Floor"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Floor"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Gelu"(%[[X]]) <{approximate = "tanh"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Gelu"(%x) {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @greater(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi64>, %[[B:.*]]: tensor<3xi64>
func.func @greater(%a: tensor<2x3xi64>, %b: tensor<3xi64>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Greater"(%[[A]], %[[B]]) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  %c = "onnx.Greater"(%a, %b) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  onnx.Return %c : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @greater_or_equal(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi64>, %[[B:.*]]: tensor<3xi64>
func.func @greater_or_equal(%a: tensor<2x3xi64>, %b: tensor<3xi64>) -> tensor<2x3xi1> {
  // CHECK: "onnx.GreaterOrEqual"(%[[A]], %[[B]]) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  %c = "onnx.GreaterOrEqual"(%a, %b) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  onnx.Return %c : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @hard_sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.HardSigmoid"(%[[X]]) <{alpha = 2.500000e-01 : f32, beta = 5.000000e-01 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.HardSigmoid"(%x) {alpha = 0.25 : f32, beta = 0.5 : f32}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @hard_swish(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.HardSwish"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.HardSwish"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @is_inf(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @is_inf(%x: tensor<2x3xf32>) -> tensor<2x3xi1> {
  // CHECK: "onnx.IsInf"(%[[X]]) <{detect_negative = 1 : si64, detect_positive = 0 : si64}> : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %y = "onnx.IsInf"(%x) {detect_negative = 1 : si64, detect_positive = 0 : si64}
      : (tensor<2x3xf32>) -> tensor<2x3xi1>
  onnx.Return %y : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @is_na_n(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @is_na_n(%x: tensor<2x3xf32>) -> tensor<2x3xi1> {
  // CHECK: "onnx.IsNaN"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %y = "onnx.IsNaN"(%x) : (tensor<2x3xf32>) -> tensor<2x3xi1>
  onnx.Return %y : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @leaky_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.LeakyRelu"(%[[X]]) <{alpha = 5.000000e-01 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.LeakyRelu"(%x) {alpha = 0.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @less(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi64>, %[[B:.*]]: tensor<3xi64>
func.func @less(%a: tensor<2x3xi64>, %b: tensor<3xi64>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Less"(%[[A]], %[[B]]) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  %c = "onnx.Less"(%a, %b) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  onnx.Return %c : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @less_or_equal(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi64>, %[[B:.*]]: tensor<3xi64>
func.func @less_or_equal(%a: tensor<2x3xi64>, %b: tensor<3xi64>) -> tensor<2x3xi1> {
  // CHECK: "onnx.LessOrEqual"(%[[A]], %[[B]]) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  %c = "onnx.LessOrEqual"(%a, %b) : (tensor<2x3xi64>, tensor<3xi64>) -> tensor<2x3xi1>
  onnx.Return %c : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @log(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @log(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Log"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Log"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @max(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[C:.*]]: tensor<2x1xf32>
func.func @max(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2x1xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Max"(%[[A]], %[[B]], %[[C]]) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %r = "onnx.Max"(%a, %b, %c) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[C:.*]]: tensor<2x1xf32>
func.func @mean(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2x1xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Mean"(%[[A]], %[[B]], %[[C]]) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %r = "onnx.Mean"(%a, %b, %c)
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @min(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[C:.*]]: tensor<2x1xf32>
func.func @min(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2x1xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Min"(%[[A]], %[[B]], %[[C]]) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %r = "onnx.Min"(%a, %b, %c) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @mish(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @mish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Mish"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Mish"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @mod(
// CHECK-SAME: %[[A:.*]]: tensor<6xi64>, %[[B:.*]]: tensor<1xi64>
func.func @mod(%a: tensor<6xi64>, %b: tensor<1xi64>) -> tensor<6xi64> {
  // CHECK: "onnx.Mod"(%[[A]], %[[B]]) <{fmod = 0 : si64}> : (tensor<6xi64>, tensor<1xi64>) -> tensor<6xi64>
  %c = "onnx.Mod"(%a, %b) {fmod = 0 : si64} : (tensor<6xi64>, tensor<1xi64>) -> tensor<6xi64>
  onnx.Return %c : tensor<6xi64>
}

// CHECK-LABEL: func.func @mul(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>
func.func @mul(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Mul"(%[[A]], %[[B]]) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Mul"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @neg(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @neg(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Neg"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @not(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi1>
func.func @not(%x: tensor<2x3xi1>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Not"(%[[X]]) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %r = "onnx.Not"(%x) : (tensor<2x3xi1>) -> tensor<2x3xi1>
  onnx.Return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @or(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi1>, %[[B:.*]]: tensor<3xi1>
func.func @or(%a: tensor<2x3xi1>, %b: tensor<3xi1>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Or"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %r = "onnx.Or"(%a, %b) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  onnx.Return %r : tensor<2x3xi1>
}

// CHECK-LABEL: func.func @prelu(
// CHECK-SAME: %[[X:.*]]: tensor<1x3x4x4xf32>, %[[SLOPE:.*]]: tensor<3x1x1xf32>
func.func @prelu(%x: tensor<1x3x4x4xf32>, %slope: tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32> {
  // CHECK: "onnx.PRelu"(%[[X]], %[[SLOPE]]) : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  %y = "onnx.PRelu"(%x, %slope) : (tensor<1x3x4x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x4x4xf32>
  onnx.Return %y : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: func.func @pow(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<i64>
func.func @pow(%x: tensor<2x3xf32>, %y: tensor<i64>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Pow"(%[[X]], %[[Y]]) : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  %z = "onnx.Pow"(%x, %y) : (tensor<2x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  onnx.Return %z : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reciprocal(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @reciprocal(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Reciprocal"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Reciprocal"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Relu"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @round(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @round(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Round"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Round"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @selu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @selu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Selu"(%[[X]]) <{alpha = 2.000000e+00 : f32, gamma = 3.000000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Selu"(%x) {alpha = 2.0 : f32, gamma = 3.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @shrink(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @shrink(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Shrink"(%[[X]]) <{bias = 0.000000e+00 : f32, lambd = 1.500000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Shrink"(%x) {bias = 0.0 : f32, lambd = 1.5 : f32}
      : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @sigmoid(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sigmoid"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sigmoid"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sign(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @sign(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sign"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sign"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sin(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @sin(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sin"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sin"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sinh(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @sinh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sinh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sinh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softplus(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @softplus(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Softplus"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Softplus"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @softsign(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @softsign(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Softsign"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Softsign"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @sqrt(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sqrt"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sub(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>
func.func @sub(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sub"(%[[A]], %[[B]]) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sub"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[C:.*]]: tensor<2x1xf32>
func.func @sum(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2x1xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Sum"(%[[A]], %[[B]], %[[C]]) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %r = "onnx.Sum"(%a, %b, %c) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @tan(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @tan(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Tan"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Tan"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @tanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Tanh"(%[[X]]) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.Tanh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @thresholded_relu(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
func.func @thresholded_relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.ThresholdedRelu"(%[[X]]) <{alpha = 2.000000e+00 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "onnx.ThresholdedRelu"(%x) {alpha = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @where(
// CHECK-SAME: %[[C:.*]]: tensor<2x1xi1>, %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<f32>
func.func @where(%c: tensor<2x1xi1>, %x: tensor<2x3xf32>, %y: tensor<f32>) -> tensor<2x3xf32> {
  // CHECK: "onnx.Where"(%[[C]], %[[X]], %[[Y]]) : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = "onnx.Where"(%c, %x, %y) : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @xor(
// CHECK-SAME: %[[A:.*]]: tensor<2x3xi1>, %[[B:.*]]: tensor<3xi1>
func.func @xor(%a: tensor<2x3xi1>, %b: tensor<3xi1>) -> tensor<2x3xi1> {
  // CHECK: "onnx.Xor"(%[[A]], %[[B]]) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  %r = "onnx.Xor"(%a, %b) : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<2x3xi1>
  onnx.Return %r : tensor<2x3xi1>
}

//===----------------------------------------------------------------------===//
// As other tools write it
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @main_graph(
func.func @main_graph(%arg0: tensor<1x3xf32> {onnx.name = "x"}) -> (tensor<1x3xi8> {onnx.name = "y"}) {
  // CHECK: %[[NONE:.*]] = "onnx.NoValue"
  %0 = "onnx.NoValue"() {value} : () -> none
  %1 = onnx.Constant dense<6.000000e+00> : tensor<f32>
  // CHECK: %[[CLIP:.*]] = "onnx.Clip"(%{{.*}}, %[[NONE]], %{{.*}}) {onnx_node_name = "clip_0"} : (tensor<1x3xf32>, none, tensor<f32>) -> tensor<1x3xf32>
  %2 = "onnx.Clip"(%arg0, %0, %1) {onnx_node_name = "clip_0"} : (tensor<1x3xf32>, none, tensor<f32>) -> tensor<1x3xf32>
  // CHECK: %[[LEAKY:.*]] = "onnx.LeakyRelu"(%[[CLIP]]) <{alpha = 0.00999999977 : f32}> : (tensor<1x3xf32>) -> tensor<*xf32>
  %3 = "onnx.LeakyRelu"(%2) {alpha = 0.00999999977 : f32} : (tensor<1x3xf32>) -> tensor<*xf32>
  // CHECK: "onnx.Cast"(%[[LEAKY]]) <{saturate = 1 : si64, to = i8}> {onnx_node_name = "cast_0"} : (tensor<*xf32>) -> tensor<1x3xi8>
  %4 = "onnx.Cast"(%3) {onnx_node_name = "cast_0", saturate = 1 : si64, to = i8} : (tensor<*xf32>) -> tensor<1x3xi8>
  onnx.Return %4 : tensor<1x3xi8>
}

// An element type that nothing tells goes with any.
// CHECK-LABEL: func.func @unknown_elements(
func.func @unknown_elements(%x: tensor<*x!onnx.Unknown>, %y: tensor<2x?xf16>) -> tensor<*x!onnx.Unknown> {
  // CHECK: %[[SUM:.*]] = "onnx.Add"(%{{.*}}, %{{.*}}) : (tensor<*x!onnx.Unknown>, tensor<2x?xf16>) -> tensor<*xf16>
  %0 = "onnx.Add"(%x, %y) : (tensor<*x!onnx.Unknown>, tensor<2x?xf16>) -> tensor<*xf16>
  // CHECK: "onnx.Relu"(%[[SUM]]) : (tensor<*xf16>) -> tensor<*x!onnx.Unknown>
  %1 = "onnx.Relu"(%0) : (tensor<*xf16>) -> tensor<*x!onnx.Unknown>
  onnx.Return %1 : tensor<*x!onnx.Unknown>
}
