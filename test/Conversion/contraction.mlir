// RUN: onnxq-opt %s --onnx-to-linalg --canonicalize | FileCheck %s

// The row of outputs runs innermost, and all nine products of a channel are
// added to it in one step.
// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d2, d5)>
// CHECK-DAG: #[[$W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d3, d4, 0, 0)>
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d2, d5)>

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x8x32x32xf32>, %w: tensor<4x8x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x32x32xf32> {
  // CHECK-NOT: cf.assert
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1, 1] [1, 8, 32, 32]
  // CHECK-COUNT-9: tensor.extract_slice %{{.*}} : tensor<1x1x8x34x34xf32> to tensor<1x1x8x32x32xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[$X]], {{.*}}, #[[$W]], #[[$Y]]]
  // CHECK-SAME: "parallel", "parallel", "parallel", "parallel", "reduction", "parallel"
  // CHECK-COUNT-9: arith.mulf %{{.*}} fastmath<contract>
  // CHECK: linalg.yield
  // CHECK-NOT: linalg.generic
  %y = "onnx.Conv"(%x, %w, %b) {auto_pad = "NOTSET", group = 1 : si64, pads = [1, 1, 1, 1]}
      : (tensor<1x8x32x32xf32>, tensor<4x8x3x3xf32>, tensor<4xf32>) -> tensor<1x4x32x32xf32>
  onnx.Return %y : tensor<1x4x32x32xf32>
}

// What open sizes must agree in is checked before anything is read.
// CHECK-LABEL: func.func @conv_dynamic
func.func @conv_dynamic(%x: tensor<?x?x?x?xf32>, %w: tensor<4x8x3x3xf32>) -> tensor<?x4x?x?xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'Conv': the window is larger than the padded input"
  // CHECK: cf.assert %{{.*}}, "node 'Conv': the input's channels are not the weight's times group"
  // CHECK: linalg.generic
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64}
      : (tensor<?x?x?x?xf32>, tensor<4x8x3x3xf32>, none) -> tensor<?x4x?x?xf32>
  onnx.Return %y : tensor<?x4x?x?xf32>
}

// Short rows: output channels run innermost, and a constant weight is brought
// to that order here.
// CHECK-LABEL: func.func @conv_short
func.func @conv_short(%x: tensor<1x2x2x2xf32>) -> tensor<1x8x2x2xf32> {
  // CHECK: arith.constant {{.*}} : tensor<1x2x1x8xf32>
  // CHECK: linalg.generic
  // CHECK: linalg.transpose ins(%{{.*}} : tensor<1x1x4x8xf32>)
  // CHECK-NOT: linalg.transpose
  %w = "onnx.Constant"() {value = dense<[[[[0.0]],[[1.0]]], [[[2.0]],[[3.0]]], [[[4.0]],[[5.0]]], [[[6.0]],[[7.0]]],
      [[[8.0]],[[9.0]]], [[[10.0]],[[11.0]]], [[[12.0]],[[13.0]]], [[[14.0]],[[15.0]]]]> : tensor<8x2x1x1xf32>} : () -> tensor<8x2x1x1xf32>
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64}
      : (tensor<1x2x2x2xf32>, tensor<8x2x1x1xf32>, none) -> tensor<1x8x2x2xf32>
  onnx.Return %y : tensor<1x8x2x2xf32>
}

// Small floats are summed as f32.
// CHECK-LABEL: func.func @matmul_half
func.func @matmul_half(%a: tensor<2x3xf16>, %b: tensor<3x5xf16>) -> tensor<2x5xf16> {
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
  // CHECK-SAME: ins(%{{.*}} : tensor<2x3xf32>, tensor<3x5xf32>)
  // CHECK: arith.trunci %{{.*}} : i32 to i16
  %y = "onnx.MatMul"(%a, %b) : (tensor<2x3xf16>, tensor<3x5xf16>) -> tensor<2x5xf16>
  onnx.Return %y : tensor<2x5xf16>
}

// CHECK-LABEL: func.func @matmul_dynamic
func.func @matmul_dynamic(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK: cf.assert %{{.*}}, "node 'MatMul': the left operand's columns are not as many as the right operand's rows"
  // CHECK: linalg.generic
  %y = "onnx.MatMul"(%a, %b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  onnx.Return %y : tensor<?x?xf32>
}

// One row: the right operand stays as it is, and sums are split into lanes.
// CHECK-LABEL: func.func @gemm_row
func.func @gemm_row(%a: tensor<1x64xf32>, %b: tensor<10x64xf32>) -> tensor<1x10xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4x16xf32>, tensor<10x4x16xf32>) outs(%{{.*}} : tensor<1x10x16xf32>)
  %none = "onnx.NoValue"() {value} : () -> none
  %y = "onnx.Gemm"(%a, %b, %none) {transB = 1 : si64} : (tensor<1x64xf32>, tensor<10x64xf32>, none) -> tensor<1x10xf32>
  onnx.Return %y : tensor<1x10xf32>
}
