// Types and attributes of onnx-mlir's text. They are carried from text to
// text; no other code knows them.

#ifndef ONNXQUANT_DIALECT_ONNX_TEXTTYPES_TD
#define ONNXQUANT_DIALECT_ONNX_TEXTTYPES_TD

include "OnnxQuant/Dialect/ONNX/ONNXDialect.td"

def ONNX_StringType : ONNX_Type<"String", "String"> {
  let summary = "element type of a tensor of strings";
  let description = [{
    Carried as onnx-mlir's text has it; nothing runs or exports it.

    Example: `tensor<2x!onnx.String>`
  }];
}

class ONNX_HolderType<string name, string what> : ONNX_Type<name, name> {
  let summary = what;
  let description = [{
    Carried as onnx-mlir's text has it; nothing runs or exports it.

    Example: `!onnx.}] # name # [{<tensor<*xf32>>`
  }];
  let parameters = (ins TypeParameter<"::mlir::Type", "what it holds">:$held);
  let assemblyFormat = "`<` $held `>`";
}
def ONNX_SeqType : ONNX_HolderType<"Seq", "a sequence of tensors">;
def ONNX_OptType : ONNX_HolderType<"Opt", "a tensor or sequence, or nothing">;

def ONNX_LayoutAttr : AttrDef<ONNX_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "where the elements of a tensor lie";
  let description = [{
    Carried as onnx-mlir's text has it; nothing runs or exports it.

    Example: `tensor<5x3x32x32xf32, #onnx.layout<{dataLayout = "NCHW4C"}>>`
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$layout);
  let assemblyFormat = "`<` $layout `>`";
}

#endif // ONNXQUANT_DIALECT_ONNX_TEXTTYPES_TD
