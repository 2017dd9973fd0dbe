// The plan of a comparison: which tensors, where they are after a run, and what
// is added up.

#ifndef ONNXQUANT_LIB_DEBUGGING_COMPARISON_H
#define ONNXQUANT_LIB_DEBUGGING_COMPARISON_H

#include "OnnxQuant/Debugging/Debugging.h"
#include "Probes.h"

namespace onnxquant::debugging {

/// A tensor and its probes.
struct TensorPlan {
  DebugTensor tensor;
  int64_t channelAxis = -1;
  /// In the float model, and in the quantized one.
  Probe real, quant;
  /// Before its own quantization, if that can be seen.
  Probe before;
  /// What the node gave, and what it would give with float weights.
  Probe actual, shadow;
  /// Bounds that quantization stands for as well: of what comes before, and of
  /// the shadow.
  std::optional<onnx::RealRange> clamp, shadowClamp;
};

/// Chooses tensors, and adds probes to both graphs.
class ComparisonPlan {
public:
  ComparisonPlan(mlir::func::FuncOp real, mlir::func::FuncOp quant,
                 const GraphMatch &match);

  std::vector<TensorPlan> tensors;
  std::vector<std::string> unmatched;

private:
  TensorPlan &planOf(mlir::Value real);
  void addPoint(mlir::Value before, const QuantTensor &quantized);
  void addLayer(mlir::Operation *quant, mlir::Operation *real);
  void addOutputs();

  mlir::func::FuncOp realGraph, quantGraph;
  const GraphMatch &match;
  Prober realProber, quantProber;
  llvm::DenseMap<mlir::Value, size_t> known;
  llvm::DenseMap<mlir::Operation *, int64_t> order;
};

/// Adds what a run gave.
void addRun(TensorPlan &plan, const std::vector<HostTensor> &inputs,
            const std::vector<HostTensor> &real,
            const std::vector<HostTensor> &quant);

/// What to try for a tensor; `weights` are those of its node.
std::vector<std::string> adviseOn(const DebugTensor &tensor,
                                  llvm::ArrayRef<const DebugWeight *> weights);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_COMPARISON_H
