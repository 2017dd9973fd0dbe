// Equal constants become one.
// RUN: onnxq-opt %s --onnx-merge-constants | FileCheck %s

// CHECK-LABEL: @equal(
// CHECK: [[A:%.+]] = onnx.Constant {onnx_result_names = ["a"], value = dense<1.000000e+00> : tensor<4xf32>
// CHECK-NOT: onnx_result_names = ["b"]
// CHECK: "onnx.Sum"(%arg0, [[A]], [[A]])
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = onnx.Constant {onnx_result_names = ["a"]} dense<1.0> : tensor<4xf32>
  %b = onnx.Constant {onnx_result_names = ["b"]} dense<1.0> : tensor<4xf32>
  %y = "onnx.Sum"(%x, %a, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %y : tensor<4xf32>
}

// Resources are compared by their bytes.
// CHECK-LABEL: @resources(
// CHECK: [[A:%.+]] = onnx.Constant dense_resource<a>
// CHECK: [[C:%.+]] = onnx.Constant dense_resource<c>
// CHECK: "onnx.Sum"(%arg0, [[A]], [[A]], [[C]])
func.func @resources(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = onnx.Constant dense_resource<a> : tensor<2xf32>
  %b = onnx.Constant dense_resource<b> : tensor<2xf32>
  %c = onnx.Constant dense_resource<c> : tensor<2xf32>
  %y = "onnx.Sum"(%x, %a, %b, %c) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// Other types, and outputs, stay.
// CHECK-LABEL: @different(
// CHECK-COUNT-4: onnx.Constant
func.func @different(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = onnx.Constant dense<1.0> : tensor<4xf32>
  %b = onnx.Constant dense<1.0> : tensor<1xf32>
  %c = onnx.Constant dense<2.0> : tensor<4xf32>
  %d = onnx.Constant dense<1.0> : tensor<4xf32>
  %y = "onnx.Sum"(%x, %a, %b, %c) : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.Return %y, %d : tensor<4xf32>, tensor<4xf32>
}

// A branch sees what is outside, not what is in the other branch.
// CHECK-LABEL: @branches(
// CHECK: [[W:%.+]] = onnx.Constant dense<1.000000e+00> : tensor<2xf32>
// CHECK: "onnx.Add"(%arg1, [[W]])
// CHECK: [[T:%.+]] = onnx.Constant dense<3.000000e+00>
// CHECK: [[E:%.+]] = onnx.Constant dense<3.000000e+00>
func.func @branches(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %w = onnx.Constant dense<1.0> : tensor<2xf32>
  %r = "onnx.If"(%c) ({
    %one = onnx.Constant dense<1.0> : tensor<2xf32>
    %0 = "onnx.Add"(%x, %one) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %three = onnx.Constant dense<3.0> : tensor<2xf32>
    %1 = "onnx.Add"(%0, %three) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %1 : tensor<2xf32>
  }, {
    %three = onnx.Constant dense<3.0> : tensor<2xf32>
    %0 = "onnx.Add"(%x, %three) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  %y = "onnx.Add"(%r, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  onnx.Return %y : tensor<2xf32>
}

// Resources of both branches move in front of them; the else branch's own one
// stays.
// CHECK-LABEL: @tied(
// CHECK: [[W:%.+]] = onnx.Constant {onnx_result_names = ["w"], value = dense_resource<a> : tensor<2xf32>}
// CHECK-NEXT: "onnx.If"
// CHECK-NEXT: "onnx.Add"(%arg1, [[W]])
// CHECK: }, {
// CHECK-NEXT: [[C:%.+]] = onnx.Constant dense_resource<c>
// CHECK-NEXT: "onnx.Sum"(%arg1, [[W]], [[C]])
func.func @tied(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = "onnx.If"(%c) ({
    %w = onnx.Constant {onnx_result_names = ["w"]} dense_resource<a> : tensor<2xf32>
    %0 = "onnx.Add"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }, {
    %w = onnx.Constant {onnx_result_names = ["w"]} dense_resource<b> : tensor<2xf32>
    %v = onnx.Constant dense_resource<c> : tensor<2xf32>
    %0 = "onnx.Sum"(%x, %w, %v) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  onnx.Return %r : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      a: "0x040000000000803F00000040",
      b: "0x040000000000803F00000040",
      c: "0x040000000000803F0000803F"
    }
  }
#-}
