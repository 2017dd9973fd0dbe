// RUN: onnxq-opt %s --onnxq-narrow-floats --canonicalize | FileCheck %s

// CHECK-LABEL: func @to_byte
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[LOW:.*]] = arith.maximumf %[[X]]
// CHECK: %[[BOTH:.*]] = arith.minimumf %[[LOW]]
// CHECK: %[[WHOLE:.*]] = arith.fptosi %[[BOTH]] : f32 to i32
// CHECK: %[[BYTE:.*]] = arith.trunci %[[WHOLE]] : i32 to i8
// CHECK: return %[[BYTE]]
func.func @to_byte(%x: f32) -> i8 {
  %low = arith.constant -1.280000e+02 : f32
  %high = arith.constant 1.270000e+02 : f32
  %a = arith.maximumf %x, %low : f32
  %b = arith.minimumf %a, %high : f32
  %i = arith.fptosi %b : f32 to i64
  %y = arith.trunci %i : i64 to i8
  return %y : i8
}

// What may be larger than 32 bits stays.
// CHECK-LABEL: func @open
// CHECK: arith.fptosi %{{.*}} : f32 to i64
func.func @open(%x: f32) -> i64 {
  %high = arith.constant 1.270000e+02 : f32
  %b = arith.minimumf %x, %high : f32
  %i = arith.fptosi %b : f32 to i64
  return %i : i64
}

// 2^31 doesn't fit.
// CHECK-LABEL: func @just_too_large
// CHECK: arith.fptosi %{{.*}} : f32 to i64
func.func @just_too_large(%x: f32) -> i64 {
  %low = arith.constant 0.0 : f32
  %high = arith.constant 2147483648.0 : f32
  %a = arith.maximumf %x, %low : f32
  %b = arith.minimumf %a, %high : f32
  %i = arith.fptosi %b : f32 to i64
  return %i : i64
}

// CHECK-LABEL: func @even
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[LARGE:.*]] = arith.constant 0x4B000000 : f32
// CHECK: %[[SIZE:.*]] = math.absf %[[X]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SIZE]], %[[LARGE]]
// CHECK: %[[BACK:.*]] = arith.subf %[[SUM]], %[[LARGE]]
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[SIZE]], %[[LARGE]]
// CHECK: %[[Y:.*]] = arith.select %[[SMALL]], %[[BACK]], %[[SIZE]]
// CHECK: math.copysign %[[Y]], %[[X]]
func.func @even(%x: f32) -> f32 {
  %y = math.roundeven %x : f32
  return %y : f32
}

// CHECK-LABEL: func @floor
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NOT: math.floor
// CHECK: %[[NEAR:.*]] = math.copysign
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[NEAR]], %[[X]]
// CHECK: %[[LESS:.*]] = arith.subf %[[NEAR]]
// CHECK: arith.select %[[ABOVE]], %[[LESS]], %[[NEAR]]
func.func @floor(%x: f32) -> f32 {
  %y = math.floor %x : f32
  return %y : f32
}
