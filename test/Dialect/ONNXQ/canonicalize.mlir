// Constants are requantized at compile time: half to even, NaN to the lower bound.
// RUN: onnxq-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @constants
// CHECK-DAG: %[[EVEN:.*]] = arith.constant 12 : i8
// CHECK-DAG: %[[TOP:.*]] = arith.constant -1 : i8
// CHECK-DAG: %[[LOW:.*]] = arith.constant -7 : i8
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: return %[[EVEN]], %[[TOP]], %[[LOW]], %[[ZERO]]
func.func @constants() -> (i8, i8, i8, f32) {
  %acc = arith.constant 5 : i32
  %half = arith.constant 0.5 : f32
  %ten = arith.constant 10 : i32
  %zero = arith.constant 0 : i32
  %large = arith.constant 1.0e9 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %small = arith.constant -0.25 : f32
  // 2.5 is rounded to 2.
  %even = onnxq.requantize %acc scale %half zero_point %ten in [0, 255] : i32 -> i8
  %top = onnxq.requantize %large zero_point %ten in [0, 255] : f32 -> i8
  %low = onnxq.requantize %nan zero_point %ten in [-7, 127] : f32 -> i8
  %float = onnxq.requantize %small zero_point %zero in [-128, 127] : f32 -> f32
  return %even, %top, %low, %float : i8, i8, i8, f32
}

// CHECK-LABEL: func.func @stays
// CHECK: onnxq.requantize
func.func @stays(%x: f32, %z: i32) -> i8 {
  %y = onnxq.requantize %x zero_point %z in [0, 255] : f32 -> i8
  return %y : i8
}
