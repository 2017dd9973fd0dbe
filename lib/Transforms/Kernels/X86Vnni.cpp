// int8 on x86 with VNNI, AVX-512's or AVX's:
//
//   vpdpbusd      acc[j] += sum of A[k + i] * B[k + i, j] for i = 0 .. 3
//
// of u8 times s8, exactly. Tiles are 8x32 with 64-byte vectors, 6x16 with
// 32-byte ones; A's four bytes are broadcast from memory.

#include "IntegerKernel.h"
#include "MicroKernels.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class Vpdpbusd : public IntegerKernel {
public:
  Vpdpbusd(MLIRContext *context, const KernelSpec &spec)
      : IntegerKernel(context, spec, /*step=*/4, spec.lanes, /*inputBits=*/8,
                      /*weightBits=*/8) {
    hints = getX86Hints();
  }

  void product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
               ArrayRef<Value> a, ArrayRef<Value> w) const override {
    StringRef name = lanes == 16 ? "llvm.x86.avx512.vpdpbusd.512"
                                 : "llvm.x86.avx512.vpdpbusd.256";
    forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
      return callIntrinsic(b, b.getLoc(), name, sum.getType(), {sum, x, y});
    });
  }
};
} // namespace

std::unique_ptr<MicroKernel> kernels::makeVpdpbusd(MLIRContext *context,
                                                   const KernelSpec &spec) {
  return std::make_unique<Vpdpbusd>(context, spec);
}
