// What the verifiers of convolutions refuse, one case per constraint.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics

// Conv C1
func.func @conv_c1(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, but got 'same' (C1)}}
  %r = "onnx.Conv"(%a, %b, %none) {auto_pad = "same"}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C2
func.func @conv_c2_length(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension (2 dimensions), but got 1 entries (C2)}}
  %r = "onnx.Conv"(%a, %b, %none) {kernel_shape = [3]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C2
func.func @conv_c2_zero(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got 0 (C2)}}
  %r = "onnx.Conv"(%a, %b, %none) {kernel_shape = [3, 0]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C3
func.func @conv_c3_strides(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects strides to have positive entries, but got -9223372036854775808 (C3)}}
  %r = "onnx.Conv"(%a, %b, %none) {strides = [1, -9223372036854775808]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C3
func.func @conv_c3_dilations(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 3 entries (C3)}}
  %r = "onnx.Conv"(%a, %b, %none) {dilations = [1, 1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C4
func.func @conv_c4_length(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have two entries per spatial dimension (2 dimensions), but got 2 entries (C4)}}
  %r = "onnx.Conv"(%a, %b, %none) {pads = [1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C4
func.func @conv_c4_negative(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have non-negative entries, but got -1 (C4)}}
  %r = "onnx.Conv"(%a, %b, %none) {pads = [0, 0, 0, -1]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C2
func.func @conv_c2_weight(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to be the weight's, but got 5 for a weight dimension of 3 (C2)}}
  %r = "onnx.Conv"(%a, %b, %none) {kernel_shape = [3, 5]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C5
func.func @conv_c5_small(%a: tensor<1x4xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input and weight of rank 3 or more, but got rank 2 (C5)}}
  %r = "onnx.Conv"(%a, %b, %none) : (tensor<1x4xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C5
func.func @conv_c5_different(%a: tensor<1x4x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input and weight of the same rank, but got ranks 3 and 4 (C5)}}
  %r = "onnx.Conv"(%a, %b, %none) : (tensor<1x4x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C6
func.func @conv_c6_zero(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive group, but got 0 (C6)}}
  %r = "onnx.Conv"(%a, %b, %none) {group = 0 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C6
func.func @conv_c6_divides(%a: tensor<*xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output channels that are a multiple of group, but got 6 channels for group 4 (C6)}}
  %r = "onnx.Conv"(%a, %b, %none) {group = 4 : si64}
      : (tensor<*xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C6
func.func @conv_c6_channels(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects as many input channels as the weight's second dimension times group, but got 4 channels for 4 times 2 (C6)}}
  %r = "onnx.Conv"(%a, %b, %none) {group = 2 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C6
func.func @conv_c6_huge(%a: tensor<1x4x8x8xf32>, %b: tensor<?x4x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects as many input channels as the weight's second dimension times group, but got 4 channels for 4 times 9223372036854775807 (C6)}}
  %r = "onnx.Conv"(%a, %b, %none) {group = 9223372036854775807 : si64}
      : (tensor<1x4x8x8xf32>, tensor<?x4x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C7
func.func @conv_c7_rank(%a: tensor<1x4x8x8xf32>,
                        %b: tensor<6x4x3x3xf32>,
                        %c: tensor<1x6xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects a bias of rank 1, but got rank 2 (C7)}}
  %r = "onnx.Conv"(%a, %b, %c) : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x6xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Conv C7
func.func @conv_c7_size(%a: tensor<1x4x8x8xf32>,
                        %b: tensor<6x4x3x3xf32>,
                        %c: tensor<4xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects one bias per output channel, but got 4 for 6 channels (C7)}}
  %r = "onnx.Conv"(%a, %b, %c) : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Without a rank the lists are compared with one another.
func.func @conv_unranked(%a: tensor<*xf32>, %b: tensor<*xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects strides to have one entry per spatial dimension (2 dimensions), but got 1 entries (C3)}}
  %r = "onnx.Conv"(%a, %b, %none) {kernel_shape = [3, 3], strides = [1]}
      : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C1
func.func @conv_transpose_c1(%a: tensor<1x4x8x8xf32>, %b: tensor<4x6x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects auto_pad to be NOTSET, SAME_UPPER, SAME_LOWER or VALID, but got 'same' (C1)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {auto_pad = "same"}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C2
func.func @conv_transpose_c2_length(%a: tensor<1x4x8x8xf32>,
                                    %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension (2 dimensions), but got 1 entries (C2)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {kernel_shape = [3]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C2
func.func @conv_transpose_c2_zero(%a: tensor<1x4x8x8xf32>,
                                  %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got 0 (C2)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {kernel_shape = [3, 0]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C3
func.func @conv_transpose_c3_strides(%a: tensor<1x4x8x8xf32>,
                                     %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects strides to have positive entries, but got -9223372036854775808 (C3)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {strides = [1, -9223372036854775808]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C3
func.func @conv_transpose_c3_dilations(%a: tensor<1x4x8x8xf32>,
                                       %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 3 entries (C3)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {dilations = [1, 1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C4
func.func @conv_transpose_c4_length(%a: tensor<1x4x8x8xf32>,
                                    %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have two entries per spatial dimension (2 dimensions), but got 2 entries (C4)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {pads = [1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C4
func.func @conv_transpose_c4_negative(%a: tensor<1x4x8x8xf32>,
                                      %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have non-negative entries, but got -1 (C4)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {pads = [0, 0, 0, -1]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C2
func.func @conv_transpose_c2_weight(%a: tensor<1x4x8x8xf32>,
                                    %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 3 of W to be 5, but got 3 (C2)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {kernel_shape = [3, 5]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C5
func.func @conv_transpose_c5_small(%a: tensor<1x4x8x8xf32>, %b: tensor<4x6xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects W to have rank 3 or more, but got rank 2 (C5)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) : (tensor<1x4x8x8xf32>, tensor<4x6xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C5
func.func @conv_transpose_c5_different(%a: tensor<1x4x8x8xf32>,
                                       %b: tensor<4x6x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects W to have rank 4, but got rank 3 (C5)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) : (tensor<1x4x8x8xf32>, tensor<4x6x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C6
func.func @conv_transpose_c6_negative(%a: tensor<1x4x8x8xf32>,
                                      %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive group, but got -1 (C6)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {group = -1 : si64}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C6
func.func @conv_transpose_c6_channels(%a: tensor<1x4x8x8xf32>,
                                      %b: tensor<5x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of W to be 4, but got 5 (C6)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) : (tensor<1x4x8x8xf32>, tensor<5x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C6
func.func @conv_transpose_c6_divides(%a: tensor<1x4x8x8xf32>,
                                     %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects channels that are a multiple of group, but got 4 channels for group 3 (C6)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {group = 3 : si64}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C6
func.func @conv_transpose_c6_huge(%a: tensor<*xf32>, %b: tensor<?x6x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output channels that fit into 64 bits, but got 6 times 9223372036854775807 (C6)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {group = 9223372036854775807 : si64}
      : (tensor<*xf32>, tensor<?x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C7
func.func @conv_transpose_c7(%a: tensor<1x4x8x8xf32>,
                             %b: tensor<4x6x3x3xf32>,
                             %c: tensor<6xf32>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects B to have one element per channel, but got 6 elements for 12 channels (C7)}}
  %r = "onnx.ConvTranspose"(%a, %b, %c) {group = 2 : si64}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, tensor<6xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C8
func.func @conv_transpose_c8_padding(%a: tensor<1x4x8x8xf32>,
                                     %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output_padding to have one entry per spatial dimension (2 dimensions), but got 4 entries (C8)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {output_padding = [1, 1, 1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// ConvTranspose C8
func.func @conv_transpose_c8_shape(%a: tensor<1x4x8x8xf32>,
                                   %b: tensor<4x6x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output_shape to have non-negative entries, but got -8 (C8)}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {output_shape = [10, -8]}
      : (tensor<1x4x8x8xf32>, tensor<4x6x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C1
func.func @deform_conv_c1_length(%a: tensor<1x4x8x8xf32>,
                                 %b: tensor<6x4x3x3xf32>,
                                 %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have one entry per spatial dimension (2 dimensions), but got 1 entries (C1)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {kernel_shape = [3]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C1
func.func @deform_conv_c1_zero(%a: tensor<1x4x8x8xf32>,
                               %b: tensor<6x4x3x3xf32>,
                               %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to have positive entries, but got 0 (C1)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {kernel_shape = [3, 0]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C2
func.func @deform_conv_c2_strides(%a: tensor<1x4x8x8xf32>,
                                  %b: tensor<6x4x3x3xf32>,
                                  %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects strides to have positive entries, but got -9223372036854775808 (C2)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {strides = [1, -9223372036854775808]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C2
func.func @deform_conv_c2_dilations(%a: tensor<1x4x8x8xf32>,
                                    %b: tensor<6x4x3x3xf32>,
                                    %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 3 entries (C2)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {dilations = [1, 1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C3
func.func @deform_conv_c3_length(%a: tensor<1x4x8x8xf32>,
                                 %b: tensor<6x4x3x3xf32>,
                                 %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have two entries per spatial dimension (2 dimensions), but got 2 entries (C3)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {pads = [1, 1]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C3
func.func @deform_conv_c3_negative(%a: tensor<1x4x8x8xf32>,
                                   %b: tensor<6x4x3x3xf32>,
                                   %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads to have non-negative entries, but got -1 (C3)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {pads = [0, 0, 0, -1]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C1
func.func @deform_conv_c1_weight(%a: tensor<1x4x8x8xf32>,
                                 %b: tensor<6x4x3x3xf32>,
                                 %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects kernel_shape to be the weight's, but got 5 for a weight dimension of 3 (C1)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {kernel_shape = [3, 5]}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C4
func.func @deform_conv_c4_small(%a: tensor<1x4xf32>,
                                %b: tensor<6x4x3x3xf32>,
                                %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input and weight of rank 3 or more, but got rank 2 (C4)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none)
      : (tensor<1x4xf32>, tensor<6x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C4
func.func @deform_conv_c4_different(%a: tensor<1x4x8xf32>,
                                    %b: tensor<6x4x3x3xf32>,
                                    %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects input and weight of the same rank, but got ranks 3 and 4 (C4)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none)
      : (tensor<1x4x8xf32>, tensor<6x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C5
func.func @deform_conv_c5_zero(%a: tensor<1x4x8x8xf32>,
                               %b: tensor<6x4x3x3xf32>,
                               %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive group, but got 0 (C5)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {group = 0 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C5
func.func @deform_conv_c5_divides(%a: tensor<*xf32>,
                                  %b: tensor<6x4x3x3xf32>,
                                  %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects output channels that are a multiple of group, but got 6 channels for group 4 (C5)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {group = 4 : si64}
      : (tensor<*xf32>, tensor<6x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C5
func.func @deform_conv_c5_channels(%a: tensor<1x4x8x8xf32>,
                                   %b: tensor<6x4x3x3xf32>,
                                   %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects as many input channels as the weight's second dimension times group, but got 4 channels for 4 times 2 (C5)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {group = 2 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C5
func.func @deform_conv_c5_huge(%a: tensor<1x4x8x8xf32>,
                               %b: tensor<?x4x3x3xf32>,
                               %c: tensor<*xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects as many input channels as the weight's second dimension times group, but got 4 channels for 4 times 9223372036854775807 (C5)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {group = 9223372036854775807 : si64}
      : (tensor<1x4x8x8xf32>, tensor<?x4x3x3xf32>, tensor<*xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C6
func.func @deform_conv_c6(%a: tensor<1x4x8x8xf32>,
                          %b: tensor<6x4x3x3xf32>,
                          %c: tensor<1x18x6x6xf32>,
                          %d: tensor<4xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects one bias per output channel, but got 4 for 6 channels (C6)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %d, %none)
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, tensor<4xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C7
func.func @deform_conv_c7_zero(%a: tensor<1x4x8x8xf32>,
                               %b: tensor<6x4x3x3xf32>,
                               %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a positive offset_group, but got 0 (C7)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {offset_group = 0 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C7
func.func @deform_conv_c7_divides(%a: tensor<1x4x8x8xf32>,
                                  %b: tensor<6x4x3x3xf32>,
                                  %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects channels that are a multiple of offset_group, but got 4 channels for offset_group 3 (C7)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {offset_group = 3 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C8
func.func @deform_conv_c8_offset(%a: tensor<1x4x8x8xf32>,
                                 %b: tensor<6x4x3x3xf32>,
                                 %c: tensor<1x18x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 1 of offset to be 36, but got 18 (C8)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {offset_group = 2 : si64}
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C8
func.func @deform_conv_c8_mask(%a: tensor<1x4x8x8xf32>,
                               %b: tensor<6x4x3x3xf32>,
                               %c: tensor<1x18x6x6xf32>,
                               %d: tensor<2x9x6x6xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 0 of mask to be 1, but got 2 (C8)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %d)
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18x6x6xf32>, none, tensor<2x9x6x6xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// DeformConv C8
func.func @deform_conv_c8_rank(%a: tensor<1x4x8x8xf32>,
                               %b: tensor<6x4x3x3xf32>,
                               %c: tensor<1x18xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects offset to have rank 4, but got rank 2 (C8)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none)
      : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<1x18xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Col2Im C1
func.func @col2_im_c1_input(%a: tensor<1x5x5x1xf32>,
                            %b: tensor<2xi64>,
                            %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects input to have rank 3, but got rank 4 (C1)}}
  %r = "onnx.Col2Im"(%a, %b, %c) : (tensor<1x5x5x1xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Col2Im C1
func.func @col2_im_c1_image(%a: tensor<1x5x5xf32>,
                            %b: tensor<2x1xi64>,
                            %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects image_shape to have rank 1, but got rank 2 (C1)}}
  %r = "onnx.Col2Im"(%a, %b, %c) : (tensor<1x5x5xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Col2Im C1
func.func @col2_im_c1_block(%a: tensor<1x5x5xf32>,
                            %b: tensor<2xi64>,
                            %c: tensor<3xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects dimension 0 of block_shape to be 2, but got 3 (C1)}}
  %r = "onnx.Col2Im"(%a, %b, %c) : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Col2Im C2
func.func @col2_im_c2_strides(%a: tensor<1x5x5xf32>,
                              %b: tensor<2xi64>,
                              %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects strides to have positive entries, but got 0 (C2)}}
  %r = "onnx.Col2Im"(%a, %b, %c) {strides = [1, 0]}
      : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Col2Im C2
func.func @col2_im_c2_dilations(%a: tensor<1x5x5xf32>,
                                %b: tensor<2xi64>,
                                %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects dilations to have one entry per spatial dimension (2 dimensions), but got 1 entries (C2)}}
  %r = "onnx.Col2Im"(%a, %b, %c) {dilations = [1]}
      : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Col2Im C3
func.func @col2_im_c3(%a: tensor<1x5x5xf32>,
                      %b: tensor<2xi64>,
                      %c: tensor<2xi64>)
    -> tensor<*xf32> {
  // expected-error @+1 {{expects pads to have two entries per spatial dimension (2 dimensions), but got 3 entries (C3)}}
  %r = "onnx.Col2Im"(%a, %b, %c) {pads = [0, 0, 0]}
      : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}
