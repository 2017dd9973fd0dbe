// Floats times int4 weights, which are unpacked next to their products:
//
//   B[k, j] = (code[k, j] - zero[block, j]) * scale[block, j]
//   acc[j] = fma(A[k], B[k, j], acc[j])
//
// with a scale and a zero point per block of k and column. Codes are two to a
// byte: columns j and j + nr / 2 of a row, so that a mask and a shift give two
// vectors. Products are taken in the order of FloatFma.cpp, so the bits are
// those of weights that were expanded before.

#include "MicroKernels.h"
#include "RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class FloatInt4 : public MicroKernel {
public:
  FloatInt4(ImplicitGemm &gemm, const TargetInfo &target)
      : MicroKernel(/*step=*/1,
                    std::min(getTileLanes(target), gemm.packing.getNr()),
                    gemm.accumulatorType),
        hasFMA(target.hasFMA), nr(gemm.packing.getNr()),
        scales(gemm.b.flatten(gemm.op.getScales())),
        zeros(gemm.b.flatten(gemm.op.getZeros())),
        kOfBlock(*gemm.op.getBlock()) {}

  KLoop getLoop(int64_t length) const override {
    return {/*steps=*/length % 2 == 0 ? 2 : 1};
  }
  SmallVector<Value> loadA(KernelBuilder &b, ArrayRef<RowPointer> rows, Value k,
                           int64_t steps) const override;
  SmallVector<Value> loadB(KernelBuilder &b, Value memory, Value offset,
                           int64_t columns) const override;
  void product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
               ArrayRef<Value> a, ArrayRef<Value> w) const override;
  /// The whole of k, block by block.
  SmallVector<Value> addRun(ImplicitGemm &gemm, const KRun &run,
                            ValueRange accumulators,
                            PanelPrefetch &prefetch) const override;

private:
  /// A block's scales and zero points, a vector of each per vector of columns.
  struct Block {
    SmallVector<Value> scales, zeros;
  };
  Block loadBlock(ImplicitGemm &gemm, const Tile &tile, Value number) const;

  bool hasFMA;
  int64_t nr;
  FlatBuffer scales, zeros;
  int64_t kOfBlock;
  /// The block that B is loaded of.
  Block block;
};
} // namespace

SmallVector<Value> FloatInt4::loadA(KernelBuilder &b, ArrayRef<RowPointer> rows,
                                    Value k, int64_t steps) const {
  assert(steps == 1 && "this kernel loads the elements of one step");
  SmallVector<Value> spread;
  for (const RowPointer &row : rows)
    spread.push_back(
        b.broadcast(b.loadScalar(row.memory, b.add(row.offset, k)), lanes));
  return spread;
}

/// The weights of a row of codes: exact differences, times a scale.
SmallVector<Value> FloatInt4::loadB(KernelBuilder &b, Value memory,
                                    Value offset, int64_t) const {
  size_t half = nr / lanes / 2;
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto wide = VectorType::get(lanes, b.getI32Type());
  auto constant = [&](int32_t number) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(wide, b.getI32IntegerAttr(number)));
  };
  SmallVector<Value> vectors(block.scales.size());
  for (size_t j = 0; j < std::min(half, vectors.size()); ++j) {
    Value bytes = b.loadVector(memory, b.add(offset, j * lanes), lanes, lanes,
                               b.getI8Type());
    Value both = arith::ExtUIOp::create(b, wide, bytes);
    for (size_t number : {j, j + half}) {
      if (number >= vectors.size())
        continue;
      Value code = number == j
                       ? Value(arith::AndIOp::create(b, both, constant(15)))
                       : Value(arith::ShRUIOp::create(b, both, constant(4)));
      Value real = arith::SIToFPOp::create(b, floats, code);
      real = arith::SubFOp::create(b, real, block.zeros[number]);
      vectors[number] = arith::MulFOp::create(b, real, block.scales[number]);
    }
  }
  return vectors;
}

void FloatInt4::product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
                        ArrayRef<Value> a, ArrayRef<Value> w) const {
  forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
    return b.multiplyAdd(x, y, sum, hasFMA);
  });
}

FloatInt4::Block FloatInt4::loadBlock(ImplicitGemm &gemm, const Tile &tile,
                                      Value number) const {
  KernelBuilder &b = gemm.b;
  int64_t blocks = llvm::divideCeil(gemm.packing.getDepth(), kOfBlock);
  Value first = b.mul(b.add(b.mul(tile.panel, blocks), number), nr);
  Block loaded;
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto wide = VectorType::get(lanes, b.getI32Type());
  for (int64_t j = 0; j < tile.columns; j += lanes) {
    Value at = b.add(first, j);
    loaded.scales.push_back(
        b.loadVector(scales.memory, at, lanes, lanes, b.getF32Type()));
    Value zero = b.loadVector(zeros.memory, at, lanes, lanes, b.getI8Type());
    loaded.zeros.push_back(arith::SIToFPOp::create(
        b, floats, arith::ExtUIOp::create(b, wide, zero)));
  }
  return loaded;
}

SmallVector<Value> FloatInt4::addRun(ImplicitGemm &gemm, const KRun &run,
                                     ValueRange accumulators,
                                     PanelPrefetch &prefetch) const {
  KernelBuilder &b = gemm.b;
  auto addBlock = [&](Value number, int64_t length, ValueRange values) {
    FloatInt4 kernel(*this);
    kernel.block = loadBlock(gemm, run.tile, number);
    Value first = b.mul(number, kOfBlock);
    SmallVector<RowPointer> rows(run.rows);
    for (RowPointer &row : rows)
      row.offset = b.add(row.offset, first);
    Value offset = b.add(run.offset, b.mul(first, gemm.stepOfB));
    return kernel.MicroKernel::addRun(gemm, {run.tile, rows, offset, length},
                                      values, prefetch);
  };
  int64_t whole = run.length / kOfBlock;
  SmallVector<Value> next(accumulators);
  if (whole > 0)
    next = b.loop(b.index(whole), next, [&](Value i, ValueRange carried) {
      return addBlock(i, kOfBlock, carried);
    });
  if (int64_t rest = run.length % kOfBlock)
    next = addBlock(b.index(whole), rest, next);
  return next;
}

std::unique_ptr<MicroKernel> kernels::makeFloatInt4(ImplicitGemm &gemm,
                                                    const TargetInfo &target) {
  return std::make_unique<FloatInt4>(gemm, target);
}
