// HardSigmoid and HardSwish found in their parts.
// RUN: onnxq-opt %s --onnx-recognize-hard-swish | FileCheck %s
// RUN: onnxq-opt %s --onnx-recognize-hard-swish=max-opset=13 | FileCheck %s --check-prefix=OLD

// CHECK-LABEL: @swish(
// CHECK: [[Y:%.+]] = "onnx.HardSwish"(%arg0) {onnx_node_name = "div", onnx_result_names = ["y"]}
// CHECK-NEXT: onnx.Return [[Y]]
// OLD-LABEL: @swish(
// OLD: [[H:%.+]] = "onnx.HardSigmoid"(%arg0) <{alpha = 0.166666672 : f32, beta = 5.000000e-01 : f32
// OLD: "onnx.Mul"(%arg0, [[H]]) {onnx_node_name = "div", onnx_result_names = ["y"]}
func.func @swish(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %three = onnx.Constant dense<3.0> : tensor<1xf32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %0 = "onnx.Add"(%x, %three) : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  %1 = "onnx.Clip"(%0, %zero, %six) : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> tensor<?x8xf32>
  %2 = "onnx.Mul"(%x, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = "onnx.Div"(%2, %six) {onnx_node_name = "div", onnx_result_names = ["y"]} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  onnx.Return %y : tensor<?x8xf32>
}

// The factor on the ramp, and Relu and Min for the Clip.
// CHECK-LABEL: @swish_of_min(
// CHECK: "onnx.HardSwish"(%arg0)
func.func @swish_of_min(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %sixth = onnx.Constant dense<0.16666667> : tensor<f32>
  %0 = "onnx.Add"(%three, %x) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = "onnx.Relu"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "onnx.Min"(%1, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = "onnx.Mul"(%2, %sixth) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%3, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// CHECK-LABEL: @swish_of_hard_sigmoid(
// CHECK: "onnx.HardSwish"(%arg0)
// OLD-LABEL: @swish_of_hard_sigmoid(
// OLD: onnx.HardSigmoid
// OLD: onnx.Mul
func.func @swish_of_hard_sigmoid(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "onnx.HardSigmoid"(%x) {alpha = 0.166666672 : f32, beta = 0.5 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Mul"(%x, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// CHECK-LABEL: @sigmoid(
// CHECK: "onnx.HardSigmoid"(%arg0) <{alpha = 2.500000e-01 : f32, beta = 5.000000e-01 : f32}>
// CHECK-NOT: onnx.Clip
func.func @sigmoid(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %four = onnx.Constant dense<4.0> : tensor<f32>
  %0 = "onnx.Add"(%x, %two) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Clip"(%0, %zero, %four) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Div"(%1, %four) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// A slope of its own, and a limit of 1.
// CHECK-LABEL: @sigmoid_to_one(
// CHECK: "onnx.HardSigmoid"(%arg0) <{alpha = 2.000000e-01 : f32, beta = 5.000000e-01 : f32}>
func.func @sigmoid_to_one(%x: tensor<8xf32>) -> tensor<8xf32> {
  %slope = onnx.Constant dense<0.2> : tensor<f32>
  %half = onnx.Constant dense<0.5> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %0 = "onnx.Mul"(%x, %slope) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Add"(%0, %half) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Clip"(%1, %zero, %one) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// A Clip alone is a Clip.
// CHECK-LABEL: @clip(
// CHECK: onnx.Clip
func.func @clip(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %one = onnx.Constant dense<1.0> : tensor<f32>
  %y = "onnx.Clip"(%x, %zero, %one) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// Divided by another number than the limit.
// CHECK-LABEL: @other_limit(
// CHECK: onnx.Clip
func.func @other_limit(%x: tensor<8xf32>) -> tensor<8xf32> {
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %four = onnx.Constant dense<4.0> : tensor<f32>
  %five = onnx.Constant dense<5.0> : tensor<f32>
  %0 = "onnx.Add"(%x, %two) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Clip"(%0, %zero, %four) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %y = "onnx.Div"(%1, %five) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// Times something else than its own input.
// CHECK-LABEL: @other_factor(
// CHECK-NOT: onnx.HardSwish
// CHECK: onnx.Clip
func.func @other_factor(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %0 = "onnx.Add"(%x, %three) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Clip"(%0, %zero, %six) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %2 = "onnx.Mul"(%z, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Div"(%2, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y : tensor<8xf32>
}

// The ramp is read by others.
// CHECK-LABEL: @read_twice(
// CHECK: onnx.Clip
// CHECK: onnx.Div
func.func @read_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %three = onnx.Constant dense<3.0> : tensor<f32>
  %zero = onnx.Constant dense<0.0> : tensor<f32>
  %six = onnx.Constant dense<6.0> : tensor<f32>
  %0 = "onnx.Add"(%x, %three) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = "onnx.Clip"(%0, %zero, %six) : (tensor<8xf32>, tensor<f32>, tensor<f32>) -> tensor<8xf32>
  %2 = "onnx.Mul"(%x, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %y = "onnx.Div"(%2, %six) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  onnx.Return %y, %1 : tensor<8xf32>, tensor<8xf32>
}
