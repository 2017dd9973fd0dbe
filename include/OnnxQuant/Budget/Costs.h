// How long the layers of a model take in 8 bits, in 16 bits and in float.

#ifndef ONNXQUANT_BUDGET_COSTS_H
#define ONNXQUANT_BUDGET_COSTS_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/TargetInfo.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>

namespace onnxquant::budget {

struct LayerTimes {
  double time8 = 0, time16 = 0, timeFloat = 0;
};

/// Times by node, and those of all that no choice changes; milliseconds if they
/// are measured, thousands of cycles otherwise.
struct Costs {
  std::map<std::string, LayerTimes> layers;
  double other = 0;
};

/// Milliseconds by node.
using Times = std::map<std::string, double>;
double sumOf(const Times &times);

/// Compiles a calibrated float model in these forms, null for float, and
/// measures each node on a sample, in turns; the least of all runs. Errors are
/// diagnostics.
llvm::FailureOr<std::vector<Times>>
measureForms(mlir::ModuleOp real, llvm::ArrayRef<const QuantizeOptions *> forms,
             const Tensors &sample);

/// Compiles a calibrated float model in the three forms and measures each node
/// on a sample. Errors are diagnostics.
llvm::FailureOr<Costs> measureCosts(mlir::ModuleOp real,
                                    const QuantizeOptions &options,
                                    const Tensors &sample);

/// What a processor needs for a contraction, by its multiply-adds and by the
/// numbers that are read and rounded.
struct LayerWork {
  double macs = 0, inputs = 0, outputs = 0, weights = 0;
  /// Products aren't summed over channels.
  bool isDepthwise = false;
};
LayerTimes modelCost(const LayerWork &work, const TargetInfo &target);

/// The same of a model's contractions, for a sample's shapes. Errors are
/// diagnostics.
llvm::FailureOr<Costs> modelCosts(mlir::ModuleOp real, const Tensors &sample,
                                  const TargetInfo &target);

} // namespace onnxquant::budget

#endif // ONNXQUANT_BUDGET_COSTS_H
