// Operators that make tensors out of shapes, ranges and chance.
//
// `dtype` is a number of ONNX (see ElementTypes.h), as in the model.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_GENERATOR_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_GENERATOR_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

def ONNX_ConstantOfShapeOp : ONNX_Op<"ConstantOfShape", [9, 20, 21, 23]> {
  let summary = "tensor of a given shape, all elements equal";
  let description = [{
    The elements of `input` are the dimensions of the output; an empty `input`
    makes a scalar. Every element is the one of `value`, or an `f32` zero.

    Constraints:
    - C1: `input` has rank 1.
    - C2: `value` has one element.
    - C3: the output has the element type of `value`.

    Example:
    ```mlir
    %y = onnx.ConstantOfShape(%shape) {value = dense<1> : tensor<1xi64>} : (tensor<2xi64>) -> tensor<?x?xi64>
    ```
  }];
  let arguments = (ins
      ONNX_I64Tensor:$input,
      OptionalAttr<ElementsAttr>:$value);
  let results = (outs
      ONNX_AnyTensor:$output);
  // As onnx-mlir prints it.
  let assemblyFormat = [{
    `(` $input `)` attr-dict `:` functional-type($input, results)
  }];
  let hasVerifier = 1;
}

def ONNX_EyeLikeOp : ONNX_Op<"EyeLike", [9, 22]> {
  let summary = "matrix with ones on a diagonal";
  let description = [{
    A matrix of the input's shape: 1 where `column - row = k`, else 0. The
    element type is that of `dtype`, or the input's.

    Constraints:
    - C1: `input` has rank 2.
    - C2: `dtype` stands for an element type.
    - C3: the output has the element type of `dtype`.

    Example:
    ```mlir
    %y = "onnx.EyeLike"(%x) {dtype = 1 : si64, k = 1 : si64} : (tensor<3x4xi32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      OptionalAttr<SI64Attr>:$dtype,
      DefaultValuedAttr<SI64Attr, "0">:$k);
  let results = (outs
      ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_RangeOp : ONNX_Op<"Range", [11], [
    ONNX_SameElementType<["start", "limit", "delta", "output"]>]> {
  let summary = "numbers at equal distances";
  let description = [{
    `output[i] = start + i * delta` for `i` below
    `max(0, ceil((limit - start) / delta))`.

    Constraints:
    - C1: `start`, `limit` and `delta` are scalars.

    Example:
    ```mlir
    %y = "onnx.Range"(%start, %limit, %delta) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$start,
      ONNX_NumberTensor:$limit,
      ONNX_NumberTensor:$delta);
  let results = (outs
      ONNX_NumberTensor:$output);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Random values
//===----------------------------------------------------------------------===//

def ONNX_BernoulliOp : ONNX_ImpureOp<"Bernoulli", [15, 22]> {
  let summary = "ones and zeros drawn with given probabilities";
  let description = [{
    Each element is 1 with the probability that `input` has at its place, else
    0. The element type is that of `dtype`, or the input's.

    Constraints:
    - C1: `dtype` stands for an element type.
    - C2: the output has the element type of `dtype`.

    Example:
    ```mlir
    %y = "onnx.Bernoulli"(%p) {dtype = 9 : si64, seed = 5.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xi1>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      OptionalAttr<SI64Attr>:$dtype,
      OptionalAttr<F32Attr>:$seed);
  let results = (outs
      ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_MultinomialOp : ONNX_ImpureOp<"Multinomial", [7, 22]> {
  let summary = "classes drawn with given logarithms of probabilities";
  let description = [{
    From `input`, `batch x classes`, draws `sample_size` classes per row:
    `batch x sample_size` indices. The probabilities need not sum up to 1.

    Constraints:
    - C1: `input` has rank 2.
    - C2: `dtype` is 6 (`i32`) or 7 (`i64`).
    - C3: the output has the element type of `dtype`.
    - C4: `sample_size` is positive.

    Example:
    ```mlir
    %y = "onnx.Multinomial"(%x) {dtype = 7 : si64, sample_size = 4 : si64, seed = 5.0 : f32} : (tensor<2x10xf32>) -> tensor<2x4xi64>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      DefaultValuedAttr<SI64Attr, "6">:$dtype,
      DefaultValuedAttr<SI64Attr, "1">:$sample_size,
      OptionalAttr<F32Attr>:$seed);
  let results = (outs
      ONNX_IndexTensor:$output);
  let hasVerifier = 1;
}

// Floats of a shape that an attribute gives.
class ONNX_RandomOp<string opName, string text, dag parameters, string given>
    : ONNX_ImpureOp<opName, [1, 22]> {
  let description = text # [{

    Constraints:
    - C1: `dtype` stands for a float type.
    - C2: the output has the element type of `dtype`.
    - C3: `shape` has at most 64 dimensions, none negative.

    Example:
    ```mlir
    %y = "onnx.}] # opName # [{"() {dtype = 1 : si64, }] # given # [{, seed = 5.0 : f32, shape = [2, 3]}
        : () -> tensor<2x3xf32>
    ```
  }];
  let arguments = !con(
      (ins DefaultValuedAttr<SI64Attr, "1">:$dtype), parameters,
      (ins OptionalAttr<F32Attr>:$seed, I64ArrayAttr:$shape));
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

// Floats of the shape of an operand.
class ONNX_RandomLikeOp<string opName, string text, dag parameters,
                        string given>
    : ONNX_ImpureOp<opName, [1, 22]> {
  let description = text # [{
    The shape is the input's, and so is the element type without `dtype`.

    Constraints:
    - C1: `dtype` stands for a float type; without it, the input has floats.
    - C2: the output has that element type.

    Example:
    ```mlir
    %y = "onnx.}] # opName # [{"(%x) {dtype = 1 : si64, }] # given # [{, seed = 5.0 : f32}
        : (tensor<2x3xi32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = !con(
      (ins ONNX_AnyTensor:$input, OptionalAttr<SI64Attr>:$dtype), parameters,
      (ins OptionalAttr<F32Attr>:$seed));
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

defvar normal = (ins
    DefaultValuedAttr<F32Attr, "0.0">:$mean,
    DefaultValuedAttr<F32Attr, "1.0">:$scale);
defvar uniform = (ins
    DefaultValuedAttr<F32Attr, "1.0">:$high,
    DefaultValuedAttr<F32Attr, "0.0">:$low);

def ONNX_RandomNormalOp : ONNX_RandomOp<"RandomNormal", [{
    Draws from the normal distribution of that `mean`, with the standard
    deviation `scale`.}], normal, "mean = 0.0 : f32, scale = 2.0 : f32"> {
  let summary = "normally distributed tensor of a given shape";
}

def ONNX_RandomNormalLikeOp : ONNX_RandomLikeOp<"RandomNormalLike", [{
    Draws from the normal distribution of that `mean`, with the standard
    deviation `scale`.}], normal, "mean = 0.0 : f32, scale = 2.0 : f32"> {
  let summary = "normally distributed tensor of another one's shape";
}

def ONNX_RandomUniformOp : ONNX_RandomOp<"RandomUniform", [{
    Draws from `low` up to `high`, all values alike.}],
    uniform, "high = 2.0 : f32, low = 1.0 : f32"> {
  let summary = "uniformly distributed tensor of a given shape";
}

def ONNX_RandomUniformLikeOp : ONNX_RandomLikeOp<"RandomUniformLike", [{
    Draws from `low` up to `high`, all values alike.}],
    uniform, "high = 2.0 : f32, low = 1.0 : f32"> {
  let summary = "uniformly distributed tensor of another one's shape";
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_GENERATOR_TD
