// Convolutions: plain, transposed, deformable, and the inverse of im2col.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_NNCONV_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_NNCONV_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def ONNX_ConvOp : ONNX_Op<"Conv", [1, 11, 22], [
    ONNX_SameElementType<["X", "W", "B", "Y"]>]> {
  let summary = "convolution";
  let description = [{
    Y[n, m, o..] = B[m] + sum over c, k.. of
    X[n, g * C / group + c, o * stride + k * dilation - pad..] * W[m, c, k..],
    where g is m's group and X is zero outside. In every spatial dimension the
    output has floor((in + pads - extent) / stride) + 1 elements, with extent =
    (kernel - 1) * dilation + 1. `auto_pad` SAME_UPPER and SAME_LOWER pad for
    ceil(in / stride) elements, an odd one at the end or at the beginning;
    VALID pads nothing. `pads` lists all beginnings, then all ends, and counts
    for NOTSET only.

    Constraints:
    - C1: `auto_pad` is NOTSET, SAME_UPPER, SAME_LOWER or VALID.
    - C2: `kernel_shape` has a positive entry per spatial dimension, that of W.
    - C3: `strides` and `dilations` have a positive entry per spatial dimension.
    - C4: `pads` has two entries per spatial dimension, none negative.
    - C5: X and W have the same rank, at least 3.
    - C6: `group` is positive and divides W's first dimension, and X has `group`
      times as many channels as W's second dimension.
    - C7: B has one element per output channel.

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y = "onnx.Conv"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64, kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]}
        : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x4x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_ConvTransposeOp : ONNX_Op<"ConvTranspose", [1, 11, 22], [
    ONNX_SameElementType<["X", "W", "B", "Y"]>]> {
  let summary = "transposed convolution";
  let description = [{
    Every element of X adds its multiple of the kernel to the output, `strides`
    apart: the gradient of `onnx.Conv`. W is [C, M / group, k..]. In every
    spatial dimension the output has
    stride * (in - 1) + output_padding + (kernel - 1) * dilation + 1 - pads
    elements. `output_shape` (of the spatial dimensions, or of all) takes the
    place of `pads`: what is too much is cut off in halves, the odd element at the end
    for SAME_UPPER and at the beginning otherwise; what is missing is zeros at
    the end. SAME_UPPER and SAME_LOWER cut what is more than in * stride.

    Constraints:
    - C1: `auto_pad` is NOTSET, SAME_UPPER, SAME_LOWER or VALID.
    - C2: `kernel_shape` has a positive entry per spatial dimension, that of W.
    - C3: `strides` and `dilations` have a positive entry per spatial dimension.
    - C4: `pads` has two entries per spatial dimension, none negative.
    - C5: X and W have the same rank, at least 3.
    - C6: `group` is positive and divides X's channels, of which W's first
      dimension has as many.
    - C7: B has one element per output channel.
    - C8: `output_padding` and `output_shape` have an entry per spatial
      dimension, none negative; `output_shape` may have two more.

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y = "onnx.ConvTranspose"(%x, %w, %none) {auto_pad = "NOTSET", group = 1 : si64, output_padding = [1, 1], strides = [3, 2]}
        : (tensor<1x1x3x3xf32>, tensor<1x2x3x3xf32>, none) -> tensor<1x2x10x8xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$output_padding,
      OptionalAttr<I64ArrayAttr>:$output_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_DeformConvOp : ONNX_Op<"DeformConv", [19, 22], [
    ONNX_SameElementType<["X", "W", "offset", "B", "mask", "Y"]>]> {
  let summary = "convolution whose kernel elements are moved by an input";
  let description = [{
    As `onnx.Conv`, but kernel element k at output place o reads X at
    o * stride + k * dilation - pad + offset, interpolated linearly (zero
    outside), and times `mask`. The channels of X are divided into
    `offset_group` groups with offsets of their own.

    Constraints:
    - C1: `kernel_shape` has a positive entry per spatial dimension, that of W.
    - C2: `strides` and `dilations` have a positive entry per spatial dimension.
    - C3: `pads` has two entries per spatial dimension, none negative.
    - C4: X and W have the same rank, at least 3.
    - C5: `group` is positive and divides W's first dimension, and X has `group`
      times as many channels as W's second dimension.
    - C6: B has one element per output channel.
    - C7: `offset_group` is positive and divides X's channels.
    - C8: `offset` is [N, offset_group * kernel elements * spatial rank, o..]
      and `mask` [N, offset_group * kernel elements, o..].

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y = "onnx.DeformConv"(%x, %w, %offset, %none, %none) {group = 1 : si64, kernel_shape = [2, 2], offset_group = 1 : si64, pads = [0, 0, 0, 0]}
        : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x8x2x2xf32>, none, none) -> tensor<1x1x2x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_FloatTensor:$offset,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      ONNX_Opt<ONNX_FloatTensor>:$mask,
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      DefaultValuedAttr<SI64Attr, "1">:$offset_group,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_Col2ImOp : ONNX_Op<"Col2Im", [18], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "adds blocks up to images";
  let description = [{
    `input` is [N, C * block elements, L]: L blocks of every channel, each a
    column. Block l goes to the place of window l of the padded image, and what
    lies on top of one another is added. The output is [N, C, image_shape..].

    Constraints:
    - C1: `input` has rank 3, `image_shape` and `block_shape` rank 1 and the
      same length.
    - C2: `strides` and `dilations` have a positive entry per spatial dimension.
    - C3: `pads` has two entries per spatial dimension, none negative.

    Example:
    ```mlir
    %y = "onnx.Col2Im"(%x, %image, %block) {dilations = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]}
        : (tensor<1x5x5xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1x5x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_I64Tensor:$image_shape,
      ONNX_I64Tensor:$block_shape,
      OptionalAttr<I64ArrayAttr>:$dilations,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_NNCONV_TD
