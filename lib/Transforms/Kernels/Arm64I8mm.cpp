// int8 on AArch64 with i8mm:
//
//   smmla, usmmla   acc[2x2] += A[2 x 8] * B[8 x 2]
//
// Accumulators are squares of two rows by two columns until k is exhausted;
// then they become rows of columns for the epilogue. Tiles are 4x16.

#include "IntegerKernel.h"
#include "MicroKernels.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

static constexpr int64_t vectorBytes = 16;

namespace {
class MatrixProduct : public IntegerKernel {
public:
  MatrixProduct(MLIRContext *context, const KernelSpec &spec)
      : IntegerKernel(context, spec, /*step=*/8, spec.lanes, /*inputBits=*/8,
                      /*weightBits=*/8),
        name(spec.kind == onnxq::PackingKind::Usmmla
                 ? "llvm.aarch64.neon.usmmla.v4i32.v16i8"
                 : "llvm.aarch64.neon.smmla.v4i32.v16i8") {}

  KLoop getLoop(int64_t) const override {
    return {/*steps=*/2, /*loadsTogether=*/true, /*unrollsRest=*/true};
  }
  SmallVector<Value> init(KernelBuilder &b, ArrayRef<Value> start,
                          int64_t rows) const override;
  SmallVector<Value> loadA(KernelBuilder &b, ArrayRef<RowPointer> rows, Value k,
                           int64_t steps) const override;
  SmallVector<Value> loadB(KernelBuilder &b, Value memory, Value offset,
                           int64_t columns) const override;
  void product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
               ArrayRef<Value> a, ArrayRef<Value> w) const override;
  SmallVector<Value> finish(KernelBuilder &b, ArrayRef<Value> accumulators,
                            int64_t rows) const override;

private:
  StringRef name;
};
} // namespace

/// As many squares as vectors of columns, or a row's more.
SmallVector<Value> MatrixProduct::init(KernelBuilder &, ArrayRef<Value> start,
                                       int64_t rows) const {
  return SmallVector<Value>(llvm::divideCeil(rows, 2) * start.size() * 2,
                            start[0]);
}

/// Pairs of rows, eight bytes each. The last of an odd number of rows is its
/// own partner.
SmallVector<Value> MatrixProduct::loadA(KernelBuilder &b,
                                        ArrayRef<RowPointer> rows, Value k,
                                        int64_t steps) const {
  SmallVector<Value> loaded, pairs;
  for (const RowPointer &row : rows)
    loaded.push_back(b.loadVector(row.memory, b.add(row.offset, k),
                                  steps * step, steps * step, inputType));
  for (int64_t i = 0; i < steps; ++i)
    for (size_t r = 0; r < rows.size(); r += 2) {
      SmallVector<int64_t> order;
      for (int64_t half : {int64_t(0), steps * step})
        for (int64_t byte = 0; byte < step; ++byte)
          order.push_back(half + i * step + byte);
      Value partner = loaded[std::min(r + 1, rows.size() - 1)];
      pairs.push_back(vector::ShuffleOp::create(b, loaded[r], partner, order));
    }
  return pairs;
}

SmallVector<Value> MatrixProduct::loadB(KernelBuilder &b, Value memory,
                                        Value offset, int64_t columns) const {
  SmallVector<Value> pairs;
  int64_t count = llvm::divideCeil(columns, lanes) * 2;
  for (int64_t j = 0; j < count; ++j)
    pairs.push_back(b.loadVector(memory, b.add(offset, j * vectorBytes),
                                 vectorBytes, vectorBytes, weightType));
  return pairs;
}

void MatrixProduct::product(KernelBuilder &b,
                            MutableArrayRef<Value> accumulators,
                            ArrayRef<Value> a, ArrayRef<Value> w) const {
  for (auto [j, y] : llvm::enumerate(w))
    for (auto [p, x] : llvm::enumerate(a)) {
      Value &square = accumulators[p * w.size() + j];
      square =
          callIntrinsic(b, b.getLoc(), name, square.getType(), {square, x, y});
    }
}

SmallVector<Value> MatrixProduct::finish(KernelBuilder &b,
                                         ArrayRef<Value> squares,
                                         int64_t rows) const {
  size_t columns = squares.size() / llvm::divideCeil(rows, 2);
  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row)
    for (size_t j = 0; j < columns; j += 2) {
      ArrayRef<Value> two = squares.slice(row / 2 * columns + j, 2);
      int64_t first = row % 2 * 2;
      sums.push_back(vector::ShuffleOp::create(
          b, two[0], two[1],
          ArrayRef<int64_t>{first, first + 1, 4 + first, 4 + first + 1}));
    }
  return sums;
}

std::unique_ptr<MicroKernel>
kernels::makeMatrixProduct(MLIRContext *context, const KernelSpec &spec) {
  return std::make_unique<MatrixProduct>(context, spec);
}
