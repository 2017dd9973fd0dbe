// Quantizers, dequantizers and quantized arithmetic of the ai.onnx domain.
//
// A quantized tensor `q` with scale `s` and zero point `z` stands for the real
// numbers (q - z) * s. The ops here differ in where `s` and `z` come from and in
// whether the result is rounded back to a narrow type.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_QUANTIZATION_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_QUANTIZATION_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

// Types of quantized tensors: integers of 4, 8 and 16 bits, and small floats.
def ONNX_Quantized : ONNX_Set<!listconcat(
    [I8, UI8, I16, UI16, I<4>, UI<4>, F4E2M1FN], ONNX_Float8s.types)>;
def ONNX_QuantizedTensor
    : ONNX_TensorOf<ONNX_Quantized.types, "quantized values">;
def ONNX_DequantizableTensor
    : ONNX_TensorOf<!listconcat(ONNX_Ints.types, ONNX_Narrow.types),
                    "integer or quantized values">;
def ONNX_ScaleTensor
    : ONNX_TensorOf<!listconcat(ONNX_Floats.types, [I32, F8E8M0FNU]),
                    "scale values">;
def ONNX_UI8Tensor : ONNX_TensorOf<[UI8], "ui8 values">;
def ONNX_EightBitTensor
    : ONNX_TensorOf<!listconcat([I8, UI8], ONNX_Float8s.types),
                    "8-bit values">;

//===----------------------------------------------------------------------===//
// Between real numbers and quantized ones
//===----------------------------------------------------------------------===//

def ONNX_QuantizeLinearOp : ONNX_Op<"QuantizeLinear", [10, 13, 19, 21, 23], [
    ONNX_SameElementType<["y_zero_point", "y"]>]> {
  let summary = "real numbers to quantized ones by a given scale";
  let description = [{
    `y = saturate(round(x / y_scale) + y_zero_point)`. The quotient is rounded
    half to even before the zero point is added, and the sum is clamped to the
    whole range of `y`'s type, also where the scale was chosen for a smaller
    range (symmetric or 7-bit).

    One scale serves the whole tensor, or one each index of `axis`, or one each
    run of `block_size` elements along `axis`. A zero point that is left out is
    zero. `y` has the type of the zero point, else of `output_dtype`, else `ui8`.
    `saturate` concerns 8-bit floats only: 1 clamps to the largest number, 0
    gives infinity or not-a-number. `precision` is the type in which the
    division is done, 0 for that of the scale.

    Constraints:
    - C1: `axis` is in [-rank(x), rank(x)) where the scale has a dimension
    - C2: `block_size` isn't negative
    - C3: `y_scale` has one element, or as many as `x` has along `axis`; with a
      `block_size` it may have `x`'s dimensions with ceil(dim / block_size)
      at `axis`
    - C4: `y_zero_point` has the shape of `y_scale`
    - C5: `y` has the element type stated above
    - C6: `precision` is 0 or the number of a float type

    Example:
    ```mlir
    %y = "onnx.QuantizeLinear"(%x, %scale, %zero) {axis = 1 : si64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xi8>) -> tensor<2x3xi8>
    ```
  }];
  let arguments = (ins
      ONNX_NumberTensor:$x,
      ONNX_ScaleTensor:$y_scale,
      ONNX_Opt<ONNX_QuantizedTensor>:$y_zero_point,
      DefaultValuedAttr<SI64Attr, "1">:$axis,
      DefaultValuedAttr<SI64Attr, "0">:$block_size,
      DefaultValuedAttr<SI64Attr, "0">:$output_dtype,
      DefaultValuedAttr<SI64Attr, "0">:$precision,
      DefaultValuedAttr<SI64Attr, "1">:$saturate);
  let results = (outs
      ONNX_QuantizedTensor:$y);
  let hasVerifier = 1;
}

def ONNX_DequantizeLinearOp : ONNX_Op<"DequantizeLinear", [10, 13, 19, 21, 23], [
    ONNX_SameElementType<["x", "x_zero_point"]>]> {
  let summary = "quantized numbers to real ones";
  let description = [{
    `y = (x - x_zero_point) * x_scale`, with scales per tensor, per index of
    `axis` or per block as for `onnx.QuantizeLinear`. `y` has the type of
    `output_dtype`, or of the scale if that is 0.

    `x` of type `i32` is a quantized bias: its scale is the product of the
    scales of activation and weight, its zero point is zero.

    Constraints:
    - C1: `axis` is in [-rank(x), rank(x)) where the scale has a dimension
    - C2: `block_size` isn't negative
    - C3: `x_scale` has one element, or as many as `x` has along `axis`; with a
      `block_size` it may have `x`'s dimensions with ceil(dim / block_size)
      at `axis`
    - C4: `x_zero_point` has the shape of `x_scale`
    - C5: `y` has the element type stated above

    Example:
    ```mlir
    %y = "onnx.DequantizeLinear"(%x, %scale, %zero) {axis = 0 : si64, block_size = 2 : si64} : (tensor<4x3xi4>, tensor<2x3xf32>, tensor<2x3xi4>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins
      ONNX_DequantizableTensor:$x,
      ONNX_ScaleTensor:$x_scale,
      ONNX_Opt<ONNX_DequantizableTensor>:$x_zero_point,
      DefaultValuedAttr<SI64Attr, "1">:$axis,
      DefaultValuedAttr<SI64Attr, "0">:$block_size,
      DefaultValuedAttr<SI64Attr, "0">:$output_dtype);
  let results = (outs
      ONNX_FloatTensor:$y);
  let hasVerifier = 1;
}

def ONNX_DynamicQuantizeLinearOp : ONNX_Op<"DynamicQuantizeLinear", [11]> {
  let summary = "quantizes by the range of the data itself";
  let description = [{
    Takes lo = min(0, min(x)) and hi = max(0, max(x)), so that zero is exact:

        y_scale = (hi - lo) / 255, or 1 if hi == lo
        y_zero_point = round(clamp(-lo / y_scale, 0, 255))
        y = saturate(round(x / y_scale) + y_zero_point)

    All in `f32`, rounding half to even.

    Example:
    ```mlir
    %y, %scale, %zero = "onnx.DynamicQuantizeLinear"(%x) : (tensor<2x3xf32>) -> (tensor<2x3xui8>, tensor<f32>, tensor<ui8>)
    ```
  }];
  let arguments = (ins
      ONNX_F32Tensor:$x);
  let results = (outs
      ONNX_UI8Tensor:$y,
      ONNX_F32Tensor:$y_scale,
      ONNX_UI8Tensor:$y_zero_point);
}

//===----------------------------------------------------------------------===//
// Integer arithmetic without scales
//===----------------------------------------------------------------------===//

def ONNX_MatMulIntegerOp : ONNX_Op<"MatMulInteger", [10], [
    ONNX_SameElementType<["A", "a_zero_point"]>,
    ONNX_SameElementType<["B", "b_zero_point"]>]> {
  let summary = "matrix product of 8-bit integers in 32 bits";
  let description = [{
    `Y = (A - a_zero_point) * (B - b_zero_point)` as numpy's matmul, exact in
    `i32` (wrapping where a sum leaves 32 bits). Zero points that are left out
    are zero.

    Constraints:
    - C1: the last dimension of `A` is the next to last of `B` (the only one of
      a vector)
    - C2: `a_zero_point` has one element, one per row of `A`, or `A`'s
      dimensions with 1 in place of the columns
    - C3: `b_zero_point` has one element, one per column of `B`, or `B`'s
      dimensions with 1 in place of the rows

    Example:
    ```mlir
    %y = "onnx.MatMulInteger"(%a, %b, %az, %bz) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<4x2xi32>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$A,
      ONNX_Int8Tensor:$B,
      ONNX_Opt<ONNX_Int8Tensor>:$a_zero_point,
      ONNX_Opt<ONNX_Int8Tensor>:$b_zero_point);
  let results = (outs
      ONNX_I32Tensor:$Y);
  let hasVerifier = 1;
}

def ONNX_ConvIntegerOp : ONNX_Op<"ConvInteger", [10], [
    ONNX_SameElementType<["x", "x_zero_point"]>,
    ONNX_SameElementType<["w", "w_zero_point"]>]> {
  let summary = "convolution of 8-bit integers in 32 bits";
  let description = [{
    The convolution of `x - x_zero_point` with `w - w_zero_point`, exact in
    `i32`; see `onnx.Conv` for the window. Padding counts as `x_zero_point`,
    that is, as the real number zero.

    Constraints:
    - C1 to C6: those of the window and the channels, see `onnx.Conv`
    - C8: `x_zero_point` has one element
    - C9: `w_zero_point` has one element, or one per output channel

    Example:
    ```mlir
    %y = "onnx.ConvInteger"(%x, %w, %xz, %wz) {pads = [1, 1, 1, 1]} : (tensor<1x2x5x5xui8>, tensor<4x2x3x3xui8>, tensor<ui8>, tensor<4xui8>) -> tensor<1x4x5x5xi32>
    ```
  }];
  let arguments = (ins
      ONNX_Int8Tensor:$x,
      ONNX_Int8Tensor:$w,
      ONNX_Opt<ONNX_Int8Tensor>:$x_zero_point,
      ONNX_Opt<ONNX_Int8Tensor>:$w_zero_point,
      DefaultValuedStrAttr<StrAttr, "NOTSET">:$auto_pad,
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_I32Tensor:$y);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Quantized in and out
//===----------------------------------------------------------------------===//

def ONNX_QLinearMatMulOp : ONNX_Op<"QLinearMatMul", [10, 21], [
    ONNX_SameElementType<["a", "a_zero_point"]>,
    ONNX_SameElementType<["b", "b_zero_point"]>,
    ONNX_SameElementType<["y_zero_point", "y"]>]> {
  let summary = "matrix product of quantized tensors, quantized";
  let description = [{
    With `acc = (a - a_zero_point) * (b - b_zero_point)` summed in `i32`:
    `y = saturate(round(acc * (a_scale * b_scale / y_scale)) + y_zero_point)`,
    the multiplier in float, rounding half to even.

    Constraints:
    - C1: the last dimension of `a` is the next to last of `b` (the only one of
      a vector)
    - C2: `a_scale` and `a_zero_point` have one element, one per row of `a`, or
      `a`'s dimensions with 1 in place of the columns
    - C3: `b_scale` and `b_zero_point` have one element, one per column of `b`,
      or `b`'s dimensions with 1 in place of the rows
    - C4: `y_scale` and `y_zero_point` have one element, one per row of `a`, or
      `a`'s dimensions with 1 in place of the columns

    Example:
    ```mlir
    %y = "onnx.QLinearMatMul"(%a, %as, %az, %b, %bs, %bz, %ys, %yz) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<4x2xui8>
    ```
  }];
  let arguments = (ins
      ONNX_EightBitTensor:$a,
      ONNX_FloatTensor:$a_scale,
      ONNX_EightBitTensor:$a_zero_point,
      ONNX_EightBitTensor:$b,
      ONNX_FloatTensor:$b_scale,
      ONNX_EightBitTensor:$b_zero_point,
      ONNX_FloatTensor:$y_scale,
      ONNX_EightBitTensor:$y_zero_point);
  let results = (outs
      ONNX_EightBitTensor:$y);
  let hasVerifier = 1;
}

def ONNX_QLinearConvOp : ONNX_Op<"QLinearConv", [10], [
    ONNX_SameElementType<["x", "x_zero_point"]>,
    ONNX_SameElementType<["w", "w_zero_point"]>,
    ONNX_SameElementType<["y_zero_point", "y"]>]> {
  let summary = "convolution of quantized tensors, quantized";
  let description = [{
    With `acc` the convolution of `x - x_zero_point` and `w - w_zero_point` plus
    the bias `B`, in `i32`:
    `y = saturate(round(acc * (x_scale * w_scale / y_scale)) + y_zero_point)`,
    the multiplier in float, one per output channel where `w_scale` is, rounding
    half to even. `B` is quantized with scale `x_scale * w_scale` and zero point
    zero. Padding counts as `x_zero_point`.

    Constraints:
    - C1 to C7: those of the window, the channels and the bias, see `onnx.Conv`
    - C8: the scales and zero points of `x` and `y` have one element
    - C9: `w_scale` and `w_zero_point` have one element, or one per output
      channel

    Example:
    ```mlir
    %y = "onnx.QLinearConv"(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b) {group = 1 : si64, strides = [2, 2]} : (tensor<1x2x5x5xui8>, tensor<f32>, tensor<ui8>, tensor<4x2x3x3xi8>, tensor<4xf32>, tensor<4xi8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<1x4x2x2xui8>
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
      OptionalAttr<I64ArrayAttr>:$dilations,
      DefaultValuedAttr<SI64Attr, "1">:$group,
      OptionalAttr<I64ArrayAttr>:$kernel_shape,
      OptionalAttr<I64ArrayAttr>:$pads,
      OptionalAttr<I64ArrayAttr>:$strides);
  let results = (outs
      ONNX_Int8Tensor:$y);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_QUANTIZATION_TD
