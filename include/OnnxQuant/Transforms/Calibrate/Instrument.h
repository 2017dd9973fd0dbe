// Observers on a model's tensors: which, and where their records are.

#ifndef ONNXQUANT_TRANSFORMS_CALIBRATE_INSTRUMENT_H
#define ONNXQUANT_TRANSFORMS_CALIBRATE_INSTRUMENT_H

#include "OnnxQuant/Dialect/ONNX/EntryPoint.h"
#include "OnnxQuant/Support/ObserverRecord.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace onnxquant {

/// What is observed, and how.
struct InstrumentSpec {
  /// Every float tensor; otherwise operands and results of some ops.
  bool all = false;
  /// Operators and nodes; where both are empty, what can be quantized.
  std::vector<std::string> opTypes, nodes;
  /// Of these, only tensors with one of these names.
  std::optional<std::set<std::string>> names;
  /// Bins of the histograms; 0 for none.
  int64_t bins = 0;
  /// Samples that a run can hold at most.
  int64_t batch = 1;
};

struct Observer {
  std::string name;
  int64_t channelAxis = -1;
  ObserverLayout layout;
  /// The first word of the record.
  int64_t offset = 0;
};

struct Instrumented {
  std::vector<Observer> observers;
  /// The words of the state.
  int64_t words = 1;
  /// Tensors that could not be observed, having no name.
  int64_t unnamed = 0;
};

/// The axis of a ranked tensor's channels: the second for what convolutions and
/// pooling see, the last for products; -1 if its size is not known.
int64_t channelAxisOf(mlir::Value value);

/// Adds observers to a module with one graph. Its last input becomes the number
/// of samples in a run, its last output the state's words. Errors are
/// diagnostics.
llvm::FailureOr<Instrumented> instrument(mlir::ModuleOp module,
                                         const InstrumentSpec &spec);

/// Adds two nodes and two outputs per tensor instead, as ONNX can say it:
/// `T_ReduceMin` and `T_ReduceMax`. Gives the number of tensors that have them.
llvm::FailureOr<int64_t> instrumentWithNodes(mlir::ModuleOp module,
                                             const InstrumentSpec &spec);

/// Names of the tensors that would be observed. Errors are diagnostics.
llvm::FailureOr<std::set<std::string>>
namesToObserve(mlir::ModuleOp module, const InstrumentSpec &spec);

/// Names of all tensors of a module's graphs.
std::set<std::string> allTensorNames(mlir::ModuleOp module);

/// Gives names to tensors that have none, by their position.
void nameTensors(mlir::ModuleOp module);

} // namespace onnxquant

#endif // ONNXQUANT_TRANSFORMS_CALIBRATE_INSTRUMENT_H
