// Where a quantized model loses accuracy: its tensors and weights beside those
// of the float model.

#ifndef ONNXQUANT_DEBUGGING_DEBUGGING_H
#define ONNXQUANT_DEBUGGING_DEBUGGING_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Debugging/Errors.h"
#include "OnnxQuant/Support/Executor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxquant {

/// How numbers of a tensor are stored.
struct StoredAs {
  /// `u8` and so on; empty for floats.
  std::string type;
  /// Scales are computed at run time.
  bool dynamic = false;
  /// One, or one for each channel; empty if they are dynamic.
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  /// The numbers that can be stored; for one scale only.
  std::optional<std::pair<double, double>> range;
};

/// A weight or a bias.
struct DebugWeight {
  std::string name, node;
  /// `weight` or `bias`.
  std::string kind;
  StoredAs stored;
  std::vector<int64_t> shape;
  ErrorSums errors;
  /// The share of numbers that are stored as the least or greatest one although
  /// they lie beyond it.
  double saturated = 0;
  /// The scale isn't written beside the weight, and was fitted.
  bool fitted = false;
};

/// A tensor that is computed, in both models.
struct DebugTensor {
  /// The float model's names of the tensor and of the node that makes it.
  std::string name, node, opType;
  /// Position in the float model.
  int64_t order = 0;
  StoredAs stored;
  /// The quantized model's tensor against the float model's.
  ErrorSums errors;
  /// The tensor before and after its own quantization.
  ErrorSums own;
  /// `own` is of the quantized model's numbers; otherwise those of the float
  /// model are quantized, since the node gives integers.
  bool ownMeasured = false;
  /// Values of `own` that lie beyond what can be stored.
  int64_t saturated = 0;
  /// The node on the quantized model's operands with float weights, against
  /// what it really gave.
  std::optional<ErrorSums> local;
  /// A graph's output.
  bool isOutput = false;
  /// What to try; empty if the tensor is well.
  std::vector<std::string> advice;

  /// Decibels; none where there is nothing to compare.
  std::optional<double> qdqError() const;
  std::optional<double> crossError() const;
  std::optional<double> localError() const;
  /// What this tensor and its node add to the error: noise to signal.
  double added() const;
  double saturatedShare() const;
};

struct DebugResult {
  std::string realModel, quantModel;
  int64_t samples = 0, skipped = 0;
  /// The float model was prepared as `onnxq quantize` does, to match.
  bool prepared = false;
  /// In the order of the float model.
  std::vector<DebugTensor> tensors;
  std::vector<DebugWeight> weights;
  /// Quantized tensors that the float model has no counterpart of.
  std::vector<std::string> unmatched;

  /// Indices of tensors, those that add most error first.
  std::vector<size_t> ranking() const;
  llvm::json::Value toJson() const;
  /// The ranking as a table, at most `limit` lines of it; 0 for all.
  void print(llvm::raw_ostream &os, int64_t limit) const;
  /// A page that needs nothing else.
  std::string toHtml() const;
};

struct DebugOptions {
  DataOptions data;
  bool quiet = false;
};

/// Runs samples through both models and compares. `prepared` is the float model
/// prepared for quantization, and is used where it matches better; it may be
/// null. The modules are consumed. Errors are diagnostics.
llvm::FailureOr<DebugResult>
debugModels(mlir::ModuleOp real, mlir::ModuleOp prepared, mlir::ModuleOp quant,
            Executor &executor, const DebugOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_DEBUGGING_DEBUGGING_H
