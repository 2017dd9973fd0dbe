// Contractions of floats with codes of four bits: a row of codes becomes
// vectors of weights next to the products that need them. Sums take products in
// the order of other floats' kernels, so the bits are those of weights that
// were expanded before.

#include "ContractLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;

namespace {
class CodedContractLowering : public ContractLowering {
public:
  CodedContractLowering(onnxq::ContractOp op, const TargetInfo &target)
      : ContractLowering(op, target), scales(b.flatten(op.getScales())),
        zeros(b.flatten(op.getZeros())), block(*op.getBlock()) {}

protected:
  SmallVector<Value> sumTaps(const TilePlace &place,
                             ArrayRef<SmallVector<Value>> rows,
                             SmallVector<Value> sums) override;

private:
  /// A block's scales and zeros, a vector of each per vector of columns.
  struct Block {
    SmallVector<Value> scales, zeros;
  };
  Block loadBlock(Value panel, Value number, int64_t vectors);
  SmallVector<Value> loadWeights(Value line, const Block &block);
  void addProduct(MutableArrayRef<Value> sums, ArrayRef<RowSource> rows,
                  Value first, Value k, const Block &block);
  SmallVector<Value> sumBlock(ArrayRef<RowSource> rows, const TilePlace &place,
                              Value number, int64_t length, ValueRange sums);

  FlatBuffer scales, zeros;
  int64_t block;
};
} // namespace

CodedContractLowering::Block
CodedContractLowering::loadBlock(Value panel, Value number, int64_t vectors) {
  int64_t blocks = llvm::divideCeil(packing.getDepth(), block);
  Value place = b.mul(b.add(b.mul(panel, blocks), number), packing.getNr());
  Block loaded;
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto wide = VectorType::get(lanes, b.getI32Type());
  for (int64_t j = 0; j < vectors; ++j) {
    Value at = b.add(place, j * lanes);
    loaded.scales.push_back(
        b.loadVector(scales.memory, at, lanes, lanes, b.getF32Type()));
    Value zero = b.loadVector(zeros.memory, at, lanes, lanes, b.getI8Type());
    loaded.zeros.push_back(arith::SIToFPOp::create(
        b, floats, arith::ExtUIOp::create(b, wide, zero)));
  }
  return loaded;
}

/// The weights of a row of codes: exact differences, times a scale.
SmallVector<Value> CodedContractLowering::loadWeights(Value line,
                                                      const Block &block) {
  int64_t halves = packing.getNr() / lanes / 2;
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto wide = VectorType::get(lanes, b.getI32Type());
  auto constant = [&](int32_t number) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(wide, b.getI32IntegerAttr(number)));
  };
  SmallVector<Value> weightsOf(block.scales.size());
  for (int64_t j = 0; j < halves; ++j) {
    if (j >= static_cast<int64_t>(weightsOf.size()))
      break;
    Value bytes = b.loadVector(weights.memory, b.add(line, j * lanes), lanes,
                               lanes, b.getI8Type());
    Value both = arith::ExtUIOp::create(b, wide, bytes);
    for (int64_t upper : {0, 1}) {
      size_t number = j + upper * halves;
      if (number >= weightsOf.size())
        continue;
      Value code = upper ? Value(arith::ShRUIOp::create(b, both, constant(4)))
                         : Value(arith::AndIOp::create(b, both, constant(15)));
      Value real = arith::SIToFPOp::create(b, floats, code);
      real = arith::SubFOp::create(b, real, block.zeros[number]);
      weightsOf[number] = arith::MulFOp::create(b, real, block.scales[number]);
    }
  }
  return weightsOf;
}

/// Adds the products of row `k` of the weights, which begin at `first`.
void CodedContractLowering::addProduct(MutableArrayRef<Value> sums,
                                       ArrayRef<RowSource> rows, Value first,
                                       Value k, const Block &block) {
  SmallVector<Value> weightsOf =
      loadWeights(b.add(first, b.mul(k, packing.getNr() / 2)), block);
  size_t vectors = weightsOf.size();
  for (auto [r, row] : llvm::enumerate(rows)) {
    Value element =
        b.broadcast(b.loadScalar(row.memory, b.add(row.place, k)), lanes);
    for (size_t j = 0; j < vectors; ++j) {
      Value &sum = sums[r * vectors + j];
      if (hasFMA)
        sum = vector::FMAOp::create(b, element, weightsOf[j], sum);
      else
        sum = arith::AddFOp::create(
            b, sum, arith::MulFOp::create(b, element, weightsOf[j]));
    }
  }
}

SmallVector<Value> CodedContractLowering::sumBlock(ArrayRef<RowSource> rows,
                                                   const TilePlace &place,
                                                   Value number, int64_t length,
                                                   ValueRange sums) {
  Value weight = getWeights(place);
  Block loaded = loadBlock(place.panel, number, sums.size() / rows.size());
  Value first = b.mul(number, block);
  int64_t unroll = length % 2 == 0 ? 2 : 1;
  return b.loop(
      b.index(length / unroll), sums, [&](Value i, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t u = 0; u < unroll; ++u)
          addProduct(next, rows, weight,
                     b.add(first, b.add(b.mul(i, unroll), u)), loaded);
        return next;
      });
}

SmallVector<Value>
CodedContractLowering::sumTaps(const TilePlace &place,
                               ArrayRef<SmallVector<Value>> rows,
                               SmallVector<Value> sums) {
  SmallVector<RowSource> sources = getSources(place, rows, {});
  int64_t depth = packing.getDepth(), whole = depth / block;
  SmallVector<Value> next(sums);
  if (whole > 0)
    next = b.loop(b.index(whole), next, [&](Value i, ValueRange carried) {
      return sumBlock(sources, place, i, block, carried);
    });
  if (depth % block != 0)
    next = sumBlock(sources, place, b.index(whole), depth % block, next);
  return next;
}

void kernels::lowerCodedContract(onnxq::ContractOp op,
                                 const TargetInfo &target) {
  CodedContractLowering(op, target).lower();
}
