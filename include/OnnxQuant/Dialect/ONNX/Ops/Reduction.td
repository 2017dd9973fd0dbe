// Ops that reduce or search along axes: sums, means, extremes and their places,
// running sums, the largest elements, distinct elements, box suppression.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_REDUCTION_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_REDUCTION_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def ONNX_NumberOrBoolTensor : ONNX_TensorOf<
    !listconcat(ONNX_Numbers.types, [I1]), "number or bool values">;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

// A reduction over axes. `what` names the value that replaces the elements
// x1, x2, ... of a line, `formula` says it exactly.
class ONNX_ReduceOp<string opName, list<int> since, string what, string formula,
                    Type tensor = ONNX_NumberTensor>
    : ONNX_Op<opName, since, [ONNX_SameElementType<["data", "reduced"]>]> {
  let summary = what # " along axes";
  let description = [{
    Replaces the elements x1, x2, ... that differ only in their place along
    `axes` by }] # formula # [{.

    Negative axes count from the back. Without axes, or with an empty list of
    them, all axes are reduced; if `noop_with_empty_axes` is set, none is.
    Reduced dimensions become 1 with `keepdims`, and vanish without.

    Constraints:
    - C1: `axes` has rank 0 or 1.

    Example:
    ```mlir
    %y = "onnx.}] # opName # [{"(%x, %axes) {keepdims = 0 : si64, noop_with_empty_axes = 0 : si64}
        : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins
      tensor:$data,
      ONNX_Opt<ONNX_I64Tensor>:$axes,
      DefaultValuedAttr<SI64Attr, "1">:$keepdims,
      DefaultValuedAttr<SI64Attr, "0">:$noop_with_empty_axes);
  let results = (outs
      tensor:$reduced);
  let hasVerifier = 1;
}

def ONNX_ReduceL1Op : ONNX_ReduceOp<"ReduceL1", [1, 11, 13, 18],
    "sum of absolute values", "|x1| + |x2| + ...">;
def ONNX_ReduceL2Op : ONNX_ReduceOp<"ReduceL2", [1, 11, 13, 18],
    "Euclidean norm", "sqrt(x1^2 + x2^2 + ...)">;
def ONNX_ReduceLogSumOp : ONNX_ReduceOp<"ReduceLogSum", [1, 11, 13, 18],
    "logarithm of the sum", "log(x1 + x2 + ...)">;
def ONNX_ReduceLogSumExpOp : ONNX_ReduceOp<"ReduceLogSumExp", [1, 11, 13, 18],
    "logarithm of the sum of exponentials", "log(exp(x1) + exp(x2) + ...)">;
def ONNX_ReduceSumSquareOp : ONNX_ReduceOp<"ReduceSumSquare", [1, 11, 13, 18],
    "sum of squares", "x1^2 + x2^2 + ...">;

// Those that give back their operand where nothing is reduced.
let hasFolder = 1 in {
def ONNX_ReduceMaxOp : ONNX_ReduceOp<"ReduceMax", [1, 11, 12, 13, 18, 20],
    "greatest element", "the greatest of them", ONNX_NumberOrBoolTensor>;
def ONNX_ReduceMeanOp : ONNX_ReduceOp<"ReduceMean", [1, 11, 13, 18],
    "mean", "(x1 + x2 + ... + xn) / n">;
def ONNX_ReduceMinOp : ONNX_ReduceOp<"ReduceMin", [1, 11, 12, 13, 18, 20],
    "least element", "the least of them", ONNX_NumberOrBoolTensor>;
def ONNX_ReduceProdOp : ONNX_ReduceOp<"ReduceProd", [1, 11, 13, 18],
    "product", "x1 * x2 * ...">;
def ONNX_ReduceSumOp : ONNX_ReduceOp<"ReduceSum", [1, 11, 13],
    "sum", "x1 + x2 + ...">;
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

// The place of an extreme element along one axis.
class ONNX_ArgOp<string opName, string extreme>
    : ONNX_Op<opName, [1, 11, 12, 13]> {
  let summary = "place of the " # extreme # " element along an axis";
  let description = [{
    The index of the }] # extreme # [{ element of every line along `axis`: the
    first of equal ones, or the last with `select_last_index`. The dimension
    becomes 1 with `keepdims`, and vanishes without.

    Constraints:
    - C1: `axis` is within the rank of `data`.

    Example:
    ```mlir
    %y = "onnx.}] # opName # [{"(%x) {axis = 1 : si64, keepdims = 0 : si64, select_last_index = 0 : si64}
        : (tensor<2x3xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$data,
      DefaultValuedAttr<SI64Attr, "0">:$axis,
      DefaultValuedAttr<SI64Attr, "1">:$keepdims,
      DefaultValuedAttr<SI64Attr, "0">:$select_last_index);
  let results = (outs
      ONNX_I64Tensor:$reduced);
  let hasVerifier = 1;
}

def ONNX_ArgMaxOp : ONNX_ArgOp<"ArgMax", "greatest">;
def ONNX_ArgMinOp : ONNX_ArgOp<"ArgMin", "least">;

def ONNX_CumSumOp : ONNX_Op<"CumSum", [11, 14], [
    ONNX_SameElementType<["x", "y"]>]> {
  let summary = "running sum along an axis";
  let description = [{
    y[i] = x[0] + ... + x[i] along `axis`; with `exclusive` x[i] itself is left
    out of the sum, with `reverse` the sum runs from the end.

    Constraints:
    - C1: `axis` has one element.

    Example:
    ```mlir
    %y = "onnx.CumSum"(%x, %axis) {exclusive = 0 : si64, reverse = 1 : si64}
        : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$x,
      ONNX_IndexTensor:$axis,
      DefaultValuedAttr<SI64Attr, "0">:$exclusive,
      DefaultValuedAttr<SI64Attr, "0">:$reverse);
  let results = (outs
      ONNX_NumberTensor:$y);
  let hasVerifier = 1;
}

def ONNX_TopKOp : ONNX_Op<"TopK", [1, 10, 11], [
    ONNX_SameElementType<["X", "Values"]>]> {
  let summary = "the K largest or smallest elements along an axis";
  let description = [{
    Of every line along `axis`, the `K` largest elements (smallest with
    `largest = 0`) and their places, in order of value if `sorted` is set. Of
    equal elements the one with the lower index comes first.

    Constraints:
    - C1: `axis` is within the rank of `X`.
    - C2: `K` has one element.

    Example:
    ```mlir
    %values, %indices = "onnx.TopK"(%x, %k) {axis = 1 : si64, largest = 1 : si64, sorted = 1 : si64}
        : (tensor<2x8xf32>, tensor<1xi64>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$X,
      ONNX_I64Tensor:$K,
      DefaultValuedAttr<SI64Attr, "-1">:$axis,
      DefaultValuedAttr<SI64Attr, "1">:$largest,
      DefaultValuedAttr<SI64Attr, "1">:$sorted);
  let results = (outs
      ONNX_NumberTensor:$Values,
      ONNX_I64Tensor:$Indices);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Results whose size depends on the data
//===----------------------------------------------------------------------===//

def ONNX_NonMaxSuppressionOp : ONNX_Op<"NonMaxSuppression", [10, 11]> {
  let summary = "boxes that remain when overlapping weaker ones are dropped";
  let description = [{
    For every batch entry and class, takes boxes in order of falling score and
    drops those that overlap an already taken one by more than `iou_threshold`
    (intersection over union), that score not above `score_threshold`, or that
    exceed `max_output_boxes_per_class` in number. Without that operand the
    number is 0. A row of the result is (batch, class, box).

    `center_point_box` tells what a box is: 0 for (y1, x1, y2, x2), two opposite
    corners in any order; 1 for (x, y, width, height) with (x, y) the centre.

    Constraints:
    - C1: `boxes` has the shape (batches, boxes, 4).
    - C2: `scores` has the shape (batches, classes, boxes).
    - C3: the number of boxes and both thresholds have one element each.
    - C4: `center_point_box` is 0 or 1.

    Example:
    ```mlir
    %y = "onnx.NonMaxSuppression"(%boxes, %scores, %max, %iou, %none) {center_point_box = 0 : si64}
        : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, none) -> tensor<?x3xi64>
    ```
  }];
  let arguments = (ins
      ONNX_F32Tensor:$boxes,
      ONNX_F32Tensor:$scores,
      ONNX_Opt<ONNX_I64Tensor>:$max_output_boxes_per_class,
      ONNX_Opt<ONNX_F32Tensor>:$iou_threshold,
      ONNX_Opt<ONNX_F32Tensor>:$score_threshold,
      DefaultValuedAttr<SI64Attr, "0">:$center_point_box);
  let results = (outs
      ONNX_I64Tensor:$selected_indices);
  let hasVerifier = 1;
}

def ONNX_NonZeroOp : ONNX_Op<"NonZero", [9, 13]> {
  let summary = "places of the elements that are not zero";
  let description = [{
    One column per element that is not zero, in row-major order; row r holds the
    index along axis r. The result of a tensor of rank r has the shape (r, ?).

    Example:
    ```mlir
    %y = "onnx.NonZero"(%x) : (tensor<2x3xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$X);
  let results = (outs
      ONNX_I64Tensor:$Y);
}

def ONNX_UniqueOp : ONNX_Op<"Unique", [11], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "distinct elements, or distinct slices along an axis";
  let description = [{
    The distinct elements of the flattened tensor, or with `axis` the distinct
    slices along it: ascending if `sorted` is set, else in order of first
    appearance. `indices` says where each first appears, `inverse_indices` which
    of them stands at each place of `X`, `counts` how often each appears.

    Constraints:
    - C1: `axis` is within the rank of `X`.

    Example:
    ```mlir
    %y, %first, %inverse, %counts = "onnx.Unique"(%x) {axis = 0 : si64, sorted = 1 : si64}
        : (tensor<4x3xf32>) -> (tensor<?x3xf32>, tensor<?xi64>, tensor<4xi64>, none)
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$X,
      OptionalAttr<SI64Attr>:$axis,
      DefaultValuedAttr<SI64Attr, "1">:$sorted);
  let results = (outs
      ONNX_AnyTensor:$Y,
      ONNX_Opt<ONNX_I64Tensor>:$indices,
      ONNX_Opt<ONNX_I64Tensor>:$inverse_indices,
      ONNX_Opt<ONNX_I64Tensor>:$counts);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_REDUCTION_TD
