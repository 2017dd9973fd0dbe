// The pass that makes a quantized model of a float one.

#ifndef ONNXQUANT_TRANSFORMS_QUANTIZE_PASSES_H
#define ONNXQUANT_TRANSFORMS_QUANTIZE_PASSES_H

#include "OnnxQuant/Support/Covariance.h"
#include "OnnxQuant/Support/OptionTable.h"
#include "OnnxQuant/Transforms/Quantize/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Quantize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Quantize/Passes.h.inc"

/// Runs samples through a module for what these tensors were like. Errors are
/// diagnostics.
using CovarianceSource = std::function<llvm::FailureOr<Covariances>(
    mlir::ModuleOp, const std::set<std::string> &)>;

/// The pass, which hands its report to `sink` as well. `source` is for
/// algorithms that read samples.
std::unique_ptr<mlir::Pass>
createQuantize(QuantizeOptions options,
               std::function<void(const QuantizeReport &)> sink,
               CovarianceSource source = {});

/// The names of the tensors whose ranges the pass would use with these options.
/// The module stays as it is. Errors are diagnostics.
llvm::FailureOr<std::set<std::string>>
tensorsToCalibrate(mlir::ModuleOp module, const QuantizeOptions &options);

/// All options by name, as Passes.td declares them.
OptionTable<QuantizeOptions> quantizeOptionTable();

/// What is wrong with options whatever the model: unknown words, and options
/// that contradict each other. Files that options name are not read.
llvm::Error checkQuantizeOptions(const QuantizeOptions &options);
/// Whether quantization with these options uses ranges of calibration.
bool needsCalibration(const QuantizeOptions &options);
/// An option of the group `budget` that is set; none if there is no such. They
/// ask for a search, which runs samples; the pass refuses them.
std::optional<llvm::StringRef> findBudgetOption(const QuantizeOptions &options);
/// The options without those.
QuantizeOptions withoutBudget(QuantizeOptions options);
/// Whether it runs samples for how the inputs of products go together.
bool needsCovariances(const QuantizeOptions &options);

/// Whether fused operators of com.microsoft become quantized ones, so that the
/// importer must not take them apart.
bool keepsFused(const QuantizeOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_QUANTIZE_PASSES_H
