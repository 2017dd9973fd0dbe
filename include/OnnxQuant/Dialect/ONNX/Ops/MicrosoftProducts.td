// Quantized matrix products, attention and recurrence of the com.microsoft
// domain. Included by Microsoft.td.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFTPRODUCTS_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFTPRODUCTS_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def MS_QGemmOp : ONNX_MicrosoftOp<"QGemm", [
    ONNX_SameElementType<["A", "a_zero_point"]>,
    ONNX_SameElementType<["B", "b_zero_point"]>]> {
  let summary = "matrix product and bias of quantized tensors";
  let description = [{
    With `acc = (A' - a_zero_point) * (B' - b_zero_point) + C` in `i32`, where
    A' and B' are transposed as `transA` and `transB` say, the real result is
    `r = alpha * a_scale * b_scale * acc`. The bias `C` is quantized with scale
    `a_scale * b_scale` and zero point zero, so `alpha` scales it too; a `beta`
    is folded into its numbers. `Y` is `r` in `f32`, or with `y_scale` and
    `y_zero_point` `r` quantized by them.

    Constraints:
    - C1: `A` and `B` have rank 2 and equal inner dimensions
    - C2: the scale and zero point of `A` have one element
    - C3: the scale and zero point of `B` have one element, or one per column
    - C4: `C` has rank 2 at most and broadcasts to the result
    - C5: `y_scale` and `y_zero_point` have one element, and both are there or
      none
    - C6: `Y` has the element type of `y_zero_point`, or `f32` without it

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QGemm"(%a, %as, %az, %b, %bs, %bz, %c, %ys, %yz) {alpha = 1.0 : f32, transA = 0 : si64, transB = 1 : si64} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<4x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<4xi32>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$A,
      ONNX_F32Tensor:$a_scale,
      ONNX_Int8Tensor:$a_zero_point,
      ONNX_Int8Tensor:$B,
      ONNX_F32Tensor:$b_scale,
      ONNX_Int8Tensor:$b_zero_point,
      ONNX_Opt<ONNX_I32Tensor>:$C,
      ONNX_Opt<ONNX_F32Tensor>:$y_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$y_zero_point,
      DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
      DefaultValuedAttr<SI64Attr, "0">:$transA,
      DefaultValuedAttr<SI64Attr, "0">:$transB);
  let results = (outs MS_Int8OrF32Tensor:$Y);
  let hasVerifier = 1;
}

def MS_DynamicQuantizeMatMulOp : ONNX_MicrosoftOp<"DynamicQuantizeMatMul", [
    ONNX_SameElementType<["B", "b_zero_point"]>]> {
  let summary = "matrix product of a tensor quantized on the fly";
  let description = [{
    Quantizes `A` as `onnx.DynamicQuantizeLinear` does, to `q` with scale `s`
    and zero point `z`, then
    `Y = s * b_scale * ((q - z) * (B - b_zero_point)) + bias`, the product in
    `i32`, the rest in `f32`.

    Constraints:
    - C1: the last dimension of `A` is the next to last of `B` (the only one of
      a vector)
    - C2: `b_scale` and `b_zero_point` have one element, one per column of `B`,
      or `B`'s dimensions with 1 in place of the rows
    - C3: `bias` has one element per column of `B`

    Example:
    ```mlir
    %y = "onnx.com.microsoft.DynamicQuantizeMatMul"(%a, %b, %bs, %bz, %bias) : (tensor<4x3xf32>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_F32Tensor:$A,
      ONNX_Int8Tensor:$B,
      ONNX_F32Tensor:$b_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$b_zero_point,
      ONNX_Opt<ONNX_F32Tensor>:$bias);
  let results = (outs ONNX_F32Tensor:$Y);
  let hasVerifier = 1;
}

def MS_MatMulIntegerToFloatOp : ONNX_MicrosoftOp<"MatMulIntegerToFloat", [
    ONNX_SameElementType<["A", "a_zero_point"]>,
    ONNX_SameElementType<["B", "b_zero_point"]>,
    ONNX_SameElementType<["a_scale", "b_scale", "bias", "Y"]>]> {
  let summary = "matrix product of quantized tensors as real numbers";
  let description = [{
    `Y = a_scale * b_scale * ((A - a_zero_point) * (B - b_zero_point)) + bias`,
    the product in `i32`.

    Constraints:
    - C1: the last dimension of `A` is the next to last of `B` (the only one of
      a vector)
    - C2: `a_scale` and `a_zero_point` have one element
    - C3: `b_scale` and `b_zero_point` have one element, one per column of `B`,
      or `B`'s dimensions with 1 in place of the rows
    - C4: `bias` has one element per column of `B`

    Example:
    ```mlir
    %y = "onnx.com.microsoft.MatMulIntegerToFloat"(%a, %b, %as, %bs, %az, %bz, %bias) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<f32>, tensor<2xf32>, tensor<ui8>, tensor<2xi8>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$A,
      ONNX_Int8Tensor:$B,
      ONNX_FloatTensor:$a_scale,
      ONNX_FloatTensor:$b_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$a_zero_point,
      ONNX_Opt<ONNX_Int8Tensor>:$b_zero_point,
      ONNX_Opt<ONNX_FloatTensor>:$bias);
  let results = (outs ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def MS_MatMulNBitsOp : ONNX_MicrosoftOp<"MatMulNBits", [
    ONNX_SameElementType<["A", "scales", "bias", "Y"]>]> {
  let summary = "matrix product with a weight of few bits in blocks";
  let description = [{
    `Y = A * W^T + bias`. `W` is an N by K matrix of `bits` bits per element.
    Each row is cut into ceil(K / block_size) blocks, each with one scale and
    zero point: `W = (q - zero_point) * scale`. Elements of a block lie bit by
    bit in bytes, the first in the low bits; so do zero points of a row. Zero
    points of a float type aren't packed. Without them they are 2^(bits - 1).

    `accuracy_level` permits to round `A`: 0 not, 1 f32, 2 f16, 3 bf16, 4 to 8
    bits by block. With `weight_prepacked`, `B` has a layout of its own.

    Constraints:
    - C1: `K` and `N` are positive, `bits` is in [2, 8], `block_size` is a power
      of two, at least 16 and at most 2^30
    - C2: the last dimension of `A` is `K`
    - C3: `B` has the shape [N, blocks, block_size * bits / 8] unless it is
      prepacked
    - C4: `scales` has N * blocks elements
    - C5: `zero_points` has N * blocks elements if it is float, and
      N * ceil(blocks * bits / 8) otherwise
    - C6: `bias` has `N` elements

    Example:
    ```mlir
    %y = "onnx.com.microsoft.MatMulNBits"(%a, %b, %s, %z, %none, %none) {K = 64 : si64, N = 8 : si64, bits = 4 : si64, block_size = 32 : si64} : (tensor<2x64xf32>, tensor<8x2x16xui8>, tensor<16xf32>, tensor<8xui8>, none, none) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$A,
      MS_PackedTensor:$B,
      ONNX_FloatTensor:$scales,
      ONNX_Opt<MS_PackedOrFloatTensor>:$zero_points,
      ONNX_Opt<ONNX_I32Tensor>:$g_idx,
      ONNX_Opt<ONNX_FloatTensor>:$bias,
      SI64Attr:$K,
      SI64Attr:$N,
      DefaultValuedAttr<SI64Attr, "0">:$accuracy_level,
      DefaultValuedAttr<SI64Attr, "4">:$bits,
      SI64Attr:$block_size,
      DefaultValuedAttr<SI64Attr, "0">:$weight_prepacked);
  let results = (outs ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def MS_QAttentionOp : ONNX_MicrosoftOp<"QAttention", [
    ONNX_SameElementType<["input", "input_zero_point"]>,
    ONNX_SameElementType<["weight", "weight_zero_point"]>,
    ONNX_SameElementType<["bias", "input_scale", "weight_scale", "past",
                          "output", "present"]>]> {
  let summary = "self attention with a quantized projection";
  let description = [{
    Projects the quantized `input` [batch, sequence, in] by the quantized
    `weight` [in, 3 * hidden] and `bias` to queries, keys and values (the
    product in `i32`, the rest in float), cuts them into `num_heads` heads and
    gives softmax(scale * Q * K^T + mask) * V per head. `scale` is
    1 / sqrt(hidden / num_heads) if it isn't given. `past` are keys and values
    that go before those of `input`; `present` are both.

    Constraints:
    - C1: `num_heads` is positive and divides the hidden size
    - C2: `input` has rank 3, `weight` has rank 2, its rows are `input`'s last
      dimension and its columns are a multiple of 3
    - C3: `bias` has one element per column of `weight`
    - C4: the scale and zero point of `input` have one element
    - C5: the scale and zero point of `weight` have one element, or one per
      column
    - C6: `past` has rank 5

    Example:
    ```mlir
    %y, %present = "onnx.com.microsoft.QAttention"(%x, %w, %b, %xs, %ws, %none, %xz, %wz, %none) {num_heads = 2 : si64, unidirectional = 1 : si64} : (tensor<1x5x8xui8>, tensor<8x24xi8>, tensor<24xf32>, tensor<f32>, tensor<f32>, none, tensor<ui8>, tensor<i8>, none) -> (tensor<1x5x8xf32>, tensor<2x1x2x5x4xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$input,
      ONNX_Int8Tensor:$weight,
      ONNX_FloatTensor:$bias,
      ONNX_FloatTensor:$input_scale,
      ONNX_FloatTensor:$weight_scale,
      ONNX_Opt<ONNX_I32Tensor>:$mask_index,
      ONNX_Opt<ONNX_Int8Tensor>:$input_zero_point,
      ONNX_Opt<ONNX_Int8Tensor>:$weight_zero_point,
      ONNX_Opt<ONNX_FloatTensor>:$past,
      OptionalAttr<SI64Attr>:$do_rotary,
      OptionalAttr<F32Attr>:$mask_filter_value,
      SI64Attr:$num_heads,
      OptionalAttr<SI64Attr>:$past_present_share_buffer,
      OptionalAttr<F32Attr>:$scale,
      DefaultValuedAttr<SI64Attr, "0">:$unidirectional);
  let results = (outs
      ONNX_FloatTensor:$output,
      ONNX_Opt<ONNX_FloatTensor>:$present);
  let hasVerifier = 1;
}

def MS_DynamicQuantizeLSTMOp : ONNX_MicrosoftOp<"DynamicQuantizeLSTM", [
    ONNX_SameElementType<["W", "W_zero_point"]>,
    ONNX_SameElementType<["R", "R_zero_point"]>]> {
  let summary = "LSTM with quantized weights";
  let description = [{
    As `onnx.LSTM` with layout 0, but the weights are transposed and quantized:
    `W` is [directions, input, 4 * hidden] and `R` is [directions, hidden,
    4 * hidden], gates in the order i, o, f, c. `X` and the hidden state are
    quantized on the fly as `onnx.DynamicQuantizeLinear` does before each
    product.

    Constraints:
    - C1: `direction` is forward, reverse or bidirectional
    - C2: `X`, `W` and `R` have rank 3, `W` and `R` have one slice per direction
      and equal last dimensions, 4 times `R`'s second and `hidden_size`
    - C3: the scales and zero points of `W` and `R` have the shape [directions]
      or [directions, 4 * hidden]
    - C4: `X`'s last dimension is `W`'s second

    Example:
    ```mlir
    %y, %h, %c = "onnx.com.microsoft.DynamicQuantizeLSTM"(%x, %w, %r, %none, %none, %none, %none, %none, %ws, %wz, %rs, %rz) {direction = "forward", hidden_size = 4 : si64} : (tensor<7x2x3xf32>, tensor<1x3x16xi8>, tensor<1x4x16xi8>, none, none, none, none, none, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> (tensor<7x1x2x4xf32>, tensor<1x2x4xf32>, none)
    ```
  }];
  let arguments = (ins
      ONNX_F32Tensor:$X,
      ONNX_Int8Tensor:$W,
      ONNX_Int8Tensor:$R,
      ONNX_Opt<ONNX_F32Tensor>:$B,
      ONNX_Opt<ONNX_I32Tensor>:$sequence_lens,
      ONNX_Opt<ONNX_F32Tensor>:$initial_h,
      ONNX_Opt<ONNX_F32Tensor>:$initial_c,
      ONNX_Opt<ONNX_F32Tensor>:$P,
      ONNX_F32Tensor:$W_scale,
      ONNX_Int8Tensor:$W_zero_point,
      ONNX_F32Tensor:$R_scale,
      ONNX_Int8Tensor:$R_zero_point,
      OptionalAttr<F32ArrayAttr>:$activation_alpha,
      OptionalAttr<F32ArrayAttr>:$activation_beta,
      OptionalAttr<StrArrayAttr>:$activations,
      OptionalAttr<F32Attr>:$clip,
      DefaultValuedStrAttr<StrAttr, "forward">:$direction,
      OptionalAttr<SI64Attr>:$hidden_size,
      DefaultValuedAttr<SI64Attr, "0">:$input_forget);
  let results = (outs
      ONNX_Opt<ONNX_F32Tensor>:$Y,
      ONNX_Opt<ONNX_F32Tensor>:$Y_h,
      ONNX_Opt<ONNX_F32Tensor>:$Y_c);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFTPRODUCTS_TD
