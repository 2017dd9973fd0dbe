// Diagnostics for people who have a model, not MLIR text.

#ifndef ONNXQUANT_SUPPORT_MODELDIAGNOSTICS_H
#define ONNXQUANT_SUPPORT_MODELDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>

namespace onnxquant {

/// A diagnostic in its parts; what isn't known is empty.
struct ModelMessage {
  mlir::DiagnosticSeverity severity = mlir::DiagnosticSeverity::Error;
  std::string file, node, text;
};
using MessageSink = std::function<void(const ModelMessage &)>;

/// Prints `error: FILE: node 'NAME': MESSAGE` for the first error, warnings as
/// they come, and nothing of the errors that follow from the first.
class ModelDiagnosticHandler : public mlir::ScopedDiagnosticHandler {
public:
  explicit ModelDiagnosticHandler(mlir::MLIRContext *context,
                                  llvm::raw_ostream &os = llvm::errs());
  /// Hands the same over instead, one by one and never two at a time.
  ModelDiagnosticHandler(mlir::MLIRContext *context, MessageSink sink);

private:
  void handle(mlir::Diagnostic &diagnostic);

  MessageSink sink;
  bool failed = false;
};

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_MODELDIAGNOSTICS_H
