// A Gemm of a flattened tensor becomes a MatMul of the tensor.
// RUN: onnxq-opt %s --onnx-split-gemm | FileCheck %s

// CHECK-LABEL: @flattened(
// CHECK: [[W:%.+]] = onnx.Constant {onnx_result_names = ["w"], value = dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK: [[P:%.+]] = "onnx.MatMul"(%arg0, [[W]]) {{.*}}onnx_node_name = "g"
// CHECK: "onnx.Add"([[P]], %{{.+}}) {{.*}}onnx_result_names = ["y"]
// CHECK-NOT: onnx.Reshape
func.func @flattened(%x: tensor<?x5x2xf32> {onnx.dim_params = "0:n"}) -> tensor<?x5x2xf32> {
  %s = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  %t = onnx.Constant dense<[-1, 5, 2]> : tensor<3xi64>
  %w = onnx.Constant {onnx_result_names = ["w"]} dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = onnx.Constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = "onnx.Reshape"(%x, %s) {onnx_dim_params = ["0:5*n"]} : (tensor<?x5x2xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  %1 = "onnx.Gemm"(%0, %w, %b) <{transB = 1 : si64}> {onnx_dim_params = ["0:5*n"], onnx_node_name = "g"} : (tensor<?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %2 = "onnx.Reshape"(%1, %t) {onnx_dim_params = ["0:n"], onnx_result_names = ["y"]} : (tensor<?x2xf32>, tensor<3xi64>) -> tensor<?x5x2xf32>
  onnx.Return %2 : tensor<?x5x2xf32>
}

// Back to other dimensions than before.
// CHECK-LABEL: @other_dimensions(
// CHECK: onnx.Gemm
func.func @other_dimensions(%x: tensor<2x6x2xf32>) -> tensor<3x4x2xf32> {
  %s = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  %t = onnx.Constant dense<[3, 4, 2]> : tensor<3xi64>
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = onnx.Constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = "onnx.Reshape"(%x, %s) : (tensor<2x6x2xf32>, tensor<2xi64>) -> tensor<12x2xf32>
  %1 = "onnx.Gemm"(%0, %w, %b) : (tensor<12x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<12x2xf32>
  %2 = "onnx.Reshape"(%1, %t) : (tensor<12x2xf32>, tensor<3xi64>) -> tensor<3x4x2xf32>
  onnx.Return %2 : tensor<3x4x2xf32>
}

// The rows are not the last dimension.
// CHECK-LABEL: @other_rows(
// CHECK: onnx.Gemm
func.func @other_rows(%x: tensor<2x2x4xf32>) -> tensor<2x2x2xf32> {
  %s = onnx.Constant dense<[-1, 2]> : tensor<2xi64>
  %t = onnx.Constant dense<[2, 2, 4]> : tensor<3xi64>
  %w = onnx.Constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = onnx.Constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0 = "onnx.Reshape"(%x, %s) : (tensor<2x2x4xf32>, tensor<2xi64>) -> tensor<8x2xf32>
  %1 = "onnx.Gemm"(%0, %w, %b) : (tensor<8x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<8x2xf32>
  %2 = "onnx.Reshape"(%1, %t) : (tensor<8x2xf32>, tensor<3xi64>) -> tensor<2x2x2xf32>
  onnx.Return %2 : tensor<2x2x2xf32>
}
