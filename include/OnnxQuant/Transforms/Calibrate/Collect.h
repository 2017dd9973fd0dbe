// The loop of calibration: instrument, compile, run samples, keep statistics.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_COLLECT_H
#define ONNXQUANT_TRANSFORMS_CALIBRATE_COLLECT_H

#include "OnnxQuant/Calibration/Table.h"
#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/Executor.h"
#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include <functional>

namespace onnxquant {

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
};

/// The inputs of a module's graph. Errors are diagnostics.
llvm::FailureOr<std::vector<InputInfo>> graphInputs(mlir::ModuleOp module);

/// Gives a graph's inputs the shapes of tensors; the first dimension stays open
/// where `keepFirst`.
void specializeInputs(mlir::func::FuncOp graph, const Tensors &inputs,
                      bool keepFirst);

/// Runs samples through an instrumented copy of a module. Tensors of the module
/// without a name get one. Errors are diagnostics; where the work was
/// interrupted, that is one.
llvm::FailureOr<StatisticsTable>
collectStatistics(mlir::ModuleOp module, Executor &executor,
                  const CollectOptions &options);

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
