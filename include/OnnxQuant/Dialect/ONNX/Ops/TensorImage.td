// Ops of the Tensor family that change an image's extent or sample it: padding,
// cropping, resizing, grids; and those that make tensors of encoded data.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_TENSORIMAGE_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_TENSORIMAGE_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def ONNX_PadOp : ONNX_Op<"Pad", [1, 2, 11, 13, 18, 19, 21, 23], [
    ONNX_SameElementType<["data", "constant_value", "output"]>]> {
  let summary = "adds elements before and after a tensor's own, or cuts them";
  let description = [{
    With n padded axes (`axes`, or all without it), `pads` has n counts for the
    beginnings, then n for the ends; a negative count cuts. New elements are
    `constant_value` (zero if left out), the nearest edge's, the mirror image
    without the edge, or the tensor repeated: modes constant, edge, reflect,
    wrap.

    Constraints:
    - C1: `mode` is constant, edge, reflect or wrap.
    - C2: `pads` has rank 1 and two elements per padded axis.
    - C3: `constant_value` has one element.
    - C4: `axes` has rank 1 and no more elements than `data` has dimensions.

    Example:
    ```mlir
    %y = "onnx.Pad"(%x, %pads, %value, %axes) {mode = "constant"} : (tensor<2x3x4xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<2x5x6xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$data,
      ONNX_I64Tensor:$pads,
      ONNX_Opt<ONNX_AnyTensor>:$constant_value,
      ONNX_Opt<ONNX_IndexTensor>:$axes,
      DefaultValuedStrAttr<StrAttr, "constant">:$mode);
  let results = (outs ONNX_AnyTensor:$output);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_CenterCropPadOp : ONNX_Op<"CenterCropPad", [18], [
    ONNX_SameElementType<["input_data", "output_data"]>]> {
  let summary = "crops or pads with zeros around the middle to given sizes";
  let description = [{
    `shape` lists the sizes wanted along `axes` (all without it). Where the
    input is larger, the middle is kept; where it is smaller, it lies in the
    middle of zeros. An odd difference leaves the extra element at the end.

    Constraints:
    - C1: `axes` are distinct and in [-r, r-1], r the rank of `input_data`.
    - C2: `shape` has rank 1 and one element per axis.

    Example:
    ```mlir
    %y = "onnx.CenterCropPad"(%x, %shape) {axes = [0, 1]} : (tensor<20x8x3xf32>, tensor<2xi64>) -> tensor<10x9x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$input_data,
      ONNX_IndexTensor:$shape,
      OptionalAttr<I64ArrayAttr>:$axes);
  let results = (outs ONNX_AnyTensor:$output_data);
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ONNX_ResizeOp : ONNX_Op<"Resize", [10, 11, 13, 18, 19], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "resamples a tensor to another extent";
  let description = [{
    Along `axes` (all without it) the result's size is `sizes[i]`, or
    floor(d * `scales[i]`) for a size d of `X`. With `sizes`, the policy
    not_larger scales all axes by the smallest ratio `sizes[i]` / d and
    not_smaller by the largest, rounding half up; stretch takes the sizes as
    they are. `roi` (starts, then ends) is read for tf_crop_and_resize only.
    An operand of no elements counts as left out.

    `coordinate_transformation_mode` maps a position of `Y` to one of `X`;
    `mode` interpolates there: by the nearest element (chosen by
    `nearest_mode`), linearly, or by cubics with coefficient `cubic_coeff_a`.
    `antialias` widens the filter when shrinking; `exclude_outside` renormalizes
    the weights inside; `extrapolation_value` stands for elements outside in
    tf_crop_and_resize.

    Constraints:
    - C1: exactly one of `scales` and `sizes` is given.
    - C2: `coordinate_transformation_mode` is half_pixel, half_pixel_symmetric,
      pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn or
      tf_crop_and_resize.
    - C3: `mode` is nearest, linear or cubic.
    - C4: `nearest_mode` is round_prefer_floor, round_prefer_ceil, floor or
      ceil.
    - C5: `keep_aspect_ratio_policy` is stretch, not_larger or not_smaller.
    - C6: `axes` are distinct and in [-r, r-1], r the rank of `X`.
    - C7: `scales` and `sizes` have rank 1 and one element per axis.
    - C8: `roi` has rank 1 and two elements per axis, and is given for
      tf_crop_and_resize.

    Example:
    ```mlir
    %y = "onnx.Resize"(%x, %none, %scales, %none) {antialias = 0 : si64, axes = [2, 3], coordinate_transformation_mode = "asymmetric", mode = "nearest", nearest_mode = "floor"} : (tensor<1x3x8x8xf32>, none, tensor<2xf32>, none) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$X,
      ONNX_Opt<ONNX_FloatTensor>:$roi,
      ONNX_Opt<ONNX_F32Tensor>:$scales,
      ONNX_Opt<ONNX_I64Tensor>:$sizes,
      DefaultValuedAttr<SI64Attr, "0">:$antialias,
      OptionalAttr<I64ArrayAttr>:$axes,
      DefaultValuedStrAttr<StrAttr, "half_pixel">:$coordinate_transformation_mode,
      DefaultValuedAttr<F32Attr, "-0.75">:$cubic_coeff_a,
      DefaultValuedAttr<SI64Attr, "0">:$exclude_outside,
      DefaultValuedAttr<F32Attr, "0.0">:$extrapolation_value,
      DefaultValuedStrAttr<StrAttr, "stretch">:$keep_aspect_ratio_policy,
      DefaultValuedStrAttr<StrAttr, "nearest">:$mode,
      DefaultValuedStrAttr<StrAttr, "round_prefer_floor">:$nearest_mode);
  let results = (outs ONNX_AnyTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_GridSampleOp : ONNX_Op<"GridSample", [16, 20, 22], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "samples a tensor at positions that a grid gives";
  let description = [{
    `X` is `[N, C, D1.., Dk]` and `grid` is `[N, E1.., Ek, k]`: per output
    position, k coordinates in [-1, 1], the last dimension's first. `Y` is
    `[N, C, E1.., Ek]`. `align_corners` puts -1 and 1 on the centres of the
    outermost elements instead of on their outer edges.

    Constraints:
    - C1: `mode` is linear, nearest or cubic.
    - C2: `padding_mode` is zeros, border or reflection.
    - C3: `X` and `grid` have the same rank, at least 3.
    - C4: the last dimension of `grid` is the rank of `X` minus 2.

    Example:
    ```mlir
    %y = "onnx.GridSample"(%x, %grid) {align_corners = 1 : si64, mode = "linear", padding_mode = "border"} : (tensor<1x3x8x8xf32>, tensor<1x4x5x2xf32>) -> tensor<1x3x4x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_AnyTensor:$X,
      ONNX_AnyTensor:$grid,
      DefaultValuedAttr<SI64Attr, "0">:$align_corners,
      DefaultValuedStrAttr<StrAttr, "linear">:$mode,
      DefaultValuedStrAttr<StrAttr, "zeros">:$padding_mode);
  let results = (outs ONNX_AnyTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_AffineGridOp : ONNX_Op<"AffineGrid", [20], [
    ONNX_SameElementType<["theta", "grid"]>]> {
  let summary = "the grid of positions that affine maps make";
  let description = [{
    Per batch entry, `theta` maps the regular grid over [-1, 1] to the
    positions from which `onnx.GridSample` takes its values. `size` is that of
    the images wanted: `[N, C, H, W]` gives `[N, H, W, 2]`, and
    `[N, C, D, H, W]` gives `[N, D, H, W, 3]`.

    Constraints:
    - C1: `theta` is `[N, 2, 3]` or `[N, 3, 4]`.
    - C2: `size` has rank 1 and 4 or 5 elements: two more than `theta` has rows.

    Example:
    ```mlir
    %grid = "onnx.AffineGrid"(%theta, %size) {align_corners = 0 : si64} : (tensor<1x2x3xf32>, tensor<4xi64>) -> tensor<1x?x?x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$theta,
      ONNX_I64Tensor:$size,
      DefaultValuedAttr<SI64Attr, "0">:$align_corners);
  let results = (outs ONNX_FloatTensor:$grid);
  let hasVerifier = 1;
}

def ONNX_ImageDecoderOp : ONNX_Op<"ImageDecoder", [20]> {
  let summary = "decodes an image file into its pixels";
  let description = [{
    `encoded_stream` holds the bytes of an image file. The result is
    `[H, W, C]`, with one channel for Grayscale and three for RGB and BGR.

    Constraints:
    - C1: `encoded_stream` has rank 1.
    - C2: `pixel_format` is RGB, BGR or Grayscale.

    Example:
    ```mlir
    %image = "onnx.ImageDecoder"(%bytes) {pixel_format = "RGB"} : (tensor<?xui8>) -> tensor<?x?x3xui8>
    ```
  }];
  let arguments = (ins
      ONNX_TensorOf<[UI8], "ui8 values">:$encoded_stream,
      DefaultValuedStrAttr<StrAttr, "RGB">:$pixel_format);
  let results = (outs ONNX_TensorOf<[UI8], "ui8 values">:$image);
  let hasVerifier = 1;
}

def ONNX_TfIdfVectorizerOp : ONNX_Op<"TfIdfVectorizer", [9]> {
  let summary = "counts n-grams of integers";
  let description = [{
    Counts in each row of `X` how often every n-gram of the pool occurs, for n
    from `min_gram_length` to `max_gram_length`, letting up to `max_skip_count`
    elements be skipped between two of an n-gram. `pool_int64s` lists the
    n-grams, all of one length together; those of length n start at
    `ngram_counts[n-1]`. The count of the i-th n-gram goes to
    `Y[ngram_indexes[i]]`: as it is (TF), as its weight if it occurs (IDF), or
    times its weight (TFIDF).

    Constraints:
    - C1: `X` has rank 1 or 2.
    - C2: `mode` is TF, IDF or TFIDF.
    - C3: 1 <= `min_gram_length` <= `max_gram_length`, and `max_skip_count` is
      not negative.
    - C4: `pool_int64s` is given, and `pool_strings` is not.
    - C5: `ngram_counts` has at least `max_gram_length` entries, ascending
      positions in `pool_int64s`.
    - C6: `ngram_indexes` is not empty and has no negative entry.
    - C7: `weights` has one entry per entry of `ngram_indexes`.

    Example:
    ```mlir
    %y = "onnx.TfIdfVectorizer"(%x) {max_gram_length = 1 : si64, max_skip_count = 0 : si64, min_gram_length = 1 : si64, mode = "TF", ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [5, 7]} : (tensor<12xi32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_IndexTensor:$X,
      SI64Attr:$max_gram_length,
      SI64Attr:$max_skip_count,
      SI64Attr:$min_gram_length,
      StrAttr:$mode,
      I64ArrayAttr:$ngram_counts,
      I64ArrayAttr:$ngram_indexes,
      OptionalAttr<I64ArrayAttr>:$pool_int64s,
      OptionalAttr<StrArrayAttr>:$pool_strings,
      OptionalAttr<F32ArrayAttr>:$weights);
  let results = (outs ONNX_F32Tensor:$Y);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_TENSORIMAGE_TD
