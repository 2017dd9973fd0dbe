// Functions of f32 become arithmetic; others stay.
// RUN: onnxq-opt %s --onnxq-expand-math | FileCheck %s
// RUN: onnxq-opt %s --onnxq-expand-math=fma=false | FileCheck %s --check-prefix=PLAIN

// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// CHECK: math.fma %{{.*}} : f32
// CHECK: arith.shrsi
// CHECK: arith.shli
// PLAIN-LABEL: func.func @exp
// PLAIN-NOT: math.fma
// PLAIN: return
func.func @exp(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// Of a sigmoid: no positive number, and a factor that is always a float.
// CHECK-LABEL: func.func @below
// CHECK-NOT: math.exp
// CHECK-NOT: arith.shrsi
// CHECK: arith.shli
// CHECK: return
func.func @below(%x: f32) -> f32 {
  %a = math.absf %x : f32
  %n = arith.negf %a : f32
  %y = math.exp %n fastmath<afn> : f32
  return %y : f32
}

// CHECK-LABEL: func.func @lanes
// CHECK-NOT: math.tanh
// CHECK: math.fma %{{.*}} : vector<8xf32>
// CHECK: math.copysign
func.func @lanes(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.tanh %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @others
// CHECK-NOT: {{math[.](log|erf|erfc|powf)}}
// CHECK: return
func.func @others(%x: f32, %y: f32) -> f32 {
  %a = math.log %x : f32
  %b = math.erf %a : f32
  %c = math.erfc %b : f32
  %d = math.powf %c, %y : f32
  return %d : f32
}

// CHECK-LABEL: func.func @square
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: return %[[Y]]
func.func @square(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %y = math.powf %x, %two : f32
  return %y : f32
}

// CHECK-LABEL: func.func @stays
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.sin %{{.*}} : f32
func.func @stays(%x: f64, %y: f32) -> (f64, f32) {
  %a = math.exp %x : f64
  %b = math.sin %y : f32
  return %a, %b : f64, f32
}
