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

namespace onnxquant {

/// A node with the quantized tensors that it reads.
struct SwitchedLayer {
  std::string node, opType;
  /// How many of its operands are switched.
  int64_t operands = 0;
};

/// Numbers a module's nodes, so that they can be found in a quantized copy.
void numberNodes(mlir::ModuleOp module);

/// Makes the quantizers of a QDQ model depend on flags. `real` is the model
/// that `quant` was made from; both are numbered. The flags become the last
/// input of `quant`, booleans in the order of the layers. Errors are
/// diagnostics.
llvm::FailureOr<std::vector<SwitchedLayer>> addSwitches(mlir::ModuleOp real,
                                                        mlir::ModuleOp quant);

struct LayerSensitivity {
  SwitchedLayer layer;
  /// Decibels at the outputs with only this layer quantized, and with all
  /// others.
  double only = 0, without = 0;
};

struct SensitivityResult {
  int64_t samples = 0, runs = 0;
  /// Decibels at the outputs with all layers quantized.
  double all = 0;
  /// In the graph's order.
  std::vector<LayerSensitivity> layers;

  /// Indices, the layers that cost most alone first.
  std::vector<size_t> ranking() const;
  llvm::json::Value toJson() const;
  void print(llvm::raw_ostream &os, int64_t limit) const;
};

struct SensitivityOptions {
  DataOptions data;
  bool quiet = false;
  std::function<bool()> interrupted;
};

/// Runs samples with each layer switched on alone and off alone. The modules
/// are as for `addSwitches`, and are consumed. Errors are diagnostics.
llvm::FailureOr<SensitivityResult>
measureSensitivity(mlir::ModuleOp real, mlir::ModuleOp quant,
                   Executor &executor, const SensitivityOptions &options);

} // namespace onnxquant

#endif // ONNXQUANT_DEBUGGING_SENSITIVITY_H
