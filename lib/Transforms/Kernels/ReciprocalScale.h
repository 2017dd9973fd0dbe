// Divisions by a scale before a requantization, as multiplications.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_RECIPROCALSCALE_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_RECIPROCALSCALE_H

#include "mlir/IR/Block.h"
#include <cstdint>
#include <optional>

namespace onnxquant::kernels {

/// A reciprocal in two parts: x / scale is x * high + x * low, the second
/// product rounded, the sum rounded once.
struct TwoPartReciprocal {
  float high, low;
};

/// The parts for a scale, if they give the same as the division for every
/// float, once the quotient is rounded half to even and clamped to `least` and
/// `most`; none if a quotient differs.
std::optional<TwoPartReciprocal> findReciprocal(float scale, int64_t least,
                                                int64_t most);

/// Multiplies in place of dividing by a constant wherever a block requantizes
/// the quotient; tells how often.
int64_t multiplyByReciprocals(mlir::Block &block);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_RECIPROCALSCALE_H
