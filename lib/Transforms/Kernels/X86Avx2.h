// The micro-kernel of u8 times s8 that adds pairs of products in 16 bits.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_X86AVX2_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_X86AVX2_H

#include "IntegerKernel.h"

namespace onnxquant::kernels {

class Vpmaddubsw : public IntegerKernel {
public:
  Vpmaddubsw(mlir::MLIRContext *context, const KernelSpec &spec);

  void product(KernelBuilder &b,
               llvm::MutableArrayRef<mlir::Value> accumulators,
               llvm::ArrayRef<mlir::Value> a,
               llvm::ArrayRef<mlir::Value> w) const override;

protected:
  /// Sums of two products in 16 bits.
  mlir::Value multiplyPairs(KernelBuilder &b, mlir::Value x,
                            mlir::Value w) const;
  /// accumulator[j] + pairs[2 j] + pairs[2 j + 1]
  mlir::Value widen(KernelBuilder &b, mlir::Value accumulator,
                    mlir::Value pairs) const;
};

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_X86AVX2_H
