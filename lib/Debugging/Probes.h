// Outputs that are added to a graph to look at its tensors.

#ifndef ONNXQUANT_LIB_DEBUGGING_PROBES_H
#define ONNXQUANT_LIB_DEBUGGING_PROBES_H

#include "Match.h"
#include "OnnxQuant/Support/HostTensor.h"

namespace onnxquant::debugging {

/// Where a tensor is found after a run: among the outputs, or, being an input
/// of the graph, among the inputs.
struct Probe {
  int64_t index = -1;
  bool isInput = false;

  explicit operator bool() const { return index >= 0; }
  const HostTensor &get(const std::vector<HostTensor> &inputs,
                        const std::vector<HostTensor> &outputs) const {
    return isInput ? inputs[index] : outputs[index];
  }
};

class Prober {
public:
  explicit Prober(mlir::func::FuncOp graph);

  /// Makes a tensor an output, once.
  Probe add(mlir::Value value);
  /// The same for real numbers behind integers.
  Probe add(const QuantTensor &tensor);

  /// The real numbers of a tensor, by a dequantizer that is added.
  mlir::Value dequantize(const QuantTensor &tensor);

  /// Adds to the quantized graph what a float node would give on the operands
  /// of the node that stands for it. Null if an operand has no real numbers.
  mlir::Value addShadow(mlir::Operation *quant, mlir::Operation *real);

private:
  mlir::func::FuncOp graph;
  mlir::Operation *end;
  llvm::DenseMap<mlir::Value, int64_t> outputs;
  llvm::DenseMap<mlir::Value, mlir::Value> dequantized;
};

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_PROBES_H
