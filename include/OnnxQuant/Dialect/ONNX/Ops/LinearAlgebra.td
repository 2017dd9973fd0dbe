// Products of matrices and tensors, determinants, and attention.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_LINEARALGEBRA_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_LINEARALGEBRA_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def ONNX_MaskTensor : ONNX_TensorOf<
    !listconcat(ONNX_Numbers.types, [I1]), "number or bool values">;

def ONNX_AttentionOp : ONNX_Op<"Attention", [23], [
    ONNX_SameElementType<["Q", "K", "past_key", "Y", "present_key", "qk_matmul_output"]>,
    ONNX_SameElementType<["V", "past_value", "present_value"]>]> {
  let summary = "scaled dot product attention with heads, mask and cache";
  let description = [{
    Per batch entry and head: S = (Q sqrt(scale)) (K sqrt(scale))^T, then
    S = softcap tanh(S / softcap) if `softcap` isn't 0, then the mask is added,
    and Y = softmax(S) V. `scale` is 1 / sqrt(head size) unless given.

    A boolean mask adds 0 where it is true and minus infinity elsewhere; another
    mask is added as it is. With `is_causal`, query i sees only the cached keys
    and the keys 0 to i. The mask broadcasts to (batches, heads, queries, keys).

    Of rank 4, `Q` is (batches, q heads, queries, head size), `K` is (batches,
    kv heads, keys, head size) and `V` is (batches, kv heads, keys, value size).
    Of rank 3 the heads are part of the last axis, `q_num_heads` and
    `kv_num_heads` tell how many, and `Y` has rank 3 too. Where there are fewer
    kv heads, each serves a run of neighbouring q heads.

    Keys and values are appended to `past_key` and `past_value` first, which
    makes `present_key` and `present_value`. `qk_matmul_output` shows S: the
    plain product (mode 0), after softcap (1), with the mask (2), or after
    softmax (3). `softmax_precision` is the ONNX number of the type that softmax
    is computed in.

    Constraints:
    - C1: `Q`, `K` and `V` all have rank 3 or all have rank 4.
    - C2: of rank 3, the numbers of heads are given, positive, and divide the last dimensions.
    - C3: the number of q heads is a multiple of the number of kv heads.
    - C4: `Q`, `K` and `V` have the same number of batches; `K` and `V` have the same number of keys and heads; `Q` and `K` have the same head size.
    - C5: `past_key` and `past_value` are both present or both left out, and have rank 4.
    - C6: `past_key` and `past_value` agree with `K` and `V` in all but the number of keys.
    - C7: `attn_mask` has rank 4 at most.
    - C8: `qk_matmul_output_mode` is 0, 1, 2 or 3.
    - C9: `softmax_precision` is 1 (f32), 10 (f16), 11 (f64) or 16 (bf16).

    Example:
    ```mlir
    %y, %key, %value, %qk = "onnx.Attention"(%q, %k, %v, %none, %none, %none)
        {is_causal = 1 : si64, kv_num_heads = 2 : si64, q_num_heads = 4 : si64}
        : (tensor<1x5x32xf32>, tensor<1x6x16xf32>, tensor<1x6x16xf32>, none, none, none)
        -> (tensor<1x5x32xf32>, none, none, none)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$Q,
      ONNX_FloatTensor:$K,
      ONNX_FloatTensor:$V,
      ONNX_Opt<ONNX_MaskTensor>:$attn_mask,
      ONNX_Opt<ONNX_FloatTensor>:$past_key,
      ONNX_Opt<ONNX_FloatTensor>:$past_value,
      DefaultValuedAttr<SI64Attr, "0">:$is_causal,
      OptionalAttr<SI64Attr>:$kv_num_heads,
      OptionalAttr<SI64Attr>:$q_num_heads,
      DefaultValuedAttr<SI64Attr, "0">:$qk_matmul_output_mode,
      OptionalAttr<F32Attr>:$scale,
      DefaultValuedAttr<F32Attr, "0.0">:$softcap,
      OptionalAttr<SI64Attr>:$softmax_precision);
  let results = (outs
      ONNX_FloatTensor:$Y,
      ONNX_Opt<ONNX_FloatTensor>:$present_key,
      ONNX_Opt<ONNX_FloatTensor>:$present_value,
      ONNX_Opt<ONNX_FloatTensor>:$qk_matmul_output);
  let hasVerifier = 1;
}

def ONNX_DetOp : ONNX_Op<"Det", [11, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "determinants of square matrices";
  let description = [{
    The determinant of every matrix in the last two dimensions, which vanish.

    Constraints:
    - C1: `X` has at least rank 2, and its last two dimensions are equal.

    Example:
    ```mlir
    %y = "onnx.Det"(%x) : (tensor<5x3x3xf32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_EinsumOp : ONNX_Op<"Einsum", [12], [
    ONNX_SameElementType<["Inputs", "Output"]>]> {
  let summary = "sum of products over labelled axes";
  let description = [{
    The equation labels the axes of each operand, such as `bij,bjk->bik`: axes
    with one letter run together, and letters that the output lacks are summed
    over. `...` stands for further leading, trailing or middle axes, which
    broadcast. Without `->` the output has the axes of `...`, then the letters
    that appear once, in ASCII order. Spaces don't count.

    Constraints:
    - C1: the equation is well formed.
    - C2: the equation has one term per operand.
    - C3: the rank of every operand is that of its term.
    - C4: axes that run together have the same size, or size 1.

    Example:
    ```mlir
    %y = "onnx.Einsum"(%a, %b) {equation = "...ij,...jk->...ik"}
        : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
    ```
  }];
  let arguments = (ins
      Variadic<ONNX_NumberTensor>:$Inputs,
      StrAttr:$equation);
  let results = (outs
      ONNX_NumberTensor:$Output);
  let hasVerifier = 1;
}

def ONNX_GemmOp : ONNX_Op<"Gemm", [1, 6, 7, 9, 11, 13], [
    ONNX_SameElementType<["A", "B", "C", "Y"]>]> {
  let summary = "product of two matrices plus a matrix, scaled";
  let description = [{
    Y = alpha A' B' + beta C, where A' is `A`, transposed if `transA` is set, and
    B' likewise. `C` broadcasts to the shape of the product.

    Constraints:
    - C1: `A` and `B` have rank 2.
    - C2: the columns of A' are as many as the rows of B'.
    - C3: `C` broadcasts to the shape of the product.

    Example:
    ```mlir
    %y = "onnx.Gemm"(%a, %b, %c) {alpha = 1.0 : f32, beta = 1.0 : f32, transA = 0 : si64, transB = 1 : si64}
        : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$A,
      ONNX_NumberTensor:$B,
      ONNX_Opt<ONNX_NumberTensor>:$C,
      DefaultValuedAttr<F32Attr, "1.0">:$alpha,
      DefaultValuedAttr<F32Attr, "1.0">:$beta,
      DefaultValuedAttr<SI64Attr, "0">:$transA,
      DefaultValuedAttr<SI64Attr, "0">:$transB);
  let results = (outs
      ONNX_NumberTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_MatMulOp : ONNX_Op<"MatMul", [1, 9, 13], [
    ONNX_SameElementType<["A", "B", "Y"]>]> {
  let summary = "products of matrices, batches broadcast";
  let description = [{
    Multiplies the matrices in the last two dimensions; the dimensions before
    them broadcast. An operand of rank 1 is a row on the left and a column on
    the right, and that dimension vanishes from the result.

    Constraints:
    - C1: `A` and `B` have at least rank 1.
    - C2: the columns of `A` are as many as the rows of `B`.
    - C3: the dimensions before the last two broadcast.

    Example:
    ```mlir
    %y = "onnx.MatMul"(%a, %b) : (tensor<8x1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<8x5x2x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$A,
      ONNX_NumberTensor:$B);
  let results = (outs
      ONNX_NumberTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_RotaryEmbeddingOp : ONNX_Op<"RotaryEmbedding", [23], [
    ONNX_SameElementType<["X", "cos_cache", "sin_cache", "Y"]>]> {
  let summary = "rotates pairs of features by an angle that depends on position";
  let description = [{
    Takes the first `rotary_embedding_dim` features of every head (0: all of
    them) in pairs (a, b) and gives (a cos - b sin, a sin + b cos). A pair is
    feature i and i + half, or with `interleaved` features 2i and 2i + 1. The
    other features stay.

    Of rank 4, `X` is (batches, heads, positions, head size); of rank 3 it is
    (batches, positions, heads * head size), and `num_heads` tells the heads.
    The caches hold a cosine and a sine per position and pair: (largest
    position, pairs) if `position_ids` picks their rows, else (batches,
    positions, pairs).

    Constraints:
    - C1: `X` has rank 3 or 4.
    - C2: of rank 3, `num_heads` is positive and divides the last dimension.
    - C3: `rotary_embedding_dim` is even, not negative, and at most the head size; if it is 0, the head size is even.
    - C4: the caches have rank 2 with `position_ids`, and rank 3 without.
    - C5: the caches' last dimension is half the number of rotated features.
    - C6: `position_ids` has rank 2.

    Example:
    ```mlir
    %y = "onnx.RotaryEmbedding"(%x, %cos, %sin, %ids) {interleaved = 0 : si64, rotary_embedding_dim = 4 : si64}
        : (tensor<2x3x5x8xf32>, tensor<50x2xf32>, tensor<50x2xf32>, tensor<2x5xi64>) -> tensor<2x3x5x8xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$cos_cache,
      ONNX_FloatTensor:$sin_cache,
      ONNX_Opt<ONNX_I64Tensor>:$position_ids,
      DefaultValuedAttr<SI64Attr, "0">:$interleaved,
      OptionalAttr<SI64Attr>:$num_heads,
      DefaultValuedAttr<SI64Attr, "0">:$rotary_embedding_dim);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let shapeRule = [{ mlir::failed(op.verify()) ? ::mlir::failure() : shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_LINEARALGEBRA_TD
