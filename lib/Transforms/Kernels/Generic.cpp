// Integers on any processor:
//
//   acc[j] += A[k] * B[k, j]
//
// of 16-bit elements, which LLVM makes the processor's widening multiply-add
// (AArch64: smlal). Accumulators have 32 bits, or 64 where A has 16-bit values.
// Tiles are 4x8 on AArch64 without dotprod.

#include "Generic.h"
#include "MicroKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

WideningMultiplyAdd::WideningMultiplyAdd(MLIRContext *context,
                                         const KernelSpec &spec)
    : IntegerKernel(context, spec, /*step=*/1,
                    spec.lanes * 32 / spec.accumulatorBits, /*inputBits=*/16,
                    /*weightBits=*/16) {
  hints.growsNarrowTiles = true;
}

Value WideningMultiplyAdd::widen(KernelBuilder &b, Value vector) const {
  return arith::ExtSIOp::create(b, getAccumulatorType(), vector);
}

/// A scalar by itself, which processors multiply vectors by.
SmallVector<Value> WideningMultiplyAdd::loadA(KernelBuilder &b,
                                              ArrayRef<RowPointer> rows,
                                              Value k, int64_t steps) const {
  assert(steps == 1 && "this kernel loads the elements of one step");
  SmallVector<Value> spread;
  for (const RowPointer &row : rows) {
    Value scalar = b.loadScalar(row.memory, b.add(row.offset, k));
    spread.push_back(widen(b, b.broadcast(scalar, lanes)));
  }
  return spread;
}

Value WideningMultiplyAdd::unpackB(KernelBuilder &b, Value stored) const {
  return widen(b, IntegerKernel::unpackB(b, stored));
}

void WideningMultiplyAdd::product(KernelBuilder &b,
                                  MutableArrayRef<Value> accumulators,
                                  ArrayRef<Value> a, ArrayRef<Value> w) const {
  forAccumulators(
      accumulators, a, w, [&](Value sum, Value x, Value y) -> Value {
        return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
      });
}

std::unique_ptr<MicroKernel>
kernels::makeWideningMultiplyAdd(MLIRContext *context, const KernelSpec &spec) {
  return std::make_unique<WideningMultiplyAdd>(context, spec);
}
