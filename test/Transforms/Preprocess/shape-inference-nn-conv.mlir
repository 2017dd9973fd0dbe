// Shapes of convolutions, static, symbolic and refused.
// RUN: onnxq-opt %s --split-input-file --verify-diagnostics --onnx-shape-inference | FileCheck %s

// CHECK-LABEL: @conv_static(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x6x5x4xf32>
func.func @conv_static(%a: tensor<1x3x9x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {pads = [1, 1, 1, 1], strides = [2, 2]}
      : (tensor<1x3x9x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_1d_dilated(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<2x8x12xf32>
func.func @conv_1d_dilated(%a: tensor<2x4x20xf32>,
                           %b: tensor<8x2x3xf32>,
                           %c: tensor<8xf32>)
    -> tensor<*xf32> {
  %r = "onnx.Conv"(%a, %b, %c) {dilations = [4], group = 2 : si64}
      : (tensor<2x4x20xf32>, tensor<8x2x3xf32>, tensor<8xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_3d(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x2x7x4x3xf32>
func.func @conv_3d(%a: tensor<1x1x7x8x9xf32>, %b: tensor<2x1x1x2x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {strides = [1, 2, 3]}
      : (tensor<1x1x7x8x9xf32>, tensor<2x1x1x2x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_same_upper(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x6x4x3xf32>
func.func @conv_same_upper(%a: tensor<1x3x7x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {auto_pad = "SAME_UPPER", strides = [2, 3]}
      : (tensor<1x3x7x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_same_lower(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x6x7x8xf32>
func.func @conv_same_lower(%a: tensor<1x3x7x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {auto_pad = "SAME_LOWER"}
      : (tensor<1x3x7x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_valid(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x6x3x2xf32>
func.func @conv_valid(%a: tensor<1x3x7x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {auto_pad = "VALID", pads = [9, 9, 9, 9], strides = [2, 3]}
      : (tensor<1x3x7x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_symbolic(
// CHECK: "onnx.Conv"({{.*}}){{.*}}onnx_dim_params = ["0:batch,2:h,3:floor((w+1)/2)"]{{.*}} -> tensor<?x6x?x?xf32>
func.func @conv_symbolic(%a: tensor<?x3x?x?xf32> {onnx.name = "x", onnx.dim_params = "0:batch,2:h,3:w"},
                         %b: tensor<6x3x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {pads = [1, 1, 1, 1], strides = [1, 2]}
      : (tensor<?x3x?x?xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_same_symbolic(
// CHECK: "onnx.Conv"({{.*}}){{.*}}onnx_dim_params = ["0:batch,2:floor((h+3)/4)"]{{.*}} -> tensor<?x6x?x2xf32>
func.func @conv_same_symbolic(%a: tensor<?x3x?x8xf32> {onnx.name = "x", onnx.dim_params = "0:batch,2:h"},
                              %b: tensor<6x3x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {auto_pad = "SAME_UPPER", strides = [4, 4]}
      : (tensor<?x3x?x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_symbolic_kernel(
// CHECK: "onnx.Conv"({{.*}}){{.*}}onnx_dim_params = ["1:m,2:-k+9"]{{.*}} -> tensor<1x?x?x6xf32>
func.func @conv_symbolic_kernel(%a: tensor<1x3x8x8xf32>,
                                %b: tensor<?x3x?x3xf32> {onnx.name = "w", onnx.dim_params = "0:m,2:k"})
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) : (tensor<1x3x8x8xf32>, tensor<?x3x?x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_kernel_from_attribute(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x?x6x4xf32>
func.func @conv_kernel_from_attribute(%a: tensor<1x3x8x8xf32>, %b: tensor<*xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {kernel_shape = [3, 5]}
      : (tensor<1x3x8x8xf32>, tensor<*xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_unranked_input(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<?x6x?x?xf32>
func.func @conv_unranked_input(%a: tensor<*xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) : (tensor<*xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_unranked(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<*xf32>
func.func @conv_unranked(%a: tensor<*xf32>, %b: tensor<*xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none) {kernel_shape = [3, 3]}
      : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_unknown_element(
// CHECK: "onnx.Conv"({{.*}}){{.*}} -> tensor<1x6x1x1xf16>
func.func @conv_unknown_element(%a: tensor<1x3x3x3xf16>,
                                %b: tensor<6x3x3x3xf16>)
    -> tensor<*x!onnx.Unknown> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.Conv"(%a, %b, %none)
      : (tensor<1x3x3x3xf16>, tensor<6x3x3x3xf16>, none) -> tensor<*x!onnx.Unknown>
  onnx.Return %r : tensor<*x!onnx.Unknown>
}

// CHECK-LABEL: @conv_transpose(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x5x5xf32>
func.func @conv_transpose(%a: tensor<1x1x3x3xf32>, %b: tensor<1x2x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_pads(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x7x3xf32>
func.func @conv_transpose_pads(%a: tensor<1x1x3x3xf32>, %b: tensor<1x2x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {pads = [1, 2, 1, 2], strides = [3, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_output_padding(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x10x8xf32>
func.func @conv_transpose_output_padding(%a: tensor<1x1x3x3xf32>,
                                         %b: tensor<1x2x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {output_padding = [1, 1], strides = [3, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_output_shape(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x10x8xf32>
func.func @conv_transpose_output_shape(%a: tensor<1x1x3x3xf32>,
                                       %b: tensor<1x2x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {output_shape = [10, 8], strides = [3, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_output_shape_of_all(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x10x8xf32>
func.func @conv_transpose_output_shape_of_all(%a: tensor<1x1x3x3xf32>,
                                              %b: tensor<1x2x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {output_shape = [1, 2, 10, 8], strides = [3, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_dilations(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x1x5x5xf32>
func.func @conv_transpose_dilations(%a: tensor<1x1x3x3xf32>,
                                    %b: tensor<1x1x2x2xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {dilations = [2, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_same(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x6x6xf32>
func.func @conv_transpose_same(%a: tensor<1x1x3x3xf32>, %b: tensor<1x2x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {auto_pad = "SAME_UPPER", strides = [2, 2]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_same_short_kernel(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x2x5xf32>
func.func @conv_transpose_same_short_kernel(%a: tensor<1x1x3xf32>,
                                            %b: tensor<1x2x1xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {auto_pad = "SAME_LOWER", strides = [2]}
      : (tensor<1x1x3xf32>, tensor<1x2x1xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_same_symbolic(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:2*h"]{{.*}} -> tensor<?x2x?x6xf32>
func.func @conv_transpose_same_symbolic(%a: tensor<?x1x?x3xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:h"},
                                        %b: tensor<1x2x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {auto_pad = "SAME_LOWER", strides = [2, 2]}
      : (tensor<?x1x?x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_group(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<1x6x4xf32>
func.func @conv_transpose_group(%a: tensor<1x4x3xf32>,
                                %b: tensor<4x3x2xf32>,
                                %c: tensor<6xf32>)
    -> tensor<*xf32> {
  %r = "onnx.ConvTranspose"(%a, %b, %c) {group = 2 : si64}
      : (tensor<1x4x3xf32>, tensor<4x3x2xf32>, tensor<6xf32>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_symbolic(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}}onnx_dim_params = ["0:n,2:2*h+1"]{{.*}} -> tensor<?x2x?x5xf32>
func.func @conv_transpose_symbolic(%a: tensor<?x1x?x3xf32> {onnx.name = "x", onnx.dim_params = "0:n,2:h"},
                                   %b: tensor<1x2x3x3xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {strides = [2, 1]}
      : (tensor<?x1x?x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @conv_transpose_unranked(
// CHECK: "onnx.ConvTranspose"({{.*}}){{.*}} -> tensor<*xf32>
func.func @conv_transpose_unranked(%a: tensor<*xf32>, %b: tensor<*xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.ConvTranspose"(%a, %b, %none) {strides = [2, 1]}
      : (tensor<*xf32>, tensor<*xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @deform_conv(
// CHECK: "onnx.DeformConv"({{.*}}){{.*}}onnx_dim_params = ["3:w-1"]{{.*}} -> tensor<1x1x4x?xf32>
func.func @deform_conv(%a: tensor<1x1x3x?xf32> {onnx.name = "x", onnx.dim_params = "3:w"},
                       %b: tensor<1x1x2x2xf32>,
                       %c: tensor<1x8x4x?xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none) {pads = [1, 0, 1, 0]}
      : (tensor<1x1x3x?xf32>, tensor<1x1x2x2xf32>, tensor<1x8x4x?xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im
// CHECK: "onnx.Col2Im"({{.*}}){{.*}} -> tensor<1x1x5x5xf32>
func.func @col2im(%a: tensor<1x5x5xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[1, 5]> : tensor<2xi64>
  %r = "onnx.Col2Im"(%a, %image, %block) : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im_strides
// CHECK: "onnx.Col2Im"({{.*}}){{.*}} -> tensor<1x1x5x5xf32>
func.func @col2im_strides(%a: tensor<1x9x4xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[3, 3]> : tensor<2xi64>
  %r = "onnx.Col2Im"(%a, %image, %block) {strides = [2, 2]} : (tensor<1x9x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im_pads
// CHECK: "onnx.Col2Im"({{.*}}){{.*}} -> tensor<1x1x5x5xf32>
func.func @col2im_pads(%a: tensor<1x5x15xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[1, 5]> : tensor<2xi64>
  %r = "onnx.Col2Im"(%a, %image, %block) {pads = [0, 1, 0, 1]} : (tensor<1x5x15xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im_5d
// CHECK: "onnx.Col2Im"({{.*}}){{.*}} -> tensor<1x2x3x4x5xf32>
func.func @col2im_5d(%a: tensor<1x10x12xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[3, 4, 5]> : tensor<3xi64>
  %block = onnx.Constant dense<[1, 1, 5]> : tensor<3xi64>
  %r = "onnx.Col2Im"(%a, %image, %block) : (tensor<1x10x12xf32>, tensor<3xi64>, tensor<3xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im_symbolic
// CHECK: "onnx.Col2Im"({{.*}}){{.*}}onnx_dim_params = ["0:n,1:floor(rows/9)"]{{.*}} -> tensor<?x?x5x5xf32>
func.func @col2im_symbolic(%a: tensor<?x?x4xf32> {onnx.name = "x", onnx.dim_params = "0:n,1:rows"}) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[3, 3]> : tensor<2xi64>
  %r = "onnx.Col2Im"(%a, %image, %block) {strides = [2, 2]} : (tensor<?x?x4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im_unknown_image(
// CHECK: "onnx.Col2Im"({{.*}}){{.*}} -> tensor<1x?x?x?xf32>
func.func @col2im_unknown_image(%a: tensor<1x5x5xf32>,
                                %b: tensor<2xi64>,
                                %c: tensor<2xi64>)
    -> tensor<*xf32> {
  %r = "onnx.Col2Im"(%a, %b, %c) : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// CHECK-LABEL: @col2im_unknown_rank(
// CHECK: "onnx.Col2Im"({{.*}}){{.*}} -> tensor<*xf32>
func.func @col2im_unknown_rank(%a: tensor<1x5x5xf32>,
                               %b: tensor<?xi64>,
                               %c: tensor<?xi64>)
    -> tensor<*xf32> {
  %r = "onnx.Col2Im"(%a, %b, %c) : (tensor<1x5x5xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// The window is larger than the input.
func.func @conv_window(%a: tensor<1x3x2x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects a window within the padded input, but got a window of 3 over 2 elements in spatial dimension 0}}
  %r = "onnx.Conv"(%a, %b, %none) : (tensor<1x3x2x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Huge attributes overflow no arithmetic.
func.func @conv_huge(%a: tensor<1x3x8x8xf32>, %b: tensor<6x3x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{infers dimension 2 of result 0 larger than 64 bits}}
  %r = "onnx.Conv"(%a, %b, %none) {pads = [9223372036854775807, 0, 9223372036854775807, 0]}
      : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

// Nothing is left of the output.
func.func @conv_transpose_pads(%a: tensor<1x1x3x3xf32>, %b: tensor<1x2x3x3xf32>) -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects pads that leave something of the output, but got a size of -1 in spatial dimension 0}}
  %r = "onnx.ConvTranspose"(%a, %b, %none) {pads = [3, 0, 3, 0]}
      : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

func.func @deform_conv_offset(%a: tensor<1x1x3x3xf32>,
                              %b: tensor<1x1x2x2xf32>,
                              %c: tensor<1x8x3x2xf32>)
    -> tensor<*xf32> {
  %none = "onnx.NoValue"() {value} : () -> none
  // expected-error @+1 {{expects dimension 2 of offset to be 2, but got 3 (C8)}}
  %r = "onnx.DeformConv"(%a, %b, %c, %none, %none)
      : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x3x2xf32>, none, none) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

func.func @col2im_block(%a: tensor<1x5x5xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[0, 5]> : tensor<2xi64>
  // expected-error @+1 {{expects block_shape to have positive elements, but got 0}}
  %r = "onnx.Col2Im"(%a, %image, %block) : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

func.func @col2im_rows(%a: tensor<1x7x5xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[1, 5]> : tensor<2xi64>
  // expected-error @+1 {{expects dimension 1 of input to be a multiple of the block's elements, but got 7 for 5}}
  %r = "onnx.Col2Im"(%a, %image, %block) : (tensor<1x7x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

func.func @col2im_columns(%a: tensor<1x5x6xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[1, 5]> : tensor<2xi64>
  // expected-error @+1 {{expects a column for every place of the block, but got 6 columns for 5 places}}
  %r = "onnx.Col2Im"(%a, %image, %block) : (tensor<1x5x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}

// -----

func.func @col2im_image(%a: tensor<1x5x6xf32>) -> tensor<*xf32> {
  %image = onnx.Constant dense<[-5, 5]> : tensor<2xi64>
  %block = onnx.Constant dense<[1, 5]> : tensor<2xi64>
  // expected-error @+1 {{expects a window within the padded input, but got a window of 1 over -5 elements in spatial dimension 0}}
  %r = "onnx.Col2Im"(%a, %image, %block) : (tensor<1x5x6xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  onnx.Return %r : tensor<*xf32>
}
