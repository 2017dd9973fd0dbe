// Integers with RISC-V's vectors:
//
//   vwmacc.vx     acc[j] += A[k] * B[k, j]
//
// of 16-bit elements, A's from a scalar register. Accumulators are groups of
// four registers, a tile is 6 rows of one group. Such processors compute in the
// order of their instructions: InOrderRun.cpp loads ahead of the products.

#include "Generic.h"
#include "InOrderRun.h"
#include "MicroKernels.h"
#include "Tuning.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class Vwmacc : public WideningMultiplyAdd {
public:
  using WideningMultiplyAdd::WideningMultiplyAdd;

  SmallVector<Value> addRun(ImplicitGemm &gemm, const KRun &run,
                            ValueRange accumulators,
                            PanelPrefetch &prefetch) const override {
    KernelBuilder &b = gemm.b;
    int64_t steps =
        run.rows.size() > 1 ? tuning::inOrderSteps : tuning::inOrderStepsOfRow;
    return addRunInOrder(gemm, run, steps, getStoredType(), accumulators,
                         prefetch,
                         [&](MutableArrayRef<Value> sums,
                             ArrayRef<Value> stored, ArrayRef<Value> scalars) {
                           SmallVector<Value> w;
                           for (Value vector : stored)
                             w.push_back(unpackB(b, vector));
                           for (auto [r, scalar] : llvm::enumerate(scalars))
                             product(b, sums.slice(r * w.size(), w.size()),
                                     widen(b, b.broadcast(scalar, lanes)), w);
                         });
  }
};
} // namespace

std::unique_ptr<MicroKernel> kernels::makeVwmacc(MLIRContext *context,
                                                 const KernelSpec &spec) {
  return std::make_unique<Vwmacc>(context, spec);
}
