// Batch normalizations folded into the contraction beside them.
// RUN: onnxq-opt %s --onnx-fold-batch-norm | FileCheck %s

// scale 2 / sqrt(3 + 1) = 1, shift 5 - 1 * 1 = 4; the weights stay, and the
// bias of 1 becomes 1 * 1 + 4.
// CHECK-LABEL: @after_conv(
// CHECK-DAG: [[W:%.+]] = onnx.Constant {onnx_result_names = ["w"], value = dense<{{.*}}2.0{{.*}}> : tensor<1x2x1x1xf32>
// CHECK-DAG: [[B:%.+]] = onnx.Constant {onnx_result_names = ["b"], value = dense<5.000000e+00> : tensor<1xf32>
// CHECK: [[Y:%.+]] = "onnx.Conv"(%arg0, [[W]], [[B]])
// CHECK-SAME: onnx_node_name = "conv", onnx_result_names = ["y"]
// CHECK-NOT: onnx.BatchNormalization
// CHECK: onnx.Return [[Y]]
func.func @after_conv(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[[[2.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>
  %b = onnx.Constant {onnx_result_names = ["b"]} dense<1.0> : tensor<1xf32>
  %two = onnx.Constant dense<2.0> : tensor<1xf32>
  %five = onnx.Constant dense<5.0> : tensor<1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %three = onnx.Constant dense<3.0> : tensor<1xf32>
  %0 = "onnx.Conv"(%x, %w, %b) {onnx_node_name = "conv", onnx_result_names = ["c"]}
      : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %two, %five, %one, %three) {epsilon = 1.0 : f32, onnx_node_name = "norm", onnx_result_names = ["y", "", ""]}
      : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x4x4xf32>, none, none)
  onnx.Return %y : tensor<1x1x4x4xf32>
}

// The weights of a transposed convolution are [in, out / group, ...]: with two
// groups, output channel 1 has the weights of input channel 1.
// CHECK-LABEL: @after_conv_transpose(
// CHECK: onnx.Constant dense<{{\[\[\[}}3.000000e+00]], {{\[\[}}5.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK: "onnx.ConvTranspose"
// CHECK-NOT: onnx.BatchNormalization
func.func @after_conv_transpose(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<1.0> : tensor<2x1x1xf32>
  %s = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0 = "onnx.ConvTranspose"(%x, %w, %none) {group = 2 : si64} : (tensor<1x2x4xf32>, tensor<2x1x1xf32>, none) -> tensor<1x2x4xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %s, %zero, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4xf32>, none, none)
  onnx.Return %y : tensor<1x2x4xf32>
}

// beta * C is scaled, and beta is 1 after that: 0.5 * 4 * 3 = 6.
// CHECK-LABEL: @after_gemm(
// CHECK-DAG: dense<{{\[\[}}3.000000e+00, 6.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG: dense<6.000000e+00> : tensor<1xf32>
// CHECK: "onnx.Gemm"
// CHECK-SAME: beta = 1.000000e+00 : f32
// CHECK-NOT: onnx.BatchNormalization
func.func @after_gemm(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %c = onnx.Constant dense<4.0> : tensor<f32>
  %s = onnx.Constant dense<3.0> : tensor<1xf32>
  %zero = onnx.Constant dense<0.0> : tensor<1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %0 = "onnx.Gemm"(%x, %w, %c) {alpha = 1.0 : f32, beta = 0.5 : f32, transB = 1 : si64} : (tensor<?x2xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<?x1xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %s, %zero, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, none, none)
  onnx.Return %y : tensor<?x1xf32>
}

// Before a convolution without padding the shift of 1 goes to the bias: the sum
// of the weights.
// CHECK-LABEL: @before_conv(
// CHECK-DAG: dense<{{.*}}4.0{{.*}}6.0{{.*}}> : tensor<1x2x1x1xf32>
// CHECK-DAG: dense<5.000000e+00> : tensor<1xf32>
// CHECK: "onnx.Conv"(%arg0
// CHECK-NOT: onnx.BatchNormalization
func.func @before_conv(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<[[[[2.0]], [[3.0]]]]> : tensor<1x2x1x1xf32>
  %two = onnx.Constant dense<2.0> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0, %m, %v = "onnx.BatchNormalization"(%x, %two, %one, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4x4xf32>, none, none)
  %y = "onnx.Conv"(%0, %w, %none) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, none) -> tensor<1x1x4x4xf32>
  onnx.Return %y : tensor<1x1x4x4xf32>
}

// Padding is zero behind the normalization, and would be shifted in front of it.
// CHECK-LABEL: @before_padded_conv(
// CHECK: onnx.BatchNormalization
func.func @before_padded_conv(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x6x6xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<2.0> : tensor<1x2x1x1xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0, %m, %v = "onnx.BatchNormalization"(%x, %one, %one, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x4x4xf32>, none, none)
  %y = "onnx.Conv"(%0, %w, %none) {pads = [1, 1, 1, 1]} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, none) -> tensor<1x1x6x6xf32>
  onnx.Return %y : tensor<1x1x6x6xf32>
}

// CHECK-LABEL: @read_twice(
// CHECK: onnx.BatchNormalization
func.func @read_twice(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<2.0> : tensor<1x2x1x1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, none) -> tensor<1x1x4x4xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %one, %one, %one, %one)
      : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x4x4xf32>, none, none)
  onnx.Return %y, %0 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// CHECK-LABEL: @variance_not_positive(
// CHECK: onnx.BatchNormalization
func.func @variance_not_positive(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<2.0> : tensor<1x2x1x1xf32>
  %one = onnx.Constant dense<1.0> : tensor<1xf32>
  %bad = onnx.Constant dense<-1.0> : tensor<1xf32>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>, none) -> tensor<1x1x4x4xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %one, %one, %one, %bad)
      : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1x4x4xf32>, none, none)
  onnx.Return %y : tensor<1x1x4x4xf32>
}

// In f16 the weight would be infinite.
// CHECK-LABEL: @overflow(
// CHECK: onnx.BatchNormalization
func.func @overflow(%x: tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf16> {
  %none = "onnx.NoValue"() {value} : () -> none
  %w = onnx.Constant dense<1.0e4> : tensor<1x1x1x1xf16>
  %zero = onnx.Constant dense<0.0> : tensor<1xf16>
  %big = onnx.Constant dense<1.0e3> : tensor<1xf16>
  %one = onnx.Constant dense<1.0> : tensor<1xf16>
  %0 = "onnx.Conv"(%x, %w, %none) : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>, none) -> tensor<1x1x4x4xf16>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %big, %zero, %zero, %one)
      : (tensor<1x1x4x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> (tensor<1x1x4x4xf16>, none, none)
  onnx.Return %y : tensor<1x1x4x4xf16>
}

// The columns of a product of two matrices: factors 3 and 5, shifts 1 and -2.
// CHECK-LABEL: @after_matmul(
// CHECK-DAG: [[W:%.+]] = onnx.Constant {onnx_result_names = ["w"], value = dense<{{\[\[}}3.000000e+00, 1.000000e+01], [9.000000e+00, 2.000000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: [[B:%.+]] = onnx.Constant {{.*}}dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
// CHECK: [[P:%.+]] = "onnx.MatMul"(%arg0, [[W]]) {onnx_node_name = "p"}
// CHECK: [[Y:%.+]] = "onnx.Add"([[P]], [[B]]) {onnx_node_name = "norm", onnx_result_names = ["y"]}
// CHECK-NOT: onnx.BatchNormalization
// CHECK: onnx.Return [[Y]]
func.func @after_matmul(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[1.0, -2.0]> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0 = "onnx.MatMul"(%x, %w) {onnx_node_name = "p", onnx_result_names = ["t"]} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %s, %b, %zero, %one) {epsilon = 0.0 : f32, onnx_node_name = "norm", onnx_result_names = ["y", "", ""]}
      : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, none, none)
  onnx.Return %y : tensor<4x2xf32>
}

// Rank 3, turned so that the columns are channels; the bias of 10 becomes
// 10 * 3 + 1 and 10 * 5 - 2.
// CHECK-LABEL: @after_turned_matmul(
// CHECK-DAG: [[W:%.+]] = onnx.Constant {{.*}}dense<{{\[\[}}3.000000e+00, 1.000000e+01], [9.000000e+00, 2.000000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: [[B:%.+]] = onnx.Constant {{.*}}dense<[3.100000e+01, 4.800000e+01]> : tensor<2xf32>
// CHECK: [[P:%.+]] = "onnx.MatMul"(%arg0, [[W]])
// CHECK: [[A:%.+]] = "onnx.Add"([[P]], [[B]])
// CHECK: [[Y:%.+]] = "onnx.Transpose"([[A]]) {{.*}}onnx_result_names = ["y"]
// CHECK-NOT: onnx.BatchNormalization
// CHECK: onnx.Return [[Y]]
func.func @after_turned_matmul(%x: tensor<?x7x2xf32>) -> tensor<?x2x7xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %ten = onnx.Constant dense<10.0> : tensor<1x1x2xf32>
  %s = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[1.0, -2.0]> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<?x7x2xf32>, tensor<2x2xf32>) -> tensor<?x7x2xf32>
  %1 = "onnx.Add"(%ten, %0) : (tensor<1x1x2xf32>, tensor<?x7x2xf32>) -> tensor<?x7x2xf32>
  %2 = "onnx.Transpose"(%1) {perm = [0, 2, 1]} : (tensor<?x7x2xf32>) -> tensor<?x2x7xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%2, %s, %b, %zero, %one) {epsilon = 0.0 : f32, onnx_result_names = ["y", "", ""]}
      : (tensor<?x2x7xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x2x7xf32>, none, none)
  onnx.Return %y : tensor<?x2x7xf32>
}

// A matrix on the left: its rows are the channels.
// CHECK-LABEL: @after_matmul_of_rows(
// CHECK-DAG: [[W:%.+]] = onnx.Constant {{.*}}dense<{{\[\[}}3.000000e+00, 6.000000e+00], [1.500000e+01, 2.000000e+01]]> : tensor<2x2xf32>
// CHECK-DAG: [[B:%.+]] = onnx.Constant {{.*}}dense<{{\[\[}}1.000000e+00], [-2.000000e+00]]> : tensor<2x1xf32>
// CHECK: [[P:%.+]] = "onnx.MatMul"([[W]], %arg0)
// CHECK: "onnx.Add"([[P]], [[B]])
// CHECK-NOT: onnx.BatchNormalization
func.func @after_matmul_of_rows(%x: tensor<3x2x7xf32>) -> tensor<3x2x7xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>
  %b = onnx.Constant dense<[1.0, -2.0]> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0 = "onnx.MatMul"(%w, %x) : (tensor<2x2xf32>, tensor<3x2x7xf32>) -> tensor<3x2x7xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %s, %b, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<3x2x7xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2x7xf32>, none, none)
  onnx.Return %y : tensor<3x2x7xf32>
}

// Axis 1 is the sequence, though as long as the matrix is wide.
// CHECK-LABEL: @sequence(
// CHECK: "onnx.MatMul"
// CHECK: "onnx.BatchNormalization"
func.func @sequence(%x: tensor<3x2x2xf32>) -> tensor<3x2x2xf32> {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<3x2x2xf32>, tensor<2x2xf32>) -> tensor<3x2x2xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %s, %zero, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<3x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2x2xf32>, none, none)
  onnx.Return %y : tensor<3x2x2xf32>
}

// Others read the product.
// CHECK-LABEL: @product_of_others(
// CHECK: "onnx.BatchNormalization"
func.func @product_of_others(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = onnx.Constant dense<[3.0, 5.0]> : tensor<2xf32>
  %zero = onnx.Constant dense<0.0> : tensor<2xf32>
  %one = onnx.Constant dense<1.0> : tensor<2xf32>
  %0 = "onnx.MatMul"(%x, %w) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y, %m, %v = "onnx.BatchNormalization"(%0, %s, %zero, %zero, %one) {epsilon = 0.0 : f32}
      : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, none, none)
  onnx.Return %y, %0 : tensor<4x2xf32>, tensor<4x2xf32>
}
