// onnxq compile for microcontrollers: what is read, and what is told.

#ifndef ONNXQUANT_TOOLS_ONNXQ_COMPILEBARE_H
#define ONNXQUANT_TOOLS_ONNXQ_COMPILEBARE_H

#include "Esp.h"
#include "Models.h"
#include "llvm/Support/JSON.h"

namespace onnxquant::cli {

/// Whether a path is that of an ESP-DL model.
bool isEspdl(llvm::StringRef path);

/// Options that don't go with a microcontroller, or with a .espdl model; an
/// exit code says that they are wrong.
std::optional<int> checkBareOptions(const Arguments &arguments,
                                    const CompileOptions &options,
                                    llvm::StringRef path,
                                    llvm::StringRef output);

/// Reads a .espdl model for the chip of this name, or for the file's own, as a
/// graph that computes what the chip does. Errors are reported.
mlir::OwningOpRef<mlir::ModuleOp> readForChip(const EspFileOptions &file,
                                              llvm::StringRef chip,
                                              mlir::MLIRContext &context);

/// What a written object takes of the chip's memory, as text, and as JSON.
struct BareReport {
  std::string text;
  llvm::json::Object json;
};
llvm::Expected<BareReport> reportBare(llvm::StringRef output);

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_COMPILEBARE_H
