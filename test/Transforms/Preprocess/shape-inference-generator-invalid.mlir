// Contents that make no shape, in the Generator family.
//
// RUN: onnxq-opt %s --onnx-shape-inference --split-input-file --verify-diagnostics

func.func @negative_dimension() -> tensor<*xf32> {
  %shape = onnx.Constant dense<[2, -1]> : tensor<2xi64>
  // expected-error @+1 {{infers dimension 1 of result 0 as -1}}
  %y = "onnx.ConstantOfShape"(%shape) : (tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @too_many_dimensions(%shape: tensor<65xi64>) -> tensor<*xf32> {
  // expected-error @+1 {{expects at most 64 dimensions, but got 65}}
  %y = "onnx.ConstantOfShape"(%shape) : (tensor<65xi64>) -> tensor<*xf32>
  onnx.Return %y : tensor<*xf32>
}

// -----

func.func @range_without_step(%limit: tensor<i64>) -> tensor<*xi64> {
  %zero = onnx.Constant dense<0> : tensor<i64>
  // expected-error @+1 {{expects a delta other than 0, but got 0}}
  %y = "onnx.Range"(%zero, %limit, %zero) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  onnx.Return %y : tensor<*xi64>
}

// -----

func.func @range_overflow() -> tensor<*xi64> {
  %min = onnx.Constant dense<-9223372036854775808> : tensor<i64>
  %max = onnx.Constant dense<9223372036854775807> : tensor<i64>
  %one = onnx.Constant dense<1> : tensor<i64>
  // expected-error @+1 {{infers dimension 0 of result 0 larger than 64 bits}}
  %y = "onnx.Range"(%min, %max, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  onnx.Return %y : tensor<*xi64>
}
