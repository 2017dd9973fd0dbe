// Passes that find the ranges of a model's tensors.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_H
#define ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_H

#include "OnnxQuant/Support/Executor.h"
#include "OnnxQuant/Support/OptionTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace onnxquant {

#define GEN_PASS_DECL
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "OnnxQuant/Transforms/Calibrate/Passes.h.inc"

/// All options by name, as Passes.td declares them.
OptionTable<CalibrateOptions> calibrateOptionTable();
OptionTable<LoadCalibrationOptions> loadCalibrationOptionTable();

using ExecutorFactory = std::function<std::unique_ptr<Executor>()>;
/// Chooses tensors of a module by name. Errors are diagnostics.
using TensorChoice =
    std::function<llvm::FailureOr<std::set<std::string>>(mlir::ModuleOp)>;

/// `onnx-calibrate` with what compiles and runs the instrumented graph. With
/// `choice`, only what it names is observed, of what would be otherwise.
std::unique_ptr<mlir::Pass> createCalibrate(CalibrateOptions options,
                                            ExecutorFactory executor,
                                            TensorChoice choice = {});

/// `onnx-load-calibration`, for a table that has ranges for what `choice`
/// names, of what would be observed otherwise.
std::unique_ptr<mlir::Pass>
createLoadCalibration(LoadCalibrationOptions options, TensorChoice choice);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_CALIBRATE_PASSES_H
