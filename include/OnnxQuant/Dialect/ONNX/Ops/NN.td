// Ops of neural networks: activations over an axis, dropout and losses here;
// convolutions, poolings and normalizations in files of their own.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_NN_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_NN_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"
include "OnnxQuant/Dialect/ONNX/Ops/NNConv.td"
include "OnnxQuant/Dialect/ONNX/Ops/NNNormalization.td"
include "OnnxQuant/Dialect/ONNX/Ops/NNPool.td"

//===----------------------------------------------------------------------===//
// Activations over an axis
//===----------------------------------------------------------------------===//

// An op that maps every line of elements along one axis to a line of the same
// length. `formula` says how.
class ONNX_AlongAxisOp<string opName, list<int> since, string formula>
    : ONNX_Op<opName, since, [ONNX_SameElementType<["input", "output"]>]> {
  let description = formula # [{

    A negative axis counts from the last one.

    Constraints:
    - C1: `axis` is an axis of `input`.

    Example:
    ```mlir
    %y = "onnx.}] # opName # [{"(%x) {axis = -1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
  let shapeRule = [{ mlir::failed(op.verify()) ? mlir::failure() : shape::sameAs(ctx, op, 0) }];
}

def ONNX_SoftmaxOp : ONNX_AlongAxisOp<"Softmax", [1, 11, 13],
    "exp(x) / sum(exp(x)), where the sum goes along `axis`."> {
  let summary = "shares of one that grow with the exponential";
}

def ONNX_LogSoftmaxOp : ONNX_AlongAxisOp<"LogSoftmax", [1, 11, 13],
    "x - log(sum(exp(x))), where the sum goes along `axis`."> {
  let summary = "logarithm of the softmax";
}

def ONNX_HardmaxOp : ONNX_AlongAxisOp<"Hardmax", [1, 11, 13],
    "One at the first largest element along `axis`, and zero elsewhere."> {
  let summary = "marks the first largest element along an axis";
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

def ONNX_DropoutOp : ONNX_ImpureOp<"Dropout", [1, 6, 7, 10, 12, 13, 22], [
    ONNX_SameElementType<["data", "output"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "zeroes random elements while training";
  let description = [{
    With `training_mode` an element becomes zero with probability `ratio` (one
    half if it is left out) and the others are scaled by 1 / (1 - ratio);
    `mask` tells which stayed. Without it, which is what a left out
    `training_mode` means, `output` is `data` and the op folds away.

    Constraints:
    - C1: `ratio` and `training_mode` have one element.

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y, %mask = "onnx.Dropout"(%x, %none, %none) {seed = 7 : si64}
        : (tensor<2x3xf32>, none, none) -> (tensor<2x3xf32>, none)
    ```
  }];
  let arguments = (ins
      ONNX_TensorOf<!listconcat(ONNX_Floats.types, ONNX_Float8s.types), "float values">:$data,
      ONNX_Opt<ONNX_TensorOf<!listconcat(ONNX_Floats.types, ONNX_Float8s.types), "float values">>:$ratio,
      ONNX_Opt<ONNX_BoolTensor>:$training_mode,
      OptionalAttr<SI64Attr>:$seed);
  let results = (outs
      ONNX_TensorOf<!listconcat(ONNX_Floats.types, ONNX_Float8s.types), "float values">:$output,
      ONNX_Opt<ONNX_BoolTensor>:$mask);
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

def ONNX_NegativeLogLikelihoodLossOp
    : ONNX_Op<"NegativeLogLikelihoodLoss", [12, 13, 22], [
        ONNX_SameElementType<["input", "weight", "loss"]>]> {
  let summary = "negated log probability of the target classes";
  let description = [{
    loss[n, d..] = -weight[t] * input[n, t, d..] with t = target[n, d..]; zero
    where t is `ignore_index`. `reduction` is `none`, `sum`, or `mean`: the sum
    divided by the sum of the weights used.

    Constraints:
    - C1: `reduction` is `none`, `mean` or `sum`.
    - C2: `input` is [N, C, d..] and `target` [N, d..].
    - C3: `weight` is [C].

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %l = "onnx.NegativeLogLikelihoodLoss"(%x, %t, %none) {reduction = "mean"}
        : (tensor<3x5xf32>, tensor<3xi64>, none) -> tensor<f32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      ONNX_IndexTensor:$target,
      ONNX_Opt<ONNX_FloatTensor>:$weight,
      OptionalAttr<SI64Attr>:$ignore_index,
      DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let results = (outs
      ONNX_FloatTensor:$loss);
  let hasVerifier = 1;
}

def ONNX_SoftmaxCrossEntropyLossOp
    : ONNX_Op<"SoftmaxCrossEntropyLoss", [12, 13], [
        ONNX_SameElementType<["scores", "weights", "output", "log_prob"]>]> {
  let summary = "negative log likelihood of the softmax of scores";
  let description = [{
    `log_prob` is the logarithm of the softmax of `scores` along axis 1, and
    `output` the negative log likelihood loss of it; `labels`, `weights`,
    `ignore_index` and `reduction` are those of that loss.

    Constraints:
    - C1: `reduction` is `none`, `mean` or `sum`.
    - C2: `scores` is [N, C, d..] and `labels` [N, d..].
    - C3: `weights` is [C].

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %l, %p = "onnx.SoftmaxCrossEntropyLoss"(%x, %t, %none) {ignore_index = 0 : si64, reduction = "none"}
        : (tensor<3x5xf32>, tensor<3xi64>, none) -> (tensor<3xf32>, tensor<3x5xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$scores,
      ONNX_IndexTensor:$labels,
      ONNX_Opt<ONNX_FloatTensor>:$weights,
      OptionalAttr<SI64Attr>:$ignore_index,
      DefaultValuedStrAttr<StrAttr, "mean">:$reduction);
  let results = (outs
      ONNX_FloatTensor:$output,
      ONNX_Opt<ONNX_FloatTensor>:$log_prob);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_NN_TD
