// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: func.func @if
// CHECK-SAME: %[[COND:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>
func.func @if(%cond: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "onnx.If"(%[[COND]]) ({
  // CHECK-NEXT: %[[R:.*]] = "onnx.Relu"(%[[X]])
  // CHECK-NEXT: onnx.Yield %[[R]] : tensor<4xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT: onnx.Yield %[[X]] : tensor<4xf32>
  // CHECK-NEXT: }) : (tensor<i1>) -> tensor<4xf32>
  %y = "onnx.If"(%cond) ({
    %a = "onnx.Relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %a : tensor<4xf32>
  }, {
    onnx.Yield %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop
func.func @loop(%m: tensor<i64>, %c: tensor<i1>, %zero: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "onnx.Loop"(%{{.*}}, %{{.*}}, %{{.*}}) ({
  // CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i64>, %[[C:.*]]: tensor<i1>, %[[S:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[N:.*]] = "onnx.Add"(%[[S]], %{{.*}})
  // CHECK-NEXT: onnx.Yield %[[C]], %[[N]], %[[N]] : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
  %sum, %all = "onnx.Loop"(%m, %c, %zero) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<4xf32>):
    %n = "onnx.Add"(%s, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    onnx.Yield %cond, %n, %n : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32>)
  onnx.Return %sum : tensor<4xf32>
}

// A loop without limit and condition, and a branch inside of its body.
// CHECK-LABEL: func.func @nested
func.func @nested(%x: tensor<*xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // CHECK: "onnx.Loop"(%{{.*}}, %{{.*}}, %{{.*}}) ({
  // CHECK: "onnx.If"(%{{.*}}) ({
  // CHECK: }) : (none, none, tensor<*xf32>) -> tensor<*xf32>
  %y = "onnx.Loop"(%none, %none, %x) ({
  ^bb0(%i: tensor<i64>, %cond: tensor<i1>, %s: tensor<*xf32>):
    %n = "onnx.If"(%cond) ({
      onnx.Yield %s : tensor<*xf32>
    }, {
      onnx.Yield %x : tensor<*xf32>
    }) : (tensor<i1>) -> tensor<*xf32>
    onnx.Yield %cond, %n : tensor<i1>, tensor<*xf32>
  }) : (none, none, tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @scan
func.func @scan(%zero: tensor<2xf32>, %x: tensor<2x3xf32>) -> tensor<2xf32> {
  // CHECK: "onnx.Scan"(%{{.*}}, %{{.*}}) <{num_scan_inputs = 1 : si64, scan_input_axes = [1], scan_input_directions = [0], scan_output_axes = [-1], scan_output_directions = [1]}> ({
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>):
  // CHECK: }) : (tensor<2xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  %sum, %all = "onnx.Scan"(%zero, %x) ({
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
    %n = "onnx.Add"(%s, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %n, %n : tensor<2xf32>, tensor<2xf32>
  }) {num_scan_inputs = 1 : si64, scan_input_axes = [1], scan_input_directions = [0], scan_output_axes = [-1],
      scan_output_directions = [1]} : (tensor<2xf32>, tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2x3xf32>)
  onnx.Return %sum : tensor<2xf32>
}
