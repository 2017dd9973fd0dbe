// Floats times weights of four or eight bits, which are unpacked next to their
// products:
//
//   sum[j] = sum over k of a block of A[k] * (code[k, j] - zero[block, j])
//   acc[j] = fma(sum[j], scale[block, j], acc[j])
//
// with a scale and a zero point per block of k and column. Differences are
// exact, products are taken in the order of FloatFma.cpp within a block. Codes
// of four bits are two to a byte: columns j and j + nr / 2 of a row, so that a
// mask and a shift give two vectors. Where all zero points are equal,
// codes of eight bits are stored without it, and AVX-512 looks differences up
// in a register of 16.

#include "MicroKernels.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class FloatCodes : public MicroKernel {
public:
  FloatCodes(ImplicitGemm &gemm, const TargetInfo &target)
      : MicroKernel(/*step=*/1,
                    std::min(getTileLanes(target), gemm.packing.getNr()),
                    gemm.accumulatorType),
        hasFMA(target.hasFMA),
        isWide(gemm.packing.getKind() == onnxq::PackingKind::Bytes),
        looksUp(target.hasAVX512 && lanes == 16), nr(gemm.packing.getNr()),
        scales(gemm.b.flatten(gemm.op.getScales())),
        zeros(gemm.b.flatten(gemm.op.getZeros())),
        kOfBlock(*gemm.op.getBlock()) {
    if (auto zero = gemm.op->getAttrOfType<IntegerAttr>(commonZeroAttr))
      commonZero = zero.getInt();
  }

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
  Block loadBlock(ImplicitGemm &gemm, const Tile &tile, Value index) const;

  bool hasFMA;
  /// Codes of eight bits, and whether those of four are looked up.
  bool isWide, looksUp;
  int64_t nr;
  FlatBuffer scales, zeros;
  int64_t kOfBlock;
  /// The zero point of all blocks, if they have one.
  std::optional<int64_t> commonZero;
  /// The block that B is loaded of.
  Block block;
};
} // namespace

SmallVector<Value> FloatCodes::loadA(KernelBuilder &b,
                                     ArrayRef<RowPointer> rows, Value k,
                                     int64_t steps) const {
  assert(steps == 1 && "this kernel loads the elements of one step");
  SmallVector<Value> spread;
  for (const RowPointer &row : rows)
    spread.push_back(
        b.broadcast(b.loadScalar(row.memory, b.add(row.offset, k)), lanes));
  return spread;
}

/// A row of codes less their zero points, which floats hold exactly.
SmallVector<Value> FloatCodes::loadB(KernelBuilder &b, Value memory,
                                     Value offset, int64_t) const {
  size_t half = nr / lanes / 2;
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto wide = VectorType::get(lanes, b.getI32Type());
  auto constant = [&](int32_t index) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(wide, b.getI32IntegerAttr(index)));
  };
  auto load = [&](size_t index) {
    return b.loadVector(memory, b.add(offset, index * lanes), lanes, lanes,
                        b.getI8Type());
  };
  SmallVector<Value> vectors(block.scales.size());
  auto subtract = [&](Value code, size_t index) -> Value {
    Value real = arith::SIToFPOp::create(b, floats, code);
    Value zero = commonZero
                     ? arith::ConstantOp::create(
                           b, DenseElementsAttr::get(
                                  floats, static_cast<float>(*commonZero)))
                     : block.zeros[index];
    return arith::SubFOp::create(b, real, zero);
  };
  if (isWide) {
    for (size_t j = 0; j < vectors.size(); ++j)
      vectors[j] =
          commonZero ? Value(arith::SIToFPOp::create(
                           b, floats, arith::ExtSIOp::create(b, wide, load(j))))
                     : subtract(arith::ExtUIOp::create(b, wide, load(j)), j);
    return vectors;
  }
  Value table;
  if (commonZero && looksUp) {
    SmallVector<float> differences;
    for (int64_t code = 0; code < 16; ++code)
      differences.push_back(static_cast<float>(code - *commonZero));
    table = arith::ConstantOp::create(
        b, DenseElementsAttr::get(floats, ArrayRef<float>(differences)));
  }
  for (size_t j = 0; j < std::min(half, vectors.size()); ++j) {
    Value both = arith::ExtUIOp::create(b, wide, load(j));
    for (size_t index : {j, j + half}) {
      if (index >= vectors.size())
        continue;
      bool isLow = index == j;
      Value code =
          isLow ? both : Value(arith::ShRUIOp::create(b, both, constant(4)));
      if (table) {
        // Only the low four bits of an index count.
        vectors[index] =
            callIntrinsic(b, b.getLoc(), "llvm.x86.avx512.permvar.sf.512",
                          floats, {table, code});
        continue;
      }
      if (isLow)
        code = arith::AndIOp::create(b, code, constant(15));
      vectors[index] = subtract(code, index);
    }
  }
  return vectors;
}

void FloatCodes::product(KernelBuilder &b, MutableArrayRef<Value> accumulators,
                         ArrayRef<Value> a, ArrayRef<Value> w) const {
  forAccumulators(accumulators, a, w, [&](Value sum, Value x, Value y) {
    return b.multiplyAdd(x, y, sum, hasFMA);
  });
}

FloatCodes::Block FloatCodes::loadBlock(ImplicitGemm &gemm, const Tile &tile,
                                        Value index) const {
  KernelBuilder &b = gemm.b;
  int64_t blocks = llvm::divideCeil(gemm.packing.getK(), kOfBlock);
  Value first = b.mul(b.add(b.mul(tile.panel, blocks), index), nr);
  Block loaded;
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto wide = VectorType::get(lanes, b.getI32Type());
  for (int64_t j = 0; j < tile.columns; j += lanes) {
    Value at = b.add(first, j);
    loaded.scales.push_back(
        b.loadVector(scales.memory, at, lanes, lanes, b.getF32Type()));
    if (commonZero)
      continue;
    Value zero = b.loadVector(zeros.memory, at, lanes, lanes, b.getI8Type());
    loaded.zeros.push_back(arith::SIToFPOp::create(
        b, floats, arith::ExtUIOp::create(b, wide, zero)));
  }
  return loaded;
}

SmallVector<Value> FloatCodes::addRun(ImplicitGemm &gemm, const KRun &run,
                                      ValueRange accumulators,
                                      PanelPrefetch &prefetch) const {
  KernelBuilder &b = gemm.b;
  auto addBlock = [&](Value index, int64_t length, ValueRange values) {
    FloatCodes kernel(*this);
    kernel.block = loadBlock(gemm, run.tile, index);
    Value first = b.mul(index, kOfBlock);
    SmallVector<RowPointer> rows(run.rows);
    for (RowPointer &row : rows)
      row.offset = b.add(row.offset, first);
    Value offset = b.add(run.offset, b.mul(first, gemm.stepOfB));
    SmallVector<Value> none(values.size(), b.zeros(lanes, b.getF32Type()));
    SmallVector<Value> sums = kernel.MicroKernel::addRun(
        gemm, {run.tile, rows, offset, length}, none, prefetch);
    size_t vectors = kernel.block.scales.size();
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = b.multiplyAdd(sum, kernel.block.scales[i % vectors], values[i],
                          hasFMA);
    return sums;
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

std::unique_ptr<MicroKernel> kernels::makeFloatCodes(ImplicitGemm &gemm,
                                                     const TargetInfo &target) {
  return std::make_unique<FloatCodes>(gemm, target);
}
