// Normalizations: over the batch, over groups of channels, over trailing axes,
// and by norms.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_NNNORMALIZATION_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_NNNORMALIZATION_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

def ONNX_BatchNormalizationOp
    : ONNX_Op<"BatchNormalization", [1, 6, 7, 9, 14, 15], [
        ONNX_SameElementType<["X", "Y"]>,
        ONNX_SameElementType<["scale", "B"]>,
        ONNX_SameElementType<["input_mean", "input_var", "running_mean", "running_var"]>]> {
  let summary = "normalizes channels by statistics of the batch";
  let description = [{
    Y = (X - mean) / sqrt(var + epsilon) * scale + B, all of them per channel
    (axis 1). Without `training_mode` mean and var are `input_mean` and
    `input_var`. With it they are those of X, and the running ones are
    input * momentum + current * (1 - momentum).

    Constraints:
    - C1: X has rank 1 or more.
    - C2: the other operands have one element per channel.
    - C3: without `training_mode` the running mean and variance are left out.

    Example:
    ```mlir
    %y, %m, %v = "onnx.BatchNormalization"(%x, %scale, %b, %mean, %var) {epsilon = 1.0e-5 : f32, momentum = 0.9 : f32}
        : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, none, none)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$scale,
      ONNX_FloatTensor:$B,
      ONNX_FloatTensor:$input_mean,
      ONNX_FloatTensor:$input_var,
      DefaultValuedAttr<F32Attr, "1e-05">:$epsilon,
      DefaultValuedAttr<F32Attr, "0.9">:$momentum,
      DefaultValuedAttr<SI64Attr, "0">:$training_mode);
  let results = (outs
      ONNX_FloatTensor:$Y,
      ONNX_Opt<ONNX_FloatTensor>:$running_mean,
      ONNX_Opt<ONNX_FloatTensor>:$running_var);
  let hasVerifier = 1;
}

def ONNX_BatchNormalizationInferenceModeOp
    : Op<ONNX_Dialect, "BatchNormalizationInferenceMode", [Pure,
        ONNX_SameElementType<["X", "Y"]>,
        ONNX_SameElementType<["scale", "B"]>,
        ONNX_SameElementType<["mean", "var"]>,
        DeclareOpInterfaceMethods<ONNX_ShapeInferenceOpInterface>]> {
  let summary = "batch normalization with given statistics";
  let description = [{
    Another spelling of `onnx.BatchNormalization` without `training_mode`, read
    for the sake of other tools' texts; canonicalization replaces it.

    Constraints:
    - C1: X has rank 1 or more.
    - C2: the other operands have one element per channel.

    Example:
    ```mlir
    %y = "onnx.BatchNormalizationInferenceMode"(%x, %scale, %b, %mean, %var) {epsilon = 1.0e-5 : f32, momentum = 0.9 : f32}
        : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$scale,
      ONNX_FloatTensor:$B,
      ONNX_FloatTensor:$mean,
      ONNX_FloatTensor:$var,
      DefaultValuedAttr<F32Attr, "1e-05">:$epsilon,
      DefaultValuedAttr<F32Attr, "0.9">:$momentum);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Channels and groups of them
//===----------------------------------------------------------------------===//

def ONNX_InstanceNormalizationOp : ONNX_Op<"InstanceNormalization", [1, 6, 22], [
    ONNX_SameElementType<["input", "scale", "B", "output"]>]> {
  let summary = "normalizes each channel of each image by its own statistics";
  let description = [{
    scale * (x - mean) / sqrt(var + epsilon) + B, where mean and variance are
    taken over the spatial dimensions.

    Constraints:
    - C1: `input` has rank 2 or more.
    - C2: `scale` and B have one element per channel.

    Example:
    ```mlir
    %y = "onnx.InstanceNormalization"(%x, %scale, %b) {epsilon = 1.0e-5 : f32}
        : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      ONNX_FloatTensor:$scale,
      ONNX_FloatTensor:$B,
      DefaultValuedAttr<F32Attr, "1e-05">:$epsilon);
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

def ONNX_GroupNormalizationOp : ONNX_Op<"GroupNormalization", [18, 21], [
    ONNX_SameElementType<["X", "scale", "bias", "Y"]>]> {
  let summary = "normalizes groups of channels of each image";
  let description = [{
    scale * (x - mean) / sqrt(var + epsilon) + bias, where mean and variance are
    taken over `num_groups` equal groups of neighbouring channels and all
    spatial dimensions, and scale and bias are per channel. `stash_type` is the
    type (as ONNX numbers them) that the statistics are computed in.

    Constraints:
    - C1: X has rank 2 or more.
    - C2: `num_groups` is positive and divides the number of channels.
    - C3: `scale` and `bias` have one element per channel.
    - C4: `stash_type` is a float type: 1, 10, 11 or 16.

    Example:
    ```mlir
    %y = "onnx.GroupNormalization"(%x, %scale, %bias) {epsilon = 1.0e-5 : f32, num_groups = 2 : si64, stash_type = 1 : si64}
        : (tensor<3x4x2x2xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x2x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$scale,
      ONNX_FloatTensor:$bias,
      DefaultValuedAttr<F32Attr, "1e-05">:$epsilon,
      SI64Attr:$num_groups,
      DefaultValuedAttr<SI64Attr, "1">:$stash_type);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_LRNOp : ONNX_Op<"LRN", [1, 13], [
    ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "normalizes over neighbouring channels";
  let description = [{
    Y = X / (bias + alpha / size * s) ^ beta, where s is the sum of the squares
    of X at the same place in the channels c - floor((size - 1) / 2) to
    c + ceil((size - 1) / 2) that there are.

    Constraints:
    - C1: X has rank 2 or more.
    - C2: `size` is positive.

    Example:
    ```mlir
    %y = "onnx.LRN"(%x) {alpha = 2.0e-4 : f32, beta = 0.5 : f32, bias = 2.0 : f32, size = 3 : si64}
        : (tensor<5x5x5x5xf32>) -> tensor<5x5x5x5xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      DefaultValuedAttr<F32Attr, "1e-04">:$alpha,
      DefaultValuedAttr<F32Attr, "0.75">:$beta,
      DefaultValuedAttr<F32Attr, "1.0">:$bias,
      SI64Attr:$size);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

def ONNX_LayerNormalizationOp : ONNX_Op<"LayerNormalization", [17], [
    ONNX_SameElementType<["X", "Scale", "B", "Y"]>,
    ONNX_SameElementType<["Mean", "InvStdDev"]>]> {
  let summary = "normalizes over the trailing axes";
  let description = [{
    Y = (X - Mean) * InvStdDev * Scale + B, where Mean and
    InvStdDev = 1 / sqrt(var + epsilon) are taken over the axes from `axis` on,
    in the type that `stash_type` numbers, and keep these axes with size one.

    Constraints:
    - C1: `axis` is an axis of X.
    - C2: Scale and B broadcast to X.
    - C3: `stash_type` is a float type: 1, 10, 11 or 16.

    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    %y, %m, %d = "onnx.LayerNormalization"(%x, %scale, %none) {axis = -1 : si64, epsilon = 1.0e-5 : f32, stash_type = 1 : si64}
        : (tensor<2x3x4xf32>, tensor<4xf32>, none) -> (tensor<2x3x4xf32>, none, none)
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$Scale,
      ONNX_Opt<ONNX_FloatTensor>:$B,
      DefaultValuedAttr<SI64Attr, "-1">:$axis,
      DefaultValuedAttr<F32Attr, "1e-05">:$epsilon,
      DefaultValuedAttr<SI64Attr, "1">:$stash_type);
  let results = (outs
      ONNX_FloatTensor:$Y,
      ONNX_Opt<ONNX_FloatTensor>:$Mean,
      ONNX_Opt<ONNX_FloatTensor>:$InvStdDev);
  let hasVerifier = 1;
}

def ONNX_RMSNormalizationOp : ONNX_Op<"RMSNormalization", [23], [
    ONNX_SameElementType<["scale", "Y"]>]> {
  let summary = "divides by the root mean square over the trailing axes";
  let description = [{
    Y = X / sqrt(mean(X * X) + epsilon) * scale, where the mean goes over the
    axes from `axis` on and is computed in the type that `stash_type` numbers.
    Y has the element type of `scale`.

    Constraints:
    - C1: `axis` is an axis of X.
    - C2: `scale` broadcasts to X.
    - C3: `stash_type` is a float type: 1, 10, 11 or 16.

    Example:
    ```mlir
    %y = "onnx.RMSNormalization"(%x, %scale) {axis = -1 : si64, epsilon = 1.0e-5 : f32, stash_type = 1 : si64}
        : (tensor<2x3x4xf16>, tensor<4xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      ONNX_FloatTensor:$scale,
      DefaultValuedAttr<SI64Attr, "-1">:$axis,
      DefaultValuedAttr<F32Attr, "1e-05">:$epsilon,
      DefaultValuedAttr<SI64Attr, "1">:$stash_type);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

def ONNX_LpNormalizationOp : ONNX_Op<"LpNormalization", [1, 22], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "divides by the p-norm along an axis";
  let description = [{
    x / sum(abs(x) ^ p) ^ (1 / p), where the sum goes along `axis`; zero where
    the norm is zero.

    Constraints:
    - C1: `axis` is an axis of `input`.
    - C2: `p` is 1 or 2.

    Example:
    ```mlir
    %y = "onnx.LpNormalization"(%x) {axis = -1 : si64, p = 2 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      DefaultValuedAttr<SI64Attr, "-1">:$axis,
      DefaultValuedAttr<SI64Attr, "2">:$p);
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

def ONNX_MeanVarianceNormalizationOp
    : ONNX_Op<"MeanVarianceNormalization", [9, 13], [
        ONNX_SameElementType<["X", "Y"]>]> {
  let summary = "brings the mean to zero and the variance to one";
  let description = [{
    Y = (X - mean) / sqrt(var), over `axes`, which are [0, 2, 3] by default: one
    mean and variance per channel of a batch of images.

    Constraints:
    - C1: `axes` are axes of X, each named once.

    Example:
    ```mlir
    %y = "onnx.MeanVarianceNormalization"(%x) {axes = [0, 2, 3]} : (tensor<3x3x3x1xf32>) -> tensor<3x3x3x1xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$X,
      OptionalAttr<I64ArrayAttr>:$axes);
  let results = (outs
      ONNX_FloatTensor:$Y);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_NNNORMALIZATION_TD
