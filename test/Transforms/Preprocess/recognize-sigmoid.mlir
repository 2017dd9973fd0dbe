// Sigmoid, Softplus and Mish found in their parts.
// RUN: onnxq-opt %s --onnx-recognize-sigmoid | FileCheck %s
// RUN: onnxq-opt %s --onnx-recognize-sigmoid=max-opset=17 | FileCheck %s --check-prefix=OLD

// CHECK-LABEL: @sigmoid(
// CHECK: "onnx.Sigmoid"(%arg0) {onnx_result_names = ["y"]}
// CHECK-NOT: onnx.Exp
func.func @sigmoid(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = "onnx.Neg"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Exp"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Div"(%one, %2) {onnx_result_names = ["y"]} : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// CHECK-LABEL: @reciprocal(
// CHECK: "onnx.Sigmoid"(%arg0)
func.func @reciprocal(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %minus = onnx.Constant dense<-1.0> : tensor<f32>
  %0 = "onnx.Mul"(%x, %minus) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Exp"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Reciprocal"(%2) : (tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// CHECK-LABEL: @swish(
// CHECK: [[S:%.+]] = "onnx.Sigmoid"(%arg0) {onnx_node_name = "d_sigmoid", onnx_result_names = ["y_sigmoid"]}
// CHECK: "onnx.Mul"(%arg0, [[S]]) {onnx_node_name = "d", onnx_result_names = ["y"]}
func.func @swish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = "onnx.Neg"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Exp"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Div"(%x, %2) {onnx_node_name = "d", onnx_result_names = ["y"]} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// CHECK-LABEL: @mish(
// CHECK: "onnx.Mish"(%arg0)
// CHECK-NOT: onnx.Tanh
// OLD-LABEL: @mish(
// OLD: onnx.Softplus
// OLD: onnx.Tanh
func.func @mish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = "onnx.Exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Add"(%0, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = "onnx.Log"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = "onnx.Tanh"(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%x, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// 2 / (1 + exp(-x)), and 1 / (1 + exp(x)).
// CHECK-LABEL: @others(
// CHECK-NOT: onnx.Sigmoid
// CHECK: onnx.Return
func.func @others(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %0 = "onnx.Neg"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Exp"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Add"(%1, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Div"(%two, %2) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = "onnx.Exp"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = "onnx.Add"(%3, %one) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %z = "onnx.Div"(%one, %4) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y, %z : tensor<8xf32>, tensor<8xf32>
}
