// What micro-kernels of integers share: a step's elements of a row of A fill a
// lane and are broadcast, B's lie in panels, in 8 or 16 bits or as int4.

#ifndef ONNXQUANT_LIB_TRANSFORMS_KERNELS_INTEGERKERNEL_H
#define ONNXQUANT_LIB_TRANSFORMS_KERNELS_INTEGERKERNEL_H

#include "MicroKernel.h"

namespace onnxquant::kernels {

/// What a micro-kernel of integers is made for.
struct KernelSpec {
  onnxq::PackingKind kind;
  /// 32-bit accumulators that the target's vector of the kind has.
  int64_t lanes;
  /// Bits of B's elements and of accumulators.
  unsigned weightBits, accumulatorBits;
  /// Whether B is stored as int4, two to a byte.
  bool isInt4;
};

class IntegerKernel : public MicroKernel {
public:
  llvm::SmallVector<mlir::Value> loadA(KernelBuilder &b,
                                       llvm::ArrayRef<RowPointer> rows,
                                       mlir::Value k,
                                       int64_t steps) const override;
  llvm::SmallVector<mlir::Value> loadB(KernelBuilder &b, mlir::Value memory,
                                       mlir::Value offset,
                                       int64_t columns) const override;

protected:
  IntegerKernel(mlir::MLIRContext *context, const KernelSpec &spec,
                int64_t step, int64_t lanes, unsigned inputBits,
                unsigned weightBits);

  mlir::VectorType getAccumulatorType() const;
  /// B's elements of one vector of columns, as they are in memory and as they
  /// are multiplied.
  mlir::VectorType getStoredType() const;
  virtual mlir::Value unpackB(KernelBuilder &b, mlir::Value stored) const;

  mlir::Type weightType;
  unsigned accumulatorBits;
  bool isInt4;
};

/// A vector seen as one of other elements.
mlir::Value bitCast(KernelBuilder &b, mlir::Value vector, int64_t count,
                    mlir::Type element);

} // namespace onnxquant::kernels

#endif // ONNXQUANT_LIB_TRANSFORMS_KERNELS_INTEGERKERNEL_H
