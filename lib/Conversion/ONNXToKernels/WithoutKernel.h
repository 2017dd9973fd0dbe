// Nodes that no kernel computes, and why: told on request, counted always.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_WITHOUTKERNEL_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_WITHOUTKERNEL_H

#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace onnxquant::kernels {

/// Collects why ops have no kernel: what the patterns that failed said of the
/// node at a place.
class MatchReasons : public mlir::RewriterBase::Listener {
public:
  void notifyMatchFailure(
      mlir::Location loc,
      llvm::function_ref<void(mlir::Diagnostic &)> explain) override;
  /// The reasons of an op, in the order of its patterns.
  std::string get(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::Location, llvm::SmallVector<std::string>> byPlace;
};

/// How a node without a kernel is computed.
enum class Fallback {
  /// By plain loops.
  Loops,
  /// In float, by a kernel, though its operands are quantized.
  Float
};

/// Adds to the list of nodes without a kernel that a module carries
/// (`withoutKernelAttr`).
class NodesWithoutKernel {
public:
  /// With `report`, a remark tells of every node.
  NodesWithoutKernel(mlir::ModuleOp module, bool report)
      : module(module), report(report) {}
  void add(mlir::Operation *op, Fallback kind, llvm::StringRef reason);
  void write();

private:
  mlir::ModuleOp module;
  bool report;
  llvm::SmallVector<mlir::Attribute> entries;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_WITHOUTKERNEL_H
