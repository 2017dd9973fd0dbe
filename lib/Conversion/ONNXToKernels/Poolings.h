// The windows of poolings.

#ifndef ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_POOLINGS_H
#define ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_POOLINGS_H

#include "Windows.h"

namespace onnxquant::kernels {

/// A window, and what of its paddings counts for an average: ceil_mode adds
/// elements that don't.
struct PoolWindow {
  KernelWindow window;
  llvm::SmallVector<int64_t> countedPads;
};
/// The window of an op over [N, C, spatial..] `input`, of which sizes may be
/// open; none if it can't be told without them, or holds nothing but padding.
std::optional<PoolWindow> getPoolWindow(mlir::Operation *op,
                                        mlir::RankedTensorType input,
                                        llvm::ArrayRef<int64_t> kernel);

/// The element of a tensor of one integer, without a sign; null for none.
mlir::Value makeScalar(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor);

void addPoolingPatterns(mlir::RewritePatternSet &patterns);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_CONVERSION_ONNXTOKERNELS_POOLINGS_H
