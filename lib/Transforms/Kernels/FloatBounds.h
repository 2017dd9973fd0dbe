// What is known of the floats of an epilogue or an elementwise body: that they
// are not NaN, and how large.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_FLOATBOUNDS_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_FLOATBOUNDS_H

#include "OnnxQuant/Dialect/ONNXQ/ONNXQOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace onnxquant::kernels {

class FloatBounds {
public:
  /// The largest magnitude that an `f32` can have; none if it may not be a
  /// finite number. Sums are finite, products with finite scales too.
  std::optional<double> get(mlir::Value value);
  /// The same of what a requantization rounds: its value times its scale.
  std::optional<double> getScaled(onnxq::RequantizeOp op);

private:
  std::optional<double> compute(mlir::Value value);

  llvm::DenseMap<mlir::Value, std::optional<double>> known;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_FLOATBOUNDS_H
