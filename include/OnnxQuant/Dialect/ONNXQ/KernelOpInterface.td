// What passes know of an op that computes a tensor in a register tile.

#ifndef ONNXQUANT_DIALECT_ONNXQ_KERNELOPINTERFACE_TD
#define ONNXQUANT_DIALECT_ONNXQ_KERNELOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ONNXQ_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::onnxquant::onnxq";
  let description = [{
    A kernel slides a window over the spatial dimensions of its input
    [N, spatial.., C] and accumulates; what becomes of an accumulator is told by
    its epilogue, which also gets an element of each epilogue operand. Fusion,
    packing, outlining and lowering know kernels by this interface.

    - K1: there is one map per epilogue operand, from the output's dimensions; a result is
      a dimension or 0, no dimension occurs twice.
    - K2: an epilogue operand has as many dimensions as its map has results, of
      the sizes that it reads.
    - K3: the epilogue's arguments are the accumulator and an element of each
      epilogue operand; integers have no sign.
    - K4: the epilogue ends in `onnxq.yield` of an element of the output.
    - K5: the epilogue computes element by element: it has no regions, touches
      no memory, and every op can be applied to vectors.
    - K6: strides and dilations have a positive entry per entry of kernel, which
      are positive; pads has two, which are not negative (begins, then ends).
  }];
  let methods = [
    InterfaceMethod<"The tensor that the window slides over.",
      "::mlir::Value", "getInput">,
    InterfaceMethod<"Where the result goes.", "::mlir::Value", "getInit">,
    InterfaceMethod<"The operand of it.", "::mlir::OpOperand &",
      "getInitMutable">,
    InterfaceMethod<"Tensors whose elements the epilogue gets.",
      "::mlir::OperandRange", "getEpilogueOperands">,
    InterfaceMethod<"The operands of them.", "::mlir::MutableOperandRange",
      "getEpilogueOperandsMutable">,
    InterfaceMethod<"How each is read: maps from the output's dimensions.",
      "::mlir::ArrayAttr", "getEpilogueMaps">,
    InterfaceMethod<"Sets the maps.", "void", "setEpilogueMapsAttr",
      (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<"What becomes of an accumulator.", "::mlir::Region &",
      "getEpilogue">,
    InterfaceMethod<"The window's size, empty for none.",
      "::llvm::ArrayRef<int64_t>", "getKernel">,
    InterfaceMethod<"The window's step per dimension.",
      "::llvm::ArrayRef<int64_t>", "getStrides">,
    InterfaceMethod<"The distance of its taps per dimension.",
      "::llvm::ArrayRef<int64_t>", "getDilations">,
    InterfaceMethod<"Elements around the input: begins, then ends.",
      "::llvm::ArrayRef<int64_t>", "getPads">,
    InterfaceMethod<"Their value; null for zero.", "::mlir::Value", "getPad">,
  ];
  let extraSharedClassDeclaration = [{
    /// The maps as such.
    ::llvm::SmallVector<::mlir::AffineMap> getMaps() {
      return ::llvm::to_vector(
          $_op.getEpilogueMaps().template getAsValueRange<::mlir::AffineMapAttr>());
    }
    ::mlir::ShapedType getOutputType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getInit().getType());
    }
    ::mlir::Type getAccumulatorType() {
      return $_op.getEpilogue().front().getArgument(0).getType();
    }
    /// Whether the op works on buffers.
    bool isOnBuffers() {
      return ::llvm::isa<::mlir::BaseMemRefType>($_op.getInit().getType());
    }
  }];
  let verify = [{
    return ::onnxquant::onnxq::detail::verifyKernel(
        ::llvm::cast<KernelOpInterface>($_op));
  }];
  let verifyWithRegions = 1;
}

#endif // ONNXQUANT_DIALECT_ONNXQ_KERNELOPINTERFACE_TD
