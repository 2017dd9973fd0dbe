// From an ONNX model to a module of the `onnx` dialect.

#ifndef ONNXQUANT_IMPORT_IMPORT_H
#define ONNXQUANT_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace onnxquant {

struct ImportOptions {
  /// Leaves Attention and EmbedLayerNormalization of com.microsoft whole: they
  /// have quantized forms of their own there.
  bool keepFused = false;
};

/// Reads a model file. External data is looked for in the file's folder, and
/// mapped, not read. Errors are diagnostics that name the file and the node;
/// the result is null then.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(llvm::StringRef path, mlir::MLIRContext *context,
            const ImportOptions &options = {});

/// The same from memory. `name` stands for the file in diagnostics; external
/// data is looked for in `folder`, and refused if that is empty.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(llvm::ArrayRef<char> bytes, llvm::StringRef name,
            llvm::StringRef folder, mlir::MLIRContext *context,
            const ImportOptions &options = {});

} // namespace onnxquant

#endif // ONNXQUANT_IMPORT_IMPORT_H
