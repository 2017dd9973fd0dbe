// The kernel of windows that keep channels apart: depthwise convolutions and
// poolings.

#ifndef ONNXQUANT_DIALECT_ONNXQ_WINDOW_TD
#define ONNXQUANT_DIALECT_ONNXQ_WINDOW_TD

include "OnnxQuant/Dialect/ONNXQ/ONNXQKernels.td"

def ONNXQ_WindowKind : I32EnumAttr<"WindowKind",
    "what a window does with its elements", [
  I32EnumAttrCase<"MulAdd", 0, "mul_add">,
  I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Sum", 2, "sum">,
]> {
  let cppNamespace = "::onnxquant::onnxq";
  let genSpecializedAttr = 0;
}
def ONNXQ_WindowKindAttr
    : EnumAttr<ONNXQ_Dialect, ONNXQ_WindowKind, "window_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def ONNXQ_WindowOp : ONNXQ_BlockOp<"window",
    [ONNXQ_KernelOpInterface, AttrSizedOperandSegments, SingleBlock]> {
  let summary = "window over every channel by itself, with what follows it";
  let description = [{
    y[n, o.., c] = epilogue(over all taps t that lie inside of x, in order:
      x[n, o * stride + t * dilation - pad.., c])

    where elements are multiplied by w[t, c] and summed (`mul_add`), summed
    (`sum`), or the largest is taken (`max`). Taps outside of the input are left
    out. Sums of floats begin with zero and take one fused multiply-add per tap
    where the target has one: the result depends on no tile.

    Integers have the sign that `input_unsigned` tells; their zero point `pad`
    is taken from every element before it is multiplied or summed, so that taps
    outside count as that point. Sums are exact in 32 bits. Weights of integers
    are `i16`, their zero point already taken away.

    The epilogue may use scalars from outside of the op.

    Weights that are `packed` are for steps that take two rows of taps at once.
    Per 16 channels, the last 16 if fewer are left, they hold what the sums
    begin with as `i32` (less `pad` times all weights, so that elements are
    multiplied as they are), and then, for every two rows and every column of
    taps, the two weights of a channel next to each other. A row that is left
    has two columns of taps next to each other, the first one with the second,
    and again with the first one by itself where windows may begin at odd
    columns; if it is dilated, each column is by itself. Where the window is
    high and the input is low, `pad` times the weights of two rows follows them,
    as `i32`, so that rows outside can be left out. In which order the 16
    channels are is the target's choice.

    - C1: the input is [N, spatial.., C] with a known C and an entry of `kernel`
      per spatial dimension, at least one.
    - C2: `mul_add` has weights [taps, C], or packed ones in one dimension if it
      has integers, 16 channels or more and two spatial dimensions; other kinds
      have none.
    - C3: the output is [N, o.., C], o.. as many as windows fit.
    - C4: elements are f32 with an accumulator of f32, or integers of 8 bits
      with one of i32 (`max`: i8); weights are f32 or i16.
    - C5: `input_unsigned` is for integers.
    - C6: `pad` has the type of the input's integers, without sign; `max` has
      none.

    What KernelOpInterface asks for is labelled K1 to K6.

    Example:

    ```mlir
    %y = onnxq.window <mul_add> ins(%x : tensor<1x56x56x32xf32>) weights(%w : tensor<9x32xf32>)
        epilogue(%b : tensor<32xf32>) outs(%e : tensor<1x28x28x32xf32>)
        attributes {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
          dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
          epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
    ^bb0(%acc: f32, %bias: f32):
      %s = arith.addf %acc, %bias : f32
      onnxq.yield %s : f32
    } -> tensor<1x28x28x32xf32>
    ```
  }];
  let arguments = (ins ONNXQ_WindowKindAttr:$kind, ONNXQ_Block:$input,
    Optional<ONNXQ_Block>:$weights, Optional<AnyType>:$pad,
    Variadic<ONNXQ_Block>:$epilogue_operands, ONNXQ_Block:$init,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    UnitAttr:$input_unsigned, UnitAttr:$packed);
  let regions = (region SizedRegion<1>:$epilogue);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kind `ins` `(` $input `:` type($input) `)`
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    (`pad` `(` $pad^ `:` type($pad) `)`)?
    (`epilogue` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword $epilogue
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = blockDeclaration # [{
    /// Channels that packed weights hold together, and the elements of them.
    static constexpr int64_t packedChannels = 16;
    int64_t getPackedBlock() {
      return packedChannels * 2 + (getPackedPairs() - 1) * getPackedPair() +
             packedChannels * 2 * getPackedSteps(getPackedPairs() - 1);
    }
    /// Pairs of rows, and the elements of one with two rows.
    int64_t getPackedPairs() { return (getKernel().front() + 1) / 2; }
    int64_t getPackedPair() { return packedChannels * 2 * getPackedSteps(0); }
    /// Steps of a pair, and one more for what rows outside add.
    int64_t getPackedSteps(int64_t pair) {
      bool isLeft = 2 * pair + 1 == getKernel().front();
      int64_t steps = getKernel().back();
      if (isLeft && pairsColumns())
        steps = getColumnSteps(0) +
                (getStrides().back() % 2 != 0 ? getColumnSteps(1) : 0);
      return steps + (leavesOutRows() ? 1 : 0);
    }
    /// Whether a row that is left takes two columns of taps at once, and its
    /// steps from a column on, or from the one before.
    bool pairsColumns() {
      return getKernel().front() % 2 != 0 && getDilations().back() == 1;
    }
    int64_t getColumnSteps(int64_t before) {
      return (getKernel().back() + before + 1) / 2;
    }
    /// Whether many rows of taps lie outside.
    bool leavesOutRows() {
      int64_t height = getInput().getType().getDimSize(1);
      return !::mlir::ShapedType::isDynamic(height) && getPads().front() > 1 &&
             height < 4 * getKernel().front();
    }
    int64_t getPackedSize() {
      int64_t channels = getInput().getType().getShape().back();
      return (channels + packedChannels - 1) / packedChannels *
             getPackedBlock();
    }
  }];
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNXQ_WINDOW_TD
