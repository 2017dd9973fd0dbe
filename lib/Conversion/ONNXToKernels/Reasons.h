// Why ops have no kernel, for those who want to know.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_REASONS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_REASONS_H

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringExtras.h"

namespace onnxquant::kernels {

/// Collects what the patterns that failed said of the node at a place.
struct Reasons : public mlir::RewriterBase::Listener {
  void notifyMatchFailure(
      mlir::Location loc,
      llvm::function_ref<void(mlir::Diagnostic &)> explain) override {
    mlir::Diagnostic reason(loc, mlir::DiagnosticSeverity::Remark);
    explain(reason);
    llvm::SmallVector<std::string> &known = byPlace[loc];
    if (!llvm::is_contained(known, reason.str()))
      known.push_back(reason.str());
  }

  /// The reasons of an op in one line.
  std::string of(mlir::Operation *op) const {
    return llvm::join(byPlace.lookup(op->getLoc()), "; ");
  }

  llvm::DenseMap<mlir::Location, llvm::SmallVector<std::string>> byPlace;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_REASONS_H
