// Kernels: contractions over packed weights, and what prepares their input.

#ifndef ONNXQUANT_DIALECT_ONNXQ_KERNELS_TD
#define ONNXQUANT_DIALECT_ONNXQ_KERNELS_TD

include "OnnxQuant/Dialect/ONNXQ/KernelOpInterface.td"
include "OnnxQuant/Dialect/ONNXQ/ONNXQAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A tensor before bufferization, a buffer after it.
def ONNXQ_Block
    : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "tensor or buffer of known rank",
                "::mlir::ShapedType">;

/// What ops share that write one block: the destination is the last operand
/// group, and a result exists only among tensors.
class ONNXQ_BlockOp<string mnemonic, list<Trait> traits = []>
    : ONNXQ_Op<mnemonic, traits # [DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  code blockDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(
          getOperation(), getInitMutable().getOperandNumber(), 1);
    }
  }];
  let extraClassDeclaration = blockDeclaration;
}

def ONNXQ_YieldOp : ONNXQ_Op<"yield", [Pure, Terminator]> {
  let summary = "the element that a kernel's region computes";
  let description = [{
    Ends an epilogue, or the region that converts an element.

    Example:

    ```mlir
    onnxq.yield %x : f32
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def ONNXQ_ContractOp : ONNXQ_BlockOp<"contract",
    [ONNXQ_KernelOpInterface, AttrSizedOperandSegments, SingleBlock]> {
  let summary = "convolution or product of matrices, with what follows it";
  let description = [{
    y[n, o.., g * J + j] = epilogue(sum over t, c of
      x[n, o * stride + t * dilation - pad.., g * C + c] * w[g, t * C + c, j])

    where t runs over the window's taps in row-major order. Sums of floats begin
    with zero and take taps in order and channels in order, one fused
    multiply-add each where the target has one: the result depends on no tile.
    Weights packed for Winograd's transform are summed by channels in order, and
    their sums combined: that result depends on no tile either.
    Integers are multiplied as they are stored, with the signs that
    `input_unsigned` and `weights_unsigned` tell, and summed exactly; zero
    points are the epilogue's matter. Places around the input have the value
    `pad`, or zero.

    Without a window (`kernel` is empty) it is the product of a matrix of all
    leading dimensions' rows with the weights; with `batched` the weights
    [B.., K, J] have the leading dimensions of the input [B.., M, K].

    Weights are a tensor [G, K, J]; once packed (`packing`) they are a vector,
    or a vector per batch, unless the packing leaves them as they are.

    Floats are also multiplied by codes of four or eight bits: a weight is
    (w[k, j] - zeros[k / block, j]) * scales[k / block, j], rounded once. Codes
    are bytes of 0 to 15, or 0 to 255, until they are packed; then scales and zeros are in
    panels as well: [J / nr][K / block][nr].

    The epilogue may use scalars from outside of the op.

    - C1: the input has the dimensions N, spatial.. and C if there is a window,
      else at least one (`batched`: two).
    - C2: the weights are [G, K, J] with K = taps * C (`batched`: [B.., K, J]);
      if packed, a vector as long as `packing` says at least.
    - C3: the output is [N, o.., G * J], o.. at most as many as windows fit.
    - C4: elements are f32, or integers of 8 or 16 bits; the accumulator is f32,
      or i32 or i64.
    - C5: `input_unsigned` and `weights_unsigned` are for integers.
    - C6: `pad` has the type of the input's elements, without sign.
    - C7: `batched` goes with no window.
    - C8: `scales` (f32), `zeros` (i8) and `block` go together, with floats and
      weights of i8 in one group, without a window or batches; both have an
      element per block and column, or as many as the panels have.

    What KernelOpInterface asks for is labelled K1 to K6.

    Example:

    ```mlir
    %y = onnxq.contract ins(%x, %w : tensor<1x56x56x64xf32>, tensor<1x576x32xf32>)
        epilogue(%b : tensor<32xf32>) outs(%e : tensor<1x56x56x32xf32>)
        attributes {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
          dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
          epilogue_maps = [affine_map<(n, h, w, c) -> (c)>]} {
    ^bb0(%acc: f32, %bias: f32):
      %s = arith.addf %acc, %bias : f32
      onnxq.yield %s : f32
    } -> tensor<1x56x56x32xf32>
    ```
  }];
  let arguments = (ins ONNXQ_Block:$input, ONNXQ_Block:$weights,
    Optional<ONNXQ_Block>:$scales, Optional<ONNXQ_Block>:$zeros,
    Optional<AnyType>:$pad, Variadic<ONNXQ_Block>:$epilogue_operands, ONNXQ_Block:$init,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$kernel,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dilations,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pads,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    UnitAttr:$batched, UnitAttr:$input_unsigned, UnitAttr:$weights_unsigned,
    OptionalAttr<ONNXQ_PackingAttr>:$packing,
    OptionalAttr<I64Attr>:$block);
  let regions = (region SizedRegion<1>:$epilogue);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results,
      "::mlir::Value":$input, "::mlir::Value":$weights, "::mlir::Value":$pad,
      "::mlir::ValueRange":$epilogue_operands, "::mlir::Value":$init,
      "::llvm::ArrayRef<int64_t>":$kernel, "::llvm::ArrayRef<int64_t>":$strides,
      "::llvm::ArrayRef<int64_t>":$dilations, "::llvm::ArrayRef<int64_t>":$pads,
      "::mlir::ArrayAttr":$epilogue_maps, "bool":$batched, "bool":$input_unsigned,
      "bool":$weights_unsigned, "PackingAttr":$packing)>];
  let assemblyFormat = [{
    `ins` `(` $input `,` $weights `:` type($input) `,` type($weights) `)`
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    (`zeros` `(` $zeros^ `:` type($zeros) `)`)?
    (`pad` `(` $pad^ `:` type($pad) `)`)?
    (`epilogue` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword $epilogue
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = blockDeclaration # [{
    /// Groups; products per output and output channels of a group.
    int64_t getGroups();
    int64_t getK();
    int64_t getN();
    /// Channels of a group that a tap reads.
    int64_t getChannels();
  }];
  let hasVerifier = 1;
}

def ONNXQ_StageOp : ONNXQ_BlockOp<"stage", [SingleBlock]> {
  let summary = "put an input where a kernel can read it without conditions";
  let description = [{
    Copies [N, spatial.., C] with `pads` elements of value `pad` around it, each
    element converted by the region, which may use scalars from outside. The
    output may have more channels, which are `pad` as well.

    - C1: input and output have the same rank, at least 2.
    - C2: `pads` has two entries per spatial dimension, none of them negative.
    - C3: the output's sizes are the input's and the pads', its channels at
      least the input's.
    - C4: the region takes an element of the input and yields one of the
      output; integers have no sign.
    - C5: `pad` has the type of the output's elements, without sign.

    Example:

    ```mlir
    %s = onnxq.stage ins(%x : tensor<1x8x8x3xi8>) pad(%zero : i16) outs(%e : tensor<1x10x10x4xi16>)
        attributes {pads = array<i64: 1, 1, 1, 1>} {
    ^bb0(%a: i8):
      %w = arith.extui %a : i8 to i16
      onnxq.yield %w : i16
    } -> tensor<1x10x10x4xi16>
    ```
  }];
  let arguments = (ins ONNXQ_Block:$input, Optional<AnyType>:$pad,
    ONNXQ_Block:$init, DenseI64ArrayAttr:$pads);
  let regions = (region SizedRegion<1>:$conversion);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    (`pad` `(` $pad^ `:` type($pad) `)`)?
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword $conversion
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def ONNXQ_PackOp : ONNXQ_BlockOp<"pack", [SingleBlock]> {
  let summary = "put weights of run time in the order in which a kernel reads them";
  let description = [{
    Brings matrices [B.., K, N] into the order of `packing`, each element
    converted by the region, which may use scalars from outside. Rows beyond K,
    up to the packing's `k`, and columns beyond N are zero.

    - C1: the packing has one group, `n` = N and a `k` of K or more, less than a
      step more.
    - C2: the output is [B.., S], S the size of the packing.
    - C3: the region takes an element of the weights and yields one of the
      output; integers have no sign.

    Example:

    ```mlir
    %p = onnxq.pack ins(%w : tensor<12x63x128xi8>) outs(%e : tensor<12x8192xi16>)
        attributes {packing = #onnxq.packing<groups = 1, k = 64, n = 128, mr = 4, nr = 16, step = 2, kind = madd>} {
    ^bb0(%a: i8):
      %x = arith.extsi %a : i8 to i16
      onnxq.yield %x : i16
    } -> tensor<12x8192xi16>
    ```
  }];
  let arguments = (ins ONNXQ_Block:$weights, ONNXQ_Block:$init,
    ONNXQ_PackingAttr:$packing);
  let regions = (region SizedRegion<1>:$conversion);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $weights `:` type($weights) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword $conversion
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def ONNXQ_ExpandOp : ONNXQ_BlockOp<"expand"> {
  let summary = "transform stored filters to what a kernel multiplies";
  let description = [{
    Transforms 3x3 filters after Winograd: weights [panels][9][n] become points
    [panels][16][n], for tiles of 2x2 outputs, or [panels][36][n], for 4x4. Of a
    filter's rows, and then of its columns a, b, c that is 2a, a + b + c,
    a - b + c, 2c, or a, a + b + c, a - b + c, a + 2b + 4c, a - 2b + 4c, c, in
    16 bits that wrap.

    - C1: weights are a vector of integers of 8 or 16 bits with a sign, 9 * n for
      each panel, n a multiple of 8.
    - C2: the output is a vector of integers of 16 bits, 16 * n or 36 * n for
      each panel.

    Example:

    ```mlir
    %p = onnxq.expand ins(%w : tensor<9216xi8>) outs(%e : tensor<36864xi16>)
        attributes {panels = 2 : i64} -> tensor<36864xi16>
    ```
  }];
  let arguments = (ins ONNXQ_Block:$weights, ONNXQ_Block:$init,
    I64Attr:$panels);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $weights `:` type($weights) `)`
    `outs` `(` $init `:` type($init) `)` attr-dict-with-keyword
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = blockDeclaration # [{
    /// Weights of a tap in a panel, and numbers that a filter becomes.
    int64_t getFilters();
    int64_t getNumbers();
  }];
  let hasVerifier = 1;
}

#endif // ONNXQUANT_DIALECT_ONNXQ_KERNELS_TD
