// Reads and writes models of any kind, by the file's extension.

#ifndef ONNXQUANT_PIPELINES_MODELIO_H
#define ONNXQUANT_PIPELINES_MODELIO_H

#include "OnnxQuant/Export/Export.h"
#include "OnnxQuant/Import/Import.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant {

/// Whether bytecode is read that has no checksum of ours, or a wrong one.
/// MLIR's reader isn't made for files of strangers: damaged ones can do harm.
enum class Bytecode { Checked, Trusted };

/// What a `.espdl` file becomes: the integer graph that its chip computes, with
/// inputs and outputs of the device; the same with real ones in ONNX's layout;
/// or an ordinary float graph with quantizers.
enum class EspForm { Device, Real, Quantizers };

/// Reads `.onnx`, `.mlir`, `.mlirbc`, or `.espdl`; `-` is MLIR on standard
/// input.
mlir::OwningOpRef<mlir::ModuleOp>
readModel(llvm::StringRef path, mlir::MLIRContext *context,
          Bytecode bytecode = Bytecode::Checked, EspForm form = EspForm::Device,
          const ImportOptions &options = {});

/// Whether `writeModel` knows the extension of `path`.
bool isModelOutput(llvm::StringRef path);

/// Writes `.onnx`, `.mlir` or `.mlirbc`; `-` is MLIR text on standard output.
/// Fails on other extensions.
llvm::LogicalResult writeModel(mlir::ModuleOp module, llvm::StringRef path,
                               const ExportOptions &options = {});

/// A model of an opset below `least` is written with that one.
llvm::Error raiseOpset(mlir::ModuleOp module, int64_t least);

/// Adds `KEY=VALUE` to what a model says of itself, or replaces it.
llvm::Error addMetadata(mlir::ModuleOp module, llvm::StringRef entry);

/// Writes bytecode with a checksum that `readModel` looks for. It holds no
/// names of files: locations keep the nodes' names only.
llvm::LogicalResult writeBytecode(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_MODELIO_H
