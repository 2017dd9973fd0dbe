// What the choice of layouts asks an op without knowing its name.

#ifndef ONNXQUANT_DIALECT_ONNX_LAYOUTOPINTERFACE_TD
#define ONNXQUANT_DIALECT_ONNX_LAYOUTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ONNX_LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::onnxquant::onnx";
  let description = [{
    An op that can compute with its tensors stored in another order of
    dimensions: how the orders of its operands and results depend on each other,
    and what the op is then.

    A tensor stored in the order `perm` has dimension `perm[i]` of the original
    at place `i`, as `onnx.Transpose` makes it.

    Models are attached by `registerLayoutModels`, so that the definitions of
    the ops don't depend on layouts.
  }];
  let methods = [
    InterfaceMethod<[{
      The orders of all operands and results that go with the order `perm` of
      one of them. Failure says that the op can't be computed so.
    }], "::llvm::FailureOr<::onnxquant::onnx::OpLayout>", "getLayout",
    (ins "::onnxquant::onnx::TensorPlace":$place,
         "::onnxquant::onnx::PermutationRef":$perm)>,

    InterfaceMethod<[{
      Builds the op for a layout that `getLayout` gave. `operands` are the
      operands in the orders of the layout. Gives a value per result, in the
      order of the layout.
    }], "::llvm::SmallVector<::mlir::Value>", "buildInLayout",
    (ins "::mlir::OpBuilder &":$builder,
         "const ::onnxquant::onnx::OpLayout &":$layout,
         "::mlir::ValueRange":$operands)>,
  ];
}

#endif // ONNXQUANT_DIALECT_ONNX_LAYOUTOPINTERFACE_TD
