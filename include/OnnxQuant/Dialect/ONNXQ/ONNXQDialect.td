// The `onnxq` dialect: what ONNX cannot say.

#ifndef ONNXQUANT_DIALECT_ONNXQ_DIALECT_TD
#define ONNXQUANT_DIALECT_ONNXQ_DIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def ONNXQ_Dialect : Dialect {
  let name = "onnxq";
  let cppNamespace = "::onnxquant::onnxq";
  let summary = "observers of tensors, and kernels";
  let description = [{
    Ops that stand between those of the `onnx` dialect where ONNX has no word:
    observers, which count what goes through a tensor while a graph runs.

    All observers of a graph write to one block of 64-bit words that the run
    begins with zeros and gives back as an output. A run therefore depends on
    its inputs only, and runs may be concurrent.

    Kernels are contractions with a register tile per target. They appear between
    ops of the `onnx` dialect with tensors of their types; from the lowering to
    linalg on integers have no sign. What becomes of an accumulator is an
    epilogue, which ends in `onnxq.requantize` where the result is quantized.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

class ONNXQ_Op<string mnemonic, list<Trait> traits = []>
    : Op<ONNXQ_Dialect, mnemonic, traits>;

#endif // ONNXQUANT_DIALECT_ONNXQ_DIALECT_TD
