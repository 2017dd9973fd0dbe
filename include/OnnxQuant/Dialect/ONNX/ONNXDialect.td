// The `onnx` dialect and the class of its types.

#ifndef ONNXQUANT_DIALECT_ONNX_DIALECT_TD
#define ONNXQUANT_DIALECT_ONNX_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def ONNX_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::onnxquant::onnx";
  let summary = "ONNX graphs, one op per operator, in the newest form";
  let description = [{
    One op per ONNX operator. Every op has the newest form of its operator
    (opset 23): the importer rewrites older forms, so that passes see one form
    only. An operand that is left out is `onnx.NoValue` of type `none`; a
    result that is left out has type `none`.

    The text is the generic form, but for constants: integers are `si64`,
    lists of integers are `i64` arrays, floats are `f32`. Signed tensors have
    signless elements (`i8`), unsigned tensors unsigned ones (`ui8`).

    Names are kept in attributes that are not part of an operator:

    | attribute | on | meaning |
    |---|---|---|
    | `onnx_node_name` | ops | the node's name |
    | `onnx_result_names` | ops | the names of the tensors that the op makes |
    | `onnx_dim_params` | ops | per result, `"0:batch,2:2*width+1"`: dimensions known by expression |
    | `onnx_doc_string`, `onnx_metadata` | ops | documentation and metadata of the node |
    | `onnx.name` | arguments and results of a graph function | the tensor's name |
    | `onnx.dim_params` | arguments and results of a graph function | as `onnx_dim_params` |
  }];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class ONNX_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<ONNX_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

#endif // ONNXQUANT_DIALECT_ONNX_DIALECT_TD
