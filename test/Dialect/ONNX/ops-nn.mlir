// The text of the ops of neural networks, read, printed and read again.
// RUN: onnxq-opt %s | onnxq-opt | FileCheck %s
// RUN: onnxq-opt %s --emit-bytecode | onnxq-opt | FileCheck %s

// CHECK-LABEL: @conv(
// CHECK: "onnx.Conv"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{auto_pad = "NOTSET", dilations = [1, 1], group = 2 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}>
// CHECK-SAME: (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
func.func @conv(%a: tensor<1x4x8x8xf32>,
                %b: tensor<6x2x3x3xf32>,
                %c: tensor<6xf32>)
    -> tensor<1x6x4x4xf32> {
  %r = "onnx.Conv"(%a, %b, %c) {auto_pad = "NOTSET", dilations = [1, 1], group = 2 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
      : (tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  onnx.Return %r : tensor<1x6x4x4xf32>
}

// CHECK-LABEL: @conv_without_bias(
// CHECK: "onnx.Conv"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}})
// CHECK-SAME: auto_pad = "SAME_LOWER", group = 1 : si64}> {onnx_node_name = "conv"
// CHECK-SAME: (tensor<?x3x?xf16>, tensor<4x3x5xf16>, none) -> tensor<*xf16>
func.func @conv_without_bias(%a: tensor<?x3x?xf16>, %b: tensor<4x3x5xf16>) -> tensor<*xf16> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {auto_pad = "SAME_LOWER", group = 1 : si64, onnx_node_name = "conv"}
      : (tensor<?x3x?xf16>, tensor<4x3x5xf16>, none) -> tensor<*xf16>
  onnx.Return %r : tensor<*xf16>
}

// CHECK-LABEL: @conv_unknown(
// CHECK: "onnx.Conv"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}})
// CHECK-SAME: strides = [1, 2, 3]
// CHECK-SAME: (tensor<*x!onnx.Unknown>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
func.func @conv_unknown(%a: tensor<*x!onnx.Unknown>,
                        %b: tensor<*xf32>,
                        %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %r = "onnx.Conv"(%a, %b, %c) {strides = [1, 2, 3]}
      : (tensor<*x!onnx.Unknown>, tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose(
// CHECK: "onnx.ConvTranspose"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{auto_pad = "NOTSET", dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], output_padding = [1, 1], output_shape = [10, 8], pads = [0, 0, 0, 0], strides = [3, 2]}>
// CHECK-SAME: (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<1x2x10x8xf32>
func.func @conv_transpose(%a: tensor<1x1x3x3xf32>,
                          %b: tensor<1x2x3x3xf32>)
    -> tensor<1x2x10x8xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {auto_pad = "NOTSET", dilations = [1, 1], group = 1 : si64, kernel_shape = [3, 3], output_padding = [1, 1], output_shape = [10, 8], pads = [0, 0, 0, 0], strides = [3, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<1x2x10x8xf32>
  onnx.Return %r : tensor<1x2x10x8xf32>
}

// CHECK-LABEL: @deform_conv(
// CHECK: "onnx.DeformConv"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{dilations = [1, 1], group = 1 : si64, kernel_shape = [2, 2], offset_group = 1 : si64, pads = [0, 0, 0, 0], strides = [1, 1]}>
// CHECK-SAME: (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf32>, tensor<1xf32>, tensor<1x4x2x2xf32>) -> tensor<1x1x2x2xf32>
func.func @deform_conv(%a: tensor<1x1x3x3xf32>,
                       %b: tensor<1x1x2x2xf32>,
                       %c: tensor<1x8x2x2xf32>,
                       %d: tensor<1xf32>,
                       %e: tensor<1x4x2x2xf32>)
    -> tensor<1x1x2x2xf32> {
  %r = "onnx.DeformConv"(%a, %b, %c, %d, %e) {dilations = [1, 1], group = 1 : si64, kernel_shape = [2, 2], offset_group = 1 : si64, pads = [0, 0, 0, 0], strides = [1, 1]}
      : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf32>, tensor<1xf32>, tensor<1x4x2x2xf32>) -> tensor<1x1x2x2xf32>
  onnx.Return %r : tensor<1x1x2x2xf32>
}

// CHECK-LABEL: @col2im(
// CHECK: "onnx.Col2Im"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{dilations = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]}>
// CHECK-SAME: (tensor<1x5x5xui8>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xui8>
func.func @col2im(%a: tensor<1x5x5xui8>,
                  %b: tensor<2xi64>,
                  %c: tensor<2xi64>)
    -> tensor<1x1x5x5xui8> {
  %r = "onnx.Col2Im"(%a, %b, %c) {dilations = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]}
      : (tensor<1x5x5xui8>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xui8>
  onnx.Return %r : tensor<1x1x5x5xui8>
}

// CHECK-LABEL: @average_pool(
// CHECK: "onnx.AveragePool"(%{{[^,)]+}}) <{auto_pad = "NOTSET", ceil_mode = 1 : si64, count_include_pad = 1 : si64, dilations = [1, 1], kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [2, 2]}>
// CHECK-SAME: (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
func.func @average_pool(%a: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  %r = "onnx.AveragePool"(%a) {auto_pad = "NOTSET", ceil_mode = 1 : si64, count_include_pad = 1 : si64, dilations = [1, 1], kernel_shape = [3, 3], pads = [0, 0, 0, 0], strides = [2, 2]}
      : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
  onnx.Return %r : tensor<1x1x2x2xf32>
}

// CHECK-LABEL: @lp_pool(
// CHECK: "onnx.LpPool"(%{{[^,)]+}}) <{auto_pad = "VALID", ceil_mode = 0 : si64, dilations = [1, 1], kernel_shape = [2, 2], p = 3 : si64, strides = [1, 1]}>
// CHECK-SAME: (tensor<1x3x8x8xf64>) -> tensor<1x3x7x7xf64>
func.func @lp_pool(%a: tensor<1x3x8x8xf64>) -> tensor<1x3x7x7xf64> {
  %r = "onnx.LpPool"(%a) {auto_pad = "VALID", ceil_mode = 0 : si64, dilations = [1, 1], kernel_shape = [2, 2], p = 3 : si64, strides = [1, 1]}
      : (tensor<1x3x8x8xf64>) -> tensor<1x3x7x7xf64>
  onnx.Return %r : tensor<1x3x7x7xf64>
}

// CHECK-LABEL: @max_pool(
// CHECK: "onnx.MaxPool"(%{{[^,)]+}}) <{auto_pad = "SAME_UPPER", ceil_mode = 0 : si64, dilations = [1, 1], kernel_shape = [2, 2], storage_order = 1 : si64, strides = [2, 2]}>
// CHECK-SAME: (tensor<1x3x7x7xui8>) -> (tensor<1x3x4x4xui8>, tensor<1x3x4x4xi64>)
func.func @max_pool(%a: tensor<1x3x7x7xui8>) -> (tensor<1x3x4x4xui8>, tensor<1x3x4x4xi64>) {
  %r0, %r1 = "onnx.MaxPool"(%a) {auto_pad = "SAME_UPPER", ceil_mode = 0 : si64, dilations = [1, 1], kernel_shape = [2, 2], storage_order = 1 : si64, strides = [2, 2]}
      : (tensor<1x3x7x7xui8>) -> (tensor<1x3x4x4xui8>, tensor<1x3x4x4xi64>)
  onnx.Return %r0, %r1 : tensor<1x3x4x4xui8>, tensor<1x3x4x4xi64>
}

// CHECK-LABEL: @max_pool_single_out(
// CHECK: "onnx.MaxPool"(%{{[^,)]+}})
// CHECK-SAME: kernel_shape = [2]
// CHECK-SAME: (tensor<1x3x7xf32>) -> (tensor<1x3x6xf32>, none)
func.func @max_pool_single_out(%a: tensor<1x3x7xf32>) -> tensor<1x3x6xf32> {
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2]} : (tensor<1x3x7xf32>) -> (tensor<1x3x6xf32>, none)
  onnx.Return %r0 : tensor<1x3x6xf32>
}

// CHECK-LABEL: @max_unpool(
// CHECK: "onnx.MaxUnpool"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{kernel_shape = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]}>
// CHECK-SAME: (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<1x1x5x5xf32>
func.func @max_unpool(%a: tensor<1x1x2x2xf32>,
                      %b: tensor<1x1x2x2xi64>,
                      %c: tensor<4xi64>)
    -> tensor<1x1x5x5xf32> {
  %r = "onnx.MaxUnpool"(%a, %b, %c) {kernel_shape = [2, 2], pads = [0, 0, 0, 0], strides = [2, 2]}
      : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<4xi64>) -> tensor<1x1x5x5xf32>
  onnx.Return %r : tensor<1x1x5x5xf32>
}

// CHECK-LABEL: @global_average_pool(
// CHECK: "onnx.GlobalAveragePool"(%{{[^,)]+}})
// CHECK-SAME: (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
func.func @global_average_pool(%a: tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32> {
  %r = "onnx.GlobalAveragePool"(%a) : (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
  onnx.Return %r : tensor<1x3x1x1xf32>
}

// CHECK-LABEL: @global_lp_pool(
// CHECK: "onnx.GlobalLpPool"(%{{[^,)]+}}) <{p = 2 : si64}>
// CHECK-SAME: (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
func.func @global_lp_pool(%a: tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32> {
  %r = "onnx.GlobalLpPool"(%a) {p = 2 : si64} : (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
  onnx.Return %r : tensor<1x3x1x1xf32>
}

// CHECK-LABEL: @global_max_pool(
// CHECK: "onnx.GlobalMaxPool"(%{{[^,)]+}})
// CHECK-SAME: (tensor<?x3x?x5xbf16>) -> tensor<?x3x1x1xbf16>
func.func @global_max_pool(%a: tensor<?x3x?x5xbf16>) -> tensor<?x3x1x1xbf16> {
  %r = "onnx.GlobalMaxPool"(%a) : (tensor<?x3x?x5xbf16>) -> tensor<?x3x1x1xbf16>
  onnx.Return %r : tensor<?x3x1x1xbf16>
}

// CHECK-LABEL: @max_roi_pool(
// CHECK: "onnx.MaxRoiPool"(%{{[^,)]+}}, %{{[^,)]+}}) <{pooled_shape = [2, 2], spatial_scale = 6.250000e-02 : f32}>
// CHECK-SAME: (tensor<1x3x8x8xf32>, tensor<6x5xf32>) -> tensor<6x3x2x2xf32>
func.func @max_roi_pool(%a: tensor<1x3x8x8xf32>, %b: tensor<6x5xf32>) -> tensor<6x3x2x2xf32> {
  %r = "onnx.MaxRoiPool"(%a, %b) {pooled_shape = [2, 2], spatial_scale = 6.250000e-02 : f32}
      : (tensor<1x3x8x8xf32>, tensor<6x5xf32>) -> tensor<6x3x2x2xf32>
  onnx.Return %r : tensor<6x3x2x2xf32>
}

// CHECK-LABEL: @roi_align(
// CHECK: "onnx.RoiAlign"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{coordinate_transformation_mode = "output_half_pixel", mode = "max", output_height = 5 : si64, output_width = 5 : si64, sampling_ratio = 2 : si64, spatial_scale = 5.000000e-01 : f32}>
// CHECK-SAME: (tensor<1x1x10x10xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x1x5x5xf32>
func.func @roi_align(%a: tensor<1x1x10x10xf32>,
                     %b: tensor<3x4xf32>,
                     %c: tensor<3xi64>)
    -> tensor<3x1x5x5xf32> {
  %r = "onnx.RoiAlign"(%a, %b, %c) {coordinate_transformation_mode = "output_half_pixel", mode = "max", output_height = 5 : si64, output_width = 5 : si64, sampling_ratio = 2 : si64, spatial_scale = 5.000000e-01 : f32}
      : (tensor<1x1x10x10xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x1x5x5xf32>
  onnx.Return %r : tensor<3x1x5x5xf32>
}

// CHECK-LABEL: @batch_normalization(
// CHECK: "onnx.BatchNormalization"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{epsilon = 9.99999974E-6 : f32, momentum = 0.899999976 : f32, training_mode = 0 : si64}>
// CHECK-SAME: (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, none, none)
func.func @batch_normalization(%a: tensor<2x3x4x5xf32>,
                               %b: tensor<3xf32>,
                               %c: tensor<3xf32>,
                               %d: tensor<3xf32>,
                               %e: tensor<3xf32>)
    -> tensor<2x3x4x5xf32> {
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e) {epsilon = 9.99999974E-6 : f32, momentum = 0.899999976 : f32, training_mode = 0 : si64}
      : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, none, none)
  onnx.Return %r0 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: @batch_normalization_training(
// CHECK: "onnx.BatchNormalization"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}})
// CHECK-SAME: training_mode = 1 : si64
// CHECK-SAME: (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>)
func.func @batch_normalization_training(%a: tensor<2x3x4x5xf32>,
                                        %b: tensor<3xf32>,
                                        %c: tensor<3xf32>,
                                        %d: tensor<3xf32>,
                                        %e: tensor<3xf32>)
    -> (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r0, %r1, %r2 = "onnx.BatchNormalization"(%a, %b, %c, %d, %e) {training_mode = 1 : si64}
      : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @batch_normalization_inference_mode(
// CHECK: "onnx.BatchNormalizationInferenceMode"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{epsilon = 9.99999974E-6 : f32, momentum = 0.899999976 : f32}>
// CHECK-SAME: (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
func.func @batch_normalization_inference_mode(%a: tensor<2x3x4x5xf32>,
                                              %b: tensor<3xf32>,
                                              %c: tensor<3xf32>,
                                              %d: tensor<3xf32>,
                                              %e: tensor<3xf32>)
    -> tensor<2x3x4x5xf32> {
  %r = "onnx.BatchNormalizationInferenceMode"(%a, %b, %c, %d, %e) {epsilon = 9.99999974E-6 : f32, momentum = 0.899999976 : f32}
      : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  onnx.Return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: @instance_normalization(
// CHECK: "onnx.InstanceNormalization"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{epsilon = 9.99999974E-6 : f32}>
// CHECK-SAME: (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
func.func @instance_normalization(%a: tensor<2x3x4x5xf32>,
                                  %b: tensor<3xf32>,
                                  %c: tensor<3xf32>)
    -> tensor<2x3x4x5xf32> {
  %r = "onnx.InstanceNormalization"(%a, %b, %c) {epsilon = 9.99999974E-6 : f32}
      : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  onnx.Return %r : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: @group_normalization(
// CHECK: "onnx.GroupNormalization"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{epsilon = 9.99999974E-6 : f32, num_groups = 2 : si64, stash_type = 1 : si64}>
// CHECK-SAME: (tensor<3x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x2x2xf32>
func.func @group_normalization(%a: tensor<3x4x2x2xf32>,
                               %b: tensor<4xf32>,
                               %c: tensor<4xf32>)
    -> tensor<3x4x2x2xf32> {
  %r = "onnx.GroupNormalization"(%a, %b, %c) {epsilon = 9.99999974E-6 : f32, num_groups = 2 : si64, stash_type = 1 : si64}
      : (tensor<3x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x2x2xf32>
  onnx.Return %r : tensor<3x4x2x2xf32>
}

// CHECK-LABEL: @lrn(
// CHECK: "onnx.LRN"(%{{[^,)]+}}) <{alpha = 2.000000e-04 : f32, beta = 5.000000e-01 : f32, bias = 2.000000e+00 : f32, size = 3 : si64}>
// CHECK-SAME: (tensor<5x5x5x5xf32>) -> tensor<5x5x5x5xf32>
func.func @lrn(%a: tensor<5x5x5x5xf32>) -> tensor<5x5x5x5xf32> {
  %r = "onnx.LRN"(%a) {alpha = 2.000000e-04 : f32, beta = 5.000000e-01 : f32, bias = 2.000000e+00 : f32, size = 3 : si64}
      : (tensor<5x5x5x5xf32>) -> tensor<5x5x5x5xf32>
  onnx.Return %r : tensor<5x5x5x5xf32>
}

// CHECK-LABEL: @layer_normalization(
// CHECK: "onnx.LayerNormalization"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{axis = -1 : si64, epsilon = 9.99999974E-6 : f32, stash_type = 1 : si64}>
// CHECK-SAME: (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
func.func @layer_normalization(%a: tensor<2x3x4xf32>,
                               %b: tensor<4xf32>,
                               %c: tensor<4xf32>)
    -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>) {
  %r0, %r1, %r2 = "onnx.LayerNormalization"(%a, %b, %c) {axis = -1 : si64, epsilon = 9.99999974E-6 : f32, stash_type = 1 : si64}
      : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>)
  onnx.Return %r0, %r1, %r2 : tensor<2x3x4xf32>, tensor<2x3x1xf32>, tensor<2x3x1xf32>
}

// CHECK-LABEL: @rms_normalization(
// CHECK: "onnx.RMSNormalization"(%{{[^,)]+}}, %{{[^,)]+}}) <{axis = 1 : si64, epsilon = 9.99999974E-6 : f32, stash_type = 1 : si64}>
// CHECK-SAME: (tensor<2x3x4xf16>, tensor<4xf32>) -> tensor<2x3x4xf32>
func.func @rms_normalization(%a: tensor<2x3x4xf16>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %r = "onnx.RMSNormalization"(%a, %b) {axis = 1 : si64, epsilon = 9.99999974E-6 : f32, stash_type = 1 : si64}
      : (tensor<2x3x4xf16>, tensor<4xf32>) -> tensor<2x3x4xf32>
  onnx.Return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: @lp_normalization(
// CHECK: "onnx.LpNormalization"(%{{[^,)]+}}) <{axis = 0 : si64, p = 1 : si64}>
// CHECK-SAME: (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @lp_normalization(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "onnx.LpNormalization"(%a) {axis = 0 : si64, p = 1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @mean_variance_normalization(
// CHECK: "onnx.MeanVarianceNormalization"(%{{[^,)]+}}) <{axes = [0, 2, 3]}>
// CHECK-SAME: (tensor<3x3x3x1xf32>) -> tensor<3x3x3x1xf32>
func.func @mean_variance_normalization(%a: tensor<3x3x3x1xf32>) -> tensor<3x3x3x1xf32> {
  %r = "onnx.MeanVarianceNormalization"(%a) {axes = [0, 2, 3]} : (tensor<3x3x3x1xf32>) -> tensor<3x3x3x1xf32>
  onnx.Return %r : tensor<3x3x3x1xf32>
}

// CHECK-LABEL: @softmax(
// CHECK: "onnx.Softmax"(%{{[^,)]+}}) <{axis = 1 : si64}>
// CHECK-SAME: (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @softmax(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "onnx.Softmax"(%a) {axis = 1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @log_softmax(
// CHECK: "onnx.LogSoftmax"(%{{[^,)]+}}) <{axis = -2 : si64}>
// CHECK-SAME: (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @log_softmax(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = "onnx.LogSoftmax"(%a) {axis = -2 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  onnx.Return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @hardmax(
// CHECK: "onnx.Hardmax"(%{{[^,)]+}}) <{axis = 5 : si64}>
// CHECK-SAME: (tensor<*xf32>) -> tensor<*xf32>
func.func @hardmax(%a: tensor<*xf32>) -> tensor<*xf32> {
  %r = "onnx.Hardmax"(%a) {axis = 5 : si64} : (tensor<*xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @dropout(
// CHECK: "onnx.Dropout"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{seed = 7 : si64}>
// CHECK-SAME: (tensor<2x3xf32>, tensor<f32>, tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
func.func @dropout(%a: tensor<2x3xf32>,
                   %b: tensor<f32>,
                   %c: tensor<i1>)
    -> (tensor<2x3xf32>, tensor<2x3xi1>) {
  %r0, %r1 = "onnx.Dropout"(%a, %b, %c) {seed = 7 : si64}
      : (tensor<2x3xf32>, tensor<f32>, tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xi1>)
  onnx.Return %r0, %r1 : tensor<2x3xf32>, tensor<2x3xi1>
}

// CHECK-LABEL: @dropout_of_f8(
// CHECK: "onnx.Dropout"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}})
// CHECK-SAME: (tensor<2x3xf8E4M3FN>, none, none) -> (tensor<2x3xf8E4M3FN>, none)
func.func @dropout_of_f8(%a: tensor<2x3xf8E4M3FN>) -> tensor<2x3xf8E4M3FN> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.Dropout"(%a, %none, %none)
      : (tensor<2x3xf8E4M3FN>, none, none) -> (tensor<2x3xf8E4M3FN>, none)
  onnx.Return %r0 : tensor<2x3xf8E4M3FN>
}

// CHECK-LABEL: @negative_log_likelihood_loss(
// CHECK: "onnx.NegativeLogLikelihoodLoss"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{ignore_index = 1 : si64, reduction = "none"}>
// CHECK-SAME: (tensor<3x5x2xf32>, tensor<3x2xi64>, tensor<5xf32>) -> tensor<3x2xf32>
func.func @negative_log_likelihood_loss(%a: tensor<3x5x2xf32>,
                                        %b: tensor<3x2xi64>,
                                        %c: tensor<5xf32>)
    -> tensor<3x2xf32> {
  %r = "onnx.NegativeLogLikelihoodLoss"(%a, %b, %c) {ignore_index = 1 : si64, reduction = "none"}
      : (tensor<3x5x2xf32>, tensor<3x2xi64>, tensor<5xf32>) -> tensor<3x2xf32>
  onnx.Return %r : tensor<3x2xf32>
}

// CHECK-LABEL: @softmax_cross_entropy_loss(
// CHECK: "onnx.SoftmaxCrossEntropyLoss"(%{{[^,)]+}}, %{{[^,)]+}}, %{{[^,)]+}}) <{ignore_index = 0 : si64, reduction = "sum"}>
// CHECK-SAME: (tensor<3x5xf32>, tensor<3xi32>, none) -> (tensor<f32>, tensor<3x5xf32>)
func.func @softmax_cross_entropy_loss(%a: tensor<3x5xf32>,
                                      %b: tensor<3xi32>)
    -> (tensor<f32>, tensor<3x5xf32>) {
  %none = "onnx.NoValue"() {value} : () -> none
  %r0, %r1 = "onnx.SoftmaxCrossEntropyLoss"(%a, %b, %none) {ignore_index = 0 : si64, reduction = "sum"}
      : (tensor<3x5xf32>, tensor<3xi32>, none) -> (tensor<f32>, tensor<3x5xf32>)
  onnx.Return %r0, %r1 : tensor<f32>, tensor<3x5xf32>
}
