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

/// Chooses tensors that become outputs; the graph gets them by `finish`.
class Prober {
public:
  explicit Prober(mlir::func::FuncOp graph);

  /// Whether a tensor can be seen: one in a body must have the same sizes in
  /// each iteration.
  static bool canSee(mlir::Value value);

  /// Makes a tensor an output, once. One in the body of a Loop or Scan is seen
  /// in all iterations, along a new first axis.
  Probe add(mlir::Value value);
  /// The same for real numbers behind integers.
  Probe add(const QuantTensor &tensor);

  /// The real numbers of a tensor, by a dequantizer that is added.
  mlir::Value dequantize(const QuantTensor &tensor);

  /// Adds to the quantized graph what a float node would give on the operands
  /// of the node that stands for it. Null if an operand has no real numbers.
  mlir::Value addShadow(mlir::Operation *quant, mlir::Operation *real);

  /// Adds the outputs. Values of the graph that were known before may be gone
  /// then: those of loops, which get more results.
  void finish();

private:
  void lift(mlir::Operation *loop);

  mlir::func::FuncOp graph;
  mlir::Operation *end;
  llvm::DenseMap<mlir::Value, int64_t> outputs;
  /// Tensors that become outputs, behind those that the graph has.
  llvm::SmallVector<mlir::Value> chosen;
  llvm::DenseMap<mlir::Value, mlir::Value> dequantized;
};

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_PROBES_H
