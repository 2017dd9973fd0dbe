// The plan of a comparison: which tensors, where they are after a run, and what
// is added up.

#ifndef ONNXQUANT_LIB_DEBUGGING_COMPARISON_H
#define ONNXQUANT_LIB_DEBUGGING_COMPARISON_H

#include "Branches.h"
#include "OnnxQuant/Debugging/Debugging.h"
#include "Probes.h"

namespace onnxquant::debugging {

/// A tensor and its probes.
struct TensorPlan {
  /// What is known before a run; what runs add goes to `sums`.
  DebugTensor tensor;
  DebugTensor *sums = nullptr;
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
  /// The conditions are looked at besides.
  ComparisonPlan(mlir::func::FuncOp real, mlir::func::FuncOp quant,
                 const GraphMatch &match,
                 llvm::ArrayRef<TakenBranch> realBranches,
                 llvm::ArrayRef<TakenBranch> quantBranches);

  std::vector<TensorPlan> tensors;
  std::vector<std::string> unmatched;
  /// Where the values asked for below are.
  std::vector<Probe> realConditions, quantConditions;

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

/// The nodes of a graph in order, constants left out; inputs come first.
std::vector<DebugNode> describeGraph(mlir::func::FuncOp graph);

/// Whether a tensor of this much noise to signal is bad.
bool isBadRatio(double noiseToSignal);
/// What to try for a tensor; `weights` are those of its node.
std::vector<Advice> adviseOn(const DebugTensor &tensor,
                             llvm::ArrayRef<const DebugWeight *> weights);

} // namespace onnxquant::debugging

#endif // ONNXQUANT_LIB_DEBUGGING_COMPARISON_H
