// What holds a graph together: constants, left out values, the entry point,
// terminators, and nodes of unknown domains.

#ifndef ONNXQUANT_DIALECT_ONNX_OPS_MODULE_TD
#define ONNXQUANT_DIALECT_ONNX_OPS_MODULE_TD

include "OnnxQuant/Dialect/ONNX/ONNXBase.td"
include "mlir/IR/SymbolInterfaces.td"

def ONNX_ConstantOp : ONNX_NodeOp<"Constant", "", "Constant",
    [1, 9, 11, 12, 13, 19, 21, 23], [Pure, ConstantLike]> {
  let summary = "a tensor known when the model is compiled";
  let description = [{
    Initializers and Constant nodes both become this op. Exactly one attribute
    holds the value; the importer always writes `value`. Large values are
    `dense_resource` blobs.

    Constraints:
    - C1: exactly one of the value attributes is present.
    - C2: the result's type goes with the value's.

    Example:
    ```mlir
    %axes = onnx.Constant dense<[0, 1]> : tensor<2xi64>
    %named = onnx.Constant {onnx_result_names = ["w"]} dense<0.5> : tensor<3xf32>
    %open = onnx.Constant {value = dense<-1> : tensor<1xi64>} : tensor<*xi64>
    ```
  }];
  let arguments = (ins
      OptionalAttr<AnyAttr>:$sparse_value,
      OptionalAttr<ElementsAttr>:$value,
      OptionalAttr<F32Attr>:$value_float,
      OptionalAttr<F32ArrayAttr>:$value_floats,
      OptionalAttr<SI64Attr>:$value_int,
      OptionalAttr<I64ArrayAttr>:$value_ints,
      OptionalAttr<StrAttr>:$value_string,
      OptionalAttr<StrArrayAttr>:$value_strings);
  let results = (outs ONNX_AnyTensor:$output);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def ONNX_NoValueOp : Op<ONNX_Dialect, "NoValue", [Pure, ConstantLike]> {
  let summary = "an operand that the node leaves out";
  let description = [{
    Example:
    ```mlir
    %none = "onnx.NoValue"() {value} : () -> none
    ```
  }];
  let arguments = (ins UnitAttr:$value);
  let results = (outs NoneType:$none_val);
  let hasFolder = 1;
}

def ONNX_ReturnOp : Op<ONNX_Dialect, "Return",
    [Pure, Terminator, HasParent<"::mlir::func::FuncOp">]> {
  let summary = "the outputs of a graph";
  let description = [{
    Example:
    ```mlir
    onnx.Return %y : tensor<1x10xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def ONNX_YieldOp : Op<ONNX_Dialect, "Yield", [Pure, Terminator]> {
  let summary = "the outputs of a subgraph";
  let description = [{
    Ends the regions of `onnx.If`, `onnx.Loop` and `onnx.Scan`.

    Example:
    ```mlir
    onnx.Yield %y : tensor<1x10xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def ONNX_EntryPointOp : Op<ONNX_Dialect, "EntryPoint",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "names the function that is the model's graph";
  let description = [{
    Example:
    ```mlir
    "onnx.EntryPoint"() {func = @main_graph} : () -> ()
    ```
  }];
  let arguments = (ins SymbolRefAttr:$func);
}

def ONNX_CustomOp : Op<ONNX_Dialect, "Custom",
    [DeclareOpInterfaceMethods<ONNX_ShapeInferenceOpInterface>]> {
  let summary = "a node of an operator that the dialect has no op for";
  let description = [{
    Carries any node of an unknown domain unchanged from import to export. Its
    attributes keep their names; regions hold its subgraphs, in the order of
    `onnx_subgraph_names`.

    Example:
    ```mlir
    %y = "onnx.Custom"(%x) {domain_name = "my.ops", function_name = "Magic", rate = 2 : si64}
        : (tensor<4xf32>) -> tensor<*x!onnx.Unknown>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$function_name,
      DefaultValuedStrAttr<StrAttr, "">:$domain_name);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$subgraphs);
}

#endif // ONNXQUANT_DIALECT_ONNX_OPS_MODULE_TD
