// Shapes of poolings, static, symbolic and refused.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: @average_pool(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}} -> tensor<1x3x10x10xf32>
func.func @average_pool(%a: tensor<1x3x32x32xf32>) -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {kernel_shape = [5, 5], strides = [3, 3]}
      : (tensor<1x3x32x32xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @average_pool_ceil(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}} -> tensor<1x1x2x2xf32>
func.func @average_pool_ceil(%a: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {ceil_mode = 1 : si64, kernel_shape = [3, 3], strides = [2, 2]}
      : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @average_pool_dilations(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}} -> tensor<1x1x2x2xf32>
func.func @average_pool_dilations(%a: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {dilations = [2, 2], kernel_shape = [2, 2]}
      : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// A window that would start in the trailing padding is none.
// CHECK-LABEL: @average_pool_ceil_last_window(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}} -> tensor<1x1x1x1xf32>
func.func @average_pool_ceil_last_window(%a: tensor<1x1x2x2xf32>) -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {ceil_mode = 1 : si64, kernel_shape = [1, 1], strides = [2, 2]}
      : (tensor<1x1x2x2xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @max_pool_ceil_last_window(
// CHECK: "onnx.MaxPool"({{.*}}){{.*}} -> (tensor<1x1x1x3xf32>, none)
func.func @max_pool_ceil_last_window(%a: tensor<1x1x2x7xf32>) -> tensor<*xf32> {
  %r0, %r1 = "onnx.MaxPool"(%a) {ceil_mode = 1 : si64, kernel_shape = [3, 2], pads = [1, 0, 1, 1], strides = [3, 3]}
      : (tensor<1x1x2x7xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// CHECK-LABEL: @average_pool_valid_ceil(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}} -> tensor<1x1x4x4xf32>
func.func @average_pool_valid_ceil(%a: tensor<1x1x8x8xf32>) -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {auto_pad = "VALID", ceil_mode = 1 : si64, kernel_shape = [3, 3], strides = [2, 2]}
      : (tensor<1x1x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @average_pool_symbolic(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:floor(h/2),3:w-2"]{{.*}} -> tensor<?x1x?x?xf32>
func.func @average_pool_symbolic(%a: tensor<?x1x?x?xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:h,3:w"})
    -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {kernel_shape = [2, 3], strides = [2, 1]}
      : (tensor<?x1x?x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @average_pool_ceil_symbolic(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:floor(h/2)"]{{.*}} -> tensor<?x1x?x4xf32>
func.func @average_pool_ceil_symbolic(%a: tensor<?x1x?x8xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:h"})
    -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {ceil_mode = 1 : si64, kernel_shape = [3, 3], strides = [2, 2]}
      : (tensor<?x1x?x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @max_pool_ceil_symbolic_minimum(
// CHECK: "onnx.MaxPool"({{.*}}){{.*}}onnx_dim_params = ["2:min(floor((h+1)/2),floor(h/2)+1)", ""]{{.*}} -> (tensor<1x1x?xf32>, none)
func.func @max_pool_ceil_symbolic_minimum(%a: tensor<1x1x?xf32> {onnx.name = "x", onnx.dim_params = "2:h"})
    -> tensor<*xf32> {
  %r0, %r1 = "onnx.MaxPool"(%a) {ceil_mode = 1 : si64, kernel_shape = [2], pads = [0, 1], strides = [2]}
      : (tensor<1x1x?xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// CHECK-LABEL: @average_pool_unranked(
// CHECK: "onnx.AveragePool"({{.*}}){{.*}} -> tensor<?x?x?x?xf32>
func.func @average_pool_unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
  %r = "onnx.AveragePool"(%a) {kernel_shape = [2, 3]} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @lp_pool(
// CHECK: "onnx.LpPool"({{.*}}){{.*}} -> tensor<1x3x31xf32>
func.func @lp_pool(%a: tensor<1x3x32xf32>) -> tensor<*xf32> {
  %r = "onnx.LpPool"(%a) {kernel_shape = [2]} : (tensor<1x3x32xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @lp_pool_dilations(
// CHECK: "onnx.LpPool"({{.*}}){{.*}} -> tensor<1x1x2x2xf32>
func.func @lp_pool_dilations(%a: tensor<1x1x4x4xf32>) -> tensor<*xf32> {
  %r = "onnx.LpPool"(%a) {ceil_mode = 1 : si64, dilations = [2, 2], kernel_shape = [2, 2]}
      : (tensor<1x1x4x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @max_pool(
// CHECK: "onnx.MaxPool"({{.*}}){{.*}} -> (tensor<1x3x4x4xui8>, tensor<1x3x4x4xi64>)
func.func @max_pool(%a: tensor<1x3x7x7xui8>) -> (tensor<*xui8>, tensor<*xi64>) {
  %r0, %r1 = "onnx.MaxPool"(%a) {auto_pad = "SAME_UPPER", kernel_shape = [2, 2], strides = [2, 2]}
      : (tensor<1x3x7x7xui8>) -> (tensor<*xui8>, tensor<*xi64>)
  onnx.Return %r0, %r1 : tensor<*xui8>, tensor<*xi64>
}

// CHECK-LABEL: @max_pool_3d(
// CHECK: "onnx.MaxPool"({{.*}}){{.*}} -> (tensor<1x3x31x31x31xf32>, none)
func.func @max_pool_3d(%a: tensor<1x3x32x32x32xf32>) -> tensor<*xf32> {
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2, 2, 2]}
      : (tensor<1x3x32x32x32xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// CHECK-LABEL: @max_unpool(
// CHECK: "onnx.MaxUnpool"({{.*}}){{.*}} -> tensor<1x1x4x4xf32>
func.func @max_unpool(%a: tensor<1x1x2x2xf32>, %b: tensor<1x1x2x2xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, 2], strides = [2, 2]}
      : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @max_unpool_symbolic(
// CHECK: "onnx.MaxUnpool"({{.*}}){{.*}}onnx_dim_params = ["2:2*h+1"]{{.*}} -> tensor<1x1x?x4xf32>
func.func @max_unpool_symbolic(%a: tensor<1x1x?x2xf32> {onnx.name = "x", onnx.dim_params = "2:h"},
                               %b: tensor<1x1x?x2xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [3, 2], strides = [2, 2]}
      : (tensor<1x1x?x2xf32>, tensor<1x1x?x2xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @max_unpool_output_shape
// CHECK: "onnx.MaxUnpool"({{.*}} -> tensor<1x1x5x5xf32>
func.func @max_unpool_output_shape(%a: tensor<1x1x2x2xf32>, %b: tensor<1x1x2x2xi64>) -> tensor<*xf32> {
  %shape = onnx.Constant dense<[1, 1, 5, 5]> : tensor<4xi64>
  %r = "onnx.MaxUnpool"(%a, %b, %shape) {kernel_shape = [2, 2], strides = [2, 2]}
      : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @max_unpool_unknown_shape(
// CHECK: "onnx.MaxUnpool"({{.*}}){{.*}} -> tensor<?x?x?x?xf32>
func.func @max_unpool_unknown_shape(%a: tensor<1x1x2x2xf32>,
                                    %b: tensor<1x1x2x2xi64>,
                                    %c: tensor<4xi64>)
    -> tensor<*xf32> {
  %r = "onnx.MaxUnpool"(%a, %b, %c) {kernel_shape = [2, 2], strides = [2, 2]}
      : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @global_average_pool(
// CHECK: "onnx.GlobalAveragePool"({{.*}}){{.*}}onnx_dim_params = ["0:n"]{{.*}} -> tensor<?x3x1x1xf32>
func.func @global_average_pool(%a: tensor<?x3x5x?xf32> {onnx.name = "x", onnx.dim_params = "0:n"})
    -> tensor<*xf32> {
  %r = "onnx.GlobalAveragePool"(%a) : (tensor<?x3x5x?xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @global_lp_pool(
// CHECK: "onnx.GlobalLpPool"({{.*}}){{.*}} -> tensor<1x3x1xf32>
func.func @global_lp_pool(%a: tensor<1x3x5xf32>) -> tensor<*xf32> {
  %r = "onnx.GlobalLpPool"(%a) : (tensor<1x3x5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @global_max_pool(
// CHECK: "onnx.GlobalMaxPool"({{.*}}){{.*}} -> tensor<1x3x1x1x1xf32>
func.func @global_max_pool(%a: tensor<1x3x5x5x5xf32>) -> tensor<*xf32> {
  %r = "onnx.GlobalMaxPool"(%a) : (tensor<1x3x5x5x5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @global_max_pool_unranked(
// CHECK: "onnx.GlobalMaxPool"({{.*}}){{.*}} -> tensor<*xf16>
func.func @global_max_pool_unranked(%a: tensor<*xf16>) -> tensor<*x!onnx.Unknown> {
  %r = "onnx.GlobalMaxPool"(%a) : (tensor<*xf16>) -> tensor<*x!onnx.Unknown>
  onnx.Return %r : tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: @max_roi_pool(
// CHECK: "onnx.MaxRoiPool"({{.*}}){{.*}}onnx_dim_params = ["0:rois"]{{.*}} -> tensor<?x3x2x4xf32>
func.func @max_roi_pool(%a: tensor<1x3x8x8xf32>,
                        %b: tensor<?x5xf32> {onnx.name = "rois", onnx.dim_params = "0:rois"})
    -> tensor<*xf32> {
  %r = "onnx.MaxRoiPool"(%a, %b) {pooled_shape = [2, 4]}
      : (tensor<1x3x8x8xf32>, tensor<?x5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @roi_align(
// CHECK: "onnx.RoiAlign"({{.*}}){{.*}} -> tensor<3x2x5x1xf32>
func.func @roi_align(%a: tensor<1x2x10x10xf32>,
                     %b: tensor<?x4xf32>,
                     %c: tensor<3xi64>)
    -> tensor<*xf32> {
  %r = "onnx.RoiAlign"(%a, %b, %c) {output_height = 5 : si64}
      : (tensor<1x2x10x10xf32>, tensor<?x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @roi_align_unranked(
// CHECK: "onnx.RoiAlign"({{.*}}){{.*}} -> tensor<?x?x5x1xf32>
func.func @roi_align_unranked(%a: tensor<*xf32>,
                              %b: tensor<*xf32>,
                              %c: tensor<*xi64>)
    -> tensor<*xf32> {
  %r = "onnx.RoiAlign"(%a, %b, %c) {output_height = 5 : si64}
      : (tensor<*xf32>, tensor<*xf32>, tensor<*xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// The window is larger than the padded input.
func.func @max_pool_window(%a: tensor<1x3x2x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a window within the padded input, but got a window of 5 over 4 elements in spatial dimension 0}}
  %r0, %r1 = "onnx.MaxPool"(%a) {dilations = [4, 1], kernel_shape = [2, 2], pads = [1, 0, 1, 0]}
      : (tensor<1x3x2x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// Huge attributes overflow no arithmetic.
func.func @max_pool_huge(%a: tensor<1x3x2x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{infers dimension 2 of result 0 larger than 64 bits}}
  %r0, %r1 = "onnx.MaxPool"(%a) {dilations = [9223372036854775807, 1], kernel_shape = [9223372036854775807, 2]}
      : (tensor<1x3x2x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}
