// Poolings: over sliding windows, over the whole of the spatial dimensions,
// over regions of interest, and back.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_NNPOOL_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_NNPOOL_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

//===----------------------------------------------------------------------===//
// Sliding windows
//===----------------------------------------------------------------------===//

// What the descriptions of poolings over windows have in common.
defvar poolText = [{

    X is [N, C, spatial..]. In every spatial dimension the output has
    floor((in + pads - extent) / stride) + 1 elements, with extent =
    (kernel - 1) * dilation + 1. With `ceil_mode` the quotient is rounded up,
    but no window starts behind the input and its leading padding. `auto_pad`
    SAME_UPPER and SAME_LOWER pad for ceil(in / stride) elements, an odd one at
    the end or at the beginning; VALID pads nothing. `pads` lists all
    beginnings, then all ends, and counts for NOTSET only.

    Constraints:
    - C1: `auto_pad` is NOTSET, SAME_UPPER, SAME_LOWER or VALID.
    - C2: `kernel_shape` has a positive entry per spatial dimension.
    - C3: `strides` and `dilations` have a positive entry per spatial dimension.
    - C4: `pads` has two entries per spatial dimension, none negative.
    - C5: X has rank 3 or more.
}];

def ONNX_AveragePoolOp : ONNX_Op<"AveragePool", [1, 7, 10, 11, 19, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "mean over sliding windows";
  let description = [{
    The mean of the elements in each window; of the padding too, as zeros, if
    `count_include_pad` is set.
  }] # poolText # [{
    Example:
    ```mlir
    %y = "onnx.AveragePool"(%x) {auto_pad = "NOTSET", ceil_mode = 1 : si64, kernel_shape = [3, 3], strides = [2, 2]}
        : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      DefaultValuedAttr<SI64Attr, "0">:$ceil_mode,
      DefaultValuedAttr<SI64Attr, "0">:$count_include_pad,
      OptionalAttr<I64ArrayAttr>:$dilations,
      I64ArrayAttr:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_LpPoolOp : ONNX_Op<"LpPool", [1, 2, 11, 18, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "p-norm over sliding windows";
  let description = [{
    sum(abs(x) ^ p) ^ (1 / p) of the elements in each window.
  }] # poolText # [{
    - C6: `p` is positive.

    Example:
    ```mlir
    %y = "onnx.LpPool"(%x) {auto_pad = "NOTSET", kernel_shape = [2, 2], p = 3 : si64}
        : (tensor<1x3x8x8xf32>) -> tensor<1x3x7x7xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      DefaultValuedAttr<SI64Attr, "0">:$ceil_mode,
      OptionalAttr<I64ArrayAttr>:$dilations,
      I64ArrayAttr:$kernel_shape,
      DefaultValuedAttr<SI64Attr, "2">:$p,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_MaxPoolOp : ONNX_Op<"MaxPool", [1, 8, 10, 11, 12, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "largest element of sliding windows";
  let description = [{
    The largest element of each window, never one of the padding. `Indices` are
    the places of these elements in the flattened X, of which the last spatial
    dimension is the fastest (`storage_order` 0) or the slowest (1).
  }] # poolText # [{
    - C6: `storage_order` is 0 or 1.

    Example:
    ```mlir
    %y, %i = "onnx.MaxPool"(%x) {auto_pad = "SAME_UPPER", kernel_shape = [2, 2], storage_order = 0 : si64, strides = [2, 2]}
        : (tensor<1x3x7x7xf32>) -> (tensor<1x3x4x4xf32>, none)
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$X,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      DefaultValuedAttr<SI64Attr, "0">:$ceil_mode,
      OptionalAttr<I64ArrayAttr>:$dilations,
      I64ArrayAttr:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      DefaultValuedAttr<SI64Attr, "0">:$storage_order,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_NumberTensor:$Y,
      ONNX_Opt<ONNX_I64Tensor>:$Indices);
  let hasVerifier = 1;
}

def ONNX_MaxUnpoolOp : ONNX_Op<"MaxUnpool", [9, 11, 22], [
    ONNX_SameElementType<["X", "output"]>]> {
  let summary = "puts pooled maxima back to their places";
  let description = [{
    Zeros, with the elements of X at the places `I` of the flattened tensor that
    was pooled. Its dimensions are `output_shape` if it is given, else
    stride * (in - 1) + kernel - pads in every spatial dimension.

    Constraints:
    - C1: `kernel_shape` has a positive entry per spatial dimension.
    - C2: `strides` has a positive entry per spatial dimension.
    - C3: `pads` has two entries per spatial dimension, none negative.
    - C4: X has rank 3 or more.
    - C5: X and I have the same dimensions.
    - C6: `output_shape` has rank 1 and an element per dimension of X.

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y = "onnx.MaxUnpool"(%x, %i, %none) {kernel_shape = [2, 2], strides = [2, 2]}
        : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, none) -> tensor<1x1x4x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_I64Tensor:$I,
      ONNX_Opt<ONNX_I64Tensor>:$output_shape,
      I64ArrayAttr:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Whole images
//===----------------------------------------------------------------------===//

def ONNX_GlobalAveragePoolOp : ONNX_Op<"GlobalAveragePool", [1, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "mean over all spatial dimensions";
  let description = [{
    Y is [N, C, 1..]: the mean of each channel of each element of the batch.

    Constraints:
    - C1: X has rank 2 or more.

    Example:
    ```mlir
    %y = "onnx.GlobalAveragePool"(%x) : (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_GlobalLpPoolOp : ONNX_Op<"GlobalLpPool", [1, 2, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "p-norm over all spatial dimensions";
  let description = [{
    Y is [N, C, 1..]: sum(abs(x) ^ p) ^ (1 / p) of each channel of each element
    of the batch.

    Constraints:
    - C1: X has rank 2 or more.
    - C2: `p` is positive.

    Example:
    ```mlir
    %y = "onnx.GlobalLpPool"(%x) {p = 2 : si64} : (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      DefaultValuedAttr<SI64Attr, "2">:$p);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_GlobalMaxPoolOp : ONNX_Op<"GlobalMaxPool", [1, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "largest element over all spatial dimensions";
  let description = [{
    Y is [N, C, 1..]: the largest element of each channel of each element of the
    batch.

    Constraints:
    - C1: X has rank 2 or more.

    Example:
    ```mlir
    %y = "onnx.GlobalMaxPool"(%x) : (tensor<1x3x5x5xf32>) -> tensor<1x3x1x1xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Regions of interest
//===----------------------------------------------------------------------===//

def ONNX_MaxRoiPoolOp : ONNX_Op<"MaxRoiPool", [1, 22], [
    ONNX_SameElementType<["X", "rois", "Y"]>]> {
  let summary = "largest element of each part of regions";
  let description = [{
    Every row of `rois` is [batch index, x1, y1, x2, y2], to be multiplied by
    `spatial_scale`. The region is divided into `pooled_shape` parts, of which
    each gives its largest element: Y is [rois, C, pooled_shape..].

    Constraints:
    - C1: X has rank 4 and `rois` is [rois, 5].
    - C2: `pooled_shape` has two positive entries.

    Example:
    ```mlir
    %y = "onnx.MaxRoiPool"(%x, %rois) {pooled_shape = [2, 2], spatial_scale = 0.0625 : f32}
        : (tensor<1x3x8x8xf32>, tensor<6x5xf32>) -> tensor<6x3x2x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$rois,
      I64ArrayAttr:$pooled_shape,
      DefaultValuedAttr<F32Attr, "1.0">:$spatial_scale);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_RoiAlignOp : ONNX_Op<"RoiAlign", [10, 16, 22], [
    ONNX_SameElementType<["X", "rois", "Y"]>]> {
  let summary = "samples regions on a regular grid";
  let description = [{
    Row r of `rois` is [x1, y1, x2, y2], to be multiplied by `spatial_scale`, in
    the image `batch_indices[r]`. The region is divided into `output_height` by
    `output_width` parts; each is sampled at `sampling_ratio` points per
    dimension (0: as many as the part is large) by linear interpolation, and
    gives their mean (`avg`) or largest (`max`). `half_pixel` moves the region
    by half an element; `output_half_pixel` doesn't.

    Constraints:
    - C1: X has rank 4, `rois` is [rois, 4] and `batch_indices` [rois].
    - C2: `mode` is `avg` or `max`.
    - C3: `coordinate_transformation_mode` is `half_pixel` or
      `output_half_pixel`.
    - C4: `output_height` and `output_width` are positive, `sampling_ratio`
      isn't negative.

    Example:
    ```mlir
    %y = "onnx.RoiAlign"(%x, %rois, %batch) {mode = "avg", output_height = 5 : si64, output_width = 5 : si64, sampling_ratio = 2 : si64}
        : (tensor<1x1x10x10xf32>, tensor<3x4xf32>, tensor<3xi64>) -> tensor<3x1x5x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$rois,
      ONNX_I64Tensor:$batch_indices,
      DefaultValuedStrAttr<StrAttr, "half_pixel">:$coordinate_transformation_mode,
      DefaultValuedStrAttr<StrAttr, "avg">:$mode,
      DefaultValuedAttr<SI64Attr, "1">:$output_height,
      DefaultValuedAttr<SI64Attr, "1">:$output_width,
      DefaultValuedAttr<SI64Attr, "0">:$sampling_ratio,
      DefaultValuedAttr<F32Attr, "1.0">:$spatial_scale);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_NNPOOL_TD
