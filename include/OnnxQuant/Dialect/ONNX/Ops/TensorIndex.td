// Ops of the Tensor family that pick elements by position or put them there:
// slicing, gathering, scattering, one-hot encoding, and masks by position.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_TENSORINDEX_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_TENSORINDEX_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def ONNX_SliceOp : ONNX_Op<"Slice", [1, 10, 11, 13], [
    ONNX_SameElementType<["data", "output"]>,
    ONNX_SameElementType<["starts", "ends", "axes", "steps"]>]> {
  let summary = "every step-th element between bounds, per axis";
  let description = [{
    Along `axes[i]` (all axes in order without `axes`) the result has the
    elements at `starts[i]`, `starts[i] + steps[i]`, ... before `ends[i]`.
    A negative bound has the dimension d added to it. Then bounds are clamped:
    for a positive step both to [0, d]; for a negative step the start to
    [0, d-1] and the end to [-1, d-1]. Steps are 1 unless given, and never 0.

    Constraints:
    - C1: `starts`, `ends`, `axes` and `steps` have rank 1.
    - C2: they have the same number of elements.
    - C3: there are no more of them than dimensions of `data`.

    Example:
    ```mlir
    %y = "onnx.Slice"(%x, %starts, %ends, %axes, %steps) : (tensor<20x10x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x5x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_IndexTensor:$starts,
      ONNX_IndexTensor:$ends,
      ONNX_Opt<ONNX_IndexTensor>:$axes,
      ONNX_Opt<ONNX_IndexTensor>:$steps);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_GatherOp : ONNX_Op<"Gather", [1, 11, 13], [
    ONNX_SameElementType<["data", "output"]>]> {
  let summary = "slices of a tensor, chosen by index along an axis";
  let description = [{
    The dimension `axis` of `data` gives way to all dimensions of `indices`:
    `output[i.., j.., k..] = data[i.., indices[j..], k..]`. Negative indices
    count from the end.

    Constraints:
    - C1: `axis` is in [-r, r-1], r the rank of `data`, which is at least 1.

    Example:
    ```mlir
    %y = "onnx.Gather"(%x, %indices) {axis = 1 : si64} : (tensor<3x4x5xf32>, tensor<2x6xi64>) -> tensor<3x2x6x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_IndexTensor:$indices,
      DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_GatherElementsOp : ONNX_Op<"GatherElements", [11, 13], [
    ONNX_SameElementType<["data", "output"]>]> {
  let summary = "single elements, chosen by index along an axis";
  let description = [{
    The result has the dimensions of `indices`; each of its elements is taken
    from the same position of `data`, but with the index along `axis` replaced:
    `output[i, j] = data[indices[i, j], j]` for rank 2 and axis 0.

    Constraints:
    - C1: `axis` is in [-r, r-1], r the rank of `data`, which is at least 1.
    - C2: `indices` has the rank of `data`.

    Example:
    ```mlir
    %y = "onnx.GatherElements"(%x, %indices) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_IndexTensor:$indices,
      DefaultValuedAttr<SI64Attr, "0">:$axis);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_GatherNDOp : ONNX_Op<"GatherND", [11, 12, 13], [
    ONNX_SameElementType<["data", "output"]>]> {
  let summary = "slices of a tensor, chosen by tuples of indices";
  let description = [{
    The last dimension of `indices` holds tuples of n indices into the
    dimensions of `data` that follow the first `batch_dims`, which both
    operands share. The result has the dimensions of `indices` without the
    last, followed by those dimensions of `data` that no index consumed.

    Constraints:
    - C1: `data` and `indices` have rank 1 or more.
    - C2: `batch_dims` is in [0, m-1], m the smaller rank of the two operands.
    - C3: n is in [1, r - `batch_dims`], r the rank of `data`.

    Example:
    ```mlir
    %y = "onnx.GatherND"(%x, %indices) {batch_dims = 1 : si64} : (tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_I64Tensor:$indices,
      DefaultValuedAttr<SI64Attr, "0">:$batch_dims);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_ScatterElementsOp : ONNX_Op<"ScatterElements", [11, 13, 16, 18], [
    ONNX_SameElementType<["data", "updates", "output"]>]> {
  let summary = "puts single elements at indices along an axis";
  let description = [{
    A copy of `data` in which every element of `updates` is stored at its own
    position, but with the index along `axis` replaced by that in `indices`.
    With a `reduction` (add, mul, max, min) it is combined with what is there.

    Constraints:
    - C1: `axis` is in [-r, r-1], r the rank of `data`, which is at least 1.
    - C2: `indices` and `updates` have the rank of `data`.
    - C3: `indices` and `updates` have the same dimensions.
    - C4: `reduction` is none, add, mul, max or min.

    Example:
    ```mlir
    %y = "onnx.ScatterElements"(%x, %indices, %updates) {axis = 1 : si64, reduction = "add"} : (tensor<1x5xf32>, tensor<1x2xi64>, tensor<1x2xf32>) -> tensor<1x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_IndexTensor:$indices,
      ONNX_AnyTensor:$updates,
      DefaultValuedAttr<SI64Attr, "0">:$axis,
      DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs ONNX_AnyTensor:$output);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def ONNX_ScatterNDOp : ONNX_Op<"ScatterND", [11, 13, 16, 18], [
    ONNX_SameElementType<["data", "updates", "output"]>]> {
  let summary = "puts slices at tuples of indices";
  let description = [{
    A copy of `data` in which every slice of `updates` is stored at the tuple
    of n indices that the last dimension of `indices` holds for it. With a
    `reduction` it is combined with what is there.

    Constraints:
    - C1: `data` and `indices` have rank 1 or more.
    - C2: n is at most r, the rank of `data`.
    - C3: `updates` has rank q - 1 + r - n, q the rank of `indices`.
    - C4: `reduction` is none, add, mul, max or min.

    Example:
    ```mlir
    %y = "onnx.ScatterND"(%x, %indices, %updates) {reduction = "none"} : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_I64Tensor:$indices,
      ONNX_AnyTensor:$updates,
      DefaultValuedStrAttr<StrAttr, "none">:$reduction);
  let results = (outs ONNX_AnyTensor:$output);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def ONNX_CompressOp : ONNX_Op<"Compress", [9, 11], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "the slices along an axis whose condition is true";
  let description = [{
    Keeps slice i along `axis` where `condition[i]` is true. A condition that
    is too short counts as false beyond its end. Without `axis` the input is
    taken as a vector of all its elements.

    Constraints:
    - C1: `axis` is in [-r, r-1], r the rank of `input`.
    - C2: `condition` has rank 1.

    Example:
    ```mlir
    %y = "onnx.Compress"(%x, %condition) {axis = 0 : si64} : (tensor<3x2xf32>, tensor<3xi1>) -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_BoolTensor:$condition,
      OptionalAttr<SI64Attr>:$axis);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_OneHotOp : ONNX_Op<"OneHot", [9, 11], [
    ONNX_SameElementType<["values", "output"]>]> {
  let summary = "one value at each index, another everywhere else";
  let description = [{
    Inserts a dimension of size `depth` at `axis`. Along it, the element at the
    index is `values[1]`, the others are `values[0]`. An index outside
    [-depth, depth-1] gives `values[0]` everywhere.

    Constraints:
    - C1: `axis` is in [-r-1, r], r the rank of `indices`.
    - C2: `depth` has one element.
    - C3: `values` has rank 1 and two elements.

    Example:
    ```mlir
    %y = "onnx.OneHot"(%indices, %depth, %values) {axis = 1 : si64} : (tensor<2x3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<2x?x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$indices,
      ONNX_NumberTensor:$depth,
      ONNX_AnyTensor:$values,
      DefaultValuedAttr<SI64Attr, "-1">:$axis);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
}

def ONNX_ReverseSequenceOp : ONNX_Op<"ReverseSequence", [10], [
    ONNX_SameElementType<["input", "Y"]>]> {
  let summary = "reverses the beginning of each sequence of a batch";
  let description = [{
    In batch entry b the first `sequence_lens[b]` elements along `time_axis`
    change their order; what follows stays.

    Constraints:
    - C1: `batch_axis` and `time_axis` are 0 and 1, in either order.
    - C2: `input` has rank 2 or more.
    - C3: `sequence_lens` has rank 1 and one element per batch entry.

    Example:
    ```mlir
    %y = "onnx.ReverseSequence"(%x, %lens) {batch_axis = 0 : si64, time_axis = 1 : si64} : (tensor<4x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_I64Tensor:$sequence_lens,
      DefaultValuedAttr<SI64Attr, "1">:$batch_axis,
      DefaultValuedAttr<SI64Attr, "0">:$time_axis);
  let results = (outs ONNX_AnyTensor:$Y);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def ONNX_TriluOp : ONNX_Op<"Trilu", [14], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "the upper or lower triangle of matrices";
  let description = [{
    Keeps the elements at row i and column j of the last two dimensions with
    `j - i >= k` (`upper` nonzero) or `j - i <= k`, and sets the others to zero.
    `k` is 0 if it is left out.

    Constraints:
    - C1: `input` has rank 2 or more.
    - C2: `k` has one element.

    Example:
    ```mlir
    %y = "onnx.Trilu"(%x, %k) {upper = 0 : si64} : (tensor<4x5xf32>, tensor<i64>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input,
      ONNX_Opt<ONNX_I64Tensor>:$k,
      DefaultValuedAttr<SI64Attr, "1">:$upper);
  let results = (outs ONNX_AnyTensor:$output);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_TENSORINDEX_TD
