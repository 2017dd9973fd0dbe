// What quantization asks an op without knowing its name.

#ifndef ONNXQUANT_DIALECT_ONNX_QUANTIZABLEOPINTERFACE_TD
#define ONNXQUANT_DIALECT_ONNX_QUANTIZABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ONNX_QuantizableOpInterface : OpInterface<"QuantizableOpInterface"> {
  let cppNamespace = "::onnxquant::onnx";
  let description = [{
    An op whose tensors may be stored as quantized integers: which of them, how
    their parameters depend on each other, and what the op's quantized forms
    are. Calibration asks it which tensors to observe, quantization asks it
    everything else. The methods' defaults are those of an op that computes its
    only result from its first operand.

    Models are attached by `registerQuantizableModels`, so that the definitions
    of the ops don't depend on quantization.
  }];
  let methods = [
    InterfaceMethod<[{
      The float operands that may be quantized: activations and weights. A bias
      is none of them, see `getBiasOperand`.
    }], "::llvm::SmallVector<unsigned>", "getQuantizableOperands", (ins), "",
    [{ return {0}; }]>,

    InterfaceMethod<"The float results that may be quantized.",
      "::llvm::SmallVector<unsigned>", "getQuantizableResults", (ins), "",
    [{ return {0}; }]>,

    InterfaceMethod<[{
      Whether the op sums products of operands: what integer arithmetic makes
      faster.
    }], "bool", "isContraction", (ins), "", [{ return false; }]>,

    InterfaceMethod<[{
      Whether every element of the result depends on one element of each
      operand, so that the op can be computed where its operand is made.
    }], "bool", "isElementwise", (ins), "", [{ return false; }]>,

    InterfaceMethod<[{
      Whether the result's numbers are among those of the quantizable operands
      (moved, selected, or between them), so that all have one scale and zero
      point.
    }], "bool", "sharesParameters", (ins), "", [{ return false; }]>,

    InterfaceMethod<[{
      Whether the op only moves numbers, and does the same to integers.
    }], "bool", "movesData", (ins), "", [{ return false; }]>,

    InterfaceMethod<[{
      Whether only constant operands are quantized, and the rest is quantized by
      the op itself if at all: the weights of a recurrent layer.
    }], "bool", "takesWeightsOnly", (ins), "", [{ return false; }]>,

    InterfaceMethod<[{
      The axis of `operand` that is the output's channel, for an operand that
      may be a weight; none if it has one scale only.
    }], "::std::optional<int64_t>", "getChannelAxis", (ins "unsigned":$operand),
    "", [{ return ::std::nullopt; }]>,

    InterfaceMethod<[{
      The axis of `operand`, an activation or a weight, that products are summed
      along (the first, where there are several): blocks of weights lie along
      it, and means of activations are taken for each of its indices.
    }], "::std::optional<int64_t>", "getReductionAxis",
    (ins "unsigned":$operand), "", [{ return ::std::nullopt; }]>,

    InterfaceMethod<[{
      The axis of the result that `getChannelAxis(operand)` becomes, counted
      from the front; none if the rank is unknown.
    }], "::std::optional<int64_t>", "getResultChannelAxis",
    (ins "unsigned":$operand), "", [{ return ::std::nullopt; }]>,

    InterfaceMethod<[{
      The operand that is added to the products, one number per channel. It may
      be left out in the op at hand.
    }], "::std::optional<unsigned>", "getBiasOperand", (ins), "",
    [{ return ::std::nullopt; }]>,

    InterfaceMethod<"The factor of the bias.", "double", "getBiasFactor", (ins),
    "", [{ return 1.0; }]>,

    InterfaceMethod<[{
      The result's range, where the function has one whatever its operand. It may
      depend on the form that is built.
    }], "::std::optional<::onnxquant::onnx::RealRange>", "getFixedRange",
    (ins "::onnxquant::onnx::QuantizedForm":$form), "",
    [{ return ::std::nullopt; }]>,

    InterfaceMethod<[{
      The bounds of an op that only clamps: Relu and Clip.
    }], "::std::optional<::onnxquant::onnx::RealRange>", "getClamp", (ins), "",
    [{ return ::std::nullopt; }]>,

    InterfaceMethod<[{
      Why this op cannot be quantized although others of its kind can; empty if
      it can.
    }], "::std::string", "getObstacle", (ins), "",
    [{ return ::std::string(); }]>,

    InterfaceMethod<[{
      Which domain has a form with quantized operands and result.
    }], "::onnxquant::onnx::QuantizedForm", "getQLinearForm", (ins), "",
    [{ return ::onnxquant::onnx::QuantizedForm::None; }]>,

    InterfaceMethod<[{
      Builds that form. `operands` has an entry per operand of the op, whose
      `value` is null where it isn't quantized; `result` holds the parameters of
      the result; `bias` is null or the bias as `i32`. Failure says that the
      operands don't suit the form.
    }], "::llvm::FailureOr<::mlir::Value>", "buildQLinear",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::onnxquant::onnx::QuantizedOperand>":$operands,
         "::onnxquant::onnx::QuantizedOperand":$result,
         "::mlir::Value":$bias), "", [{ return ::mlir::failure(); }]>,

    InterfaceMethod<[{
      Builds the form with 8-bit operands and exact 32-bit sums, without bias
      and scales. Failure says that there is none.
    }], "::llvm::FailureOr<::mlir::Value>", "buildInteger",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::onnxquant::onnx::QuantizedOperand>":$operands), "",
    [{ return ::mlir::failure(); }]>,

    InterfaceMethod<[{
      Whether runtimes have that form for unsigned weights only.
    }], "bool", "takesUnsignedIntegers", (ins), "", [{ return false; }]>,

    InterfaceMethod<"The factor of the products.", "double", "getProductFactor",
    (ins), "", [{ return 1.0; }]>,

    InterfaceMethod<[{
      The share of a channel's weights that meet in one element of the result,
      on average.
    }], "double", "getShareOfTaps", (ins), "", [{ return 1.0; }]>,

    InterfaceMethod<[{
      Builds the op of com.microsoft that quantizes its activations itself.
      Failure says that there is none, or that the operands don't suit it.
    }], "::llvm::FailureOr<::mlir::Operation *>", "buildDynamic",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::onnxquant::onnx::QuantizedOperand>":$operands), "",
    [{ return ::mlir::failure(); }]>,
  ];
}

#endif // ONNXQUANT_DIALECT_ONNX_QUANTIZABLEOPINTERFACE_TD
