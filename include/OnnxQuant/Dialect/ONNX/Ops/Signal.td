// Operators of signal processing: windows and Fourier transforms.
//
// A complex signal has a last dimension of size 2, real and imaginary part; a
// real one of size 1. `output_datatype` is a number of ONNX (ElementTypes.h).

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_SIGNAL_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_SIGNAL_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

class ONNX_WindowOp<string opName, string formula>
    : ONNX_Op<opName, [17]> {
  let description = [{
    `output[n] = }] # formula # [{`, where `a = 2 * pi * n / N`
    and `N` is `size`, or `size - 1` if `periodic` is 0.

    Constraints:
    - C1: `size` is a scalar.
    - C2: `output_datatype` stands for a number type.
    - C3: the output has that element type.

    Example:
    ```mlir
    %y = "onnx.}] # opName # [{"(%size) {output_datatype = 1 : si64, periodic = 0 : si64} : (tensor<i64>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins
      ONNX_IndexTensor:$size,
      DefaultValuedAttr<SI64Attr, "1">:$output_datatype,
      DefaultValuedAttr<SI64Attr, "1">:$periodic);
  let results = (outs
      ONNX_NumberTensor:$output);
  let hasVerifier = 1;
}

def ONNX_BlackmanWindowOp : ONNX_WindowOp<"BlackmanWindow",
    "0.42 - 0.5 * cos(a) + 0.08 * cos(2 * a)"> {
  let summary = "blackman window";
}
def ONNX_HammingWindowOp : ONNX_WindowOp<"HammingWindow",
    "25 / 46 - 21 / 46 * cos(a)"> {
  let summary = "hamming window";
}
def ONNX_HannWindowOp : ONNX_WindowOp<"HannWindow",
    "0.5 - 0.5 * cos(a)"> {
  let summary = "hann window";
}

//===----------------------------------------------------------------------===//
// Spectra
//===----------------------------------------------------------------------===//

def ONNX_DFTOp : ONNX_Op<"DFT", [17, 20], [
    ONNX_SameElementType<["input", "output"]>]> {
  let summary = "discrete fourier transform along an axis";
  let description = [{
    `output[k] = sum(input[n] * exp(-2i * pi * k * n / N))` over `n` along
    `axis` (-2 if left out); the inverse has the other sign and divides by `N`.
    `N` is `dft_length`, to which the axis is cut off or filled with zeros, or
    else the size of the axis. With `onesided`, only `k` up to `N / 2` leave.

    Constraints:
    - C1: `input` has rank 2 at least, and its last dimension is 1 or 2.
    - C2: `dft_length` is a scalar or left out.
    - C3: `axis` is a scalar or left out.
    - C4: `inverse` and `onesided` aren't both set.
    - C5: the input is real if `onesided` is set.

    Example:
    ```mlir
    %y = "onnx.DFT"(%x, %length, %axis) {inverse = 0 : si64, onesided = 1 : si64}
        : (tensor<1x10x1xf32>, tensor<i64>, tensor<i64>) -> tensor<1x?x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$input,
      ONNX_Opt<ONNX_IndexTensor>:$dft_length,
      ONNX_Opt<ONNX_IndexTensor>:$axis,
      DefaultValuedAttr<SI64Attr, "0">:$inverse,
      DefaultValuedAttr<SI64Attr, "0">:$onesided);
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

def ONNX_STFTOp : ONNX_Op<"STFT", [17], [
    ONNX_SameElementType<["signal", "window", "output"]>,
    ONNX_SameElementType<["frame_step", "frame_length"]>]> {
  let summary = "fourier transforms of frames of a signal";
  let description = [{
    Frames of `frame_length` samples, else of the window's length, else of all
    samples, begin every `frame_step` samples; each is multiplied with `window`
    and transformed. The
    output is `batch x frames x bins x 2` with
    `frames = (samples - frame_length) / frame_step + 1`, rounded down. With
    `onesided`, there are `frame_length / 2 + 1` bins.

    Constraints:
    - C1: `signal` is `batch x samples`, or has a third dimension of 1 or 2.
    - C2: `frame_step` is a scalar.
    - C3: `window` has rank 1 or is left out.
    - C4: `frame_length` is a scalar or left out.

    Example:
    ```mlir
    %y = "onnx.STFT"(%signal, %step, %window, %length) {onesided = 1 : si64}
        : (tensor<1x128x1xf32>, tensor<i64>, tensor<16xf32>, tensor<i64>) -> tensor<1x?x9x2xf32>
    ```
  }];
  let arguments = (ins
      ONNX_FloatTensor:$signal,
      ONNX_IndexTensor:$frame_step,
      ONNX_Opt<ONNX_FloatTensor>:$window,
      ONNX_Opt<ONNX_IndexTensor>:$frame_length,
      DefaultValuedAttr<SI64Attr, "1">:$onesided);
  let results = (outs
      ONNX_FloatTensor:$output);
  let hasVerifier = 1;
}

def ONNX_MelWeightMatrixOp : ONNX_Op<"MelWeightMatrix", [17], [
    ONNX_SameElementType<["num_mel_bins", "dft_length", "sample_rate"]>,
    ONNX_SameElementType<["lower_edge_hertz", "upper_edge_hertz"]>]> {
  let summary = "weights that gather a spectrum into mel bins";
  let description = [{
    A matrix of `dft_length / 2 + 1` rows, rounded down, and `num_mel_bins`
    columns. Column by column a triangle of weights; the triangles are equally
    spaced between the two edges on the scale `mel = 2595 * log10(1 + hz / 700)`.

    Constraints:
    - C1: all operands are scalars.
    - C2: `output_datatype` stands for a number type.
    - C3: the output has that element type.

    Example:
    ```mlir
    %y = "onnx.MelWeightMatrix"(%bins, %length, %rate, %low, %high) {output_datatype = 1 : si64}
        : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins
      ONNX_IndexTensor:$num_mel_bins,
      ONNX_IndexTensor:$dft_length,
      ONNX_IndexTensor:$sample_rate,
      ONNX_FloatTensor:$lower_edge_hertz,
      ONNX_FloatTensor:$upper_edge_hertz,
      DefaultValuedAttr<SI64Attr, "1">:$output_datatype);
  let results = (outs
      ONNX_NumberTensor:$output);
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_SIGNAL_TD
