// int8 and int16 on x86 without a dot product (SSE2, AVX2, AVX-512):
//
//   vpmaddwd      acc[j] += A[k] * B[k, j] + A[k + 1] * B[k + 1, j]
//
// of 16-bit elements: A is widened once, when it is staged, B as it is loaded.
//
//   vpmaddubsw    pair[i] = A[k] * B[k, j] + A[k + 1] * B[k + 1, j]
//   vpmaddwd      acc[j] += pair[2 j] + pair[2 j + 1]
//
// of u8 times s8: pairs are added in 16 bits and would saturate, so that it is
// chosen for weights that prove that they fit. Tiles are 4x16, 8 columns to a
// vector of AVX2.

#include "X86Avx2.h"
#include "MicroKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

/// One of an instruction's names by the width of its vectors.
static StringRef byWidth(int64_t lanes, StringRef sse, StringRef avx2,
                         StringRef avx512) {
  return lanes == 4 ? sse : lanes == 8 ? avx2 : avx512;
}

/// acc + the sums of neighbouring products of 16 bits.
static Value addPairs(KernelBuilder &b, Value accumulator, Value x, Value w) {
  auto type = cast<VectorType>(accumulator.getType());
  StringRef name =
      byWidth(type.getDimSize(0), "llvm.x86.sse2.pmadd.wd",
              "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.pmaddw.d.512");
  Value products = callIntrinsic(b, b.getLoc(), name, type, {x, w});
  return arith::AddIOp::create(b, products, accumulator);
}

namespace {
class Vpmaddwd : public IntegerKernel {
public:
  Vpmaddwd(MLIRContext *context, const KernelSpec &spec, int64_t stepsOfTurn)
      : IntegerKernel(context, spec, /*step=*/2, spec.lanes, /*inputBits=*/16,
                      spec.weightBits),
        stepsOfTurn(stepsOfTurn) {
    hints = getX86Hints();
  }

  KLoop getLoop(int64_t length) const override {
    return {std::min(stepsOfTurn, length / step), /*loadsTogether=*/false,
            /*unrollsRest=*/stepsOfTurn > 1};
  }
  void product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
               ArrayRef<Value> a, ArrayRef<Value> w) const override {
    forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
      return addPairs(b, sum, x, y);
    });
  }

protected:
  Value unpackB(KernelBuilder &b, Value stored) const override {
    Value w = IntegerKernel::unpackB(b, stored);
    if (weightType == inputType)
      return w;
    return arith::ExtSIOp::create(b, VectorType::get(lanes * step, inputType),
                                  w);
  }

private:
  int64_t stepsOfTurn;
};

} // namespace

Vpmaddubsw::Vpmaddubsw(MLIRContext *context, const KernelSpec &spec)
    : IntegerKernel(context, spec, /*step=*/4, spec.lanes, /*inputBits=*/8,
                    /*weightBits=*/8) {
  hints = getX86Hints();
}

Value Vpmaddubsw::multiplyPairs(KernelBuilder &b, Value x, Value w) const {
  StringRef name =
      byWidth(lanes, "llvm.x86.ssse3.pmadd.ub.sw.128",
              "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx512.pmaddubs.w.512");
  return callIntrinsic(b, b.getLoc(), name,
                       VectorType::get(2 * lanes, b.getI16Type()), {x, w});
}

Value Vpmaddubsw::widen(KernelBuilder &b, Value accumulator,
                        Value pairs) const {
  Value ones = arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(pairs.getType()),
                                b.getI16IntegerAttr(1)));
  return addPairs(b, accumulator, pairs, ones);
}

void Vpmaddubsw::product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
                         ArrayRef<Value> a, ArrayRef<Value> w) const {
  forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
    return widen(b, sum, multiplyPairs(b, x, y));
  });
}

std::unique_ptr<MicroKernel> kernels::makeVpmaddwd(MLIRContext *context,
                                                   const KernelSpec &spec,
                                                   int64_t stepsOfTurn) {
  return std::make_unique<Vpmaddwd>(context, spec, stepsOfTurn);
}

std::unique_ptr<MicroKernel> kernels::makeVpmaddubsw(MLIRContext *context,
                                                     const KernelSpec &spec) {
  return std::make_unique<Vpmaddubsw>(context, spec);
}
