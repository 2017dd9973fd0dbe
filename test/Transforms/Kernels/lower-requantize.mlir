// Requantizations that no kernel took become arithmetic.
// RUN: onnxq-opt %s --onnxq-lower-requantize | FileCheck %s

// CHECK-LABEL: func.func @scaled
// CHECK-SAME: (%[[ACC:.*]]: i32, %[[S:.*]]: f32, %[[Z:.*]]: i32)
// CHECK: %[[F:.*]] = arith.sitofp %[[ACC]] : i32 to f32
// CHECK: %[[M:.*]] = arith.mulf %[[F]], %[[S]] : f32
// CHECK: %[[R:.*]] = math.roundeven %[[M]] : f32
// CHECK: %[[P:.*]] = arith.sitofp %[[Z]] : i32 to f32
// CHECK: %[[X:.*]] = arith.addf %[[R]], %[[P]] : f32
// CHECK: %[[LOWER:.*]] = arith.constant -1.280000e+02 : f32
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[X]], %[[LOWER]] : f32
// CHECK: %[[L:.*]] = arith.select %[[C]], %[[X]], %[[LOWER]] : f32
// CHECK: %[[UPPER:.*]] = arith.constant 1.270000e+02 : f32
// CHECK: %[[D:.*]] = arith.cmpf olt, %[[L]], %[[UPPER]] : f32
// CHECK: %[[U:.*]] = arith.select %[[D]], %[[L]], %[[UPPER]] : f32
// CHECK: %[[I:.*]] = arith.fptosi %[[U]] : f32 to i32
// CHECK: arith.trunci %[[I]] : i32 to i8
func.func @scaled(%acc: i32, %s: f32, %z: i32) -> i8 {
  %y = onnxq.requantize %acc scale %s zero_point %z in [-128, 127] : i32 -> i8
  return %y : i8
}

// A zero point of zero adds nothing to an integer, but makes a float's zero
// positive.
// CHECK-LABEL: func.func @vectors
// CHECK: math.roundeven %{{.*}} : vector<8xf64>
// CHECK-NOT: arith.addf
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
// CHECK: math.roundeven %{{.*}} : vector<8xf32>
// CHECK: arith.addf
// CHECK: arith.select
// CHECK: arith.select
// CHECK-NOT: arith.fptosi
func.func @vectors(%x: vector<8xf64>, %y: vector<8xf32>) -> (vector<8xi16>, vector<8xf32>) {
  %z = arith.constant dense<0> : vector<8xi32>
  %a = onnxq.requantize %x zero_point %z in [0, 65535] : vector<8xf64> -> vector<8xi16>
  %b = onnxq.requantize %y zero_point %z in [-128, 127] : vector<8xf32> -> vector<8xf32>
  return %a, %b : vector<8xi16>, vector<8xf32>
}
