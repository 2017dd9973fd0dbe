// The sizes of a contraction, C[m, n] = sum over k of A[m, k] * B[k, n] for
// each group: what micro-kernels and register tiles are chosen by.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_CONTRACTSHAPE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_CONTRACTSHAPE_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "Tuning.h"

namespace onnxquant::kernels {

struct ContractShape {
  /// Rows that share a B; none if a dimension of them is dynamic.
  std::optional<int64_t> m;
  /// Columns, and products of a sum, of one group.
  int64_t n = 0, k = 0, groups = 1;
  /// Elements of k that a tap of the window has: all of them without a window.
  int64_t channels = 0;
  /// Taps of a row of the window that are neighbours in the input.
  int64_t rowTaps = 1;

  /// Rows to reckon with.
  int64_t getRows() const {
    return std::max<int64_t>(1, m.value_or(tuning::dynamicRows));
  }
  int64_t getTaps() const { return k / channels; }
  /// Whether steps of k go through neighbouring taps: then the end of a row of
  /// taps is filled up to a whole step, not each tap.
  bool joinsTaps(int64_t step) const {
    return channels % step != 0 && rowTaps > 1;
  }
  /// k in whole steps.
  int64_t getSteppedK(int64_t step) const {
    int64_t joined = joinsTaps(step) ? rowTaps : 1;
    int64_t run = channels * joined;
    return getTaps() / joined * ((run + step - 1) / step * step);
  }
};

ContractShape getContractShape(onnxq::ContractOp op);

/// Whether an epilogue has many operations, constants aside.
bool hasManyOperations(mlir::Region &epilogue);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_CONTRACTSHAPE_H
