// Attention as one kernel.

#ifndef ONNXQUANT_DIALECT_ONNXQ_ATTENTION_TD
#define ONNXQUANT_DIALECT_ONNXQ_ATTENTION_TD

include "OnnxQuant/Dialect/ONNXQ/ONNXQKernels.td"

def ONNXQ_AttentionOp : ONNXQ_BlockOp<"attention"> {
  let summary = "softmax(scale * Q * K^T + bias) * V, by blocks of rows and keys";
  let description = [{
    y[b, n, s, :] = sum over t of p[t] * v[b, n / g, t, :] / sum over t of p[t]

    with p[t] = exp(x[t] - max of x) and x[t] = scale * sum over h of
    q[b, n, s, h] * k[b, n / g, t, h] + bias[b, n, s, t], where g query heads
    share the keys and values of one. Scores of some rows and keys exist at a
    time; sums of what has passed are scaled when a larger score comes. Results
    depend neither on how rows are cut nor on threads.

    Each of Q, K, V and y is [B, N, tokens, width], or [B, tokens, N, width]
    where `tokens_first` says so (in this order). A batch of one serves all, in
    Q, K and V; so does any size of one in `bias` [B, N, S, T].

    - C1: all have rank 4 and elements of f32.
    - C2: heads and widths are known; the query's heads are a multiple of the
      heads of K and V.
    - C3: Q and K have one width, V and y too; y has Q's heads and tokens, V has
      K's tokens.
    - C4: `bias` has y's batches, heads and tokens and K's tokens, or ones.
    - C5: `tokens_first` has four entries.

    Example:

    ```mlir
    %y = onnxq.attention ins(%q, %k, %v : tensor<1x12x?x64xf32>, tensor<1x12x?x64xf32>, tensor<1x12x?x64xf32>)
        bias(%m : tensor<1x1x1x?xf32>) outs(%e : tensor<1x?x12x64xf32>)
        attributes {scale = 1.250000e-01 : f32, tokens_first = array<i1: false, false, false, true>} -> tensor<1x?x12x64xf32>
    ```
  }];
  let arguments = (ins ONNXQ_Block:$query, ONNXQ_Block:$key, ONNXQ_Block:$value,
    Optional<ONNXQ_Block>:$bias, ONNXQ_Block:$init, F32Attr:$scale,
    DenseBoolArrayAttr:$tokens_first);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,`
    type($value) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = blockDeclaration # [{
    enum Tensor { Query, Key, Value, Output };
    /// The dimensions of heads and of tokens.
    int64_t getHeadAxis(Tensor which) {
      return getTokensFirst()[which] ? 2 : 1;
    }
    int64_t getTokenAxis(Tensor which) {
      return getTokensFirst()[which] ? 1 : 2;
    }
  }];
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNXQ_ATTENTION_TD
