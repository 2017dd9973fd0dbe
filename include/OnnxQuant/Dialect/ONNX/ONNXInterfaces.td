// What passes ask an op of the `onnx` dialect without knowing its name.

#ifndef ONNXQUANT_DIALECT_ONNX_INTERFACES_TD
#define ONNXQUANT_DIALECT_ONNX_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ONNX_NodeOpInterface : OpInterface<"NodeOpInterface"> {
  let cppNamespace = "::onnxquant::onnx";
  let description = [{
    An op that stands for a node of an ONNX graph: the operator's domain and
    type, and the opset versions at which the operator changed.
  }];
  let methods = [
    StaticInterfaceMethod<"The domain; empty for ai.onnx.",
      "::llvm::StringRef", "getOnnxDomain">,
    StaticInterfaceMethod<"The operator's type in ONNX's spelling.",
      "::llvm::StringRef", "getOnnxOpType">,
    StaticInterfaceMethod<[{
      The versions of the domain's opset that introduced or changed the
      operator, ascending.
    }], "::llvm::ArrayRef<int>", "getSinceVersions">,
    StaticInterfaceMethod<[{
      The number of operands, or of operands before the variadic ones.
    }], "::onnxquant::onnx::Arity", "getOperandArity", (ins), [{
      return ::onnxquant::onnx::operandArityOf<ConcreteOp>();
    }]>,
    StaticInterfaceMethod<[{
      The number of results, or of results before the variadic ones.
    }], "::onnxquant::onnx::Arity", "getResultArity", (ins), [{
      return ::onnxquant::onnx::resultArityOf<ConcreteOp>();
    }]>,
  ];
}

def ONNX_ShapeInferenceOpInterface : OpInterface<"ShapeInferenceOpInterface"> {
  let cppNamespace = "::onnxquant::onnx";
  let description = [{
    An op that can tell its results' element types and dimensions from its
    operands, attributes and the known contents of small integer tensors.

    The op has been verified before it is asked. It reports what it knows to
    the context, and reports an error if the operands cannot go together.
  }];
  let methods = [
    InterfaceMethod<"Infers element types, dimensions and contents.",
      "::llvm::LogicalResult", "inferShapes",
      (ins "::onnxquant::onnx::ShapeContext &":$ctx)>,
  ];
}

#endif // ONNXQUANT_DIALECT_ONNX_INTERFACES_TD
