// int8 on AArch64 with dotprod, and with i8mm's mixed signs:
//
//   sdot, usdot   acc[j] += sum of A[k + i] * B[k + i, j] for i = 0 .. 3
//
// Both take A from a lane of a vector, so that 16 bytes of a row are loaded for
// four steps. Tiles are 8x8, 4 columns to a vector.

#include "IntegerKernel.h"
#include "MicroKernels.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class DotByLane : public IntegerKernel {
public:
  DotByLane(MLIRContext *context, const KernelSpec &spec)
      : IntegerKernel(context, spec, /*step=*/4, spec.lanes, /*inputBits=*/8,
                      /*weightBits=*/8),
        isSigned(spec.kind == onnxq::PackingKind::Sdot) {
    hints.growsNarrowTiles = true;
  }

  KLoop getLoop(int64_t) const override {
    return {/*steps=*/4, /*loadsTogether=*/true, /*unrollsRest=*/false};
  }
  SmallVector<Value> loadA(KernelBuilder &b, ArrayRef<RowPointer> rows, Value k,
                           int64_t steps) const override {
    if (steps == 1)
      return IntegerKernel::loadA(b, rows, k, steps);
    SmallVector<Value> spread(steps * rows.size());
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value x =
          vector::LoadOp::create(b, VectorType::get(steps * step, inputType),
                                 row.memory, b.add(row.offset, k));
      Value words = bitCast(b, x, steps, b.getI32Type());
      for (int64_t i = 0; i < steps; ++i) {
        SmallVector<int64_t> lane(lanes, i);
        Value word = vector::ShuffleOp::create(b, words, words, lane);
        spread[i * rows.size() + r] = bitCast(b, word, lanes * step, inputType);
      }
    }
    return spread;
  }
  void product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
               ArrayRef<Value> a, ArrayRef<Value> w) const override {
    forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
      // Of operands with equal signs, the second one may be a lane.
      return isSigned ? callIntrinsic(b, b.getLoc(),
                                      "llvm.aarch64.neon.sdot.v4i32.v16i8",
                                      sum.getType(), {sum, y, x})
                      : callIntrinsic(b, b.getLoc(),
                                      "llvm.aarch64.neon.usdot.v4i32.v16i8",
                                      sum.getType(), {sum, x, y});
    });
  }

private:
  bool isSigned;
};
} // namespace

std::unique_ptr<MicroKernel> kernels::makeDotByLane(MLIRContext *context,
                                                    const KernelSpec &spec) {
  return std::make_unique<DotByLane>(context, spec);
}
