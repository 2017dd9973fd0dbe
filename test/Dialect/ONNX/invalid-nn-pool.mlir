// What the verifiers of poolings refuse, one case per constraint.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// AveragePool C1
func.func @average_pool_c1(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, but got 'same' (C1)}}
  %r = "onnx.AveragePool"(%a) {auto_pad = "same", kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// AveragePool C2
func.func @average_pool_c2_empty(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension, but got none (C2)}}
  %r = "onnx.AveragePool"(%a) {kernel_shape = []} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// AveragePool C2
func.func @average_pool_c2_negative(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got -2 (C2)}}
  %r = "onnx.AveragePool"(%a) {kernel_shape = [2, -2]} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// AveragePool C3
func.func @average_pool_c3_strides(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects strides to have positive entries, but got 0 (C3)}}
  %r = "onnx.AveragePool"(%a) {kernel_shape = [2, 2], strides = [0, 1]}
      : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// AveragePool C3
func.func @average_pool_c3_dilations(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 1 entries (C3)}}
  %r = "onnx.AveragePool"(%a) {dilations = [1], kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// AveragePool C4
func.func @average_pool_c4(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects pads to have non-negative entries, but got -2 (C4)}}
  %r = "onnx.AveragePool"(%a) {kernel_shape = [2, 2], pads = [0, 0, 0, -2]}
      : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// AveragePool C5
func.func @average_pool_c5(%a: tensor<1x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 3 or more, but got rank 2 (C5)}}
  %r = "onnx.AveragePool"(%a) {kernel_shape = [2, 2]} : (tensor<1x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C1
func.func @lp_pool_c1(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, but got 'same' (C1)}}
  %r = "onnx.LpPool"(%a) {auto_pad = "same", kernel_shape = [2, 2]} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C2
func.func @lp_pool_c2_empty(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension, but got none (C2)}}
  %r = "onnx.LpPool"(%a) {kernel_shape = []} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C2
func.func @lp_pool_c2_negative(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got -2 (C2)}}
  %r = "onnx.LpPool"(%a) {kernel_shape = [2, -2]} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C3
func.func @lp_pool_c3_strides(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects strides to have positive entries, but got 0 (C3)}}
  %r = "onnx.LpPool"(%a) {kernel_shape = [2, 2], strides = [0, 1]} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C3
func.func @lp_pool_c3_dilations(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 1 entries (C3)}}
  %r = "onnx.LpPool"(%a) {dilations = [1], kernel_shape = [2, 2]} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C4
func.func @lp_pool_c4(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects pads to have non-negative entries, but got -2 (C4)}}
  %r = "onnx.LpPool"(%a) {kernel_shape = [2, 2], pads = [0, 0, 0, -2]}
      : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C5
func.func @lp_pool_c5(%a: tensor<1x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 3 or more, but got rank 2 (C5)}}
  %r = "onnx.LpPool"(%a) {kernel_shape = [2, 2]} : (tensor<1x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// LpPool C6
func.func @lp_pool_c6(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a positive p, but got 0 (C6)}}
  %r = "onnx.LpPool"(%a) {kernel_shape = [2, 2], p = 0 : si64} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxPool C1
func.func @max_pool_c1(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, but got 'same' (C1)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {auto_pad = "same", kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C2
func.func @max_pool_c2_empty(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension, but got none (C2)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = []} : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C2
func.func @max_pool_c2_negative(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got -2 (C2)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2, -2]} : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C3
func.func @max_pool_c3_strides(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects strides to have positive entries, but got 0 (C3)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2, 2], strides = [0, 1]}
      : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C3
func.func @max_pool_c3_dilations(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 1 entries (C3)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {dilations = [1], kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C4
func.func @max_pool_c4(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects pads to have non-negative entries, but got -2 (C4)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2, 2], pads = [0, 0, 0, -2]}
      : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C5
func.func @max_pool_c5(%a: tensor<1x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 3 or more, but got rank 2 (C5)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2, 2]} : (tensor<1x4xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxPool C6
func.func @max_pool_c6(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects storage_order to be 0 or 1, but got 2 (C6)}}
  %r0, %r1 = "onnx.MaxPool"(%a) {kernel_shape = [2, 2], storage_order = 2 : si64}
      : (tensor<1x4x8x8xf32>) -> (tensor<*xf32>, none)
  onnx.Return %r0 : tensor<*xf32>
}

// -----

// MaxUnpool C1
func.func @max_unpool_c1_empty(%a: tensor<1x4x8x8xf32>, %b: tensor<1x4x8x8xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension, but got none (C1)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = []}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C1
func.func @max_unpool_c1_negative(%a: tensor<1x4x8x8xf32>,
                                  %b: tensor<1x4x8x8xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got -2 (C1)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, -2]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C2
func.func @max_unpool_c2_strides(%a: tensor<1x4x8x8xf32>,
                                 %b: tensor<1x4x8x8xi64>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects strides to have positive entries, but got 0 (C2)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, 2], strides = [0, 1]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C3
func.func @max_unpool_c3(%a: tensor<1x4x8x8xf32>, %b: tensor<1x4x8x8xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have non-negative entries, but got -2 (C3)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, 2], pads = [0, 0, 0, -2]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C4
func.func @max_unpool_c4(%a: tensor<1x4xf32>, %b: tensor<1x4x8x8xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects X to have rank 3 or more, but got rank 2 (C4)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, 2]}
      : (tensor<1x4xf32>, tensor<1x4x8x8xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C5
func.func @max_unpool_c5_rank(%a: tensor<1x4x8x8xf32>, %b: tensor<1x4x8xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects I to have rank 4, but got rank 3 (C5)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C5
func.func @max_unpool_c5_dim(%a: tensor<1x4x8x8xf32>, %b: tensor<1x4x8x7xi64>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 3 of I to be 8, but got 7 (C5)}}
  %r = "onnx.MaxUnpool"(%a, %b, %none) {kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x7xi64>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C6
func.func @max_unpool_c6_rank(%a: tensor<1x4x8x8xf32>,
                              %b: tensor<1x4x8x8xi64>,
                              %c: tensor<i64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects output_shape to have rank 1, but got rank 0 (C6)}}
  %r = "onnx.MaxUnpool"(%a, %b, %c) {kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>, tensor<i64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxUnpool C6
func.func @max_unpool_c6_dim(%a: tensor<1x4x8x8xf32>,
                             %b: tensor<1x4x8x8xi64>,
                             %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects dimension 0 of output_shape to be 4, but got 2 (C6)}}
  %r = "onnx.MaxUnpool"(%a, %b, %c) {kernel_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GlobalAveragePool C1
func.func @global_average_pool_c1(%a: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 2 or more, but got rank 1 (C1)}}
  %r = "onnx.GlobalAveragePool"(%a) : (tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GlobalLpPool C1
func.func @global_lp_pool_c1(%a: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 2 or more, but got rank 1 (C1)}}
  %r = "onnx.GlobalLpPool"(%a) : (tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GlobalMaxPool C1
func.func @global_max_pool_c1(%a: tensor<4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 2 or more, but got rank 1 (C1)}}
  %r = "onnx.GlobalMaxPool"(%a) : (tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// GlobalLpPool C2
func.func @global_lp_pool_c2(%a: tensor<1x4x8x8xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects a positive p, but got -1 (C2)}}
  %r = "onnx.GlobalLpPool"(%a) {p = -1 : si64} : (tensor<1x4x8x8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxRoiPool C1
func.func @max_roi_pool_c1_input(%a: tensor<1x3x8xf32>, %b: tensor<6x5xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects X to have rank 4, but got rank 3 (C1)}}
  %r = "onnx.MaxRoiPool"(%a, %b) {pooled_shape = [2, 2]}
      : (tensor<1x3x8xf32>, tensor<6x5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxRoiPool C1
func.func @max_roi_pool_c1_rois(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects dimension 1 of rois to be 5, but got 4 (C1)}}
  %r = "onnx.MaxRoiPool"(%a, %b) {pooled_shape = [2, 2]}
      : (tensor<1x4x8x8xf32>, tensor<6x4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxRoiPool C2
func.func @max_roi_pool_c2_length(%a: tensor<1x4x8x8xf32>, %b: tensor<6x5xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects pooled_shape to have two entries, but got 1 (C2)}}
  %r = "onnx.MaxRoiPool"(%a, %b) {pooled_shape = [2]}
      : (tensor<1x4x8x8xf32>, tensor<6x5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// MaxRoiPool C2
func.func @max_roi_pool_c2_zero(%a: tensor<1x4x8x8xf32>, %b: tensor<6x5xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{expects pooled_shape to have positive entries, but got 0 (C2)}}
  %r = "onnx.MaxRoiPool"(%a, %b) {pooled_shape = [2, 0]}
      : (tensor<1x4x8x8xf32>, tensor<6x5xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RoiAlign C1
func.func @roi_align_c1_rois(%a: tensor<1x4x8x8xf32>,
                             %b: tensor<3x5xf32>,
                             %c: tensor<3xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects dimension 1 of rois to be 4, but got 5 (C1)}}
  %r = "onnx.RoiAlign"(%a, %b, %c) : (tensor<1x4x8x8xf32>, tensor<3x5xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RoiAlign C1
func.func @roi_align_c1_batch(%a: tensor<1x4x8x8xf32>,
                              %b: tensor<3x4xf32>,
                              %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects dimension 0 of batch_indices to be 3, but got 2 (C1)}}
  %r = "onnx.RoiAlign"(%a, %b, %c) : (tensor<1x4x8x8xf32>, tensor<3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RoiAlign C2
func.func @roi_align_c2(%a: tensor<1x4x8x8xf32>,
                        %b: tensor<3x4xf32>,
                        %c: tensor<3xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects mode to be avg or max, but got 'mean' (C2)}}
  %r = "onnx.RoiAlign"(%a, %b, %c) {mode = "mean"}
      : (tensor<1x4x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RoiAlign C3
func.func @roi_align_c3(%a: tensor<1x4x8x8xf32>,
                        %b: tensor<3x4xf32>,
                        %c: tensor<3xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects coordinate_transformation_mode to be half_pixel or output_half_pixel, but got 'asymmetric' (C3)}}
  %r = "onnx.RoiAlign"(%a, %b, %c) {coordinate_transformation_mode = "asymmetric"}
      : (tensor<1x4x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RoiAlign C4
func.func @roi_align_c4_size(%a: tensor<1x4x8x8xf32>,
                             %b: tensor<3x4xf32>,
                             %c: tensor<3xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects a positive output size, but got 0 by 1 (C4)}}
  %r = "onnx.RoiAlign"(%a, %b, %c) {output_height = 0 : si64}
      : (tensor<1x4x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// RoiAlign C4
func.func @roi_align_c4_ratio(%a: tensor<1x4x8x8xf32>,
                              %b: tensor<3x4xf32>,
                              %c: tensor<3xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects a non-negative sampling_ratio, but got -1 (C4)}}
  %r = "onnx.RoiAlign"(%a, %b, %c) {sampling_ratio = -1 : si64}
      : (tensor<1x4x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}
