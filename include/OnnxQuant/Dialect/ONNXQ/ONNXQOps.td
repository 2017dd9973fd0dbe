// Observers: ops that count what goes through a tensor; tables; and
// requantization. Kernels are included.

#ifndef ONNXQUANT_DIALECT_ONNXQ_OPS_TD
#define ONNXQUANT_DIALECT_ONNXQ_OPS_TD

include "OnnxQuant/Dialect/ONNXQ/ONNXQAttention.td"
include "OnnxQuant/Dialect/ONNXQ/ONNXQDialect.td"
include "OnnxQuant/Dialect/ONNXQ/ONNXQKernels.td"
include "OnnxQuant/Dialect/ONNXQ/ONNXQWindow.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ONNXQ_Words : MemRefRankOf<[I64], [1]>;

def ONNXQ_StateOp : ONNXQ_Op<"state",
    [MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "the words that a graph's observers write to";
  let description = [{
    Zeros, but for the first word: the number of samples that the run's inputs
    hold.

    Example:

    ```mlir
    %state = onnxq.state %samples : tensor<1xi64> -> memref<99xi64>
    ```
  }];
  let arguments = (ins 1DTensorOf<[I64]>:$samples);
  let results = (outs ONNXQ_Words:$state);
  let assemblyFormat =
    "$samples attr-dict `:` type($samples) `->` type($state)";
  let hasVerifier = 1;
}

def ONNXQ_ObserveOp : ONNXQ_Op<"observe", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "count what a tensor holds";
  let description = [{
    Adds a tensor's elements to the record at word `offset` of the state: how
    many there are, extremes, sums (also by channel along `channel_axis`) and,
    if `bins` is not zero, a histogram over -2^e to 2^e. NaN, infinities and
    magnitudes of 1e38 and more are counted and take no part in the rest. The
    record's form is in ObserverRecord.h.

    - C1: `channel_axis` is -1 (none) or an axis of the tensor.
    - C2: the size along `channel_axis` is `channels`; without an axis it is 1.
    - C3: `bins` is 0 or a power of two from 16 to 65536.
    - C4: the record lies within the state.

    Example:

    ```mlir
    onnxq.observe "conv1_out" %x into %state {bins = 0 : i64, channel_axis = 1 : i64, channels = 8 : i64, offset = 1 : i64, parts = 1 : i64} : tensor<1x8x4x4xf32>, memref<999xi64>
    ```
  }];
  let arguments = (ins StrAttr:$name, AnyShaped:$input, ONNXQ_Words:$state,
    I64Attr:$offset, I64Attr:$channel_axis, I64Attr:$channels, I64Attr:$bins,
    I64Attr:$parts);
  let assemblyFormat =
    "$name $input `into` $state attr-dict `:` type($input) `,` type($state)";
  let hasVerifier = 1;
}

def ONNXQ_Scratch : StaticShapeMemRefOf<[I64]>;

/// Ops that observe a buffer in parts, while it is computed.
class ONNXQ_PartialOp<string mnemonic>
    : ONNXQ_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def ONNXQ_ObserveBeginOp : ONNXQ_PartialOp<"observe_begin"> {
  let summary = "begin to observe a tensor in parts";
  let description = [{
    Prepares the record and `scratch`, in which sums and counts wait for
    `onnxq.observe_end`. How large it is, `countScratchWords` tells
    (Observers.h). `first` is the tensor's first dimension. What the other
    attributes mean is told by `onnxq.observe`.

    Example:

    ```mlir
    onnxq.observe_begin %scratch into %state {bins = 16 : i64, channels = 8 : i64, first = 1 : i64, offset = 1 : i64, parts = 1 : i64} : memref<256xi64>, memref<999xi64>
    ```
  }];
  let arguments = (ins ONNXQ_Scratch:$scratch, ONNXQ_Words:$state,
    I64Attr:$offset, I64Attr:$channels, I64Attr:$bins, I64Attr:$parts,
    I64Attr:$first);
  let assemblyFormat =
    "$scratch `into` $state attr-dict `:` type($scratch) `,` type($state)";
}

def ONNXQ_ObserveSliceOp : ONNXQ_PartialOp<"observe_slice"> {
  let summary = "count what one channel of one sample holds";
  let description = [{
    Adds the elements of `buffer` at `[outer, channel]` of its first two
    dimensions; the channel axis is the second.

    Example:

    ```mlir
    onnxq.observe_slice %x[%n, %c] with %scratch : memref<1x8x4x4xf32>, memref<256xi64>
    ```
  }];
  let arguments = (ins StaticShapeMemRefOf<[F32]>:$buffer, Index:$outer,
    Index:$channel, ONNXQ_Scratch:$scratch);
  let assemblyFormat = [{
    $buffer `[` $outer `,` $channel `]` `with` $scratch attr-dict `:`
    type($buffer) `,` type($scratch)
  }];
}

def ONNXQ_ObserveRowsOp : ONNXQ_PartialOp<"observe_rows"> {
  let summary = "count what some rows hold, the channel axis being the last";
  let description = [{
    Adds `rows` rows of a tensor, from number `row` of `outer` rows on. Their
    elements begin at element `place` of the buffer and belong to one sample.

    Example:

    ```mlir
    onnxq.observe_rows %x[%place] at %row with %scratch {outer = 16 : i64, rows = 4 : i64} : memref<1x4x4x8xf32>, memref<256xi64>
    ```
  }];
  let arguments = (ins StaticShapeMemRefOf<[F32]>:$buffer, Index:$place,
    Index:$row, ONNXQ_Scratch:$scratch, I64Attr:$rows, I64Attr:$outer);
  let assemblyFormat = [{
    $buffer `[` $place `]` `at` $row `with` $scratch attr-dict `:`
    type($buffer) `,` type($scratch)
  }];
}

def ONNXQ_ObserveEndOp : ONNXQ_PartialOp<"observe_end"> {
  let summary = "end to observe a tensor in parts";
  let description = [{
    Adds what waits in `scratch` to the record.

    Example:

    ```mlir
    onnxq.observe_end %scratch : memref<256xi64>
    ```
  }];
  let arguments = (ins ONNXQ_Scratch:$scratch);
  let assemblyFormat = "$scratch attr-dict `:` type($scratch)";
}

def ONNXQ_StatisticsOp : ONNXQ_Op<"statistics", [MemoryEffects<[MemRead]>]> {
  let summary = "what the observers counted";
  let description = [{
    The state's words as a tensor, once every observer has run.

    Example:

    ```mlir
    %words = onnxq.statistics %state : memref<99xi64> -> tensor<99xi64>
    ```
  }];
  let arguments = (ins ONNXQ_Words:$state);
  let results = (outs 1DTensorOf<[I64]>:$words);
  let assemblyFormat = "$state attr-dict `:` type($state) `->` type($words)";
}

def ONNXQ_LookupOp : ONNXQ_Op<"lookup", [Pure]> {
  let summary = "read each element from a table";
  let description = [{
    A function of one byte: an element of the result is the entry of `table`
    that the element's byte, without a sign, is the number of.

    - C1: the table has 256 entries.
    - C2: input and result have one shape.

    Example:

    ```mlir
    %y = onnxq.lookup %x in %table : tensor<1x8xui8>, tensor<256xui8> -> tensor<1x8xui8>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I8, UI8]>:$input,
    1DTensorOf<[I8, UI8]>:$table);
  let results = (outs RankedTensorOf<[I8, UI8]>:$result);
  let assemblyFormat = [{
    $input `in` $table attr-dict `:` type($input) `,` type($table) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def ONNXQ_Bytes : AnyTypeOf<[I8, VectorOfRankAndType<[1], [I8]>]>;

def ONNXQ_EntryOp : ONNXQ_Op<"entry", [Pure, SameOperandsAndResultType]
    # ElementwiseMappable.traits> {
  let summary = "the entry of a table";
  let description = [{
    What `onnxq.lookup` becomes in the region of a kernel or of an elementwise
    op: the entry of `table` that a byte, without a sign, is the number of; for
    a vector, one per lane.

    - C1: the table has 256 entries.

    Example:

    ```mlir
    %y = onnxq.entry %x of dense<7> : tensor<256xi8> : vector<16xi8>
    ```
  }];
  let arguments = (ins ONNXQ_Bytes:$byte, SignlessIntElementsAttr<8>:$table);
  let results = (outs ONNXQ_Bytes:$result);
  let assemblyFormat = "$byte `of` $table attr-dict `:` type($byte)";
  let hasVerifier = 1;
}

/// A scalar, or a vector of such.
class ONNXQ_Lanes<list<Type> types>
    : AnyTypeOf<types # [VectorOfRankAndType<[1], types>]>;

def ONNXQ_RequantizeOp : ONNXQ_Op<"requantize", [Pure,
      OptionalTypesMatchWith<"scale is an f32 per value", "value", "scale",
        "::onnxquant::onnxq::getLikeShaped($_self, "
        "::mlir::Float32Type::get($_self.getContext()))">,
      TypesMatchWith<"zero_point is an i32 per value", "value", "zero_point",
        "::onnxquant::onnxq::getLikeShaped($_self, "
        "::mlir::IntegerType::get($_self.getContext(), 32))">
    ] # ElementwiseMappable.traits> {
  let summary = "round, add the zero point and saturate";
  let description = [{
    Requantization of an accumulator, and the last steps of QuantizeLinear (F2,
    F3 and F11 of docs/QuantizationSemantics.md), in the epilogue of a kernel or
    the body of an elementwise op; for vectors, lane by lane:

    ```text
    x      = f32(value) * scale            (value, if there is no scale)
    result = min(upper, max(lower, round(x) + zero_point))
    ```

    `round` rounds half to even. NaN gives `lower`. The type's range, and a Relu
    or Clip that was folded into it, are the bounds. Results of `i8` and `i16`
    have a sign if their reader takes it so; those of `f32` are integers,
    and their zero is positive: what a requantized number is for an op that
    dequantizes it again.

    `fits_i32` says that |x| is known to be less than 2^31 - 128, so that x can
    become an integer before it is clamped.

    - C1: `lower` is at most `upper`, and both fit the result, with a sign or
      both without.
    - C2: an integer has a scale.

    Example:

    ```mlir
    %y = onnxq.requantize %acc scale %s zero_point %z in [0, 255] : i32 -> i8
    %q = onnxq.requantize %x zero_point %z in [-128, 127] : f32 -> i8
    ```
  }];
  let arguments = (ins ONNXQ_Lanes<[I32, I64, F32, F64]>:$value,
    Optional<ONNXQ_Lanes<[F32]>>:$scale, ONNXQ_Lanes<[I32]>:$zero_point,
    I64Attr:$lower, I64Attr:$upper, UnitAttr:$fits_i32);
  let results = (outs ONNXQ_Lanes<[I8, I16, F32]>:$result);
  let assemblyFormat = [{
    $value (`scale` $scale^)? `zero_point` $zero_point
    `in` `[` $lower `,` $upper `]` attr-dict `:` type($value) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
    "::mlir::Value":$value, "::mlir::Value":$scale,
    "::mlir::Value":$zero_point, "int64_t":$lower, "int64_t":$upper), [{
      build($_builder, $_state, result, value, scale, zero_point, lower, upper,
            /*fits_i32=*/false);
    }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // ONNXQUANT_DIALECT_ONNXQ_OPS_TD
