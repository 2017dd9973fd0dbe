// Attributes of the `onnxq` dialect.

#ifndef ONNXQUANT_DIALECT_ONNXQ_ATTRIBUTES_TD
#define ONNXQUANT_DIALECT_ONNXQ_ATTRIBUTES_TD

include "OnnxQuant/Dialect/ONNXQ/ONNXQDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def ONNXQ_PackingKind : I32EnumAttr<"PackingKind",
    "the micro-kernel that packed weights are for", [
  // One product per lane and step: a plain multiply-add.
  I32EnumAttrCase<"Fma", 0, "fma">,
  // Integers of 16 bits, one product per lane, which any processor can do.
  I32EnumAttrCase<"Outer", 1, "outer">,
  // x86: 16-bit activations times weights of 8 or 16 bits, in pairs.
  I32EnumAttrCase<"Madd", 2, "madd">,
  // x86: bytes, pairs added in 16 bits, where weights prove that it is exact.
  I32EnumAttrCase<"Pairs", 3, "pairs">,
  // x86: bytes, reordered so that four products are added in 16 bits.
  I32EnumAttrCase<"Quads", 4, "quads">,
  // Dot products of four bytes: x86's of u8 with s8, AArch64's of s8 with s8
  // and of u8 with s8.
  I32EnumAttrCase<"Vnni", 5, "vnni">,
  I32EnumAttrCase<"Sdot", 6, "sdot">,
  I32EnumAttrCase<"Usdot", 7, "usdot">,
  // A plain multiply-add with weights that stay as they are, [k, n]: those that
  // are only known at run time.
  I32EnumAttrCase<"Rows", 8, "rows">,
  // Windows of 3x3, transformed so that 2x2 outputs take 16
  // products instead of 36: [panels][16][channels / step][nr][step]. Of bytes
  // also 4x4 outputs with 36 products instead of 144.
  I32EnumAttrCase<"Winograd", 9, "winograd">,
  // AArch64: products of two rows with two columns, eight bytes each, of s8 with
  // s8 and of u8 with s8.
  I32EnumAttrCase<"Smmla", 10, "smmla">,
  I32EnumAttrCase<"Usmmla", 11, "usmmla">,
  // Floats times codes of four bits, which are unpacked and scaled as they are
  // read: two to a byte, columns j and j + nr / 2 of a row.
  I32EnumAttrCase<"Codes", 12, "codes">,
  // x86: AMX tiles, 16 rows of up to 64 bytes each times 16 columns.
  I32EnumAttrCase<"Amx", 13, "amx">,
  // Floats times codes of eight bits, one to a byte.
  I32EnumAttrCase<"Bytes", 14, "bytes">,
]> {
  let cppNamespace = "::onnxquant::onnxq";
  let genSpecializedAttr = 0;
}

def ONNXQ_PackingAttr : AttrDef<ONNXQ_Dialect, "Packing"> {
  let mnemonic = "packing";
  let summary = "how weights lie in memory, and for which register tile";
  let description = [{
    Weights [groups, k, n] are cut into panels of `nr` columns, the
    last one filled with zeros; within a panel `step` consecutive products of
    one column follow each other: [groups][n / nr][k / step][nr][step].
    The kernel computes `mr` rows of a panel at a time. What a `kind` adds to
    that order is told where it is packed; weights of kind `rows` stay in the
    order that they have without packing.

    With `int4` weights of -8 to 7 are stored in four bits, plus 8: a vector of
    a step is half as many bytes, its first half of elements in the low bits.

    Kind `amx` multiplies runs of `run` elements that follow each other in the
    input, in chunks of equal length, at most 64. The last chunk of a run ends
    with it: what it has in common with the one before is zero there.

    Example:

    ```mlir
    #onnxq.packing<groups = 1, k = 576, n = 64, mr = 6, nr = 16, step = 1, kind = fma>
    ```
  }];
  let parameters = (ins "int64_t":$groups, "int64_t":$k,
    "int64_t":$n, "int64_t":$mr, "int64_t":$nr, "int64_t":$step,
    EnumParameter<ONNXQ_PackingKind>:$kind,
    DefaultValuedParameter<"bool", "false">:$int4,
    DefaultValuedParameter<"int64_t", "0">:$run);
  let builders = [AttrBuilder<(ins "int64_t":$groups, "int64_t":$k,
      "int64_t":$n, "int64_t":$mr, "int64_t":$nr, "int64_t":$step,
      "PackingKind":$kind), [{
    return $_get($_ctxt, groups, k, n, mr, nr, step, kind,
                 /*int4=*/false, /*run=*/0);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Panels of one group, and products of one column, both rounded up.
    int64_t getPanels() const { return (getN() + getNr() - 1) / getNr(); }
    int64_t getPaddedK() const {
      if (getKind() == PackingKind::Amx)
        return getK() / getRun() * getChunks() * getChunk();
      return (getK() + getStep() - 1) / getStep() * getStep();
    }
    /// The chunks of a run of kind `amx`, and how long each is.
    int64_t getChunks() const { return (getRun() + 63) / 64; }
    int64_t getChunk() const {
      int64_t part = getChunks() * getStep();
      return (getRun() + part - 1) / part * getStep();
    }
    /// Elements of one panel and of all in the plain order.
    int64_t getPanelSize() const {
      int64_t size = getPaddedK() * getNr();
      return getInt4() || getKind() == PackingKind::Codes ? size / 2 : size;
    }
    int64_t getSize() const {
      return getGroups() * getPanels() * getPanelSize();
    }
  }];
  let genVerifyDecl = 1;
}

#endif // ONNXQUANT_DIALECT_ONNXQ_ATTRIBUTES_TD
