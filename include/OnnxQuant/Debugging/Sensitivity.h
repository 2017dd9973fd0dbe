// How much each layer's quantization costs at the outputs: alone, and when all
// others are quantized too.
//
// One program is compiled in which every quantized operand can be switched at
// run time: an input of the graph holds a flag for each layer, and `Where`
// chooses between quantized and float numbers.

#ifndef ONNXQUANT_DEBUGGING_SENSITIVITY_H
#define ONNXQUANT_DEBUGGING_SENSITIVITY_H

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/Executor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <optional>

namespace onnxquant {

/// A node with the quantized tensors that it reads.
struct SwitchedLayer {
  std::string node, opType;
  /// How many of its operands are switched.
  int64_t operands = 0;
  /// Its multiply-adds; 0 if it has none, or if their number isn't known.
  int64_t macs = 0;
};

/// Numbers a module's nodes, so that they can be found in a quantized copy.
void numberNodes(mlir::ModuleOp module);

/// Makes the quantizers of a QDQ model depend on flags. `real` is the model
/// that `quant` was made from; both are numbered. The flags become the last
/// input of `quant`, booleans in the order of the layers. Errors are
/// diagnostics.
llvm::FailureOr<std::vector<SwitchedLayer>> addSwitches(mlir::ModuleOp real,
                                                        mlir::ModuleOp quant);

/// Numbers that are rounded: an activation, or the weights and the bias of a
/// node.
struct SwitchedSource {
  /// The activation's name, or that of the node's weight in the float model.
  std::string name;
  bool isWeight = false;
  /// The nodes that compute with it, and their operators.
  std::vector<std::pair<std::string, std::string>> readers;
  /// Of a weight: the axis of its channels, and how much of the squared error
  /// of one scale is left with one for each channel.
  std::optional<int64_t> channelAxis;
  double finerShare = 1;
};

/// The same with a flag for each tensor, or for the constants of each node.
llvm::FailureOr<std::vector<SwitchedSource>>
addSourceSwitches(mlir::ModuleOp real, mlir::ModuleOp quant);

struct LayerSensitivity {
  SwitchedLayer layer;
  /// Decibels at the outputs with only this layer quantized, and with all
  /// others; none if the time was up before.
  std::optional<double> only, without;
};

/// Layers to leave in float, and the decibels at the outputs then.
struct FloatLayers {
  std::vector<std::string> nodes;
  double decibels = 0;
  /// The share of the model's multiply-adds that leaves int8 with them; none if
  /// it isn't known.
  std::optional<double> share;
};

struct SensitivityResult {
  int64_t samples = 0, runs = 0;
  /// Decibels at the outputs with all layers quantized.
  double all = 0;
  /// Multiply-adds of the whole model; none if a node's number isn't known.
  std::optional<int64_t> macs;
  /// In the graph's order.
  std::vector<LayerSensitivity> layers;
  /// The fewest layers that bring most of what leaving layers out can bring;
  /// none if that is next to nothing.
  std::optional<FloatLayers> suggestion;
  /// A command that leaves them out; empty if nobody wrote one.
  std::string command;

  /// Indices, the layers that cost most alone first.
  std::vector<size_t> ranking() const;
  llvm::json::Value toJson() const;
  void print(llvm::raw_ostream &os, int64_t limit) const;
};

struct SensitivityOptions {
  DataOptions data;
  bool quiet = false;
  /// How long to run samples, about; 0: until all have been.
  double seconds = 0;
  std::function<bool()> interrupted;
};

/// Runs samples with each layer switched on alone and off alone, then with the
/// worst of them off together. The modules are as for `addSwitches`, and are
/// consumed; of an If, the branch that the first sample takes is looked into.
/// Errors are diagnostics.
llvm::FailureOr<SensitivityResult>
measureSensitivity(mlir::ModuleOp real, mlir::ModuleOp quant,
                   Executor &executor, const SensitivityOptions &options);

/// What each rounding costs alone.
struct SourceSensitivity {
  std::vector<SwitchedSource> sources;
  int64_t samples = 0, runs = 0;
  /// Energies at the outputs: of the float model, of the error with all
  /// sources quantized, and with one of them only.
  double signal = 0, all = 0;
  std::vector<double> noise;
};

struct SourceOptions {
  DataOptions data;
  bool quiet = false;
  /// Samples to run, at most.
  int64_t most = 0;
  std::function<bool()> interrupted;
  /// Figures of an earlier measurement, whose samples aren't run again; told of
  /// all after each sample.
  std::optional<SourceSensitivity> before;
  std::function<void(const SourceSensitivity &)> kept;
};

/// Runs samples with all sources on, and with each alone. The modules are as
/// for `addSwitches`, and are consumed. Errors are diagnostics; where the work
/// was interrupted, that is none of them: fewer samples were run then.
llvm::FailureOr<SourceSensitivity> measureSources(mlir::ModuleOp real,
                                                  mlir::ModuleOp quant,
                                                  Executor &executor,
                                                  const SourceOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_DEBUGGING_SENSITIVITY_H
