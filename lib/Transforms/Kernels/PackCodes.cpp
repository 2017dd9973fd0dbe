// Packs coded weights of floats in panels. Codes of four bits are two to a
// byte: columns j and j + nr / 2 of a row, so that a mask and a shift give two
// vectors. Scales and zeros get the same panels.

#include "ContractShape.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "PackIntegers.h"
#include "PackedConstants.h"
#include "RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::kernels;
using namespace onnxquant::onnxq;

/// Numbers [blocks, columns] in panels of `width` columns, filled up with
/// zeros.
template <typename T>
static std::vector<T> makePanels(ArrayRef<T> from, int64_t columns,
                                 int64_t width) {
  int64_t blocks = static_cast<int64_t>(from.size()) / columns;
  int64_t panels = llvm::divideCeil(columns, width);
  std::vector<T> to(panels * blocks * width, 0);
  for (int64_t i = 0; i < blocks; ++i)
    for (int64_t n = 0; n < columns; ++n)
      to[(n / width * blocks + i) * width + n % width] = from[i * columns + n];
  return to;
}

LogicalResult kernels::packCodes(ContractOp op, const TargetInfo &target) {
  auto codes = readConstant<int8_t>(op.getWeights());
  auto zeros = readConstant<int8_t>(op.getZeros());
  auto scales = readConstant<float>(op.getScales());
  if (!codes || !zeros || !scales)
    return op.emitOpError("cannot be packed: its codes aren't constant");
  ContractShape shape = getContractShape(op);
  int64_t rows = shape.getRows(), lanes = getTileLanes(target);
  // One row leaves registers for more columns, whose sums don't wait for each
  // other. Where it may be one, many registers have room for both.
  bool hasMany = target.numVectors >= 32 && !target.hasRVV;
  bool isBroad = op.getN() > 2 * lanes && (rows == 1 || (hasMany && !shape.m));
  int64_t nr = (isBroad ? 4 : 2) * lanes;
  int64_t mr = std::min<int64_t>(hasMany ? (isBroad ? 5 : 8) : 4, rows);
  bool isWide = llvm::any_of(
      *codes, [](int8_t code) { return static_cast<uint8_t>(code) > 15; });
  auto packing = PackingAttr::get(
      op.getContext(), /*groups=*/1, op.getK(), op.getN(), mr, nr,
      /*step=*/1, isWide ? PackingKind::Bytes : PackingKind::Codes);
  std::vector<int8_t> packed(packing.getSize(), 0);
  // Codes of eight bits are stored without a zero point that all have.
  int8_t common = zeros->empty() ? 0 : zeros->front();
  bool isCommon = llvm::all_equal(*zeros) &&
                  (!isWide || static_cast<uint8_t>(common) == 128);
  int64_t columns = op.getN(), half = nr / 2;
  for (int64_t k = 0; k < op.getK(); ++k)
    for (int64_t n = 0; n < columns; ++n) {
      int64_t inner = n % nr;
      int64_t panel = n / nr * packing.getPanelSize();
      if (isWide) {
        packed[panel + k * nr + inner] = static_cast<int8_t>(
            (*codes)[k * columns + n] - (isCommon ? common : 0));
        continue;
      }
      int64_t offset = panel + k * half + inner % half;
      packed[offset] = static_cast<int8_t>(
          packed[offset] | (*codes)[k * columns + n] << (inner < half ? 0 : 4));
    }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  op.getWeightsMutable().set(makePayload(b, b.getI8Type(), asBytes(packed)));
  op.getScalesMutable().assign(makePayload(
      b, b.getF32Type(), asBytes(makePanels<float>(*scales, columns, nr))));
  op.getZerosMutable().assign(makePayload(
      b, b.getI8Type(), asBytes(makePanels<int8_t>(*zeros, columns, nr))));
  op.setPackingAttr(packing);
  if (isCommon)
    op->setAttr(commonZeroAttr,
                b.getI64IntegerAttr(static_cast<uint8_t>(common)));
  return success();
}
