// LayerNormalization found in its parts.
// RUN: onnxq-opt %s --onnx-recognize-layer-norm | FileCheck %s
// RUN: onnxq-opt %s --onnx-recognize-layer-norm=max-opset=16 | FileCheck %s --check-prefix=OLD

// OLD-NOT: onnx.LayerNormalization

// CHECK-LABEL: @whole(
// CHECK-DAG: [[S:%.+]] = onnx.Constant {onnx_result_names = ["gamma"],
// CHECK-DAG: [[B:%.+]] = onnx.Constant {onnx_result_names = ["beta"],
// CHECK: "onnx.LayerNormalization"(%arg0, [[S]], [[B]]) <{axis = -1 : si64, epsilon = 9.99999974E-6 : f32
// CHECK-SAME: stash_type = 1 : si64}> {onnx_result_names = ["y"]
// CHECK-NOT: onnx.ReduceMean
func.func @whole(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %axes = onnx.Constant dense<[-1]> : tensor<1xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %two = onnx.Constant dense<2.0> : tensor<f32>
  %gamma = onnx.Constant {onnx_result_names = ["gamma"]} dense<3.0> : tensor<8xf32>
  %beta = onnx.Constant {onnx_result_names = ["beta"]} dense<4.0> : tensor<8xf32>
  %0 = "onnx.ReduceMean"(%x, %axes) {keepdims = 1 : si64} : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %1 = "onnx.Sub"(%x, %0) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %2 = "onnx.Pow"(%1, %two) : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) {keepdims = 1 : si64} : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %5 = "onnx.Sqrt"(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = "onnx.Div"(%1, %5) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %7 = "onnx.Mul"(%6, %gamma) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %y = "onnx.Add"(%7, %beta) {onnx_result_names = ["y"]} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  onnx.Return %y : tensor<?x8xf32>
}

// Two axes, a product by the reciprocal, and neither factor nor bias.
// CHECK-LABEL: @plain(
// CHECK: [[S:%.+]] = onnx.Constant {{.*}}dense<1.000000e+00> : tensor<4x8xf32>
// CHECK: "onnx.LayerNormalization"(%arg0, [[S]], %{{.+}}) <{axis = -2 : si64
func.func @plain(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %axes = onnx.Constant dense<[1, 2]> : tensor<2xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %0 = "onnx.ReduceMean"(%x, %axes) : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<2x1x1xf32>
  %1 = "onnx.Sub"(%x, %0) : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %2 = "onnx.Mul"(%1, %1) : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<2x1x1xf32>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %5 = "onnx.Sqrt"(%4) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %6 = "onnx.Reciprocal"(%5) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %y = "onnx.Mul"(%1, %6) : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  onnx.Return %y : tensor<2x4x8xf32>
}

// Widened for it and narrowed again: what the operator does by itself, so that a
// node that was spelt out is found again.
// CHECK-LABEL: @widened(
// CHECK-DAG: [[S:%.+]] = onnx.Constant dense<3.000000e+00> : tensor<8xf16>
// CHECK: "onnx.LayerNormalization"(%arg0, [[S]], %{{.+}}) <{axis = -1 : si64{{.*}} : (tensor<?x8xf16>, tensor<8xf16>, none) -> (tensor<?x8xf16>, none, none)
// CHECK-NOT: onnx.Cast
// Not if it is scaled before it is narrowed: the product is rounded elsewhere.
// CHECK-LABEL: @scaled_wide(
// CHECK: onnx.Cast
// CHECK: "onnx.LayerNormalization"({{.*}}f32
// CHECK: onnx.Cast
func.func @widened(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %axes = onnx.Constant dense<[-1]> : tensor<1xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %gamma = onnx.Constant dense<3.0> : tensor<8xf16>
  %w = "onnx.Cast"(%x) {to = f32} : (tensor<?x8xf16>) -> tensor<?x8xf32>
  %0 = "onnx.ReduceMean"(%w, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %1 = "onnx.Sub"(%w, %0) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %2 = "onnx.Mul"(%1, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %5 = "onnx.Sqrt"(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = "onnx.Div"(%1, %5) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %n = "onnx.Cast"(%6) {to = f16} : (tensor<?x8xf32>) -> tensor<?x8xf16>
  %y = "onnx.Mul"(%n, %gamma) : (tensor<?x8xf16>, tensor<8xf16>) -> tensor<?x8xf16>
  onnx.Return %y : tensor<?x8xf16>
}
func.func @scaled_wide(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %axes = onnx.Constant dense<[-1]> : tensor<1xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %gamma = onnx.Constant dense<3.0> : tensor<8xf32>
  %w = "onnx.Cast"(%x) {to = f32} : (tensor<?x8xf16>) -> tensor<?x8xf32>
  %0 = "onnx.ReduceMean"(%w, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %1 = "onnx.Sub"(%w, %0) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %2 = "onnx.Mul"(%1, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x1xf32>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %5 = "onnx.Sqrt"(%4) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %6 = "onnx.Div"(%1, %5) : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %7 = "onnx.Mul"(%6, %gamma) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %y = "onnx.Cast"(%7) {to = f16} : (tensor<?x8xf32>) -> tensor<?x8xf16>
  onnx.Return %y : tensor<?x8xf16>
}

// The axes are not the last ones.
// CHECK-LABEL: @first_axis(
// CHECK: onnx.ReduceMean
func.func @first_axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %axes = onnx.Constant dense<[0]> : tensor<1xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %0 = "onnx.ReduceMean"(%x, %axes) : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %1 = "onnx.Sub"(%x, %0) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %2 = "onnx.Mul"(%1, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<1x8xf32>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %5 = "onnx.Sqrt"(%4) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = "onnx.Div"(%1, %5) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  onnx.Return %y : tensor<4x8xf32>
}

// The deviation is an output too.
// CHECK-LABEL: @read_by_others(
// CHECK: onnx.Sqrt
func.func @read_by_others(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %axes = onnx.Constant dense<[1]> : tensor<1xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f32>
  %0 = "onnx.ReduceMean"(%x, %axes) : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %1 = "onnx.Sub"(%x, %0) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = "onnx.Mul"(%1, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "onnx.ReduceMean"(%2, %axes) : (tensor<4x8xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %5 = "onnx.Sqrt"(%4) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = "onnx.Div"(%1, %5) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  onnx.Return %y, %5 : tensor<4x8xf32>, tensor<4x1xf32>
}

// The operator computes in f32.
// CHECK-LABEL: @double(
// CHECK: onnx.Sqrt
func.func @double(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %axes = onnx.Constant dense<[1]> : tensor<1xi64>
  %epsilon = onnx.Constant dense<1.0e-5> : tensor<f64>
  %0 = "onnx.ReduceMean"(%x, %axes) : (tensor<4x8xf64>, tensor<1xi64>) -> tensor<4x1xf64>
  %1 = "onnx.Sub"(%x, %0) : (tensor<4x8xf64>, tensor<4x1xf64>) -> tensor<4x8xf64>
  %2 = "onnx.Mul"(%1, %1) : (tensor<4x8xf64>, tensor<4x8xf64>) -> tensor<4x8xf64>
  %3 = "onnx.ReduceMean"(%2, %axes) : (tensor<4x8xf64>, tensor<1xi64>) -> tensor<4x1xf64>
  %4 = "onnx.Add"(%3, %epsilon) : (tensor<4x1xf64>, tensor<f64>) -> tensor<4x1xf64>
  %5 = "onnx.Sqrt"(%4) : (tensor<4x1xf64>) -> tensor<4x1xf64>
  %y = "onnx.Div"(%1, %5) : (tensor<4x8xf64>, tensor<4x1xf64>) -> tensor<4x8xf64>
  onnx.Return %y : tensor<4x8xf64>
}
