// Quantized operators of the com.microsoft domain, as ONNX Runtime's quantizer
// and optimizer write them. Their C++ classes live in the namespace
// `microsoft`, since some have the name of an ai.onnx op.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFT_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFT_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

def MS_QuantizedTensor
    : ONNX_TensorOf<[I8, UI8, I16, UI16, I<4>, UI<4>], "4, 8 or 16-bit integer values">;
def MS_DequantizableTensor
    : ONNX_TensorOf<[I8, UI8, I16, UI16, I<4>, UI<4>, I32], "integer values">;
def MS_PackedTensor : ONNX_TensorOf<[UI8, I32], "packed values">;
def MS_PackedOrFloatTensor
    : ONNX_TensorOf<!listconcat([UI8, I32], ONNX_Floats.types), "packed or float values">;
def MS_Int8OrF32Tensor : ONNX_TensorOf<[F32, I8, UI8], "f32, i8 or ui8 values">;

include "OnnxQuant/Dialect/ONNX/Ops/MicrosoftFused.td"

//===----------------------------------------------------------------------===//
// Between real numbers and quantized ones
//===----------------------------------------------------------------------===//

def MS_QuantizeLinearOp : ONNX_MicrosoftOp<"QuantizeLinear", [
    ONNX_SameElementType<["x", "y_scale"]>,
    ONNX_SameElementType<["y_zero_point", "y"]>]> {
  let summary = "real numbers to quantized ones, 16 bits included";
  let description = [{
    As `onnx.QuantizeLinear`: `y = saturate(round(x / y_scale) + y_zero_point)`,
    half to even. It stands for 16-bit and 4-bit types in models of an opset
    below 21. `y` has the type of the zero point, `ui8` without one.

    Constraints:
    - C1: `axis` is in [-rank(x), rank(x)) where the scale has a dimension
    - C2: `block_size` isn't negative
    - C3: `y_scale` has one element, or as many as `x` has along `axis`; with a
      `block_size` it may have `x`'s dimensions with ceil(dim / block_size)
      at `axis`
    - C4: `y_zero_point` has the shape of `y_scale`
    - C5: `y` is `ui8` without a zero point

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QuantizeLinear"(%x, %scale, %zero) : (tensor<2x3xf32>, tensor<f32>, tensor<ui16>) -> tensor<2x3xui16>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$x,
      ONNX_FloatTensor:$y_scale,
      ONNX_Opt<MS_QuantizedTensor>:$y_zero_point,
      DefaultValuedAttr<SI64Attr, "1">:$axis,
      DefaultValuedAttr<SI64Attr, "0">:$block_size);
  let results = (outs MS_QuantizedTensor:$y);
  let hasVerifier = 1;
}

def MS_DequantizeLinearOp : ONNX_MicrosoftOp<"DequantizeLinear", [
    ONNX_SameElementType<["x", "x_zero_point"]>,
    ONNX_SameElementType<["x_scale", "y"]>]> {
  let summary = "quantized numbers to real ones, 16 bits included";
  let description = [{
    As `onnx.DequantizeLinear`: `y = (x - x_zero_point) * x_scale`, in the type
    of the scale.

    Constraints:
    - C1: `axis` is in [-rank(x), rank(x)) where the scale has a dimension
    - C2: `block_size` isn't negative
    - C3: `x_scale` has one element, or as many as `x` has along `axis`; with a
      `block_size` it may have `x`'s dimensions with ceil(dim / block_size)
      at `axis`
    - C4: `x_zero_point` has the shape of `x_scale`

    Example:
    ```mlir
    %y = "onnx.com.microsoft.DequantizeLinear"(%x, %scale, %zero) {axis = 0 : si64} : (tensor<2x3xi16>, tensor<2xf32>, tensor<2xi16>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins
      MS_DequantizableTensor:$x,
      ONNX_FloatTensor:$x_scale,
      ONNX_Opt<MS_DequantizableTensor>:$x_zero_point,
      DefaultValuedAttr<SI64Attr, "1">:$axis,
      DefaultValuedAttr<SI64Attr, "0">:$block_size);
  let results = (outs ONNX_FloatTensor:$y);
  let shapeRule = [{
    shape::sameDimsAs(ctx, op, 0, getElementType(op.getXScale())) }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

// Two quantized tensors that broadcast, one scale and zero point each.
class MS_QLinearBinaryOp<string name> : ONNX_MicrosoftOp<name, [
    ONNX_SameElementType<["A", "A_zero_point", "B", "B_zero_point",
                          "C_zero_point", "C"]>]> {
  let arguments = (ins
      ONNX_Int8Tensor:$A,
      ONNX_F32Tensor:$A_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$A_zero_point,
      ONNX_Int8Tensor:$B,
      ONNX_F32Tensor:$B_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$B_zero_point,
      ONNX_F32Tensor:$C_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$C_zero_point);
  let results = (outs ONNX_Int8Tensor:$C);
  let hasVerifier = 1;
}

def MS_QLinearAddOp : MS_QLinearBinaryOp<"QLinearAdd"> {
  let summary = "sum of quantized tensors, quantized";
  let description = [{
    `C = quantize(A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point))`
    by `C_scale` and `C_zero_point`, operands broadcast. ONNX Runtime multiplies
    in fixed point, so that its result may be off by one.

    Constraints:
    - C1: every scale and zero point has one element

    Example:
    ```mlir
    %c = "onnx.com.microsoft.QLinearAdd"(%a, %as, %az, %b, %bs, %bz, %cs, %cz) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
    ```
  }];
}

def MS_QLinearMulOp : MS_QLinearBinaryOp<"QLinearMul"> {
  let summary = "product of quantized tensors, quantized";
  let description = [{
    With `p = (A - A_zero_point) * (B - B_zero_point)`, operands broadcast:
    `C = saturate(round(p * (A_scale * B_scale / C_scale)) + C_zero_point)`.

    Constraints:
    - C1: every scale and zero point has one element

    Example:
    ```mlir
    %c = "onnx.com.microsoft.QLinearMul"(%a, %as, %az, %b, %bs, %bz, %cs, %cz) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<2x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
    ```
  }];
}

// A function of one quantized tensor, element by element.
class MS_QLinearUnaryOp<string name, dag attributes = (ins)>
    : ONNX_MicrosoftOp<name, [
    ONNX_SameElementType<["X", "X_zero_point", "Y_zero_point", "Y"]>]> {
  let arguments = !con((ins
      ONNX_Int8Tensor:$X,
      ONNX_F32Tensor:$X_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$X_zero_point,
      ONNX_F32Tensor:$Y_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$Y_zero_point), attributes);
  let results = (outs ONNX_Int8Tensor:$Y);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def MS_QLinearLeakyReluOp : MS_QLinearUnaryOp<"QLinearLeakyRelu",
    (ins DefaultValuedAttr<F32Attr, "0.01f">:$alpha)> {
  let summary = "leaky relu of a quantized tensor, quantized";
  let description = [{
    `v` if `v >= 0`, else `alpha * v`, with `v = (X - X_zero_point) * X_scale`;
    the result is quantized by `Y_scale` and `Y_zero_point`. As 8 bits have 256
    values, a table can hold the function.

    Constraints:
    - C1: every scale and zero point has one element

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearLeakyRelu"(%x, %xs, %xz, %ys, %yz) {alpha = 0.1 : f32} : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
    ```
  }];
}

def MS_QLinearSigmoidOp : MS_QLinearUnaryOp<"QLinearSigmoid"> {
  let summary = "sigmoid of a quantized tensor, quantized";
  let description = [{
    `1 / (1 + exp(-v))` with `v = (X - X_zero_point) * X_scale`, quantized by
    `Y_scale` and `Y_zero_point`.

    Constraints:
    - C1: every scale and zero point has one element

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearSigmoid"(%x, %xs, %xz, %ys, %yz) : (tensor<4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<4xui8>
    ```
  }];
}

def MS_QLinearSoftmaxOp : ONNX_MicrosoftOp<"QLinearSoftmax", [
    ONNX_SameElementType<["X", "x_zero_point", "y_zero_point", "Y"]>]> {
  let summary = "softmax of a quantized tensor, quantized";
  let description = [{
    `exp(v - m) / sum(exp(v - m))` with `v = (X - x_zero_point) * X_scale` and
    `m` its maximum. From `opset` 13 on along `axis`; below, over all dimensions
    from `axis` on. The output scale is 1/256 by custom.

    Constraints:
    - C1: every scale and zero point has one element
    - C2: `axis` is in [-rank(X), rank(X))

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearSoftmax"(%x, %xs, %xz, %ys, %yz) {axis = -1 : si64, opset = 13 : si64} : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$X,
      ONNX_F32Tensor:$X_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$x_zero_point,
      ONNX_F32Tensor:$y_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$y_zero_point,
      DefaultValuedAttr<SI64Attr, "-1">:$axis,
      DefaultValuedAttr<SI64Attr, "13">:$opset);
  let results = (outs ONNX_Int8Tensor:$Y);
  let shapeRule = [{ shape::sameAs(ctx, op, 0) }];
  let hasVerifier = 1;
}

def MS_QLinearWhereOp : ONNX_MicrosoftOp<"QLinearWhere", [
    ONNX_SameElementType<["X", "x_zero_point", "Y", "y_zero_point",
                          "z_zero_point", "Z"]>]> {
  let summary = "choice between quantized tensors, quantized";
  let description = [{
    The real value of `X` where `condition` is true, else of `Y`, quantized by
    `z_scale` and `z_zero_point`; all three broadcast.

    Constraints:
    - C1: every scale and zero point has one element

    Example:
    ```mlir
    %z = "onnx.com.microsoft.QLinearWhere"(%c, %x, %xs, %xz, %y, %ys, %yz, %zs, %zz) : (tensor<3xi1>, tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
    ```
  }];
  let arguments = (ins
      ONNX_BoolTensor:$condition,
      ONNX_Int8Tensor:$X,
      ONNX_F32Tensor:$x_scale,
      ONNX_Int8Tensor:$x_zero_point,
      ONNX_Int8Tensor:$Y,
      ONNX_F32Tensor:$y_scale,
      ONNX_Int8Tensor:$y_zero_point,
      ONNX_F32Tensor:$z_scale,
      ONNX_Int8Tensor:$z_zero_point);
  let results = (outs ONNX_Int8Tensor:$Z);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Concatenation, reduction, pooling, convolution
//===----------------------------------------------------------------------===//

def MS_QLinearConcatOp : ONNX_MicrosoftOp<"QLinearConcat", [
    ONNX_SameElementType<["Y_zero_point", "Y"]>]> {
  let summary = "quantized tensors end to end, requantized";
  let description = [{
    `inputs` are triples of a tensor, its scale and its zero point. Each tensor
    is brought to `Y_scale` and `Y_zero_point`, then they are laid end to end
    along `axis`.

    Constraints:
    - C1: `inputs` are triples, at least one
    - C2: of each triple the tensor and the zero point have one type of 8-bit
      integers and the scale is `f32`
    - C3: every scale and zero point has one element
    - C4: the tensors have one rank, and `axis` is in [-rank, rank)

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearConcat"(%ys, %yz, %a, %as, %az, %b, %bs, %bz) {axis = 1 : si64} : (tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x7xui8>
    ```
  }];
  let arguments = (ins
      ONNX_F32Tensor:$Y_scale,
      ONNX_Int8Tensor:$Y_zero_point,
      Variadic<MS_Int8OrF32Tensor>:$inputs,
      SI64Attr:$axis);
  let results = (outs ONNX_Int8Tensor:$Y);
  let hasVerifier = 1;
}

def MS_QLinearReduceMeanOp : ONNX_MicrosoftOp<"QLinearReduceMean", [
    ONNX_SameElementType<["data", "data_zero_point", "reduced_zero_point", "reduced"]>]> {
  let summary = "mean of a quantized tensor over axes, quantized";
  let description = [{
    The mean of `(data - data_zero_point) * data_scale` over `axes` (all of them
    without the attribute), quantized by `reduced_scale` and
    `reduced_zero_point`. With `keepdims` the axes stay as 1.

    Constraints:
    - C1: every scale and zero point has one element
    - C2: every one of `axes` is in [-rank(data), rank(data))

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearReduceMean"(%x, %xs, %xz, %ys, %yz) {axes = [1], keepdims = 0 : si64} : (tensor<2x3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<2x4xui8>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$data,
      ONNX_F32Tensor:$data_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$data_zero_point,
      ONNX_F32Tensor:$reduced_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$reduced_zero_point,
      OptionalAttr<I64ArrayAttr>:$axes,
      DefaultValuedAttr<SI64Attr, "1">:$keepdims);
  let results = (outs ONNX_Int8Tensor:$reduced);
  let hasVerifier = 1;
}

def MS_QLinearAveragePoolOp : ONNX_MicrosoftOp<"QLinearAveragePool", [
    ONNX_SameElementType<["X", "x_zero_point", "y_zero_point", "Y"]>]> {
  let summary = "averages of windows of a quantized tensor, quantized";
  let description = [{
    As `onnx.AveragePool` on `(X - x_zero_point) * x_scale`, quantized by
    `y_scale` and `y_zero_point`. With `channels_last` the channels are the last
    dimension of `X` and `Y`.

    Constraints:
    - C1 to C4: those of the window, see `onnx.AveragePool`
    - C5: every scale and zero point has one element
    - C6: `X` has rank 3 or more

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearAveragePool"(%x, %xs, %xz, %ys, %yz) {channels_last = 1 : si64, kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x8x8x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x4x3xui8>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$X,
      ONNX_F32Tensor:$x_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$x_zero_point,
      ONNX_F32Tensor:$y_scale,
      ONNX_Opt<ONNX_Int8Tensor>:$y_zero_point,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      DefaultValuedAttr<SI64Attr, "0">:$ceil_mode,
      DefaultValuedAttr<SI64Attr, "0">:$channels_last,
      DefaultValuedAttr<SI64Attr, "0">:$count_include_pad,
      I64ArrayAttr:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs ONNX_Int8Tensor:$Y);
  let hasVerifier = 1;
}

def MS_QLinearGlobalAveragePoolOp : ONNX_MicrosoftOp<"QLinearGlobalAveragePool", [
    ONNX_SameElementType<["X", "x_zero_point", "y_zero_point", "Y"]>]> {
  let summary = "average over all places of a quantized tensor, quantized";
  let description = [{
    The mean of `(X - x_zero_point) * x_scale` over the spatial dimensions,
    which become 1, quantized by `y_scale` and `y_zero_point`. The channels are
    dimension 1, or the last one with `channels_last`.

    Constraints:
    - C1: every scale and zero point has one element
    - C2: `X` has rank 3 or more

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearGlobalAveragePool"(%x, %xs, %xz, %ys, %yz) : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x1x1xui8>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$X,
      ONNX_F32Tensor:$x_scale,
      ONNX_Int8Tensor:$x_zero_point,
      ONNX_F32Tensor:$y_scale,
      ONNX_Int8Tensor:$y_zero_point,
      DefaultValuedAttr<SI64Attr, "0">:$channels_last);
  let results = (outs ONNX_Int8Tensor:$Y);
  let hasVerifier = 1;
}

def MS_QLinearConvOp : ONNX_MicrosoftOp<"QLinearConv", [
    ONNX_SameElementType<["x", "x_zero_point"]>,
    ONNX_SameElementType<["w", "w_zero_point"]>,
    ONNX_SameElementType<["y_zero_point", "y"]>]> {
  let summary = "convolution of quantized tensors, in either layout";
  let description = [{
    As `onnx.QLinearConv`. With `channels_last` the channels are the last
    dimension of `x` and `y`; the weight stays [M, C / group, kernel...].

    Constraints:
    - C1 to C4: those of the window, see `onnx.Conv`
    - C5: `x` and `w` have the same rank, at least 3
    - C6: `group` is positive, `w`'s first dimension is a multiple of it, and
      `x` has `w`'s second dimension times `group` channels
    - C7: `B` has one element per output channel
    - C8: the scales and zero points of `x` and `y` have one element
    - C9: `w_scale` and `w_zero_point` have one element, or one per output
      channel

    Example:
    ```mlir
    %y = "onnx.com.microsoft.QLinearConv"(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b) {channels_last = 1 : si64} : (tensor<1x5x5x2xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x3x3x4xui8>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$x,
      ONNX_F32Tensor:$x_scale,
      ONNX_Int8Tensor:$x_zero_point,
      ONNX_Int8Tensor:$w,
      ONNX_F32Tensor:$w_scale,
      ONNX_Int8Tensor:$w_zero_point,
      ONNX_F32Tensor:$y_scale,
      ONNX_Int8Tensor:$y_zero_point,
      ONNX_Opt<ONNX_I32Tensor>:$B,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      DefaultValuedAttr<SI64Attr, "0">:$channels_last,
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs ONNX_Int8Tensor:$y);
  let hasVerifier = 1;
}

include "OnnxQuant/Dialect/ONNX/Ops/MicrosoftProducts.td"

#endif // ONNXQUANT_DIALECT_ONNX_OPS_MICROSOFT_TD
