// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics | FileCheck %s

// Equal dimensions are kept, others are unknown; so is the rank.
// CHECK-LABEL: func.func @if
// CHECK-SAME: -> (tensor<?x4xf32>, tensor<*xf32>, tensor<2x4xf32>)
func.func @if(%cond: tensor<i1>, %x: tensor<2x4xf32>, %y: tensor<3x4xf32>, %z: tensor<4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // CHECK: "onnx.If"
  // CHECK: "onnx.Relu"(%{{.*}}) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: onnx.Yield %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  // CHECK: }) : (tensor<i1>) -> (tensor<?x4xf32>, tensor<*xf32>, tensor<2x4xf32>)
  %0:3 = "onnx.If"(%cond) ({
    %r = "onnx.Relu"(%x) : (tensor<2x4xf32>) -> tensor<*xf32>
    onnx.Yield %r, %r, %r : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }, {
    onnx.Yield %y, %z, %x : tensor<3x4xf32>, tensor<4xf32>, tensor<2x4xf32>
  }) : (tensor<i1>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0, %0#1, %0#2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @if_symbolic
func.func @if_symbolic(%cond: tensor<i1>, %x: tensor<?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> tensor<*xf32> {
  // CHECK: "onnx.If"
  // CHECK: onnx_dim_params = ["0:batch"]} : (tensor<i1>) -> tensor<?x4xf32>
  %0 = "onnx.If"(%cond) ({
    %r = "onnx.Relu"(%x) : (tensor<?x4xf32>) -> tensor<*xf32>
    onnx.Yield %r : tensor<*xf32>
  }, {
    onnx.Yield %x : tensor<?x4xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// The branch that isn't taken is wrong for these shapes, and goes.
// CHECK-LABEL: func.func @if_known
// CHECK-SAME: -> tensor<2x3xf32>
func.func @if_known(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %cond = onnx.Constant dense<false> : tensor<i1>
  %a = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
  // CHECK: %[[Y:.*]] = "onnx.Sigmoid"(%{{.*}}) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: "onnx.If"
  // CHECK-NEXT: onnx.Yield %[[Y]] : tensor<2x3xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT: onnx.Yield %[[Y]] : tensor<2x3xf32>
  // CHECK-NEXT: }) : (tensor<i1>) -> tensor<2x3xf32>
  %0 = "onnx.If"(%cond) ({
    %r = "onnx.MatMul"(%a, %x) : (tensor<*xf32>, tensor<2x3xf32>) -> tensor<*xf32>
    onnx.Yield %r : tensor<*xf32>
  }, {
    %r = "onnx.Sigmoid"(%a) : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %r : tensor<*xf32>
  }) : (tensor<i1>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK-SAME: -> (tensor<4xf32>, tensor<10x4xf32>)
func.func @loop(%zero: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %m = onnx.Constant dense<10> : tensor<i64>
  %true = onnx.Constant dense<true> : tensor<i1>
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4xf32>):
  // CHECK: "onnx.Add"(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum, %all = "onnx.Loop"(%m, %true, %zero) ({
  ^bb0(%i: tensor<*xi64>, %c: tensor<*xi1>, %s: tensor<*xf32>):
    %n = "onnx.Add"(%s, %x) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
    %next = "onnx.Identity"(%c) : (tensor<*xi1>) -> tensor<*xi1>
    onnx.Yield %next, %n, %n : tensor<*xi1>, tensor<*xf32>, tensor<*xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %sum, %all : tensor<*xf32>, tensor<*xf32>
}

// -----

// A loop that may end early, and one that never starts.
// CHECK-LABEL: func.func @trip_counts
// CHECK-SAME: -> (tensor<?x4xf32>, tensor<0x4xf32>, tensor<3x4xf32>)
func.func @trip_counts(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %m = onnx.Constant dense<3> : tensor<i64>
  %negative = onnx.Constant dense<-3> : tensor<i64>
  %0 = "onnx.Loop"(%m, %none) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>):
    onnx.Yield %c, %x : tensor<i1>, tensor<4xf32>
  }) : (tensor<i64>, none) -> tensor<*xf32>
  %1 = "onnx.Loop"(%negative, %none) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>):
    onnx.Yield %cond, %x : tensor<i1>, tensor<4xf32>
  }) : (tensor<i64>, none) -> tensor<*xf32>
  %2 = "onnx.Loop"(%m, %none) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>):
    %true = onnx.Constant dense<true> : tensor<i1>
    onnx.Yield %true, %x : tensor<i1>, tensor<4xf32>
  }) : (tensor<i64>, none) -> tensor<*xf32>
  onnx.Return %0, %1, %2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// What grows is unknown, what stays is kept.
// CHECK-LABEL: func.func @growing
// CHECK-SAME: -> tensor<?x4xf32>
func.func @growing(%m: tensor<i64>, %empty: tensor<0x4xf32>, %x: tensor<1x4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<?x4xf32>):
  // CHECK-NEXT: "onnx.Concat"
  // CHECK-SAME: (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  // CHECK-NOT: onnx.Concat
  %0 = "onnx.Loop"(%m, %none, %empty) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<*xf32>):
    %n = "onnx.Concat"(%s, %x) {axis = 0 : si64} : (tensor<*xf32>, tensor<1x4xf32>) -> tensor<*xf32>
    onnx.Yield %c, %n : tensor<i1>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<0x4xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// One value's change spreads to another by and by.
// CHECK-LABEL: func.func @spreading
// CHECK-SAME: -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<1x4xf32>)
func.func @spreading(%m: tensor<i64>, %x: tensor<1x4xf32>)
    -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %0:4 = "onnx.Loop"(%m, %none, %x, %x, %x, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %p: tensor<*xf32>, %q: tensor<*xf32>, %r: tensor<*xf32>, %s: tensor<*xf32>):
    %n = "onnx.Concat"(%r, %x) {axis = 0 : si64} : (tensor<*xf32>, tensor<1x4xf32>) -> tensor<*xf32>
    onnx.Yield %c, %q, %r, %n, %s : tensor<i1>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
      -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0, %0#1, %0#2, %0#3 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// Even the rank may change, and a swap of sizes is no fixed size.
// CHECK-LABEL: func.func @changing
// CHECK-SAME: -> (tensor<*xf32>, tensor<?x?xf32>)
func.func @changing(%m: tensor<i64>, %x: tensor<4xf32>, %y: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %axes = onnx.Constant dense<0> : tensor<1xi64>
  %0:2 = "onnx.Loop"(%m, %none, %x, %y) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<*xf32>, %t: tensor<*xf32>):
    %n = "onnx.Unsqueeze"(%s, %axes) : (tensor<*xf32>, tensor<1xi64>) -> tensor<*xf32>
    %u = "onnx.Transpose"(%t) {perm = [1, 0]} : (tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %c, %n, %u : tensor<i1>, tensor<*xf32>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<4xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// What the model declares is trusted: the body's result could be of any size.
// CHECK-LABEL: func.func @declared
func.func @declared(%m: tensor<i64>, %x: tensor<?x4xf32>, %any: tensor<*xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<1xi1>, %{{.*}}: tensor<8x4xf32>):
  // CHECK-NEXT: "onnx.Relu"(%{{.*}}) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = "onnx.Loop"(%m, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<1xi1>, %s: tensor<8x?xf32>):
    %n = "onnx.Relu"(%s) : (tensor<8x?xf32>) -> tensor<*xf32>
    onnx.Yield %c, %n : tensor<1xi1>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<?x4xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @loop_symbolic
func.func @loop_symbolic(%m: tensor<i64>, %x: tensor<?x4xf32> {onnx.name = "x", onnx.dim_params = "0:batch"}) -> (tensor<*xf32>, tensor<*xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: onnx_dim_params = ["0:batch", "1:batch"]} : (tensor<i64>, none, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x?x4xf32>)
  %0:2 = "onnx.Loop"(%m, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<*xf32>):
    %n = "onnx.Add"(%s, %x) : (tensor<*xf32>, tensor<?x4xf32>) -> tensor<*xf32>
    onnx.Yield %c, %n, %n : tensor<i1>, tensor<*xf32>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<?x4xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0, %0#1 : tensor<*xf32>, tensor<*xf32>
}

// -----

// Loops inside of loops.
// CHECK-LABEL: func.func @nested
func.func @nested(%m: tensor<i64>, %x: tensor<4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4xf32>):
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4xf32>):
  %0 = "onnx.Loop"(%m, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<*xf32>):
    %1 = "onnx.Loop"(%m, %none, %s) ({
    ^bb0(%j: tensor<i64>, %d: tensor<i1>, %t: tensor<*xf32>):
      %n = "onnx.Relu"(%t) : (tensor<*xf32>) -> tensor<*xf32>
      onnx.Yield %d, %n : tensor<i1>, tensor<*xf32>
    }) : (tensor<i64>, none, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %c, %1 : tensor<i1>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// The costs of trials multiply: a loop inside of three others gives up at once.
// CHECK-LABEL: func.func @deep
func.func @deep(%m: tensor<i64>, %x: tensor<4xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK-COUNT-3: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<4xf32>):
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<*xf32>):
  %0 = "onnx.Loop"(%m, %none, %x) ({
  ^bb0(%i0: tensor<i64>, %c0: tensor<i1>, %s0: tensor<*xf32>):
    %1 = "onnx.Loop"(%m, %none, %s0) ({
    ^bb0(%i1: tensor<i64>, %c1: tensor<i1>, %s1: tensor<*xf32>):
      %2 = "onnx.Loop"(%m, %none, %s1) ({
      ^bb0(%i2: tensor<i64>, %c2: tensor<i1>, %s2: tensor<*xf32>):
        %3 = "onnx.Loop"(%m, %none, %s2) ({
        ^bb0(%i3: tensor<i64>, %c3: tensor<i1>, %s3: tensor<*xf32>):
          onnx.Yield %c3, %s3 : tensor<i1>, tensor<*xf32>
        }) : (tensor<i64>, none, tensor<*xf32>) -> tensor<*xf32>
        onnx.Yield %c2, %s2 : tensor<i1>, tensor<*xf32>
      }) : (tensor<i64>, none, tensor<*xf32>) -> tensor<*xf32>
      onnx.Yield %c1, %2 : tensor<i1>, tensor<*xf32>
    }) : (tensor<i64>, none, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %c0, %1 : tensor<i1>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @scan
// CHECK-SAME: -> (tensor<2xf32>, tensor<2x3xf32>, tensor<3x2xf32>)
func.func @scan(%zero: tensor<2xf32>, %x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>) {
  // CHECK: ^bb0(%{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>):
  %0:3 = "onnx.Scan"(%zero, %x) ({
  ^bb0(%s: tensor<*xf32>, %e: tensor<*xf32>):
    %n = "onnx.Add"(%s, %e) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %n, %n, %n : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
  }) {num_scan_inputs = 1 : si64, scan_input_axes = [1], scan_output_axes = [-1, 0]}
      : (tensor<2xf32>, tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#0, %0#1, %0#2 : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
}

// -----

// CHECK-LABEL: func.func @scan_symbolic
func.func @scan_symbolic(%zero: tensor<2xf32>, %x: tensor<?x2xf32> {onnx.name = "x", onnx.dim_params = "0:length"}) -> tensor<*xf32> {
  // CHECK: onnx_dim_params = ["", "0:length"]} : (tensor<2xf32>, tensor<?x2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
  %0:2 = "onnx.Scan"(%zero, %x) ({
  ^bb0(%s: tensor<*xf32>, %e: tensor<*xf32>):
    %n = "onnx.Add"(%s, %e) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
    onnx.Yield %n, %n : tensor<*xf32>, tensor<*xf32>
  }) {num_scan_inputs = 1 : si64} : (tensor<2xf32>, tensor<?x2xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  onnx.Return %0#1 : tensor<*xf32>
}

// -----

// An error in a body is reported once, not for every trial.
func.func @wrong_body(%m: tensor<i64>, %x: tensor<2x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Loop"(%m, %none, %x) ({
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %s: tensor<*xf32>):
    %a = "onnx.Relu"(%x) : (tensor<2x3xf32>) -> tensor<*xf32>
    // expected-error @+1 {{expects as many columns as rows, but got 3 columns and 2 rows (C2)}}
    %n = "onnx.MatMul"(%a, %x) : (tensor<*xf32>, tensor<2x3xf32>) -> tensor<*xf32>
    onnx.Yield %c, %s : tensor<i1>, tensor<*xf32>
  }) : (tensor<i64>, none, tensor<2x3xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}

// -----

func.func @scan_axis(%x: tensor<3x2xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects the axis of a scan output within rank 2, but got 2 (C6)}}
  %0 = "onnx.Scan"(%x) ({
  ^bb0(%e: tensor<*xf32>):
    onnx.Yield %e : tensor<*xf32>
  }) {num_scan_inputs = 1 : si64, scan_output_axes = [2]} : (tensor<3x2xf32>) -> tensor<*xf32>
  onnx.Return %0 : tensor<*xf32>
}
