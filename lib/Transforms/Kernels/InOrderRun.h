// The loop over k for processors that compute in the order of their
// instructions.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_INORDERRUN_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_INORDERRUN_H

#include "MicroKernel.h"

namespace onnxquant::kernels {

/// Adds a product to every accumulator: of vectors of B and the rows' elements
/// of A, both as they are in memory.
using AddStep = llvm::function_ref<void(llvm::MutableArrayRef<mlir::Value>,
                                        llvm::ArrayRef<mlir::Value>,
                                        llvm::ArrayRef<mlir::Value>)>;

/// Adds the products of a run, `steps` of one element of k per iteration, each
/// with what is loaded before the products in front of it. B's vectors are of
/// type `vector` in memory.
llvm::SmallVector<mlir::Value>
addRunInOrder(ImplicitGemm &gemm, const KRun &run, int64_t steps,
              mlir::VectorType vector, mlir::ValueRange accumulators,
              PanelPrefetch &prefetch, AddStep add);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_INORDERRUN_H
