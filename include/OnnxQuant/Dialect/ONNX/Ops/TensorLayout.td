// Ops of the Tensor family that keep every element and arrange them anew:
// reshaping, transposing, joining, splitting and repeating; and the ops that
// tell a tensor's dimensions.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_TENSORLAYOUT_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_TENSORLAYOUT_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def ONNX_IdentityOp : ONNX_Op<"Identity", [1, 13, 14, 16, 19, 21, 23], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "the operand itself under another name";
  let description = [{
    `output = input`. Folds away once both have the same type.

    Example:
    ```mlir
    %y = "onnx.Identity"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins ONNX_AnyTensor:$input);
  let results = (outs ONNX_AnyTensor:$output);
  let hasFolder = 1;
}

def ONNX_ReshapeOp : ONNX_Op<"Reshape", [1, 5, 13, 14, 19, 21, 23], [
    ONNX_SameElementType<["data", "reshaped"]>]> {
  let summary = "the same elements in row-major order under other dimensions";
  let description = [{
    `shape` lists the new dimensions. One of them may be -1: it takes what the
    others leave. A 0 takes over the dimension of `data` at the same position,
    unless `allowzero` is set: then it is a dimension of no elements.

    Constraints:
    - C1: `shape` has rank 1.
    - C2: `allowzero` is 0 or 1.

    Example:
    ```mlir
    %y = "onnx.Reshape"(%x, %shape) {allowzero = 0 : si64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_I64Tensor:$shape,
      DefaultValuedAttr<SI64Attr, "0">:$allowzero);
  let results = (outs ONNX_AnyTensor:$reshaped);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_FlattenOp : ONNX_Op<"Flatten", [1, 9, 11, 13, 21, 23], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "a matrix of the elements, split at an axis";
  let description = [{
    The rows are counted by the dimensions before `axis`, the columns by the
    others. A negative `axis` counts from the end. With `axis` 0, or equal to
    the rank, one of the two dimensions is an empty product: 1.

    Constraints:
    - C1: `axis` is in [-r, r], r the rank of `input`.

    Example:
    ```mlir
    %y = "onnx.Flatten"(%x) {axis = 2 : si64} : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      DefaultValuedAttr<SI64Attr, "1">:$axis);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_SqueezeOp : ONNX_Op<"Squeeze", [1, 11, 13, 21, 23], [
    ONNX_SameElementType<["data", "squeezed"]>]> {
  let summary = "drops dimensions of size 1";
  let description = [{
    `axes` lists the dimensions to drop, negative ones counted from the end.
    Without it every dimension of size 1 goes, so that the rank of the result
    is known only where all dimensions are.

    Constraints:
    - C1: `axes` has rank 1, or 0 for a single axis.

    Example:
    ```mlir
    %y = "onnx.Squeeze"(%x, %axes) : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<3x1xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_Opt<ONNX_I64Tensor>:$axes);
  let results = (outs ONNX_AnyTensor:$squeezed);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_UnsqueezeOp : ONNX_Op<"Unsqueeze", [1, 11, 13, 21, 23], [
    ONNX_SameElementType<["data", "expanded"]>]> {
  let summary = "inserts dimensions of size 1";
  let description = [{
    `axes` lists where the new dimensions stand in the result. They need no
    order; negative ones count from the end of the result's dimensions.

    Constraints:
    - C1: `axes` has rank 1, or 0 for a single axis.

    Example:
    ```mlir
    %y = "onnx.Unsqueeze"(%x, %axes) : (tensor<3xf32>, tensor<2xi64>) -> tensor<1x3x1xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_I64Tensor:$axes);
  let results = (outs ONNX_AnyTensor:$expanded);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_TransposeOp : ONNX_Op<"Transpose", [1, 13, 21, 23], [
    ONNX_SameElementType<["data", "transposed"]>]> {
  let summary = "permutes the dimensions";
  let description = [{
    Dimension i of the result is dimension `perm[i]` of `data`. Without `perm`
    the order is reversed.

    Constraints:
    - C1: `perm` is a permutation of 0, 1, ..., n-1.
    - C2: `perm` has as many entries as `data` has dimensions.

    Example:
    ```mlir
    %y = "onnx.Transpose"(%x) {perm = [0, 2, 3, 1]} : (tensor<1x3x8x9xf32>) -> tensor<1x8x9x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      OptionalAttr<I64ArrayAttr>:$perm);
  let results = (outs ONNX_AnyTensor:$transposed);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_ConcatOp : ONNX_Op<"Concat", [1, 4, 11, 13], [
    ONNX_SameElementType<["inputs", "concat_result"]>]> {
  let summary = "joins tensors along an axis";
  let description = [{
    The operands follow each other along `axis`, a negative one counted from
    the end. They agree in all other dimensions.

    Constraints:
    - C1: there is at least one operand.
    - C2: the operands have the same rank, at least 1.
    - C3: `axis` is in [-r, r-1], r the rank of the operands.

    Example:
    ```mlir
    %y = "onnx.Concat"(%a, %b) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
  }];
  let arguments = (ins
      Variadic<ONNX_AnyTensor>:$inputs,
      SI64Attr:$axis);
  let results = (outs ONNX_AnyTensor:$concat_result);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_SplitOp : ONNX_Op<"Split", [1, 2, 11, 13, 18], [
    ONNX_SameElementType<["input", "outputs"]>]> {
  let summary = "cuts a tensor into pieces along an axis";
  let description = [{
    `split` lists the sizes of the pieces. Without it all pieces are equal, and
    the last one takes what is left: for n pieces of a dimension d the others
    have ceil(d / n).

    Constraints:
    - C1: there is at least one result.
    - C2: `axis` is in [-r, r-1], r the rank of `input`.
    - C3: `split` has rank 1 and one element per result.
    - C4: `num_outputs` is the number of results.
    - C5: only one of `split` and `num_outputs` is given.

    Example:
    ```mlir
    %a, %b = "onnx.Split"(%x, %none) {axis = 0 : si64, num_outputs = 2 : si64} : (tensor<7xf32>, none) -> (tensor<4xf32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_Opt<ONNX_I64Tensor>:$split,
      DefaultValuedAttr<SI64Attr, "0">:$axis,
      OptionalAttr<SI64Attr>:$num_outputs);
  let results = (outs Variadic<ONNX_AnyTensor>:$outputs);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_ExpandOp : ONNX_Op<"Expand", [8, 13], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "broadcasts a tensor with a shape";
  let description = [{
    The result has the dimensions that `input` and a tensor of the dimensions
    in `shape` broadcast to: a 1 on either side gives way to the other.

    Constraints:
    - C1: `shape` has rank 1.

    Example:
    ```mlir
    %y = "onnx.Expand"(%x, %shape) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_I64Tensor:$shape);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_TileOp : ONNX_Op<"Tile", [1, 6, 13], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "repeats a tensor along its axes";
  let description = [{
    Dimension i of the result is that of `input` times `repeats[i]`; element
    `[.., k, ..]` of it is `input[.., k mod d, ..]`.

    Constraints:
    - C1: `repeats` has rank 1 and one element per dimension of `input`.

    Example:
    ```mlir
    %y = "onnx.Tile"(%x, %repeats) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_I64Tensor:$repeats);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_DepthToSpaceOp : ONNX_Op<"DepthToSpace", [1, 11, 13], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "moves blocks of channels into height and width";
  let description = [{
    `[N, C, H, W]` becomes `[N, C/b^2, H*b, W*b]`, b the `blocksize`. With mode
    DCR the channels are read as `[b, b, C/b^2]`, with CRD as `[C/b^2, b, b]`;
    the two b go to height and width.

    Constraints:
    - C1: `blocksize` is positive.
    - C2: `mode` is DCR or CRD.
    - C3: `input` has rank 4.
    - C4: the number of channels is a multiple of b^2.

    Example:
    ```mlir
    %y = "onnx.DepthToSpace"(%x) {blocksize = 2 : si64, mode = "CRD"} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      SI64Attr:$blocksize,
      DefaultValuedStrAttr<StrAttr, "DCR">:$mode);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_SpaceToDepthOp : ONNX_Op<"SpaceToDepth", [1, 13], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "moves blocks of height and width into channels";
  let description = [{
    `[N, C, H, W]` becomes `[N, C*b^2, H/b, W/b]`, b the `blocksize`. The
    position inside a block is the slower part of the new channel's number.

    Constraints:
    - C1: `blocksize` is positive.
    - C2: `input` has rank 4.
    - C3: height and width are multiples of b.

    Example:
    ```mlir
    %y = "onnx.SpaceToDepth"(%x) {blocksize = 2 : si64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      SI64Attr:$blocksize);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_ShapeOp : ONNX_Op<"Shape", [1, 13, 15, 19, 21, 23]> {
  let summary = "the dimensions of a tensor as a vector";
  let description = [{
    The dimensions from `start` up to, not including, `end`. Negative bounds
    count from the end, and both are clamped to [0, r], r the rank.

    Example:
    ```mlir
    %s = "onnx.Shape"(%x) {end = 3 : si64, start = 1 : si64} : (tensor<2x3x4xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      OptionalAttr<SI64Attr>:$end,
      DefaultValuedAttr<SI64Attr, "0">:$start);
  let results = (outs ONNX_I64Tensor:$shape);
}

def ONNX_SizeOp : ONNX_Op<"Size", [1, 13, 19, 21, 23]> {
  let summary = "the number of elements of a tensor as a scalar";
  let description = [{
    The product of the dimensions; 1 for a scalar.

    Example:
    ```mlir
    %n = "onnx.Size"(%x) : (tensor<2x3x4xf32>) -> tensor<i64>
    ```
  }];
  let arguments = (ins ONNX_AnyTensor:$data);
  let results = (outs ONNX_I64Tensor:$size);
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_TENSORLAYOUT_TD
