// Tensors whose records follow from those of others.

#ifndef ONNXQUANT_LIB_TRANSFORMS_CALIBRATE_DERIVE_H
#define ONNXQUANT_LIB_TRANSFORMS_CALIBRATE_DERIVE_H

#include "OnnxQuant/Transforms/Calibrate/Instrument.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace onnxquant {

/// Whether a tensor can be observed: its elements are floats of the run.
bool isObservable(mlir::Value value);

/// How the records of a graph's tensors follow from those of others that stand
/// before them. It depends on the graph alone, not on what is asked for, so
/// that the statistics of a tensor don't either.
class Derivations {
public:
  struct Plan {
    /// Without the sources' numbers.
    Derivation how;
    llvm::SmallVector<mlir::Value> sources;
    /// Sums are multiples of 2^grain of what an element may be.
    int64_t grain;
  };

  explicit Derivations(mlir::func::FuncOp graph);

  /// Null if the tensor has to be observed.
  const Plan *find(mlir::Value value) const {
    auto plan = plans.find(value);
    return plan == plans.end() ? nullptr : &plan->second;
  }
  /// These tensors and all that their records follow from, in the graph's
  /// order.
  llvm::SmallVector<mlir::Value>
  withSources(llvm::ArrayRef<mlir::Value> values) const;

private:
  std::optional<Plan> planOf(mlir::Value value) const;
  std::optional<Plan> planMoved(mlir::Value value) const;
  std::optional<Plan> planAffine(mlir::Value value) const;
  int64_t grainOf(mlir::Value value) const;

  /// All tensors in the graph's order.
  llvm::SmallVector<mlir::Value> order;
  llvm::DenseMap<mlir::Value, Plan> plans;
};

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TRANSFORMS_CALIBRATE_DERIVE_H
