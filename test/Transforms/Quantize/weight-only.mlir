// Weights in blocks and nothing else.
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="weight-only=4 block-size=16" | FileCheck %s
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="weight-only=4 block-size=16 symmetric-weights=true accuracy-level=4" | FileCheck %s --check-prefix=SYM
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="weight-only=4 block-size=16 mode=qdq" | FileCheck %s --check-prefix=QDQ
// RUN: onnxq-opt %s --split-input-file --onnx-quantize="weight-only=4 block-size=16 algorithm=hqq" | FileCheck %s --check-prefix=HQQ

// The columns are 0 to 15 and 0 to -15: codes count up, and down from 15.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[CODES:.*]] = onnx.Constant {{.*}}["w_Q4"]{{.*}}dense<{{\[\[\[}}16, 50, 84, 118, 152, 186, 220, 254{{\]\], \[\[}}239, 205, 171, 137, 103, 69, 35, 1{{\]\]\]}}> : tensor<2x1x8xui8>
// CHECK-DAG: %[[SCALES:.*]] = onnx.Constant {{.*}}["w_scales"]{{.*}}dense<1.000000e+00> : tensor<2x1xf32>
// CHECK-DAG: %[[ZEROS:.*]] = onnx.Constant {{.*}}["w_zero_points"]{{.*}} : tensor<2x1xui8>
// CHECK: "onnx.com.microsoft.MatMulNBits"(%arg0, %[[CODES]], %[[SCALES]], %[[ZEROS]], %{{.*}}, %{{.*}}) <{K = 16 : si64, N = 2 : si64, {{.*}}bits = 4 : si64, block_size = 16 : si64{{.*}}onnx_node_name = "product_Q4"
// SYM-LABEL: func.func @matmul
// SYM: "onnx.com.microsoft.MatMulNBits"(%arg0, %{{.*}}, %{{.*}}, %[[NONE:.*]], %[[NONE]], %[[NONE]]) <{K = 16 : si64, N = 2 : si64, accuracy_level = 4 : si64
// QDQ-LABEL: func.func @matmul
// QDQ: %[[WEIGHT:.*]] = "onnx.DequantizeLinear"{{.*}} <{axis = 0 : si64, block_size = 16 : si64{{.*}}"product_DQ_Q4"{{.*}} : (tensor<16x2xui4>, tensor<1x2xf32>, tensor<1x2xui4>) -> tensor<16x2xf32>
// QDQ: "onnx.MatMul"(%arg0, %[[WEIGHT]])
// HQQ-LABEL: func.func @matmul
// HQQ: "onnx.com.microsoft.MatMulNBits"{{.*}} : (tensor<?x16xf32>, tensor<2x1x8xui8>, tensor<2x1xf32>, tensor<2x1xf32>, none, none)
func.func @matmul(%x: tensor<?x16xf32> {onnx.name = "x"}) -> tensor<?x2xf32> {
  %w = onnx.Constant {onnx_result_names = ["w"], value = dense<[[0.0, 0.0], [1.0, -1.0], [2.0, -2.0], [3.0, -3.0], [4.0, -4.0], [5.0, -5.0], [6.0, -6.0], [7.0, -7.0], [8.0, -8.0], [9.0, -9.0], [10.0, -10.0], [11.0, -11.0], [12.0, -12.0], [13.0, -13.0], [14.0, -14.0], [15.0, -15.0]]> : tensor<16x2xf32>} : tensor<16x2xf32>
  %y = "onnx.MatMul"(%x, %w) {onnx_node_name = "product", onnx_result_names = ["y"]} : (tensor<?x16xf32>, tensor<16x2xf32>) -> tensor<?x2xf32>
  onnx.Return %y : tensor<?x2xf32>
}

// -----

// A Gemm's bias is MatMulNBits' own; its weight may be transposed, and alpha is
// part of it. What is no vector stays a float Gemm.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[SCALES:.*]] = onnx.Constant {{.*}}["w_scales"]{{.*}}dense<5.000000e-01> : tensor<2x1xf32>
// CHECK: "onnx.com.microsoft.MatMulNBits"(%arg0, %{{.*}}, %[[SCALES]], %{{.*}}, %{{.*}}, %arg1)
// CHECK: "onnx.Gemm"(%arg0, %{{.*}}, %arg2)
// QDQ-LABEL: func.func @gemm
// QDQ: "onnx.DequantizeLinear"{{.*}} <{axis = 1 : si64, block_size = 16 : si64{{.*}} : (tensor<2x16xui4>, tensor<2x1xf32>, tensor<2x1xui4>) -> tensor<2x16xf32>
func.func @gemm(%x: tensor<3x16xf32> {onnx.name = "x"}, %b: tensor<2xf32> {onnx.name = "b"}, %c: tensor<3x2xf32> {onnx.name = "c"}) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant {onnx_result_names = ["w"], value = dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0], [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0, -10.0, -11.0, -12.0, -13.0, -14.0, -15.0]]> : tensor<2x16xf32>} : tensor<2x16xf32>
  %y = "onnx.Gemm"(%x, %w, %b) {alpha = 0.5 : f32, transB = 1 : si64, onnx_node_name = "first"} : (tensor<3x16xf32>, tensor<2x16xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %z = "onnx.Gemm"(%x, %w, %c) {transB = 1 : si64, onnx_node_name = "second"} : (tensor<3x16xf32>, tensor<2x16xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  onnx.Return %y, %z : tensor<3x2xf32>, tensor<3x2xf32>
}
