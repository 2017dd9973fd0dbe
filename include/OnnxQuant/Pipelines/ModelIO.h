// Reads and writes models of any kind, by the file's extension.

#ifndef ONNXQUANT_PIPELINES_MODELIO_H
#define ONNXQUANT_PIPELINES_MODELIO_H

#include "OnnxQuant/Export/Export.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant {

/// Reads `.onnx`, `.mlir` or `.mlirbc`; `-` is MLIR on standard input.
mlir::OwningOpRef<mlir::ModuleOp> readModel(llvm::StringRef path,
                                            mlir::MLIRContext *context);

/// Whether `writeModel` knows the extension of `path`.
bool isModelOutput(llvm::StringRef path);

/// Writes `.onnx`, `.mlir` or `.mlirbc`; `-` is MLIR text on standard output.
/// Fails on other extensions.
llvm::LogicalResult writeModel(mlir::ModuleOp module, llvm::StringRef path,
                               const ExportOptions &options = {});

} // namespace onnxquant

#endif // ONNXQUANT_PIPELINES_MODELIO_H
