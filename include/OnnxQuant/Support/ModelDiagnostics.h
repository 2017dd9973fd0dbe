// Diagnostics for people who have a model, not MLIR text.

#ifndef ONNXQUANT_SUPPORT_MODELDIAGNOSTICS_H
#define ONNXQUANT_SUPPORT_MODELDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxquant {

/// Prints `error: FILE: node 'NAME': MESSAGE` for the first error, warnings as
/// they come, and nothing of the errors that follow from the first.
class ModelDiagnosticHandler : public mlir::ScopedDiagnosticHandler {
public:
  explicit ModelDiagnosticHandler(mlir::MLIRContext *context,
                                  llvm::raw_ostream &os = llvm::errs());

private:
  void print(mlir::Diagnostic &diagnostic);

  llvm::raw_ostream &os;
  bool failed = false;
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_MODELDIAGNOSTICS_H
