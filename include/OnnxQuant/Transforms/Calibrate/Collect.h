// The loop of calibration: instrument, compile, run samples, keep statistics.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_COLLECT_H
#define ONNXQUANT_TRANSFORMS_CALIBRATE_COLLECT_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Statistics/Table.h"
#include "OnnxQuant/Support/Executor.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "OnnxQuant/Transforms/Calibrate/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include <functional>

namespace onnxquant {

/// What the samples gave a model's input.
struct SeenInput {
  std::string name;
  int32_t type = 0;
  std::vector<int64_t> dims;
  /// Of all finite values; none were if the first is above the second.
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  /// Whether all are whole numbers.
  bool isWhole = true;

  void add(const HostTensor &tensor);
  void add(const SeenInput &other);
};

/// What a calibration leaves beside the table.
struct SeenRuns {
  std::vector<SeenInput> inputs;
  /// Whether samples are images, and whether their values were told to be
  /// computed in a way of their own.
  bool hasImages = false, isNormalized = false;
  /// How many runs to keep, of the first ones of one shape: what entered, and
  /// what left the float model.
  int64_t wanted = 0;
  std::vector<Tensors> samples, outputs;
};

struct CollectOptions {
  InstrumentSpec spec;
  MethodOptions method;
  /// Weight of the newest sample in a moving average.
  double constant = 0.01;
  DataOptions data;
  bool quiet = false, verbose = false;
  /// Runs at once; 0: as many as there are processors, up to 8.
  int64_t threads = 0;
  /// A file to continue from, and to write to while running; empty for none.
  std::string checkpoint;
  /// Asked between runs; true ends the work.
  std::function<bool()> interrupted;
  /// Filled with what else is seen, unless null.
  SeenRuns *seen = nullptr;
};

/// Options of `onnx-calibrate` as they are used; errors name the option. What
/// is of data loads a plug-in, too.
llvm::Error readDataOptions(const CalibrateOptions &given, DataOptions &data);
llvm::Error readMethodOptions(const CalibrateOptions &given,
                              MethodOptions &options);
/// `otherwise` is the method if none is given.
llvm::Error readMethodOptions(const LoadCalibrationOptions &given,
                              llvm::StringRef otherwise,
                              MethodOptions &options);
/// All of these, but for what is told and asked while samples run.
llvm::Error readCollectOptions(const CalibrateOptions &given,
                               CollectOptions &collect);

/// The inputs of a module's graph. Errors are diagnostics.
llvm::FailureOr<std::vector<InputInfo>> graphInputs(mlir::ModuleOp module);

/// Gives a graph's inputs the shapes of tensors; the first dimension stays open
/// where `keepFirst`.
void specializeInputs(mlir::func::FuncOp graph, const Tensors &inputs,
                      bool keepFirst);

/// While it lives, errors are told with the samples that code is made for: one
/// that doesn't fit their shapes would not say of what it is.
class CompileContext {
public:
  CompileContext(const DataSet &data, llvm::ArrayRef<int64_t> samples,
                 const Tensors &inputs, mlir::MLIRContext *context);

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Runs samples through an instrumented copy of a module. Tensors of the module
/// without a name get one. Errors are diagnostics; where the work was
/// interrupted, that is one.
llvm::FailureOr<StatisticsTable>
collectStatistics(mlir::ModuleOp module, Executor &executor,
                  const CollectOptions &options);

/// Runs samples through a module, of the tensors that `choice` names (all that
/// can be quantized, without one), and writes their ranges to it. Errors are
/// diagnostics.
llvm::FailureOr<StatisticsTable> calibrateModule(mlir::ModuleOp module,
                                                 Executor &executor,
                                                 CollectOptions options,
                                                 const TensorChoice &choice,
                                                 bool perChannel);

/// What `onnx-calibrate` does where it isn't given as text.
struct CalibrationRun {
  CollectOptions collect;
  /// Chooses tensors, as for `calibrateModule`.
  TensorChoice choice;
  /// Write the ranges to the module.
  bool annotate = true;
  /// Told the statistics, unless null.
  std::function<void(const StatisticsTable &)> done;
};

/// `onnx-calibrate` with these options. Means of channels are noted too.
std::unique_ptr<mlir::Pass> createCalibrate(CalibrationRun run,
                                            ExecutorFactory executor);

/// Tells of values that were left out and of tensors that were never computed,
/// as warnings.
void reportOddities(mlir::ModuleOp module, const StatisticsTable &table);

/// Writes the ranges of all tensors with values to a module. Errors are
/// diagnostics.
llvm::LogicalResult annotate(mlir::ModuleOp module,
                             const StatisticsTable &table,
                             const MethodOptions &options, bool perChannel);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_CALIBRATE_COLLECT_H
