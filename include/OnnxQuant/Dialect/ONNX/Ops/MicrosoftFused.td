// Float operators of the com.microsoft domain that ONNX Runtime's optimizer
// makes out of several ai.onnx ones. Included by Microsoft.td.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFTFUSED_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFTFUSED_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def MS_GeluOp : ONNX_MicrosoftOp<"Gelu", [ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "gaussian error linear unit";
  let description = [{
    `Y = 0.5 * X * (1 + erf(X / sqrt(2)))`.

    Example:
    ```mlir
    %y = "onnx.com.microsoft.Gelu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins ONNX_FloatTensor:$X);
  let results = (outs ONNX_FloatTensor:$Y);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
}

def MS_QuickGeluOp : ONNX_MicrosoftOp<"QuickGelu", [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "gaussian error linear unit by a sigmoid";
  let description = [{
    `Y = X / (1 + exp(-alpha * X))`.

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QuickGelu"(%x) {alpha = 1.702 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      DefaultValuedAttr<F32Attr, "1.702f">:$alpha);
  let results = (outs ONNX_FloatTensor:$Y);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
}

def MS_BiasGeluOp : ONNX_MicrosoftOp<"BiasGelu", [
    ONNX_SameElementType<["A", "B", "C"]>]> {
  let summary = "gaussian error linear unit of a sum";
  let description = [{
    `C = gelu(A + B)`, `B` a vector along the last dimension of `A`, `gelu` as
    in `onnx.com.microsoft.Gelu`.

    Constraints:
    - C1: `B` has one element per index of `A`'s last dimension

    Example:
    ```mlir
    %c = "onnx.com.microsoft.BiasGelu"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins ONNX_FloatTensor:$A, ONNX_FloatTensor:$B);
  let results = (outs ONNX_FloatTensor:$C);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def MS_FastGeluOp : ONNX_MicrosoftOp<"FastGelu", [
    ONNX_SameElementType<["X", "bias", "Y"]>]> {
  let summary = "gaussian error linear unit by a hyperbolic tangent";
  let description = [{
    With `v = X + bias`: `Y = 0.5 * v * (1 + tanh(0.797885 * v + 0.035677 * v^3))`.

    Constraints:
    - C1: `bias` has one element per index of `X`'s last dimension

    Example:
    ```mlir
    %y = "onnx.com.microsoft.FastGelu"(%x, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins ONNX_FloatTensor:$X, ONNX_Opt<ONNX_FloatTensor>:$bias);
  let results = (outs ONNX_FloatTensor:$Y);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def MS_SkipLayerNormalizationOp : ONNX_MicrosoftOp<"SkipLayerNormalization", [
    ONNX_SameElementType<["input", "skip", "gamma", "beta", "bias", "output",
                          "input_skip_bias_sum"]>]> {
  let summary = "layer normalization of a sum";
  let description = [{
    With `v = input + skip + bias`, and its mean and variance over the last
    dimension: `output = (v - mean) / sqrt(variance + epsilon) * gamma + beta`.
    `input_skip_bias_sum` is `v`; `mean` and `inv_std_var` are those used.

    Constraints:
    - C1: `gamma`, `beta` and `bias` have one element per index of `input`'s
      last dimension
    - C2: `input` has rank 1 or more

    Example:
    ```mlir
    %y, %m, %v, %sum = "onnx.com.microsoft.SkipLayerNormalization"(%x, %s, %g, %b, %none) {epsilon = 1.0e-5 : f32} : (tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<8xf32>, tensor<8xf32>, none) -> (tensor<1x4x8xf32>, none, none, tensor<1x4x8xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      ONNX_FloatTensor:$skip,
      ONNX_FloatTensor:$gamma,
      ONNX_Opt<ONNX_FloatTensor>:$beta,
      ONNX_Opt<ONNX_FloatTensor>:$bias,
      DefaultValuedAttr<F32Attr, "1e-12f">:$epsilon);
  let results = (outs
      ONNX_FloatTensor:$output,
      ONNX_Opt<ONNX_F32Tensor>:$mean,
      ONNX_Opt<ONNX_F32Tensor>:$inv_std_var,
      ONNX_Opt<ONNX_FloatTensor>:$input_skip_bias_sum);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def MS_FusedConvOp : ONNX_MicrosoftOp<"FusedConv", [
    ONNX_SameElementType<["X", "W", "B", "Z", "Y"]>]> {
  let summary = "convolution, sum and activation";
  let description = [{
    `Y = activation(conv(X, W) + B + Z)`, see `onnx.Conv`. `activation` is the
    name of an ONNX operator of one operand, or empty for none;
    `activation_params` are its attributes in the order of ONNX (for Clip: the
    bounds; for LeakyRelu: alpha; for HardSigmoid: alpha, beta).

    Constraints:
    - C1 to C7: those of the window, the channels and the bias, see `onnx.Conv`

    Example:
    ```mlir
    %y = "onnx.com.microsoft.FusedConv"(%x, %w, %b, %none) {activation = "LeakyRelu", activation_params = [0.1 : f32], pads = [1, 1, 1, 1]} : (tensor<1x2x5x5xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>, none) -> tensor<1x4x5x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$W,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      ONNX_Opt<ONNX_FloatTensor>:$Z,
      OptionalAttr<StrAttr>:$activation,
      OptionalAttr<F32ArrayAttr>:$activation_params,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def MS_FusedGemmOp : ONNX_MicrosoftOp<"FusedGemm", [
    ONNX_SameElementType<["A", "B", "C", "Y"]>]> {
  let summary = "matrix product, bias and activation";
  let description = [{
    `Y = activation(alpha * A' * B' + beta * C)`, A' and B' transposed as
    `transA` and `transB` say. `activation_alpha`, `activation_beta` and
    `activation_gamma` are attributes of the activation.

    Constraints:
    - C1: `A` and `B` have rank 2 and equal inner dimensions
    - C2: `C` has rank 2 at most and broadcasts to the result

    Example:
    ```mlir
    %y = "onnx.com.microsoft.FusedGemm"(%a, %b, %c) {activation = "Relu", transB = 1 : si64} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$A,
      ONNX_NumberTensor:$B,
      ONNX_Opt<ONNX_NumberTensor>:$C,
      OptionalAttr<StrAttr>:$activation,
      OptionalAttr<F32Attr>:$activation_alpha,
      OptionalAttr<F32Attr>:$activation_beta,
      OptionalAttr<F32Attr>:$activation_gamma,
      DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
      DefaultValuedAttr<F32Attr, "1.0f">:$beta,
      DefaultValuedAttr<SI64Attr, "0">:$transA,
      DefaultValuedAttr<SI64Attr, "0">:$transB);
  let results = (outs ONNX_NumberTensor:$Y);
  let hasVerifier = 1;
}

def MS_FusedMatMulOp : ONNX_MicrosoftOp<"FusedMatMul", [
    ONNX_SameElementType<["A", "B", "Y"]>]> {
  let summary = "scaled matrix product of transposed tensors";
  let description = [{
    `Y = alpha * A' * B'` as numpy's matmul. `transBatchA` moves the first
    dimension of `A` behind the other batch dimensions, [b0, b1, ..., m, k] to
    [b1, ..., m, b0, k]; then `transA` swaps the last two. The same for `B`.
    Vectors aren't transposed.

    Constraints:
    - C1: `A` and `B` have rank 1 or more

    Example:
    ```mlir
    %y = "onnx.com.microsoft.FusedMatMul"(%a, %b) {alpha = 0.125 : f32, transA = 0 : si64, transB = 1 : si64} : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<2x4x6xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$A,
      ONNX_FloatTensor:$B,
      DefaultValuedAttr<F32Attr, "1.0f">:$alpha,
      DefaultValuedAttr<SI64Attr, "0">:$transA,
      DefaultValuedAttr<SI64Attr, "0">:$transB,
      DefaultValuedAttr<SI64Attr, "0">:$transBatchA,
      DefaultValuedAttr<SI64Attr, "0">:$transBatchB);
  let results = (outs ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def MS_AttentionOp : ONNX_MicrosoftOp<"Attention", [
    ONNX_SameElementType<["input", "weights", "bias", "past", "attention_bias",
                          "output", "present"]>]> {
  let summary = "self attention with its projection";
  let description = [{
    Projects `input` [batch, sequence, in] by `weights` [in, q + k + v] and
    `bias` to queries, keys and values, cuts them into `num_heads` heads and
    gives softmax(scale * Q * K^T + attention_bias + mask) * V per head.
    `qkv_hidden_sizes` are the three widths, thirds without it. `scale` is
    1 / sqrt(k / num_heads) if it isn't given. `past` are keys and values that go
    before those of `input`; `present` are both.

    Constraints:
    - C1: `num_heads` is positive
    - C2: `input` has rank 3, `weights` has rank 2, and its rows are `input`'s
      last dimension
    - C3: `bias` has one element per column of `weights`
    - C4: `qkv_hidden_sizes` are three positive numbers that add up to the
      columns of `weights`, which are a multiple of 3 without it
    - C5: `past` has rank 5

    Example:
    ```mlir
    %y, %present = "onnx.com.microsoft.Attention"(%x, %w, %b, %none, %none, %none, %none) {num_heads = 2 : si64} : (tensor<1x5x8xf32>, tensor<8x24xf32>, tensor<24xf32>, none, none, none, none) -> (tensor<1x5x8xf32>, none)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      ONNX_FloatTensor:$weights,
      ONNX_Opt<ONNX_FloatTensor>:$bias,
      ONNX_Opt<ONNX_I32Tensor>:$mask_index,
      ONNX_Opt<ONNX_FloatTensor>:$past,
      ONNX_Opt<ONNX_FloatTensor>:$attention_bias,
      ONNX_Opt<ONNX_I32Tensor>:$past_sequence_length,
      OptionalAttr<SI64Attr>:$do_rotary,
      OptionalAttr<F32Attr>:$mask_filter_value,
      SI64Attr:$num_heads,
      OptionalAttr<SI64Attr>:$past_present_share_buffer,
      OptionalAttr<I64ArrayAttr>:$qkv_hidden_sizes,
      OptionalAttr<SI64Attr>:$rotary_embedding_dim,
      OptionalAttr<F32Attr>:$scale,
      DefaultValuedAttr<SI64Attr, "0">:$unidirectional);
  let results = (outs
      ONNX_FloatTensor:$output,
      ONNX_Opt<ONNX_FloatTensor>:$present);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFTFUSED_TD
