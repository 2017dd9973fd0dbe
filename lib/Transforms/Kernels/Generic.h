// The micro-kernel of integers that needs no instruction of its own.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_GENERIC_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_GENERIC_H

#include "IntegerKernel.h"

namespace onnxquant::kernels {

class WideningMultiplyAdd : public IntegerKernel {
public:
  WideningMultiplyAdd(mlir::MLIRContext *context, const KernelSpec &spec);

  llvm::SmallVector<mlir::Value> loadA(KernelBuilder &b,
                                       llvm::ArrayRef<RowPointer> rows,
                                       mlir::Value k,
                                       int64_t steps) const override;
  void product(KernelBuilder &b,
               llvm::MutableArrayRef<mlir::Value> accumulators,
               llvm::ArrayRef<mlir::Value> a,
               llvm::ArrayRef<mlir::Value> w) const override;

protected:
  mlir::Value unpackB(KernelBuilder &b, mlir::Value stored) const override;
  /// A vector in the bits of accumulators.
  mlir::Value widen(KernelBuilder &b, mlir::Value vector) const;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_GENERIC_H
